# SPDX-License-Identifier: Apache-2.0
"""A server that answers LIST, GET and HEAD of a bucket from memory after a fixed time, with next to no work of its own: what a listing takes
there is what its client makes of it. Pages are as versitygw writes them: keys raw, a thousand a page.

    with s3_peer.Peer(s3, bucket, 0.02) as peer: … peer.endpoint … peer.cpu_s()
        peer.log() → [(begun, ended, what, target)] since it was asked last"""
import ast
import asyncio
import bisect
import multiprocessing
import time
import urllib.parse
import urllib.request
from xml.sax.saxutils import escape

HEAD = b"HTTP/1.1 %d -\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n%s\r\n"
PAGE = 1000


class Bucket:
    """What was in a bucket: names in order, what a page says of each, and the bytes of those that have any."""

    def __init__(self, s3, bucket):
        self.name, self.keys, self.rows, self.times, self.objects = bucket, [], [], {}, {}
        for page in s3.client.pages(bucket, encoded=False):
            for row in page.iter("Contents"):
                self.take(s3, *(row.findtext(name) for name in ("Key", "LastModified", "ETag", "Size")))

    def take(self, s3, key, modified, etag, size):
        self.keys.append(key.encode())
        self.rows.append(("<Contents><Key>%s</Key><LastModified>%s</LastModified><ETag>%s</ETag><Size>%s</Size></Contents>"
                          % (escape(key), modified, escape(etag), size)).encode())
        if int(size):
            headers = s3.client.head(self.name, key)
            told = "".join("%s: %s\r\n" % (name, headers[name]) for name in ("ETag", "Last-Modified"))
            self.objects[key.encode()] = (told.encode(), s3.client.get(self.name, key))

    def listing(self, query):
        """A page of ListObjectsV2: what lies behind start-after, or behind the key that the token is."""
        prefix, slash = query.get("prefix", "").encode(), query.get("delimiter", "").encode()
        after, most = (query.get("continuation-token") or query.get("start-after", "")).encode(), min(PAGE, int(query.get("max-keys", PAGE)))
        at, found, last = max(bisect.bisect_left(self.keys, prefix), bisect.bisect_right(self.keys, after)), [], b""
        while at < len(self.keys) and len(found) < most and self.keys[at].startswith(prefix):
            cut = self.keys[at].find(slash, len(prefix)) if slash else -1
            if cut < 0:
                found.append(self.rows[at])
                last, at = self.keys[at], at + 1
            else:
                folder = self.keys[at][: cut + 1]
                found.append(b"<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>" % escape(folder.decode()).encode())
                last = folder + b"\xf4\x8f\xbf\xbf"
                at = bisect.bisect_left(self.keys, last)
        more = at < len(self.keys) and self.keys[at].startswith(prefix)
        token = b"<NextContinuationToken>%s</NextContinuationToken>" % escape(last.decode()).encode() if more else b""
        return (b'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult><Prefix>%s</Prefix><KeyCount>%d</KeyCount><IsTruncated>%s</IsTruncated>%s%s</ListBucketResult>'
                % (escape(prefix.decode()).encode(), len(found), b"true" if more else b"false", token, b"".join(found)))

    def answer(self, method, target):
        """(what it was, the answer's bytes)."""
        path, _, text = target.partition("?")
        query = dict(urllib.parse.parse_qsl(text, keep_blank_values=True))
        key = urllib.parse.unquote_to_bytes(path).split(b"/", 2)[2:]
        if not key and "versioning" in query:
            body = b"<VersioningConfiguration></VersioningConfiguration>"
            return "versioning", HEAD % (200, len(body), b"") + body
        if not key and method == "HEAD":
            return "bucket", HEAD % (200, 0, b"")
        if not key:
            body = self.listing(query)
            what = "folders" if "delimiter" in query else "list" if query.get("max-keys") == str(PAGE) else "probe"
            return what, HEAD % (200, len(body), b"") + body
        headers, body = self.objects.get(key[0], (b"", None))
        if body is None:
            return method.lower(), HEAD % (404, 0, b"")
        return method.lower(), HEAD % (200, len(body), headers) + (body if method == "GET" else b"")


class Connection(asyncio.Protocol):
    def __init__(self, bucket, seconds, log):
        self.bucket, self.seconds, self.log, self.got = bucket, seconds, log, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.got += data
        while b"\r\n\r\n" in self.got:
            head, _, self.got = self.got.partition(b"\r\n\r\n")
            method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
            begun = time.monotonic()
            asyncio.get_running_loop().call_later(self.seconds, self.send, begun, method, target)

    def send(self, begun, method, target):
        if target in ("/log", "/cpu"):
            body = repr(self.log if target == "/log" else time.process_time()).encode()
            if target == "/log":
                self.log.clear()
            self.transport.write(HEAD % (200, len(body), b"") + body)
            return
        what, answer = self.bucket.answer(method, target)
        self.transport.write(answer)
        self.log.append((begun, time.monotonic(), what, target))


async def serve(bucket, seconds, tell):
    log = []
    server = await asyncio.get_running_loop().create_server(lambda: Connection(bucket, seconds, log), "127.0.0.1", 0)
    tell.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


class Peer:
    def __init__(self, s3, bucket, seconds):
        here, there = multiprocessing.Pipe()
        run = lambda: asyncio.run(serve(Bucket(s3, bucket), seconds, there))  # noqa: E731
        self.process = multiprocessing.get_context("fork").Process(target=run, daemon=True)
        self.process.start()
        self.endpoint = "http://127.0.0.1:%d" % here.recv()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.join()

    def _ask(self, what):
        with urllib.request.urlopen(self.endpoint + what, timeout=30) as answer:
            return ast.literal_eval(answer.read().decode())

    def log(self):
        return self._ask("/log")

    def cpu_s(self):
        return self._ask("/cpu")
