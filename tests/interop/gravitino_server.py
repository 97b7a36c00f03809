#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a server of Apache Gravitino 1.3.0, with what is odd about it.

    with gravitino_server.Gravitino(pull_interval=0.2) as g:      g.uri, g.staging; metalake "ml" is there
        g.add_catalog("ml", "lake", warehouse="file:/wh")
        g.add_table("ml", "lake", "db", "orders", columns=[…], properties={…}, partitioning=[…])
        g.backing = gravitino_server.sqlite_backing({"lake": ("/path/catalog.db", "lake")})     tables of a real catalog
        g.fail("POST", r"/jobs/runs$", 503)                     the next one; after=True: it was done all the same; "drop"
        g.delay("GET", r"/tables/", 2)    g.count("GET", r"/policies")    g.requests    g.pull()    g.freeze()    g.forget(job)

On its own: python3 gravitino_server.py --port 8090 --metalake ml --catalog lake=/path/catalog.db; it tells its address and runs
until SIGTERM, which is an orderly stop.
"""
import argparse
import base64
import binascii
import contextlib
import http.server
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import struct
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse

import gravitino_objects as objects
import gravitino_runs as runs
import gravitino_wire as wire
from gravitino_wire import Fault

VERSIONED = re.compile(r"application/vnd\.gravitino\.v([0-9]+)\+json")
TOKEN_PATH = "/oauth/token"
HEALTH = re.compile(r"(/api)?/health(/live|/ready)?/?")

LAKE, OBJECT = "/metalakes/{metalake}", "/metalakes/{metalake}/objects/{type}/{fullName}"
CATALOG = LAKE + "/catalogs/{catalog}"
SCHEMA = CATALOG + "/schemas/{schema}"
TABLE = SCHEMA + "/tables/{table}"
ROUTES = {
    "/version": {"GET": "get_version"},
    "/metalakes": {"GET": "list_metalakes", "POST": "create_metalake"},
    LAKE: {"GET": "get_metalake", "PATCH": "set_metalake", "DELETE": "drop_metalake"},
    LAKE + "/catalogs": {"GET": "list_catalogs", "POST": "create_catalog"},
    CATALOG: {"GET": "get_catalog", "PATCH": "set_catalog", "DELETE": "drop_catalog"},
    CATALOG + "/schemas": {"GET": "list_schemas", "POST": "create_schema"},
    SCHEMA: {"GET": "get_schema", "DELETE": "drop_schema"},
    SCHEMA + "/tables": {"GET": "list_tables", "POST": "create_table"},
    TABLE: {"GET": "get_table", "PUT": "alter_table", "DELETE": "drop_table_call"},
    TABLE + "/partitions": {"GET": "list_partitions"},
    LAKE + "/policies": {"GET": "list_policies", "POST": "create_policy"},
    LAKE + "/policies/{policy}": {"GET": "get_policy", "PUT": "alter_policy", "PATCH": "set_policy", "DELETE": "delete_policy"},
    LAKE + "/policies/{policy}/objects": {"GET": "list_objects"},
    OBJECT + "/policies": {"GET": "list_attached", "POST": "attach"},
    OBJECT + "/policies/{policy}": {"GET": "get_attached"},
    OBJECT + "/statistics": {"GET": "list_statistics", "PUT": "put_statistics", "POST": "drop_statistics"},
    OBJECT + "/statistics/partitions": {"GET": "list_partition_statistics", "PUT": "put_partition_statistics", "POST": "drop_partition_statistics"},
    LAKE + "/jobs/templates": {"GET": "list_templates", "POST": "register_template"},
    LAKE + "/jobs/templates/{template}": {"GET": "get_template", "PUT": "alter_template", "DELETE": "delete_template"},
    LAKE + "/jobs/runs": {"GET": "list_runs", "POST": "start_run"},
    LAKE + "/jobs/runs/{job}": {"GET": "get_run", "POST": "cancel_run"},
}
PATTERNS = [(tuple(pattern.split("/")[1:]), methods) for pattern, methods in ROUTES.items()]

# of what a message is about: noun, what stands before its parent, the types of errors that it has no answer of its own for
NOUNS = {
    "metalake": ("metalake(s)", None, ()), "catalog": ("catalog(s)", " under metalake [%s]", ()), "schema": ("schema(s)", " under catalog [%s]", ()),
    "table": ("table(s)", " under schema [%s]", ()), "partition": ("partition(s)", " of table [%s]", ()), "policy": ("policy(s)", " under object [%s]", ()),
    "job": ("job(s)", " under object [%s]", ()), "job template": ("job template(s)", " under object [%s]", ()),
    "statistic": ("statistic(s)", " on parent [%s]", ("NotInUseException",)), "partition stats": ("partition stats", " of table [%s]", ("NotInUseException",)),
}


class Request:
    """One request as it came; status: of its answer, None when it got none."""

    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        self.path, _, query = target.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.user, self.status, self.at = None, None, time.time()

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return "<%s %s %s by %s: %s>" % (self.method, self.target, self.body[:200], self.user, self.status)


class Answer:
    """body None: none at all, the connection is reset."""

    def __init__(self, status, body=b"", kind=None, headers=()):
        self.status, self.body, self.kind, self.headers = status, body, kind, list(headers)


def json_answer(status, tree, headers=()):
    return Answer(status, wire.encode(tree), "application/json", headers)


def page(status, title):
    text = "<html>\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html;charset=ISO-8859-1\"/>\n<title>Error %d %s</title>\n</head>\n<body><h2>HTTP ERROR %d %s</h2>\n</body>\n</html>\n"
    return Answer(status, (text % (status, title, status, title)).encode(), "text/html;charset=iso-8859-1")


class Call:
    """A request whose operation is known."""

    def __init__(self, request, args):
        self.request, self.args, self.query, self.user = request, args, request.query, request.user
        self.subject = None

    def about(self, noun, operation, name="", parent=""):
        self.subject = (noun, operation, name or "", parent)

    def is_set(self, key):
        return self.query.get(key, "").lower() == "true"

    def body(self, shape):
        tree = wire.parse(self.request.body)
        if not isinstance(tree, dict):
            wire.wrong("object", tree)
        return shape(tree)

    def message(self, fault):
        """(type, message) of what went wrong."""
        noun, operation, name, parent = self.subject
        shown, under, unknown = NOUNS[noun]
        named = " [%s]" % name if name.strip() else ""
        if fault.kind == "RuntimeException" or fault.kind == "ConnectionFailedException" or any(fault.kind.endswith(kind) for kind in unknown):
            kind = "RuntimeException" if fault.kind != "ConnectionFailedException" else fault.kind
            where = " under [%s]" % parent if parent else ""
            return kind, "Failed to operate object%s operation [%s]%s, reason [%s]" % (named, operation, where, fault.reason)
        return fault.kind, "Failed to operate %s%s operation [%s]%s, reason [%s]" % (shown, named, operation, under % parent if under else "", fault.reason)


class Trouble:
    """What happens to the next so many requests that fit."""

    def __init__(self, method, pattern, status, times, after, seconds, headers, body):
        self.method, self.pattern, self.status, self.times, self.after, self.seconds = method, re.compile(pattern), status, times, after, seconds
        self.headers, self.body = headers, body

    def fits(self, request):
        return self.times > 0 and self.method in ("*", request.method) and self.pattern.search(request.target) is not None

    def answer(self):
        if self.status == "drop":
            return Answer(0, None)
        if self.body is not None:
            return Answer(self.status, self.body, "application/json", self.headers)
        if self.status in (502, 503, 504):
            return Answer(self.status, b"<html><body>%d</body></html>" % self.status, "text/html", self.headers)
        tree = wire.error_body(1002, "RuntimeException", "Failed to operate object operation [UNKNOWN], reason [made to fail]", "java.lang.RuntimeException: made to fail")
        return json_answer(self.status, tree, self.headers)


class Faults:
    """What a test may do to the server, and what it may look at."""

    def fail(self, method, pattern, status=500, times=1, after=False, headers=(), body=None):
        """Requests whose target fits are answered so; status "drop": the connection is reset. after: once they were done."""
        return self.trouble(Trouble(method, pattern, status, times, after, 0, headers, body))

    def delay(self, method, pattern, seconds, times=10**9, after=False):
        return self.trouble(Trouble(method, pattern, None, times, after, seconds, (), None))

    def trouble(self, one):
        with self.lock:
            self.troubles.append(one)
        return one

    def heal(self):
        with self.lock:
            self.troubles.clear()

    def met(self, request, after):
        """The answer of the trouble that a request runs into, or None."""
        with self.lock:
            fitting = [one for one in self.troubles if one.after == after and one.fits(request)]
            hit = next((one for one in fitting if one.status is not None), None)
            waits = [one.seconds for one in fitting if one.status is None]
            for one in fitting:
                if one is hit or one.status is None:
                    one.times -= 1
        for seconds in waits:
            time.sleep(seconds)
        return hit.answer() if hit else None

    def asked(self, method="*", pattern=""):
        """The requests so far whose target fits."""
        with self.lock:
            return [one for one in self.requests if method in ("*", one.method) and re.search(pattern, one.target)]

    def count(self, method="*", pattern=""):
        return len(self.asked(method, pattern))

    def freeze(self):
        """Statuses of runs stay as they are until thaw(); pull() still works."""
        self.is_frozen = True

    def thaw(self):
        self.is_frozen = False

    def forget(self, job_id):
        """A job that is done vanishes, as it does after the time for which its staging folder is kept."""
        with self.lock:
            for lake in self.metalakes.values():
                run = lake.runs.pop(job_id, None) or lake.gone_runs.pop(job_id, None)
                if run:
                    shutil.rmtree(run.folder, ignore_errors=True)

    def run(self, job_id):
        """What the server knows of a run: .command, .environment, .folder, .process, .exit_code, .history, .output, .errors."""
        with self.lock:
            return next(lake.runs.get(job_id) or lake.gone_runs[job_id] for lake in self.metalakes.values() if job_id in lake.runs or job_id in lake.gone_runs)

    def all_runs(self, metalake="ml"):
        with self.lock:
            return list(self.metalakes[metalake].runs.values())


class Setup:
    """What a test puts there without a request."""

    def add_metalake(self, name, user="anonymous", comment=None, properties=None):
        with self.lock:
            lake = self.metalakes[name] = objects.Metalake(name, self.audit(user), comment, properties)
            for fields in runs.builtin_templates(self.jar) if self.has_builtins else ():
                lake.templates[fields["name"]] = runs.Template(fields, self.audit("anonymous"))
        return lake

    def add_catalog(self, metalake, name, warehouse=None, provider="lakehouse-iceberg", **properties):
        """properties: of the catalog, with _ for -, e.g. catalog_backend="jdbc"."""
        shown = {key.replace("_", "-"): value for key, value in properties.items()}
        with self.lock:
            catalog = objects.Catalog(name, self.audit("anonymous"), provider=provider, properties={**shown, **({"warehouse": warehouse} if warehouse else {})})
            self.metalakes[metalake].catalogs[name] = catalog
        return catalog

    def add_schema(self, metalake, catalog, name):
        with self.lock:
            schemas = self.metalakes[metalake].catalogs[catalog].schemas
            return schemas.setdefault(name, objects.Schema(name, self.audit("anonymous")))

    def add_table(self, metalake, catalog, schema, name, columns=(), properties=None, partitioning=(), user="anonymous", **more):
        """A table, or what it has become; more: comment, sortOrders, distribution, indexes."""
        with self.lock:
            table = {"columns": list(columns or ()), "properties": dict(properties or {}), "partitioning": list(partitioning or ()), "audit": self.audit(user), **more}
            self.add_schema(metalake, catalog, schema).tables[name] = table
        return table

    def add_template(self, metalake, name, executable, arguments=(), kind="shell", user="anonymous", **more):
        """A job template, also one whose name is reserved; more: comment, environments, scripts, configs…"""
        with self.lock:
            fields = {**dict.fromkeys(runs.FIELDS), "jobType": kind, "name": name, "executable": executable, "arguments": list(arguments), **more}
            self.metalakes[metalake].templates[name] = runs.Template(fields, self.audit(user))

    def set_properties(self, metalake, catalog, schema, name, **properties):
        """As a commit changes them; _ for - in names: current_snapshot_id="7"."""
        with self.lock:
            table = self.metalakes[metalake].catalogs[catalog].schemas[schema].tables[name]
            table["properties"].update({key.replace("_", "-"): value for key, value in properties.items()})

    def drop_table(self, metalake, catalog, schema, name):
        with self.lock:
            lake = self.metalakes[metalake]
            self.detach(lake, "%s.%s.%s" % (catalog, schema, name))
            return lake.catalogs[catalog].schemas[schema].tables.pop(name, None) is not None


class Access:
    """Who asks. simple: whoever says a name; oauth: who has a token of ours that is not too old."""

    def who(self, request):
        if HEALTH.fullmatch(request.path):
            return "anonymous"
        said = request.headers.get("Authorization")
        return self.bearer(said) if self.auth == "oauth" else self.basic(said)

    def basic(self, said):
        if said is None:
            return "anonymous"
        if not said.startswith("Basic "):
            raise Fault("UnauthorizedException", "The provided credentials did not support", is_final=True)
        try:
            return base64.b64decode(said[6:].strip(), validate=True).decode("utf-8", "replace").split(":")[0] or "anonymous"
        except (binascii.Error, ValueError):
            return "anonymous"

    def bearer(self, said):
        if not (said or "").startswith("Bearer "):
            raise Fault("UnauthorizedException", "The provided credentials did not support" if said else "Empty token authorization header", is_final=True)
        with self.lock:
            user, until = self.tokens.get(said[7:].strip(), (None, 0))
        if time.monotonic() >= until:
            raise Fault("UnauthorizedException", "JWT parse error" if user is None else "JWT expired", is_final=True)
        return user

    def token(self, request):
        """The answer of the token endpoint, which is that of an identity provider."""
        form = dict(urllib.parse.parse_qsl(request.body.decode("utf-8", "replace"), keep_blank_values=True))
        if (request.headers.get("Content-Type") or "").split(";")[0].strip() != "application/x-www-form-urlencoded" or form.get("grant_type") != "client_credentials":
            return json_answer(400, {"error": "unsupported_grant_type", "error_description": "client_credentials is supported"})
        if (form.get("client_id"), form.get("client_secret")) != self.client:
            return json_answer(401, {"error": "invalid_client", "error_description": "unknown client or wrong secret"})
        claims = {"sub": form["client_id"], "exp": int(time.time() + self.token_seconds), "jti": os.urandom(8).hex()}
        token = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (b'{"alg":"none"}', json.dumps(claims).encode(), os.urandom(24)))
        with self.lock:
            self.tokens[token] = (form["client_id"], time.monotonic() + self.token_seconds)
        return json_answer(200, {"access_token": token, "token_type": "Bearer", "expires_in": int(self.token_seconds), "scope": form.get("scope", "")}, [("Cache-Control", "no-store")])

    def expire_tokens(self):
        """All that were given out."""
        with self.lock:
            self.tokens = {token: (user, 0) for token, (user, _) in self.tokens.items()}


class Gravitino(objects.Places, objects.Policies, objects.Statistics, runs.Jobs, Faults, Setup, Access):
    """metalakes: that are there from the start. staging: folder of the runs' folders; without, one of its own, removed at the end.
    pull_interval: seconds between two looks at the runs. auth: "simple", "oauth". newer: knows the policy types of later releases.
    environment: of the runs' processes instead of the server's. idle_seconds: after which a connection that nobody uses is closed.
    seed: of the order of lists."""

    def __init__(self, port=0, metalakes=("ml",), staging=None, pull_interval=300.0, max_running=1, queue_limit=100, auth="simple", client=("ebb", "secret"), token_seconds=3600.0,
                 newer=False, has_builtins=True, version="1.3.0", environment=None, spark_home=None, idle_seconds=30.0, seed=1):
        self.port, self.pull_interval, self.max_running, self.queue_limit = port, pull_interval, max_running, queue_limit
        self.auth, self.client, self.token_seconds, self.tokens = auth, tuple(client), token_seconds, {}
        self.newer, self.has_builtins, self.version, self.environment, self.spark_home, self.idle_seconds = newer, has_builtins, version, environment, spark_home, idle_seconds
        self.lock, self.draw, self.clock = threading.RLock(), random.Random(seed), time.time_ns
        self.backing = None  # (metalake, catalog) → {schema: {table: {"columns", "properties", "partitioning"…}, or a function that gives it}}
        self.metalakes, self.audits, self.requests, self.troubles, self.bugs = {}, {}, [], [], []
        self.is_frozen, self.server, self.executor, self.ended = False, None, None, threading.Event()
        self.own_folder = tempfile.mkdtemp(prefix="gravitino-")
        self.staging = os.path.abspath(staging or os.path.join(self.own_folder, "staging"))
        os.makedirs(self.staging, exist_ok=True)
        self.jar = os.path.join(self.own_folder, "gravitino-jobs-%s.jar" % version)
        with open(self.jar, "wb"):
            pass
        for name in metalakes:
            self.add_metalake(name)

    # -- its life

    def start(self):
        self.executor = runs.Executor(self.lock, self.max_running, self.queue_limit, self.environment, self.spark_home)
        self.server = _Server(("127.0.0.1", self.port), _Handler)
        self.server.gravitino = self
        self.port = self.server.server_address[1]
        self.ended = threading.Event()
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        threading.Thread(target=self.keep_pulling, args=(self.ended,), daemon=True).start()
        return self

    def keep_pulling(self, ended):
        last = time.monotonic()
        while not ended.wait(min(0.05, max(self.pull_interval / 4, 0.005))):
            if time.monotonic() - last >= self.pull_interval:
                last = time.monotonic()
                if not self.is_frozen:
                    self.pull()

    def halt(self):
        self.ended.set()
        self.server.shutdown()
        self.server.drop_connections()
        self.server.server_close()
        self.server = None
        with self.lock:
            for lake in self.metalakes.values():
                lake.gone_runs.clear()

    def stop(self):
        """An orderly end: children get SIGTERM. What the server has stored stays for start()."""
        self.halt()
        with self.lock:
            return self.executor.close()

    def kill(self):
        """A crash: children go on."""
        self.halt()
        with self.lock:
            self.executor.abandon()

    def restart(self):
        self.stop()
        return self.start()

    def close(self):
        """The end of the test: no process of a run is left, nor a folder of its own."""
        if self.server:
            self.stop()
        for lake in self.metalakes.values():
            for run in lake.runs.values():
                if run.process:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.killpg(run.process.pid, signal.SIGKILL)
        shutil.rmtree(self.own_folder, ignore_errors=True)

    def __enter__(self):
        return self if self.server else self.start()

    def __exit__(self, *_):
        self.close()

    @property
    def uri(self):
        return "http://127.0.0.1:%d" % self.port

    # -- what the operations share

    def now(self):
        return wire.instant(self.clock())

    def audit(self, user):
        return {"creator": user, "createTime": self.now()}

    def touched(self, audit, user):
        return {"creator": audit["creator"], "createTime": audit["createTime"], "lastModifier": user, "lastModifiedTime": self.now()}

    def mix(self, items):
        """The same in no order that one could rely on."""
        self.draw.shuffle(items)
        return items

    def new_number(self):
        return self.draw.randrange(10**17, 2**63)

    def get_version(self, call):
        return {"version": {"version": self.version, "compileDate": "24/06/2026 09:05:34", "gitCommit": "0" * 40}}

    # -- requests

    def serve(self, request):
        with self.lock:
            self.requests.append(request)
        answer = self.met(request, False)
        if answer is None:
            answer = self.perform(request)
            answer = self.met(request, True) or answer
        request.status = answer.status if answer.body is not None else None
        return answer

    def perform(self, request):
        if request.path == TOKEN_PATH and request.method == "POST":
            return self.token(request)
        try:
            request.user = self.who(request)
        except Fault as fault:
            return self.failure(None, fault)
        if HEALTH.fullmatch(request.path) and request.method == "GET":
            return json_answer(200, {"code": 0, "status": "up", "checks": [{"name": "entityStore", "status": "up", "details": {}}]})
        found = route(request.path)
        if found is None:
            return page(404, "Not Found")
        methods, args = found
        return self.refusal(request, methods) or self.operate(Call(request, args), methods["GET" if request.method == "HEAD" else request.method])

    def refusal(self, request, methods):
        """What is answered before a body is read."""
        if request.method not in methods and not (request.method == "HEAD" and "GET" in methods):
            return Answer(405, headers=[("Allow", ",".join([*(("HEAD",) if "GET" in methods else ()), *methods, "OPTIONS"]))])
        asked = VERSIONED.findall(request.headers.get("Accept") or "")
        if asked and "1" not in asked:
            return Answer(406)
        kind = (request.headers.get("Content-Type") or "").split(";")[0].strip().lower()
        if request.body and kind != "application/json" and request.method in ("POST", "PUT", "PATCH"):
            return page(415, "Unsupported Media Type")
        return None

    def operate(self, call, operation):
        try:
            with self.lock:
                return json_answer(200, {"code": 0, **getattr(self, operation)(call)})
        except wire.Malformed as error:
            return json_answer(400, wire.error_body(1001, "IllegalArgumentException", "Malformed json request", str(error)))
        except Fault as fault:
            return self.failure(call, fault)
        except Exception:  # nothing that a test should take for an answer of Gravitino
            self.bugs.append(traceback.format_exc())
            return Answer(500, self.bugs[-1].encode(), "text/plain")

    def failure(self, call, fault):
        kind, message = (fault.kind, fault.reason) if fault.is_final else call.message(fault)
        status, code = wire.status_of(kind)
        why = None if fault.is_final and kind.startswith("NoSuch") else "org.apache.gravitino.exceptions.%s: %s" % (fault.kind, fault.reason)
        return json_answer(status, wire.error_body(code, kind, message, why))


def route(path):
    """(operations by method, what stands in the path) or None; each segment is decoded once."""
    if not path.startswith("/api/"):
        return None
    segments = path[len("/api/") :].rstrip("/").split("/")
    for pattern, methods in PATTERNS:
        if len(pattern) == len(segments) and all(want.startswith("{") and have or want == have for want, have in zip(pattern, segments)):
            return methods, {want[1:-1]: urllib.parse.unquote(have) for want, have in zip(pattern, segments) if want.startswith("{")}
    return None


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "Jetty(9.4.57.v20241219)", ""
    disable_nagle_algorithm = True  # head and body are two writes

    def log_message(self, *_):
        pass

    def setup(self):
        self.timeout = self.server.gravitino.idle_seconds
        super().setup()

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def answer(self):
        request = Request(self.command, self.path, self.headers, self.read_body())
        answer = self.server.gravitino.serve(request)
        if answer.body is None:
            self.reset()
            return
        self.send_response(answer.status)
        for name, value in [*((("Content-Type", answer.kind),) if answer.kind else ()), *answer.headers, ("Content-Length", str(len(answer.body)))]:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer

    def read_body(self):
        if "chunked" not in (self.headers.get("Transfer-Encoding") or "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while True:
            length = int(self.rfile.readline().split(b";")[0], 16)
            parts.append(self.rfile.read(length))
            self.rfile.readline()
            if not length:
                return b"".join(parts)

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, *args):
        self.connections = set()
        super().__init__(*args)

    def process_request(self, request, client_address):
        self.connections.add(request)
        super().process_request(request, client_address)

    def handle_error(self, request, client_address):
        pass

    def shutdown_request(self, request):
        self.connections.discard(request)
        request.close()  # no good-bye: a reset is a reset

    def drop_connections(self):
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


# ---- tables of real catalogs ----

TYPES = {"int": "integer", "timestamp": "timestamp(6)", "timestamptz": "timestamp_tz(6)", "time": "time(6)"}


def type_of(kind):
    """The type of a column, from an Iceberg schema's."""
    if isinstance(kind, str):
        fixed, decimal = re.fullmatch(r"fixed\[(\d+)\]", kind), re.fullmatch(r"decimal\((\d+), *(\d+)\)", kind)
        return "fixed(%s)" % fixed.group(1) if fixed else "decimal(%s,%s)" % decimal.groups() if decimal else TYPES.get(kind, kind)
    if kind["type"] == "list":
        return {"type": "list", "elementType": type_of(kind["element"]), "containsNull": not kind["element-required"]}
    if kind["type"] == "map":
        return {"type": "map", "keyType": type_of(kind["key"]), "valueType": type_of(kind["value"]), "valueContainsNull": not kind["value-required"]}
    return {"type": "struct", "fields": [{"name": f["name"], "type": type_of(f["type"]), "nullable": not f["required"]} for f in kind["fields"]]}


def paths_of(fields, before=()):
    """{field id: path of names} of a schema, the nested ones, too."""
    found = {}
    for field in fields:
        found[field["id"]] = [*before, field["name"]]
        if isinstance(field["type"], dict) and field["type"]["type"] == "struct":
            found.update(paths_of(field["type"]["fields"], found[field["id"]]))
    return found


def partition_of(transform, path):
    name, _, number = transform.rstrip("]").partition("[")
    if name == "bucket":
        return {"strategy": "bucket", "numBuckets": int(number), "fieldNames": [path]}
    if name == "truncate":
        return {"strategy": "truncate", "width": int(number), "fieldName": path}
    return {"strategy": name, "fieldName": path}


def table_of_metadata(metadata):
    """What Gravitino tells of a table, from the tree of its metadata file."""
    schema = next((s for s in metadata.get("schemas", ()) if s["schema-id"] == metadata.get("current-schema-id")), None) or metadata["schema"]
    spec = next((s["fields"] for s in metadata.get("partition-specs", ()) if s["spec-id"] == metadata.get("default-spec-id")), metadata.get("partition-spec", []))
    paths = paths_of(schema["fields"])
    current = metadata.get("current-snapshot-id")
    own = metadata.get("properties", {})
    return {
        "columns": [wire.without_nulls({"name": f["name"], "type": type_of(f["type"]), "comment": f.get("doc"), "nullable": not f["required"]}) for f in schema["fields"]],
        "partitioning": [partition_of(f["transform"], paths[f["source-id"]]) for f in spec if f["transform"] != "void"],
        "properties": {**own, "location": metadata["location"], "current-snapshot-id": "none" if current in (None, -1) else str(current),
                       "format": "iceberg/" + own.get("write.format.default", "parquet"), "provider": "iceberg", "format-version": str(metadata["format-version"])}}


def table_of_file(location):
    path = urllib.parse.unquote(urllib.parse.urlsplit(location).path) if location.startswith("file:") else location
    with open(path, encoding="utf-8") as f:
        return table_of_metadata(json.load(f))


def sqlite_backing(catalogs):
    """A `backing` of Iceberg JDBC catalogs; catalogs: {catalog: (database file, name of the catalog in it)}."""
    def tables(metalake, catalog):
        if catalog not in catalogs:
            return None
        path, name = catalogs[catalog]
        with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % urllib.parse.quote(path), uri=True)) as db:
            rows = db.execute("SELECT table_namespace, table_name, metadata_location FROM iceberg_tables WHERE catalog_name = ?", (name,)).fetchall()
        found = {}
        for schema, table, location in rows:
            found.setdefault(schema, {})[table] = lambda location=location: table_of_file(location)
        return found
    return tables


def rest_backing(catalogs):
    """A `backing` of Iceberg REST catalogs; catalogs: {catalog: servers.Rest}. Namespaces of one level."""
    def call(rest, path):
        status, answer = rest.call("GET", path)
        if status != 200:
            raise OSError("%s: %d %s" % (path, status, answer))
        return answer

    def tables(metalake, catalog):
        if catalog not in catalogs:
            return None
        rest, found = catalogs[catalog], {}
        for levels in call(rest, "namespaces")["namespaces"]:
            quoted = urllib.parse.quote(levels[0], safe="")
            names = [one["name"] for one in call(rest, "namespaces/%s/tables" % quoted)["identifiers"]]
            found[levels[0]] = {name: lambda levels=levels, name=name: table_of_metadata(rest.load(levels[0], name)["metadata"]) for name in names}
        return found
    return tables


def main():
    parser = argparse.ArgumentParser(description="a stand-in for Gravitino 1.3.0")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--metalake", action="append", metavar="NAME", help="default: ml")
    parser.add_argument("--catalog", action="append", default=[], metavar="NAME[=FILE]", help="in each metalake; FILE: an SQLite database of an Iceberg JDBC catalog of that name")
    parser.add_argument("--staging", help="folder of the runs")
    parser.add_argument("--pull-interval", type=float, default=300.0, metavar="SECONDS")
    parser.add_argument("--max-running", type=int, default=1)
    parser.add_argument("--oauth", metavar="CLIENT:SECRET")
    parser.add_argument("--token-seconds", type=float, default=3600.0)
    parser.add_argument("--newer", action="store_true", help="knows the policy types of later releases")
    parser.add_argument("--version", default="1.3.0")
    options = parser.parse_args()
    lakes = options.metalake or ["ml"]
    access = {"auth": "oauth", "client": tuple(options.oauth.split(":", 1))} if options.oauth else {}
    server = Gravitino(options.port, lakes, options.staging, options.pull_interval, options.max_running, token_seconds=options.token_seconds, newer=options.newer,
                       version=options.version, **access)
    catalogs = dict(text.partition("=")[::2] for text in options.catalog)
    for lake in lakes:
        for name, path in catalogs.items():
            server.add_catalog(lake, name, **({"catalog_backend": "jdbc", "uri": "jdbc:sqlite:" + os.path.abspath(path), "catalog_backend_name": name} if path else {}))
    server.backing = sqlite_backing({name: (path, name) for name, path in catalogs.items() if path})
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    with server:
        print(server.uri, flush=True)
        told.wait()


if __name__ == "__main__":
    sys.exit(main())
