# SPDX-License-Identifier: Apache-2.0
"""Real servers for the interop tests: S3 (versitygw, moto), Iceberg REST catalogs, Spark, Trino, Livy.

    s3 = servers.s3()                    s3.endpoint s3.key s3.secret s3.region; s3.new_bucket(), s3.client, s3.put(…, mtime_ms)
    moto = servers.moto()                the same, and Glue and STS at the same endpoint
    rest = servers.rest("1.11.0")        or "1.10.1", "nessie": rest.uri, rest.warehouse, rest.s3; rest.call(method, path, body)
                                         rest.namespace(["shop"], __name__): one that no other file uses
    spark = servers.spark(rest)          spark.sql(text) → rows, in one long session; spark.cli(statements) by spark-sql -f
    trino = servers.trino(rest)          trino.endpoint; trino.query(sql) → rows
    livy = servers.livy()                livy.endpoint, livy.jobs

Each is started once for the process that asks, on a port of the kernel's, on 127.0.0.1, with a data folder of its own, and is ended
with that process however that ends (keep.py). What is not installed skips the test, and fails it where EBB_CI is set.
`tests/interop/install` installs; see parts.py for versions.
"""
import atexit
import collections
import http.client
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import parts
import s3client

HERE = os.path.dirname(os.path.abspath(__file__))
KEY, SECRET, REGION = "ebbtest", "ebbtestsecret", "us-east-1"
READY_S = 240
CATALOG = "lake"

_started = {}
_base = []


class NotStarted(Exception):
    pass


def need(*names):
    """Skip (fail in CI) when one of these parts is not installed."""
    for name in names:
        if not parts.is_installed(name):
            why = "server %s is not installed (tests/interop/install %s)" % (name, name)
            if os.environ.get("EBB_CI"):
                raise NotStarted(why)
            raise unittest.SkipTest(why)


def need_java(least, most=999):
    found = parts.java(least, most)
    if found is None:
        why = "no Java %d to %d for the server (tests/interop/install)" % (least, most)
        if os.environ.get("EBB_CI"):
            raise NotStarted(why)
        raise unittest.SkipTest(why)
    return found


def free_ports(count=1):
    """Distinct ports that nobody listens on now."""
    taken = [socket.socket() for _ in range(count)]
    for one in taken:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return ports


def _has_xattrs(folder):
    try:
        os.setxattr(folder, "user.ebb", b"1")
        return True
    except OSError:
        return False


def folder(name):
    """A fresh folder of a server's own, removed at the end; on a file system with user attributes, which versitygw needs."""
    if not _base:
        base = tempfile.mkdtemp(prefix="ebb-interop-")
        if not _has_xattrs(base):
            os.rmdir(base)
            os.makedirs(parts.HOME, exist_ok=True)
            base = tempfile.mkdtemp(prefix="run-", dir=parts.HOME)
        _base.append(base)
        if not os.environ.get("EBB_KEEP"):
            atexit.register(shutil.rmtree, base, ignore_errors=True)
    return tempfile.mkdtemp(prefix=name + "-", dir=_base[0])


def http_status(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except (OSError, http.client.HTTPException):
        return 0, b""


class Process:
    """A server as a child of keep.py."""

    def __init__(self, name, command, env=None, where=None):
        self.name = name
        self.log = os.path.join(where or folder(name), name + ".log")
        self.child = subprocess.Popen([sys.executable, os.path.join(HERE, "keep.py"), self.log, *command], stdin=subprocess.PIPE,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})}, start_new_session=True)
        atexit.register(self.stop)

    def said(self, most=3000):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                return f.read()[-most:]
        except OSError:
            return ""

    def wait(self, is_ready, seconds=READY_S):
        deadline = time.monotonic() + seconds
        while not is_ready():
            if self.child.poll() is not None:
                raise NotStarted("server %s ended: %s" % (self.name, self.said()))
            if time.monotonic() > deadline:
                self.stop()
                raise NotStarted("server %s did not start within %d s: %s" % (self.name, seconds, self.said()))
            time.sleep(0.1)

    def stop(self):
        """Ask keep.py to end it, and wait until it is gone."""
        if self.child.stdin and not self.child.stdin.closed:
            self.child.stdin.close()
        try:
            self.child.wait(30)
        except subprocess.TimeoutExpired:
            self.child.terminate()
            self.child.wait(30)


def _once(key, make):
    """The same server for all who ask in this process; one that could not start is not tried again."""
    if key not in _started:
        try:
            _started[key] = make()
        except NotStarted as error:
            _started[key] = error
    if isinstance(_started[key], NotStarted):
        raise _started[key]
    return _started[key]


# ---- object storage ----


class S3:
    """kind "versitygw": strict, sends raw keys, and normalises them; "moto": lenient, keeps every byte, encodes."""

    def __init__(self, kind, process, endpoint, data=None):
        self.kind, self.process, self.endpoint, self.data = kind, process, endpoint, data
        self.key, self.secret, self.region = KEY, SECRET, REGION
        self.client = s3client.Client(endpoint, KEY, SECRET, REGION)
        self.encodes = kind == "moto"
        self._count = itertools.count(1)

    def new_bucket(self, name=None):
        bucket = name or "bucket-%d" % next(self._count)
        self.client.make_bucket(bucket)
        return bucket

    def env(self):
        """Settings of the usual environment variables."""
        return {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_REGION": self.region, "AWS_ENDPOINT_URL_S3": self.endpoint,
                "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent"}

    def put(self, bucket, key, data, mtime_ms=None):
        headers = {"X-Test-Mtime": str(mtime_ms)} if mtime_ms is not None and self.kind == "moto" else None
        self.client.put(bucket, key, data, headers)
        if mtime_ms is not None and self.kind == "versitygw":
            self.set_mtime(bucket, key, mtime_ms)

    def set_mtime(self, bucket, key, mtime_ms):
        """Makes an object older or younger; moto only takes it while storing."""
        if self.kind == "versitygw":
            os.utime(os.path.join(self.data, bucket, key), ns=(mtime_ms * 10**6, mtime_ms * 10**6))
        else:
            self.put(bucket, key, self.client.get(bucket, key), mtime_ms)

    def list(self, bucket, prefix=""):
        return self.client.list(bucket, prefix, self.encodes)

    def stop(self):
        self.process.stop()


def _start_versitygw(name, options):
    need("versitygw")
    where = folder(name)
    data, versions = os.path.join(where, "data"), os.path.join(where, "versions")
    os.mkdir(data)
    os.mkdir(versions)
    port = free_ports()[0]
    command = [parts.place("s3", "bin", "versitygw"), "--port", "127.0.0.1:%d" % port, "--health", "/health", "--quiet", *options, "posix", "--versioning-dir", versions, data]
    process = Process(name, command, {"ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET}, where)
    process.wait(lambda: http_status("http://127.0.0.1:%d/health" % port)[0] == 200, 60)
    return S3("versitygw", process, "http://127.0.0.1:%d" % port, data)


def s3(name="s3"):
    """versitygw. Another name: another one."""
    return _once(("s3", name), lambda: _start_versitygw(name, []))


def slow_s3():
    """versitygw that answers 503 SlowDown to more than two requests at once."""
    return _once("slow_s3", lambda: _start_versitygw("slow_s3", ["--max-requests", "2"]))


def _start_moto():
    need("moto")
    where = folder("moto")
    port = free_ports()[0]
    process = Process("moto", [parts.place("s3", "moto", "bin", "python"), os.path.join(HERE, "moto_aged.py"), "-H", "127.0.0.1", "-p", str(port)], where=where)
    process.wait(lambda: http_status("http://127.0.0.1:%d/moto-api/data.json" % port)[0] == 200, 120)
    return S3("moto", process, "http://127.0.0.1:%d" % port)


def moto():
    return _once("moto", _start_moto)


# ---- Iceberg REST catalogs ----


class Rest:
    def __init__(self, kind, process, uri, warehouse, storage):
        self.kind, self.process, self.uri, self.warehouse, self.s3 = kind, process, uri, warehouse, storage
        self.bucket = warehouse.split("/")[2]
        self.prefix = "main/" if kind == "nessie" else ""
        self.users = {}

    def call(self, method, path, body=None):
        """(status, JSON) of a request below /v1/{prefix}."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request("%s/v1/%s%s" % (self.uri, self.prefix, path), data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            text = error.read()
            try:
                return error.code, json.loads(text)
            except ValueError:
                return error.code, text.decode("utf-8", "replace")

    def namespace(self, levels, user):
        """Makes it, unless it is there. Its first level is of one file of tests alone (user: __name__): all of them share this catalog."""
        if self.users.setdefault(levels[0], user) != user:
            raise AssertionError("namespace %s is of %s, %s needs one of its own" % (levels[0], self.users[levels[0]], user))
        for depth in range(1, len(levels) + 1):
            status, answer = self.call("POST", "namespaces", {"namespace": levels[:depth], "properties": {}})
            if status not in (200, 409):
                raise AssertionError("namespace %s: %d %s" % (levels[:depth], status, answer))

    def load(self, namespace, table):
        status, answer = self.call("GET", "namespaces/%s/tables/%s?snapshots=all" % (urllib.parse.quote(namespace), urllib.parse.quote(table)))
        if status != 200:
            raise AssertionError("load of %s.%s: %d %s" % (namespace, table, status, answer))
        return answer

    def stop(self):
        self.process.stop()


def _fixture(kind, storage, bucket, where, port):
    env = {"CATALOG_REST_PORT": str(port), "CATALOG_CATALOG_NAME": "rest", "CATALOG_WAREHOUSE": "s3://%s/wh" % bucket, "CATALOG_URI": "jdbc:sqlite:%s/catalog.db" % where,
           "CATALOG_JDBC_SCHEMA__VERSION": "V1", "CATALOG_IO__IMPL": "org.apache.iceberg.aws.s3.S3FileIO", "CATALOG_S3_ENDPOINT": storage.endpoint,
           "CATALOG_S3_PATH__STYLE__ACCESS": "true", "CATALOG_CLIENT_REGION": REGION, "CATALOG_S3_ACCESS__KEY__ID": KEY, "CATALOG_S3_SECRET__ACCESS__KEY": SECRET,
           "CATALOG_INCLUDE__CREDENTIALS": "true", "AWS_REGION": REGION}
    command = [need_java(17, 23), "-Xmx512m", "-cp", parts.place("rest", "lib-" + kind, "*"), "org.apache.iceberg.rest.RESTCatalogServer"]
    return command, env, "http://127.0.0.1:%d" % port


def _nessie(storage, bucket, port, management):
    option = "-Dnessie.catalog.service.s3.default-options."
    command = [need_java(21), "-Xmx700m", "-Dquarkus.http.host=127.0.0.1", "-Dquarkus.http.port=%d" % port, "-Dquarkus.management.host=127.0.0.1",
               "-Dquarkus.management.port=%d" % management, "-Dnessie.version.store.type=IN_MEMORY", "-Dnessie.catalog.default-warehouse=wh",
               "-Dnessie.catalog.warehouses.wh.location=s3://%s/wh" % bucket, option + "endpoint=" + storage.endpoint, option + "path-style-access=true",
               option + "region=" + REGION, option + "auth-type=STATIC", option + "access-key=urn:nessie-secret:quarkus:ebb.k", "-Debb.k.name=" + KEY,
               "-Debb.k.secret=" + SECRET, "-jar", parts.place(parts.PARTS["nessie"][0])]
    return command, {}, "http://127.0.0.1:%d/iceberg" % port


def _start_rest(kind, storage):
    need("nessie" if kind == "nessie" else "rest-" + kind)
    where = folder("rest")
    bucket = storage.new_bucket("lake-" + kind.replace(".", "-"))
    port, management = free_ports(2)
    command, env, uri = _nessie(storage, bucket, port, management) if kind == "nessie" else _fixture(kind, storage, bucket, where, port)
    process = Process("rest-" + kind, command, env, where)
    process.wait(lambda: http_status(uri + "/v1/config")[0] == 200)
    return Rest(kind, process, uri, "s3://%s/wh" % bucket, storage)


def rest(kind="1.11.0", storage=None):
    storage = storage or s3()
    return _once(("rest", kind, storage.endpoint), lambda: _start_rest(kind, storage))


# ---- Spark ----


def spark_conf(catalog_rest, catalog=CATALOG):
    """Settings of a Spark whose catalog `lake` is that REST catalog."""
    storage = catalog_rest.s3
    name = "spark.sql.catalog." + catalog
    return {"spark.jars": ",".join(parts.spark_jars()), "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalogImplementation": "in-memory", "spark.sql.session.timeZone": "UTC", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2",
            "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -Dsun.jnu.encoding=UTF-8 -Dfile.encoding=UTF-8 -XX:TieredStopAtLevel=1", name: "org.apache.iceberg.spark.SparkCatalog",
            name + ".type": "rest", name + ".uri": catalog_rest.uri, name + ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO", name + ".s3.endpoint": storage.endpoint,
            name + ".s3.path-style-access": "true", name + ".s3.access-key-id": storage.key, name + ".s3.secret-access-key": storage.secret,
            name + ".client.region": storage.region, name + ".cache-enabled": "false"}


class SparkError(Exception):
    pass


class Spark:
    """One session that takes statements for as long as the test lives."""

    def __init__(self, conf, where):
        self.conf, self.where = conf, where
        self.home = parts.place("spark", "venv")
        self.child = None

    def env(self):
        java = os.path.dirname(os.path.dirname(need_java(17, 21)))
        return {**os.environ, "JAVA_HOME": java, "SPARK_LOCAL_IP": "127.0.0.1", "LC_ALL": "C.UTF-8", "AWS_REGION": REGION, "PYSPARK_PYTHON": self.program("python"),
                "PATH": os.path.join(self.home, "bin") + os.pathsep + os.environ["PATH"]}

    def program(self, name):
        return os.path.join(self.home, "bin", name)

    def start(self):
        conf = os.path.join(self.where, "session.json")
        with open(conf, "w", encoding="utf-8") as f:
            json.dump(self.conf, f)
        self.log = os.path.join(self.where, "session.log")
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen([self.program("python"), os.path.join(HERE, "spark_session.py"), conf], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          stderr=log, env=self.env(), cwd=self.where, start_new_session=True)
        atexit.register(self.stop)
        if self._answer(READY_S) != {"ready": True}:
            raise NotStarted("server Spark did not start")

    def _answer(self, seconds):
        timer = threading.Timer(seconds, self._kill)
        timer.start()
        try:
            line = self.child.stdout.readline()
        finally:
            timer.cancel()
        if not line:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                raise NotStarted("server Spark ended or was too slow: " + f.read()[-2000:])
        return json.loads(line)

    def _kill(self):
        try:
            os.killpg(self.child.pid, 9)
        except ProcessLookupError:
            pass

    def ask(self, request, seconds=300):
        self.child.stdin.write(json.dumps(request).encode() + b"\n")
        self.child.stdin.flush()
        answer = self._answer(seconds)
        if "error" in answer:
            raise SparkError(answer["error"])
        return answer["rows"]

    def sql(self, text, seconds=300):
        """Rows as lists; SparkError."""
        return self.ask({"sql": text}, seconds)

    def columns(self, text, seconds=300):
        """Names of the columns of a query."""
        return self.ask({"columns": text}, seconds)

    def sql_many(self, texts, seconds=600):
        """For each statement its rows, or {"error": text}."""
        return self.ask({"many": texts}, seconds)

    def stop(self):
        if self.child and self.child.poll() is None:
            self.child.stdin.close()
            try:
                self.child.wait(20)
            except subprocess.TimeoutExpired:
                pass
        if self.child:
            self._kill()
            self.child.wait()

    def conf_words(self):
        return [word for name, value in self.conf.items() for word in ("--conf", "%s=%s" % (name, value))]

    def cli(self, statements, more=(), seconds=300):
        """subprocess.CompletedProcess of spark-sql -f with these statements in a file."""
        name = os.path.join(self.where, "statements.sql")
        with open(name, "w", encoding="utf-8", newline="") as f:
            f.write(statements)
        return subprocess.run([self.program("spark-sql"), "--master", "local[1]", *self.conf_words(), *more, "-f", name], stdin=subprocess.DEVNULL, capture_output=True,
                              env=self.env(), cwd=self.where, timeout=seconds, check=False)

    def python(self, script, seconds=600):
        """A Python program with pyspark and pyiceberg; EBB_SPARK_CONF names a file of the settings."""
        conf = os.path.join(self.where, "script.json")
        with open(conf, "w", encoding="utf-8") as f:
            json.dump(self.conf, f)
        return subprocess.run([self.program("python"), "-c", script], stdin=subprocess.DEVNULL, capture_output=True, env={**self.env(), "EBB_SPARK_CONF": conf}, cwd=self.where,
                              timeout=seconds, check=False)


def _start_spark(catalog_rest):
    need("spark", "rest-" + parts.ICEBERG)
    need_java(17, 21)
    session = Spark(spark_conf(catalog_rest), folder("spark"))
    session.start()
    return session


def spark(catalog_rest=None, name="spark"):
    """A session that is shared; another name: another one. Its catalog is called lake."""
    catalog_rest = catalog_rest or rest()
    return _once(("spark", name, catalog_rest.uri), lambda: _start_spark(catalog_rest))


def spark_home():
    need("spark")
    return parts.place("spark", "venv", "lib", os.listdir(parts.place("spark", "venv", "lib"))[0], "site-packages", "pyspark")


# ---- Livy ----

Livy = collections.namedtuple("Livy", "process endpoint jobs where")


def _start_livy():
    need("livy")
    where = folder("livy")
    conf, jobs = os.path.join(where, "conf"), os.path.join(where, "jobs")
    for one in (conf, jobs, os.path.join(where, "logs")):
        os.mkdir(one)
    port = free_ports()[0]
    with open(os.path.join(conf, "livy.conf"), "w", encoding="utf-8") as f:
        f.write("livy.server.host = 127.0.0.1\nlivy.server.port = %d\nlivy.spark.master = local[1]\nlivy.server.csrf-protection.enabled = true\n" % port)
        f.write("livy.file.local-dir-whitelist = %s/\n" % jobs)
    java = need_java(17, 21)
    command = [java, "-Xmx400m", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "--add-opens", "java.base/java.util=ALL-UNNAMED", "-cp",
               conf + os.pathsep + parts.place("livy", "jars", "*"), "org.apache.livy.server.LivyServer"]
    env = {"LIVY_HOME": where, "LIVY_CONF_DIR": conf, "SPARK_HOME": spark_home(), "JAVA_HOME": os.path.dirname(os.path.dirname(java)), "SPARK_LOCAL_IP": "127.0.0.1",
           "PYSPARK_PYTHON": parts.place("spark", "venv", "bin", "python"), "LC_ALL": "C.UTF-8", "AWS_REGION": REGION}
    process = Process("livy", command, env, where)
    endpoint = "http://127.0.0.1:%d" % port
    process.wait(lambda: http_status(endpoint + "/version")[0] == 200)
    return Livy(process, endpoint, jobs, where)


def livy():
    return _once("livy", _start_livy)


# ---- Trino ----


class TrinoError(Exception):
    def __init__(self, error):
        super().__init__("%s: %s" % (error.get("errorName"), error.get("message")))
        self.error = error


class Trino:
    def __init__(self, process, endpoint, where):
        self.process, self.endpoint, self.where = process, endpoint, where

    def _send(self, request):
        for _ in range(20):
            try:
                with urllib.request.urlopen(request, timeout=120) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code not in (502, 503, 504):
                    raise AssertionError("Trino answered %d: %s" % (error.code, error.read()[:500])) from error
                time.sleep(0.2)
        raise AssertionError("Trino stays unavailable")

    def query(self, sql, session=None):
        """Rows as lists; TrinoError. session: {property: value}."""
        headers = {"X-Trino-User": "ebb", "X-Trino-Catalog": CATALOG, "Content-Type": "text/plain; charset=utf-8"}
        if session:
            headers["X-Trino-Session"] = ",".join("%s=%s" % (k, urllib.parse.quote(v)) for k, v in session.items())
        page = self._send(urllib.request.Request(self.endpoint + "/v1/statement", data=sql.encode("utf-8"), headers=headers))
        rows = []
        while True:
            rows += page.get("data") or []
            if page.get("error"):
                raise TrinoError(page["error"])
            if not page.get("nextUri"):
                return rows
            page = self._send(page["nextUri"])

    def stop(self):
        self.process.stop()


def _write(name, lines):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def _trino_settings(etc, data, port, catalog_rest):
    storage = catalog_rest.s3
    _write(os.path.join(etc, "node.properties"), ["node.environment=test", "node.id=ebb", "node.data-dir=" + data])
    _write(os.path.join(etc, "jvm.config"), ["-server", "-Xmx1536M", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError", "-XX:ReservedCodeCacheSize=256M",
                                             "-Djdk.attach.allowAttachSelf=true", "--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"])
    _write(os.path.join(etc, "config.properties"), ["coordinator=true", "node-scheduler.include-coordinator=true", "http-server.http.port=%d" % port,
                                                    "discovery.uri=http://127.0.0.1:%d" % port, "query.max-memory-per-node=400MB", "memory.heap-headroom-per-node=256MB"])
    _write(os.path.join(etc, "catalog", "tpch.properties"), ["connector.name=tpch"])
    _write(os.path.join(etc, "catalog", CATALOG + ".properties"),
           ["connector.name=iceberg", "iceberg.catalog.type=rest", "iceberg.rest-catalog.uri=" + catalog_rest.uri, "iceberg.rest-catalog.nested-namespace-enabled=true",
            "fs.native-s3.enabled=true", "s3.endpoint=" + storage.endpoint, "s3.region=" + storage.region, "s3.path-style-access=true", "s3.aws-access-key=" + storage.key,
            "s3.aws-secret-key=" + storage.secret])


def _start_trino(catalog_rest):
    need("trino")
    java = os.path.dirname(os.path.dirname(need_java(24)))
    where = folder("trino")
    etc, data, port = os.path.join(where, "etc"), os.path.join(where, "var"), free_ports()[0]
    _trino_settings(etc, data, port, catalog_rest)
    launcher = parts.place("trino", "trino-server-" + parts.TRINO, "bin", "launcher")
    env = {"JAVA_HOME": java, "PATH": os.path.join(java, "bin") + os.pathsep + os.environ["PATH"]}
    process = Process("trino", [launcher, "run", "--etc-dir=" + etc, "--data-dir=" + data], env, where)
    endpoint = "http://127.0.0.1:%d" % port
    process.wait(lambda: b'"starting":false' in http_status(endpoint + "/v1/info")[1], 300)
    return Trino(process, endpoint, where)


def trino(catalog_rest=None):
    """A Trino whose catalog lake is that REST catalog; 1.10.1 by default, whose namespaces may have levels."""
    catalog_rest = catalog_rest or rest("1.10.1")
    return _once(("trino", catalog_rest.uri), lambda: _start_trino(catalog_rest))
