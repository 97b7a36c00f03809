# SPDX-License-Identifier: Apache-2.0
"""A small S3 client with its own signatures, to prepare buckets and to look into them without the program under test."""
import base64
import datetime
import hashlib
import hmac
import http.client
import time
import urllib.parse
import xml.etree.ElementTree

PLAIN = "-._~"
TRIES = 5


def quote(text, slash=""):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    return urllib.parse.quote(data, safe=PLAIN + slash)


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__("S3 answered %d: %s" % (status, body[:300].decode("utf-8", "replace")))
        self.status, self.body = status, body


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body


class Client:
    def __init__(self, endpoint, key, secret, region="us-east-1"):
        self.address = urllib.parse.urlsplit(endpoint)
        self.endpoint, self.key, self.secret, self.region = endpoint, key, secret, region

    def _sign(self, method, path, query, headers, body):
        stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        digest = hashlib.sha256(body).hexdigest()
        signed = {**{k.lower(): v for k, v in headers.items()}, "host": self.address.netloc, "x-amz-date": stamp, "x-amz-content-sha256": digest}
        names = ";".join(sorted(signed))
        lines = "".join("%s:%s\n" % (name, signed[name].strip()) for name in sorted(signed))
        scope = "%s/%s/s3/aws4_request" % (stamp[:8], self.region)
        request = "\n".join([method, path, query, lines, names, digest])
        text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(request.encode()).hexdigest()])
        secret = ("AWS4" + self.secret).encode()
        for part in scope.split("/"):
            secret = hmac.new(secret, part.encode(), hashlib.sha256).digest()
        signature = hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()
        signed["Authorization"] = "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (self.key, scope, names, signature)
        return signed

    def ask(self, method, bucket, key="", query=(), headers=None, body=b""):
        """The answer, whatever its status; lost connections and 5xx are tried again."""
        path = "/" + quote(bucket) + ("/" + quote(key, "/") if key else "")
        text = "&".join(sorted("%s=%s" % (quote(k), quote(v)) for k, v in query))
        for attempt in range(TRIES):
            connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=60)
            try:
                connection.putrequest(method, path + ("?" + text if text else ""), skip_host=True, skip_accept_encoding=True)
                for name, value in self._sign(method, path, text, headers or {}, body).items():
                    connection.putheader(name, value)
                connection.putheader("Content-Length", str(len(body)))
                connection.endheaders(body)
                answer = connection.getresponse()
                result = Answer(answer.status, answer.headers, answer.read())
                if result.status < 500 or attempt == TRIES - 1:
                    return result
            except (OSError, http.client.HTTPException):
                if attempt == TRIES - 1:
                    raise
            finally:
                connection.close()
            time.sleep(0.2 * (attempt + 1))
        raise AssertionError("not reached")

    def must(self, *args, **options):
        answer = self.ask(*args, **options)
        if answer.status >= 300:
            raise Refused(answer.status, answer.body)
        return answer

    def make_bucket(self, bucket):
        self.must("PUT", bucket)

    def set_versioning(self, bucket, status="Enabled"):
        body = ("<VersioningConfiguration xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><Status>%s</Status></VersioningConfiguration>" % status).encode()
        headers = {"Content-MD5": base64.b64encode(hashlib.md5(body).digest()).decode()}
        self.must("PUT", bucket, query=[("versioning", "")], headers=headers, body=body)

    def put(self, bucket, key, data, headers=None):
        self.must("PUT", bucket, key, headers=headers, body=data)

    def get(self, bucket, key):
        return self.must("GET", bucket, key).body

    def head(self, bucket, key):
        """The headers, or None when it is not there."""
        answer = self.ask("HEAD", bucket, key)
        if answer.status == 404:
            return None
        if answer.status >= 300:
            raise Refused(answer.status, answer.body)
        return answer.headers

    def delete(self, bucket, key):
        self.must("DELETE", bucket, key)

    def pages(self, bucket, prefix="", encoded=True, size=1000):
        """Answers of ListObjectsV2, one after another, as elements."""
        token = None
        while True:
            query = [("list-type", "2"), ("prefix", prefix), ("max-keys", str(size))] + ([("encoding-type", "url")] if encoded else [])
            page = xml.etree.ElementTree.fromstring(self.must("GET", bucket, query=query + ([("continuation-token", token)] if token else [])).body)
            for element in page.iter():
                element.tag = element.tag.split("}")[-1]
            yield page
            if page.findtext("IsTruncated") != "true":
                return
            token = page.findtext("NextContinuationToken")

    def list(self, bucket, prefix="", encoded=False):
        """{key: (size, etag)}; encoded: only for a server that is known to encode."""
        found = {}
        for page in self.pages(bucket, prefix, encoded):
            for row in page.iter("Contents"):
                key = row.findtext("Key") or ""
                key = urllib.parse.unquote_plus(key, errors="surrogateescape") if encoded else key
                found[key] = (int(row.findtext("Size")), row.findtext("ETag").strip('"'))
        return found
