# SPDX-License-Identifier: Apache-2.0
"""Tables that Glue knows, on S3: listed, planned, cleaned and restored as behind any other catalog; and what ebb doctor says of all that."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers  # noqa: E402
from world import program  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from aws_standin import signature  # noqa: E402

OLD_MS = 1769904000000
OLDER_THAN = "2026-06-01T00:00:00Z"
ORPHANS = ["data/left over.parquet", "data/day=1/aaaa.parquet", "metadata/snap-9-1-aaaa.avro"]
MAKE = """
import sys
from pyiceberg.catalog.glue import GlueCatalog
import pyarrow
endpoint, bucket = sys.argv[1:]
names = {"endpoint": endpoint, "region": "us-east-1", "access-key-id": "ebbtest", "secret-access-key": "ebbtestsecret"}
catalog = GlueCatalog("aws", **{"%s.%s" % (kind, name): value for kind in ("glue", "s3") for name, value in names.items()})
catalog.create_namespace("sales")
rows = pyarrow.table({"id": pyarrow.array(range(10), pyarrow.int64())})
table = catalog.create_table("sales.orders", rows.schema, location="s3://%s/sales/orders" % bucket)
table.append(rows)
table.append(rows)
print(table.metadata_location)
"""


def call(endpoint, action, body):
    """One question to moto's Glue, signed by hand."""
    import hashlib
    import time

    data, stamp = json.dumps(body).encode(), time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    host, target = endpoint.split("://")[1], "AWSGlue." + action
    names = "host;x-amz-date;x-amz-target"
    canonical = "POST\n/\n\nhost:%s\nx-amz-date:%s\nx-amz-target:%s\n\n%s\n%s" % (host, stamp, target, names, hashlib.sha256(data).hexdigest())
    scope = "%s/us-east-1/glue/aws4_request" % stamp[:8]
    text = "AWS4-HMAC-SHA256\n%s\n%s\n%s" % (stamp, scope, hashlib.sha256(canonical.encode()).hexdigest())
    sign = signature(servers.SECRET, stamp[:8], "us-east-1", "glue", text)
    request = urllib.request.Request(endpoint + "/", data, {"X-Amz-Date": stamp, "X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1",
                                     "Authorization": "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (servers.KEY, scope, names, sign)})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"{}")


class Glue(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        servers.need("spark")
        cls.moto = servers.moto()
        cls.bucket = cls.moto.new_bucket("glue-tables")
        boto = glob.glob(servers.parts.place("s3", "moto", "lib", "python3*", "site-packages"))[0]  # AWS's own client comes with moto
        made = subprocess.run([servers.parts.place("spark", "venv", "bin", "python"), "-c", MAKE, cls.moto.endpoint, cls.bucket], capture_output=True, text=True,
                              timeout=300, env={**os.environ, **cls.moto.env(), "PYTHONPATH": boto}, check=False)
        if made.returncode:
            raise AssertionError(made.stderr[-3000:])
        for name, parameters in (("hive", {}), ("bare", {"table_type": "iceberg"})):
            call(cls.moto.endpoint, "CreateTable", {"DatabaseName": "sales", "TableInput": {"Name": name, "Parameters": parameters,
                                                    "StorageDescriptor": {"Location": "s3://%s/sales/%s" % (cls.bucket, name)}}})

    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="ebb-glue-")
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        self.config = os.path.join(self.work, "ebb.lua")
        with open(self.config, "w", encoding="ascii") as f:
            f.write('return { catalogs = { aws = { type = "glue", endpoint = "%s" } } }\n' % self.moto.endpoint)

    def ebb(self, *args, env=None):
        return program.run([*args, "--json"], self.config, os.path.join(self.work, "state"), {**self.moto.env(), **(env or {})}, 300)

    def good(self, *args):
        done = self.ebb(*args)
        self.assertEqual(0, done.status, done.out + done.err)
        return done

    def test_listed(self):
        names = [json.loads(line)["table"] for line in self.good("tables").out.splitlines()]
        self.assertEqual(["aws.sales.bare", "aws.sales.orders"], sorted(names))

    def test_there_and_back(self):
        prefix = "sales/orders/"
        for key in self.moto.list(self.bucket, prefix):
            self.moto.set_mtime(self.bucket, key, OLD_MS)
        before = set(self.moto.list(self.bucket, prefix))
        planted = {prefix + name for name in ORPHANS}
        for key in planted:
            self.moto.put(self.bucket, key, key.encode(), OLD_MS)
        output = os.path.join(self.work, "p.plan")
        self.good("plan", "aws.sales.orders", "--older-than", OLDER_THAN, "--max-share", "1", "-o", output)
        self.assertEqual(planted, {os.fsdecode(uri).split("/", 3)[3] for uri in program.read_plan(output)[1]})
        run = self.good("apply", output, "--yes").json()
        self.assertEqual(("done", len(planted)), (run["status"], run["moved"]))
        keys = {key for key in self.moto.list(self.bucket, prefix) if "/.ebb-quarantine/" not in key}
        self.assertEqual(before, keys)
        self.good("restore", run["run"])
        keys = {key for key in self.moto.list(self.bucket, prefix) if "/.ebb-quarantine/" not in key}
        self.assertEqual(before | planted, keys)

    def test_doctor(self):
        done = self.ebb("doctor")
        checks = done.json()["checks"]
        told = [c for c in checks if c["check"] == "storage"]
        self.assertEqual(1, len(told), checks)
        self.assertEqual("ok", told[0]["level"], told)
        self.assertIn(self.bucket, told[0]["message"])
        self.assertTrue([c for c in checks if c["check"] == "catalog" and c["message"].startswith("aws: tables 2")], checks)
        self.assertNotIn(servers.SECRET, done.out + done.err)


if __name__ == "__main__":
    unittest.main()
