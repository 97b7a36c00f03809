# SPDX-License-Identifier: Apache-2.0
"""A proxy before an S3 server that misbehaves on purpose.

    with proxy.Proxy(s3.endpoint, proxy.Burst(30, 5)) as bad: … bad.endpoint …

A toxic sees each request (`before`: may answer by itself) and each answer (`after`: may change it). What was done is counted in
`proxy.done`. Requests go on with the Host header that was signed, so signatures hold.
"""
import html
import http.client
import http.server
import re
import socket
import struct
import threading
import time
import urllib.parse

HOP = {"connection", "transfer-encoding", "content-length", "keep-alive"}


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        path, _, query = target.partition("?")
        self.key = urllib.parse.unquote(path.split("/", 2)[2], errors="surrogateescape") if path.count("/") > 1 else ""
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))

    @property
    def kind(self):
        if self.method == "GET":
            return "list" if "list-type" in self.query else "get" if self.key else "bucket"
        if self.method == "POST":
            return "delete_many" if "delete" in self.query else "post"
        if self.method == "PUT":
            return "copy" if self.headers.get("x-amz-copy-source") else "put"
        return self.method.lower()


class Answer:
    """cut: only so many bytes of the body are sent, then the connection is reset; -1: reset without any answer."""

    def __init__(self, status, headers, body, cut=None):
        self.status, self.headers, self.body, self.cut = status, headers, body, cut


def error(status, code, message="", extra="", headers=()):
    body = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>%s</Code><Message>%s</Message>%s<RequestId>0</RequestId></Error>' % (code, message or code, extra)
    return Answer(status, [("Content-Type", "application/xml"), *headers], body.encode())


class Toxic:
    """Does nothing; others change one of the two. kinds: which requests it is about (all when empty)."""

    kinds = ()

    def before(self, request, count):
        """None: the server answers. count: how many of its kinds came before."""

    def after(self, request, answer, count):
        return answer


class Burst(Toxic):
    """Of each `every` requests the first `long` are answered 503 SlowDown."""

    def __init__(self, every, long, kinds=()):
        self.every, self.long, self.kinds = every, long, kinds

    def before(self, request, count):
        return error(503, "SlowDown", "Please reduce your request rate.") if count % self.every < self.long else None


class Reset(Toxic):
    """Each `every`th answer ends in the middle of its body with a reset (without a body: before the status), after the server has done it."""

    def __init__(self, every, kinds=()):
        self.every, self.kinds = every, kinds

    def after(self, request, answer, count):
        if count % self.every == 0:
            answer.cut = len(answer.body) // 2 if answer.body and request.method != "HEAD" else -1
        return answer


class Latency(Toxic):
    def __init__(self, seconds):
        self.seconds = seconds

    def before(self, request, count):
        time.sleep(self.seconds)


class At(Toxic):
    """At request `number`, before the server sees it, does what it is told; the request waits for it."""

    def __init__(self, number, act, kinds=()):
        self.number, self.act, self.kinds = number, act, kinds

    def before(self, request, count):
        if count == self.number:
            self.act()


class Page(Toxic):
    """Changes pages of listings: `change(body, count)` → body."""

    kinds = ("list",)

    def __init__(self, change, only=lambda request, count: True):
        self.change, self.only = change, only

    def after(self, request, answer, count):
        if answer.status == 200 and self.only(request, count):
            answer.body = self.change(answer.body)
        return answer


def cut_page(body):
    return body[: len(body) * 2 // 3]


def say_complete(body):
    return re.sub(rb"<IsTruncated>true<", b"<IsTruncated>false<", body)


def drop_truncated(body):
    return re.sub(rb"<IsTruncated>\w*</IsTruncated>", b"", body)


def drop_keys(body):
    """Every other object is missing."""
    seen = iter(range(10**9))
    return re.sub(rb"<Contents>.*?</Contents>", lambda m: m.group(0) if next(seen) % 2 else b"", body, flags=re.S)


def same_token(body):
    body = re.sub(rb"<NextContinuationToken>.*?</NextContinuationToken>", b"", body, flags=re.S)
    body = re.sub(rb"<IsTruncated>\w*</IsTruncated>", b"<IsTruncated>true</IsTruncated>", body)
    return re.sub(rb"(</IsTruncated>)", rb"\1<NextContinuationToken>again</NextContinuationToken>", body)


def rewrite_keys(body):
    """Names of objects that are not there, still in order: an encoder that encoded once more, or a cache that mends names."""
    return re.sub(rb"(<Key>[^<]*)\.(parquet|avro)(</Key>)", rb"\1.%2e\2\3", body)


def swap_case(body):
    return re.sub(rb"(<Key>)([^<]*)(</Key>)", lambda m: m.group(1) + m.group(2).swapcase() + m.group(3), body)


def move_keys(body):
    """All keys below another folder: what a proxy does that maps one bucket into another."""
    return re.sub(rb"(<Key>)([^<]*)(</Key>)", rb"\1moved/\2\3", body)


class PartialDelete(Toxic):
    """Every other key of a DeleteObjects is done, by single requests of `client`; of the others it says why not."""

    kinds = ("delete_many",)

    def __init__(self, client, code="AccessDenied"):
        self.client, self.code = client, code

    def before(self, request, count):
        keys = re.findall(rb"<Key>(.*?)</Key>", request.body, re.S)
        bucket = request.target.split("/")[1].split("?")[0]
        for key in keys[::2]:
            self.client.delete(bucket, html.unescape(key.decode()))
        said = b"".join(b"<Deleted><Key>%s</Key></Deleted>" % key for key in keys[::2])
        said += b"".join(b"<Error><Key>%s</Key><Code>%s</Code><Message>no</Message></Error>" % (key, self.code.encode()) for key in keys[1::2])
        return Answer(200, [("Content-Type", "application/xml")], b'<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' + said + b"</DeleteResult>")


class Expired(Toxic):
    """From the `after`th listing on, keys are too old."""

    def __init__(self, after):
        self.limit, self.lists = after, 0

    def before(self, request, count):
        self.lists += request.kind == "list"
        return error(400, "ExpiredToken", "The provided token has expired.") if self.lists > self.limit else None


class WrongRegion(Toxic):
    def __init__(self, status=301):
        self.status = status

    def before(self, request, count):
        region = [("x-amz-bucket-region", "eu-west-1")]
        if request.method == "HEAD":
            return Answer(self.status, region, b"")
        if self.status == 301:
            return error(301, "PermanentRedirect", "Use the right endpoint.", "<Endpoint>b.s3.eu-west-1.amazonaws.com</Endpoint>", region)
        return error(400, "AuthorizationHeaderMalformed", "the region 'us-east-1' is wrong; expecting 'eu-west-1'", "<Region>eu-west-1</Region>", region)


class Skew(Toxic):
    """The storage's clock is seconds ahead (behind, negative), as its Date tells."""

    def __init__(self, seconds):
        self.seconds = seconds

    def after(self, request, answer, count):
        now = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + self.seconds))
        answer.headers = [(n, v) for n, v in answer.headers if n.lower() != "date"] + [("Date", now)]
        return answer


class TooSkewed(Toxic):
    def before(self, request, count):
        return error(403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.")


class Denied(Toxic):
    def __init__(self, kinds=()):
        self.kinds = kinds

    def before(self, request, count):
        return error(403, "AccessDenied", "Access Denied") if request.method != "HEAD" else Answer(403, [], b"")


class Html(Toxic):
    """A captive portal: 200 and a page for people."""

    def after(self, request, answer, count):
        return Answer(200, [("Content-Type", "text/html")], b"<html><body>Please log in</body></html>")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        request = Request(self.command, self.path, self.headers, self.rfile.read(length))
        self.send(request, self.server.proxy.through(request))

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer

    def send(self, request, answer):
        if answer.cut == -1:
            return self.reset()
        length = dict((n.lower(), v) for n, v in answer.headers).get("content-length") if request.method == "HEAD" else None
        self.send_response_only(answer.status)
        for name, value in answer.headers:
            if name.lower() not in HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", length or str(len(answer.body)))
        self.end_headers()
        if request.method != "HEAD":
            self.wfile.write(answer.body if answer.cut is None else answer.body[: answer.cut])
        if answer.cut is not None:
            self.reset()
        return None

    def reset(self):
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass

    def shutdown_request(self, request):
        request.close()  # no good-bye: a reset is a reset


class Proxy:
    def __init__(self, upstream, toxic=None):
        self.upstream = urllib.parse.urlsplit(upstream)
        self.toxic, self.counts, self.done = toxic or Toxic(), 0, 0
        self.lock = threading.Lock()
        self.requests = []
        self.server = _Server(("127.0.0.1", 0), _Handler)
        self.server.proxy = self
        self.endpoint = "http://127.0.0.1:%d" % self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def through(self, request):
        concerned = not self.toxic.kinds or request.kind in self.toxic.kinds
        with self.lock:
            self.requests.append(request.kind)
            count = self.counts
            self.counts += concerned
        own = self.toxic.before(request, count) if concerned else None
        answer = own or self.forward(request)
        if concerned and own is None:
            before = (answer.status, answer.body, answer.cut, list(answer.headers))
            answer = self.toxic.after(request, answer, count)
            own = before != (answer.status, answer.body, answer.cut, list(answer.headers))
        with self.lock:
            self.done += bool(own)
        return answer

    def forward(self, request):
        connection = http.client.HTTPConnection(self.upstream.hostname, self.upstream.port, timeout=60)
        try:
            connection.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers.items():
                if name.lower() not in ("connection",):
                    connection.putheader(name, value)
            connection.endheaders(request.body or None)
            answer = connection.getresponse()
            return Answer(answer.status, answer.getheaders(), answer.read())
        except (OSError, http.client.HTTPException):
            return Answer(502, [], b"")
        finally:
            connection.close()
