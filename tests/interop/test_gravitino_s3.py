# SPDX-License-Identifier: Apache-2.0
"""A Gravitino server before a real Iceberg REST catalog on real S3: a policy there, decided here, run there, objects in quarantine."""
import json
import os
import shutil
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "run")]
import daemon  # noqa: E402
import gravitino_server  # noqa: E402
import program  # noqa: E402
import servers  # noqa: E402
from gravitino_lake import TEMPLATE, Caller, content  # noqa: E402

SCHEMA = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": False, "type": "long"}]}
NAMESPACE, TABLE = "gravitino_s3", "or'd $1"
PLANTED = ["data/orphan.parquet", "data/a+b%41.parquet", "metadata/stale-m0.avro"]
DAY_MS = 86400 * 1000


class OnS3(Caller, unittest.TestCase):
    def setUp(self):
        self.rest = servers.rest()
        self.s3 = self.rest.s3
        self.top = tempfile.mkdtemp(prefix="ebb-gravitino-")
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        self.state, self.config = os.path.join(self.top, "state"), os.path.join(self.top, "ebb.lua")
        self.server = gravitino_server.Gravitino(pull_interval=0.2, environment={**os.environ, **self.s3.env()})
        self.addCleanup(self.server.close)
        self.server.start()
        self.server.add_catalog("ml", "lakehouse", catalog_backend="rest", uri=self.rest.uri)
        self.server.backing = gravitino_server.rest_backing({"lakehouse": self.rest})
        with open(self.config, "w", encoding="utf-8") as f:
            f.write('return { catalogs = { lake = { type = "rest", uri = "%s" },\n grav = { type = "gravitino", uri = "%s", metalake = "ml", catalog = "lakehouse", backing = "lake" } },\n'
                    'storage = { s3 = { endpoint = "%s", region = "%s", path_style = true } }, serve = { poll = "1s" } }' % (self.rest.uri, self.server.uri, self.s3.endpoint, self.s3.region))
        self.key = self.make()

    def make(self):
        self.rest.namespace([NAMESPACE], __name__)
        status, answer = self.rest.call("POST", "namespaces/%s/tables" % NAMESPACE, {"name": TABLE, "schema": SCHEMA, "stage-create": False, "properties": {}})
        self.assertIn(status, (200, 409), answer)
        key = self.rest.load(NAMESPACE, TABLE)["metadata"]["location"].split("/", 3)[3]
        for name in PLANTED:
            self.s3.put(self.rest.bucket, key + "/" + name, b"x", mtime_ms=int(time.time() * 1000) - 10 * DAY_MS)
        for i in range(5):  # that the share of what goes is no fuse
            self.s3.put(self.rest.bucket, "%s/data/young-%d.parquet" % (key, i), b"x")
        return key

    def ebb(self, *args):
        done = program.run(args, self.config, self.state, self.s3.env())
        self.assertEqual(0, done.status, done.out + done.err)
        return done

    def keys(self, below):
        return sorted(key[len(self.key) + 1 :] for key in self.s3.list(self.rest.bucket, self.key + "/" + below))

    def test_there_and_back(self):
        table = "grav.%s.%s" % (NAMESPACE, TABLE)
        self.ebb("gravitino", "register")
        self.call("POST", "/policies", {"name": "weekly", "policyType": "custom", "content": content({"olderThanDays": 3}, TEMPLATE)})
        self.call("POST", "/objects/schema/lakehouse.%s/policies" % NAMESPACE, {"policiesToAdd": ["weekly"]})
        before = self.keys("data") + self.keys("metadata")
        with daemon.Daemon(self.config, self.state, env=self.s3.env()) as d:
            daemon.wait(lambda: d.status()["bindings"] == 1, what="the policy")
            job = d.ask("/api/jobs", "POST", {"policy": "gravitino:grav.weekly", "table": table}).json()["job"]
            ended = daemon.wait(lambda: (lambda j: j if j["state"] in ("succeeded", "failed") else None)(d.ask("/api/jobs/" + job).json()), what="the end of the job", seconds=180)
            self.assertEqual("succeeded", ended["state"], json.dumps(ended) + "".join(run.errors for run in self.server.all_runs()))
        run, = self.server.all_runs()
        self.assertEqual("succeeded", run.status)
        self.assertIn("--table=%s.%s" % (NAMESPACE, TABLE), run.command)
        self.assertEqual(sorted(set(before) - set(PLANTED)), self.keys("data") + self.keys("metadata"))
        native, = [r for r in map(json.loads, self.ebb("runs", "--json").out.splitlines()) if r["kind"] == "apply"]
        self.assertEqual(3, native["moved"])
        self.ebb("restore", native["id"])
        self.assertEqual(before, self.keys("data") + self.keys("metadata"))


if __name__ == "__main__":
    unittest.main()
