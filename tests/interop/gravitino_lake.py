# SPDX-License-Identifier: Apache-2.0
"""A small warehouse that a Gravitino server shows, and ebb beside it: what the tests of the client share."""
import base64
import json
import os
import sqlite3
import sys
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "run")]

import daemon  # noqa: E402
import program  # noqa: E402
import test_run  # noqa: E402
from gravitino_server import Gravitino  # noqa: E402

LAKE = "/api/metalakes/ml"
TEMPLATE = "ebb-remove-orphan-files"
STRATEGY = "iceberg-orphan-file-removal"
FINAL = ("succeeded", "failed", "cancelled")


def content(rules=None, template=None, types=("CATALOG", "SCHEMA", "TABLE"), strategy=STRATEGY, **more):
    properties = {"strategy.type": strategy}
    if template:
        properties["job.template-name"] = template
    return {"customRules": rules or {}, "supportedObjectTypes": list(types), "properties": properties, **more}


class Caller:
    def call(self, method, path, body=None, user="anna", status=200):
        """As a person with curl."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": "Basic " + base64.b64encode((user + ":x").encode()).decode()}
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.server.uri + LAKE + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                got, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            got, text = error.code, error.read()
        self.assertEqual(status, got, text)
        return json.loads(text) if text else None


class Base(Caller, test_run.Base):
    """Catalog `grav` is `lakehouse` of the server, and holds what the folder catalog `lake` holds; table db.orders has two orphans."""

    server_options = {"pull_interval": 0.2}
    catalog_options = 'user = "anna"'

    def setUp(self):
        super().setUp()
        self.orders = self.table("orders")
        self.server = Gravitino(**self.server_options)
        self.addCleanup(self.server.close)
        self.server.start()
        self.server.add_catalog("ml", "lakehouse", catalog_backend="jdbc")
        self.show("orders", self.orders)
        self.configure()

    def show(self, name, folder, schema="db", location=None, **properties):
        self.server.add_table("ml", "lakehouse", schema, name, properties={
            "location": location or "file:" + folder, "format": "iceberg/parquet", "provider": "iceberg", "format-version": "2", "current-snapshot-id": "none", **properties})

    def catalog(self, **more):
        keys = {"type": '"gravitino"', "uri": '"%s"' % self.server.uri, "metalake": '"ml"', "catalog": '"lakehouse"', "backing": '"lake"', **more}
        return "{ %s, %s }" % (", ".join("%s = %s" % pair for pair in keys.items() if pair[1]), self.catalog_options)

    def configure(self, more="", **keys):
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" }, grav = %s },\n'
                              'policies = "./policies", serve = { poll = "1s" }, %s }' % (self.catalog(**keys), more))

    def good(self, *args):
        done = self.ebb(*args)
        self.assertEqual(0, done.status, done.out + done.err)
        return done

    def refused(self, status, text, *args):
        done = self.ebb(*args)
        self.assertEqual(status, done.status, done.out + done.err)
        self.assertIn(text, done.err)
        self.assertNotIn("org.apache.gravitino", done.err)
        return done

    def policy_there(self, name, given, tied=(), enabled=True, kind="custom"):
        self.call("POST", "/policies", {"name": name, "policyType": kind, "enabled": enabled, "content": given})
        for place in tied:
            kind_of_place, full = place.split(" ", 1)
            self.call("POST", "/objects/%s/%s/policies" % (kind_of_place, full), {"policiesToAdd": [name]})

    def register(self):
        self.good("gravitino", "register")

    def run_there(self, status=200, template=TEMPLATE, **conf):
        values = {"catalog_name": "grav", "table_identifier": "db.orders", "older_than": "", "location": "", "dry_run": "false", **conf}
        answer = self.call("POST", "/jobs/runs", {"jobTemplateName": template, "jobConf": {k: v for k, v in values.items() if v is not None}}, status=status)
        return answer["job"]["jobId"] if status == 200 else answer

    def status_there(self, job_id):
        return self.call("GET", "/jobs/runs/" + job_id)["job"]["status"]

    def until_there(self, job_id, *states):
        return daemon.wait(lambda: (lambda s: s if s in states else None)(self.status_there(job_id)), what="one of %s" % (states,))

    def moved(self, folder=None):
        found = []
        for _, _, files in os.walk(os.path.join(folder or self.orders, ".ebb-quarantine")):
            found += [name for name in files if name.endswith(".parquet")]
        return sorted(found)

    def scheduled(self, policy):
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            keys = [key for key, in db.execute("SELECT key FROM value WHERE scope = 'schedule'")]
        db.close()
        return [key for key in keys if key.startswith(policy)]
