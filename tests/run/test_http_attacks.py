# SPDX-License-Identifier: Apache-2.0
"""ebb serve against hostile peers, with raw sockets: malformed, huge, slow, half-closed, pipelined, concurrent and rebound requests, and TLS."""

import contextlib
import os
import random
import socket
import ssl
import subprocess
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import test_serve  # noqa: E402

LIMIT_S = 60
HOST = b"Host: localhost\r\n"
HEAD_MAX = 32 * 1024
BODY_MAX = 8 * 1024 * 1024

# what is sent, the status of the answer (None: the connection is closed, with an error or without one)
MALFORMED = [
    (b"GARBAGE\r\n\r\n", None),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", None),  # a TLS greeting
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", None),
    (b"GET /healthz\r\n\r\n", None),
    (b"GET  /healthz HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    (b"GET /healthz HTTP/1.1\n" + HOST + b"\n", 400),
    (b"GET /heal\x00thz HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    (b"GET /heal\x01thz HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    (b"GET /%00 HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    (b"GET /%gg HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    (b"GET healthz HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    (b"GET http://evil.example/healthz HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    (b"CONNECT evil.example:443 HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
    (b"GET /healthz more HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    (b"GET /healthz HTTP/1.1\r\n" + HOST + HOST + b"\r\n", 400),
    (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n", 400),
    (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\x00b\r\n\r\n", 400),
    (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X : a\r\n\r\n", 400),
    (b"GET /healthz HTTP/1.1\r\n" + HOST + b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n", 400),
    (b"POST /api/reload HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400),
    (b"POST /api/reload HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (b"POST /api/reload HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n", 400),
    (b"POST /api/reload HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    (b"POST /api/reload HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
]
REBOUND = [
    (b"Host: evil.example\r\n", 421),
    (b"Host: localhost.evil.example\r\n", 421),
    (b"Host: 127.0.0.1.evil.example\r\n", 421),
    (b"Host: 169.254.169.254\r\n", 421),
    (HOST + b"Origin: http://evil.example\r\n", 403),
    (HOST + b"Origin: null\r\n", 403),
    (HOST + b"Origin: http://localhost:3000\r\n", 403),
]


def status_of(answer):
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.") else None


class Base(test_serve.Base):
    def start(self, serve='poll = "10m"', **kwargs):
        self.policy()
        self.bind(serve=serve)
        self.table("a")
        d = self.serve(**kwargs)
        self.port = int(d.address.rsplit(":", 1)[1])
        self.ready(d)
        self.rest()
        return d

    def rest(self):
        """Sockets that the daemon has when nobody is connected: the least of many looks."""
        self.at_rest = min(self.sockets() for _ in range(1000))

    def dial(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S)
        self.addCleanup(s.close)
        return s

    @staticmethod
    def read(s):
        """All that comes until the peer closes."""
        got = []
        with contextlib.suppress(ConnectionResetError):
            while piece := s.recv(65536):
                got.append(piece)
        return b"".join(got)

    def say(self, request, s=None):
        """What is answered to the bytes, sent whole, then closed for writing."""
        s = s or self.dial()
        with contextlib.suppress(OSError):
            s.sendall(request)
            s.shutdown(socket.SHUT_WR)
        answer = self.read(s)
        s.close()
        return answer

    def alive(self):
        self.assertEqual(200, self.daemon.ask("/healthz").status)

    def sockets(self):
        folder = "/proc/%d/fd" % self.daemon.process.pid
        count = 0
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                count += os.readlink(os.path.join(folder, name)).startswith("socket:")
        return count

    def settled(self):
        """No connection is left."""
        daemon.wait(lambda: self.sockets() <= self.at_rest, what="%d sockets" % self.at_rest)

    def ends_well(self):
        self.assertEqual(0, self.daemon.stop(), self.daemon.said()[-3000:])


class Attacks(Base):
    def test_malformed(self):
        self.start()
        for request, status in MALFORMED:
            with self.subTest(request=request):
                answer = self.say(request + b"GET /healthz?smuggled HTTP/1.1\r\n" + HOST + b"\r\n")
                if status:
                    self.assertEqual(status, status_of(answer), answer)
                self.assertNotEqual(200, status_of(answer))
                self.assertNotIn(b"HTTP/1.1 200", answer)
        self.alive()
        self.settled()
        self.ends_well()

    def test_after_chunks(self):
        """Where a chunk ends is read in more than one way out there: what comes after such a body is never taken for a request."""
        self.start()
        head = b"POST /api/resume HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        for body in (b"2\r\n{}\r\n0\r\n\r\n", b"2\n{}\r\n0\r\n\r\n", b"2;\n{}\r\n0\r\n\r\n", b"2;x=\"\r\n{}\r\n0\r\n\r\n", b"2\r\n{}\n0\n\n", b"2\r\n{}\r\n0\r\nHost: evil\r\n\r\n",
                     b"0\r\n\r\n", b"x"):
            answer = self.say(head + body + b"GET /healthz?smuggled HTTP/1.1\r\n" + HOST + b"\r\n")
            self.assertEqual(1, answer.count(b"HTTP/1.1 "), (body, answer))
            self.assertIn(b"\r\nConnection: close\r\n", answer)
        self.alive()
        self.settled()
        self.ends_well()

    def test_noise(self):
        self.start()
        drawn = random.Random(20260101)
        for i in range(200):
            noise = drawn.randbytes(drawn.randrange(1, 3000)) if i % 2 else bytes(drawn.choices(b"GET /HTP1.\r\n: \x00\t\xffohst", k=400))
            self.assertNotEqual(200, status_of(self.say(noise)))
        self.alive()
        self.settled()
        self.ends_well()

    def test_huge(self):
        self.start()
        answer = self.say(b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"x" * HEAD_MAX + b"\r\n\r\n")
        self.assertEqual(431, status_of(answer))
        answer = self.say(b"GET /" + b"x" * HEAD_MAX + b" HTTP/1.1\r\n" + HOST + b"\r\n")
        self.assertIn(status_of(answer), (414, 431))
        answer = self.say(b"GET /healthz HTTP/1.1\r\n" + HOST + b"x:\r\n" * 200 + b"\r\n")
        self.assertEqual(431, status_of(answer))
        for body in (b"Content-Length: %d\r\n\r\n" % (BODY_MAX + 1) + b"x" * (BODY_MAX + 1),
                     b"Content-Length: 99999999999999999999\r\n\r\n",
                     b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % (BODY_MAX + 1) + b"x" * (BODY_MAX + 1) + b"\r\n0\r\n\r\n"):
            answer = self.say(b"POST /api/events HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n" + body)
            self.assertEqual(413, status_of(answer), answer[:500])
        self.alive()
        self.ends_well()

    def test_deep(self):
        """Bodies that are small and hard to read."""
        self.start()
        for body in (b"[" * 1000000, b'{"a":' * 200000, b'"' + b"\\u0000" * 100000 + b'"', b"1" * 1000000, b"\xff\xfe" * 1000, b"{" + b'"k":1,' * 100000 + b'"k":1}'):
            for path in (b"/api/events", b"/api/simulate", b"/api/metalakes/default/policies", b"/api/metalakes/default/jobs/runs"):
                answer = self.say(b"POST " + path + b" HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                self.assertIn(status_of(answer), (400, 404, 413, 415, 422), (path, body[:20], answer[:300]))
        self.alive()
        self.ends_well()

    def test_slow(self):
        """Peers that say little, slowly, do not keep others waiting, nor the end."""
        self.start()
        slow = [self.dial() for _ in range(40)]
        starts = (b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nHost:", b"POST /api/events HTTP/1.1\r\n" + HOST + b"Content-Length: 100\r\n\r\n{",
                  b"POST /api/events HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n500\r\n[")
        for i, s in enumerate(slow):
            s.sendall(starts[i % len(starts)])
        for _ in range(20):
            for s in slow:
                s.sendall(b"a")
            self.alive()
        self.ends_well()

    def test_half_closed_and_gone(self):
        self.start()
        answer = self.say(b"GET /api/status HTTP/1.1\r\n" + HOST + b"\r\n")
        self.assertEqual(200, status_of(answer))
        self.assertTrue(answer.endswith((b"}", b"}\n")), answer[-100:])
        for i in range(60):
            s = self.dial()
            s.sendall((b"GET /api/status HTTP/1.1\r\n", b"GET /api/tables HTTP/1.1\r\n" + HOST + b"\r\n",
                       b"POST /api/events HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\n[")[i % 3])
            if i % 2:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            s.close()
        self.alive()
        self.settled()
        self.ends_well()

    def test_pipelined(self):
        self.start()
        paths = [b"/healthz", b"/api/status", b"/nowhere", b"/api/tables"]
        request = b"".join(b"GET %s HTTP/1.1\r\n" % paths[i % 4] + HOST + b"\r\n" for i in range(99))
        answer = self.say(request + b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
        statuses = [int(part[2:5]) for part in answer.split(b"HTTP/1.")[1:]]
        self.assertEqual([(200, 200, 404, 200)[i % 4] for i in range(99)] + [200], statuses)
        self.ends_well()

    def test_concurrent(self):
        self.start()
        wrong = []

        def ask(number):
            for i in range(20):
                path = ("/api/status", "/api/tables", "/healthz", "/metrics", "/api/decisions", "/api/version")[(number + i) % 6]
                answer = self.daemon.ask(path)
                if answer.status != 200:
                    wrong.append((path, answer.status, answer.text))

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(40)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual([], wrong[:3])
        self.settled()
        self.ends_well()

    def test_many(self):
        """One address gets 64 connections; what is more is closed at once, and there is room again afterwards."""
        self.start()
        kept = [self.dial() for _ in range(64)]
        for s in kept:
            s.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        for s in kept:
            self.assertEqual(200, status_of(s.recv(65536)))
        for _ in range(100):
            self.assertEqual(b"", self.say(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"))
        for s in kept:
            s.close()
        daemon.wait(lambda: self.say(b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200"), what="room for a connection")
        self.ends_well()

    def test_often(self):
        """Past the rate of an address there is 429; later there is room again."""
        self.start()
        one = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
        refused = b""
        for _ in range(60):
            answer = self.say(one * 200 + one[:-2] + b"Connection: close\r\n\r\n")
            if b"HTTP/1.1 429 " in answer:
                refused = answer[answer.index(b"HTTP/1.1 429 "):]
                break
        if refused:  # a slow machine never gets there
            self.assertIn(b"\r\nRetry-After: ", refused)
            self.assertIn(b"\r\nConnection: close\r\n", refused)
        daemon.wait(lambda: self.say(one).startswith(b"HTTP/1.1 200"), what="the rate to fall")
        self.ends_well()

    def test_rebound(self):
        """A page of another site reaches nothing, whatever name it goes by; the owner's own tools do."""
        self.start()
        body = b'{"specversion":"1.0","id":"x","source":"evil","type":"t","data":{"table":"lake.db.a"}}'
        for headers, status in REBOUND:
            for request in (b"GET /api/status HTTP/1.1\r\n", b"POST /api/reload HTTP/1.1\r\n",
                            b"POST /api/events HTTP/1.1\r\nContent-Type: application/cloudevents+json\r\nContent-Length: %d\r\n" % len(body)):
                answer = self.say(request + headers + b"\r\n" + (body if b"events" in request else b""))
                self.assertEqual(status, status_of(answer), (headers, request, answer))
                self.assertIn(b"\r\nContent-Type: application/problem+json\r\n", answer)
        self.assertEqual([], self.daemon.ask("/api/events").json().get("events", []))
        for headers in (b"Host: localhost:1\r\n", b"Host: 127.0.0.1\r\n", b"Host: [::1]:9\r\n", HOST + b"Origin: http://localhost\r\n"):
            self.assertEqual(200, status_of(self.say(b"GET /healthz HTTP/1.1\r\n" + headers + b"\r\n")), headers)
        self.ends_well()

    def test_named(self):
        self.start(serve='poll = "10m", hosts = { "ebb.example" }')
        self.assertEqual(200, status_of(self.say(b"GET /healthz HTTP/1.1\r\nHost: EBB.example:8443\r\nOrigin: https://ebb.example\r\n\r\n")))
        self.assertEqual(421, status_of(self.say(b"GET /healthz HTTP/1.1\r\nHost: x.ebb.example\r\n\r\n")))
        self.ends_well()

    def test_streams(self):
        """Listeners that come and go, that do not read, and one that is there at the end."""
        self.start()
        request = b"GET /api/stream HTTP/1.1\r\n" + HOST + b"Accept: text/event-stream\r\n\r\n"
        for i in range(50):
            s = self.dial()
            s.sendall(request)
            if i % 2:
                self.assertEqual(200, status_of(s.recv(65536)))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            s.close()
        self.alive()
        self.settled()
        s = self.dial()
        s.sendall(request)
        self.assertIn(b"text/event-stream", s.recv(65536))
        self.ends_well()


class Tls(Base):
    def setUp(self):
        super().setUp()
        self.cert, self.key = os.path.join(self.top, "cert.pem"), os.path.join(self.top, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key, "-out", self.cert,
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)

    def begin(self):
        self.policy()
        self.bind(serve='poll = "10m", tls = { cert = "%s", key = "%s" }' % (self.cert, self.key))
        self.table("a")
        d = daemon.Daemon(self.config, self.state)
        self.addCleanup(lambda: d.__exit__())
        self.daemon = d
        d.spawn()
        daemon.wait(self.is_placed, what="an address (%s)" % d.log)
        self.port = int(self.place()["address"].rsplit(":", 1)[1])
        self.rest()

    def is_placed(self):
        self.assertIsNone(self.daemon.process.poll(), self.daemon.said()[-2000:])
        return os.path.exists(os.path.join(self.state, "daemon.json"))

    def wrap(self, **versions):
        context = ssl.create_default_context(cafile=self.cert)
        for name, value in versions.items():
            setattr(context, name, value)
        return context.wrap_socket(self.dial(), server_hostname="localhost")

    def test_tls(self):
        self.begin()
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            s = self.wrap(minimum_version=version, maximum_version=version)
            s.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
            self.assertEqual(200, status_of(self.read(s)))
        self.assertEqual("https", self.place()["scheme"])
        self.ends_well()

    def test_against_tls(self):
        """Plain text, broken greetings, and peers that stop in the middle of one."""
        self.begin()
        drawn = random.Random(20260102)
        self.assertNotEqual(200, status_of(self.say(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")))
        greeting = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
        waiting = [self.dial() for _ in range(20)]
        for s in waiting:
            s.sendall(greeting)
        for i in range(50):
            self.say(greeting[:i % 11] + drawn.randbytes(drawn.randrange(1, 600)))
        with self.assertRaises((ssl.SSLError, OSError)):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.wrap_socket(self.dial())
        s = self.wrap()
        s.sendall(b"GET /api/status HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
        self.assertEqual(200, status_of(self.read(s)))
        for s in waiting:
            s.close()
        self.settled()
        self.ends_well()

    def test_bad_certificate(self):
        self.policy()
        for cert, key in ((self.key, self.key), (self.cert, self.cert), (self.cert, self.top), (os.path.join(self.top, "none.pem"), self.key)):
            self.bind(serve='poll = "10m", tls = { cert = "%s", key = "%s" }' % (cert, key))
            d = daemon.Daemon(self.config, self.state)
            d.spawn()
            self.assertEqual(64, d.process.wait(LIMIT_S), d.said())
            self.assertNotIn("PRIVATE KEY", d.said())


if __name__ == "__main__":
    unittest.main()
