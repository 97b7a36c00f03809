# SPDX-License-Identifier: Apache-2.0
"""Starts `ebb serve` on a port of the kernel's, asks it, looks at its process, and ends it."""
import http.client
import json
import os
import resource
import signal
import subprocess
import time
import urllib.parse

import program

READY_S = 60


def wait(condition, seconds=READY_S, step=0.05, what="what was waited for"):
    """The first true value of the condition; AssertionError when the time is over."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError("%s did not come within %g s" % (what, seconds))
        time.sleep(step)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode("utf-8", "surrogateescape")

    def json(self):
        return json.loads(self.body)


class Daemon:
    """limits: {resource.RLIMIT_…: soft and hard}; what it says goes to `log`."""

    def __init__(self, config, state, *args, env=None, limits=None, log=None):
        self.config, self.state, self.args = config, state, args
        self.env = {**os.environ, "TZ": "UTC", **(env or {})}
        self.limits = limits or {}
        self.log = log or os.path.join(os.path.dirname(config), "daemon.log")
        self.process = None
        self.address = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def spawn(self):
        def limit():
            for what, most in self.limits.items():
                resource.setrlimit(what, (most, most))

        with open(self.log, "ab") as out:
            self.process = subprocess.Popen([program.path(), "serve", "--config", self.config, "--state", self.state, "--listen", "127.0.0.1:0", *self.args],
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self.env, preexec_fn=limit if self.limits else None)

    def start(self, seconds=READY_S):
        self.spawn()
        wait(self.is_serving, seconds, what="an address of the daemon (%s)" % self.log)

    def is_serving(self):
        if self.process.poll() is not None:
            raise AssertionError("the daemon ended with %d: %s" % (self.process.returncode, self.said()[-3000:]))
        try:
            with open(os.path.join(self.state, "daemon.json"), encoding="utf-8") as f:
                place = json.load(f)
        except (OSError, ValueError):
            return False
        if place.get("pid") != self.process.pid:
            return False
        self.address = place["address"]
        try:
            return self.ask("/healthz").status == 200
        except OSError:
            return False

    def is_ready(self):
        return self.ask("/readyz").status == 200

    def said(self):
        with open(self.log, encoding="utf-8", errors="surrogateescape") as f:
            return f.read()

    def ask(self, path, method="GET", body=None, headers=None, timeout=60):
        host = urllib.parse.urlsplit("http://" + self.address)
        connection = http.client.HTTPConnection(host.hostname, host.port, timeout=timeout)
        sent = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def status(self):
        return self.ask("/api/status").json()

    def metrics(self):
        """{name with its labels: value}"""
        lines = [line.rsplit(" ", 1) for line in self.ask("/metrics").text.splitlines() if line and not line.startswith("#")]
        return {name: float(value) for name, value in lines}

    def total(self, name):
        """Sum of a metric over its labels."""
        return sum(v for n, v in self.metrics().items() if n.split("{")[0] == name)

    def rss_bytes(self):
        with open("/proc/%d/statm" % self.process.pid, encoding="ascii") as f:
            return int(f.read().split()[1]) * resource.getpagesize()

    def cpu_s(self):
        with open("/proc/%d/stat" % self.process.pid, encoding="ascii") as f:
            words = f.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def fds(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def hup(self):
        self.process.send_signal(signal.SIGHUP)

    def stop(self, seconds=60):
        """End it in good order; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def kill(self):
        self.process.kill()
        self.process.wait()
