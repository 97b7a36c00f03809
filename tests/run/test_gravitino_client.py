# SPDX-License-Identifier: Apache-2.0
"""The Python client of Gravitino, as it comes from PyPI, with ebb as its server."""

import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import second_reader  # noqa: E402
import test_gravitino  # noqa: E402

PYTHON = second_reader.python("gravitino")


@unittest.skipUnless(PYTHON or second_reader.is_wanted(), "no client for the server: apache-gravitino is not installed (tests/requirements-client.txt)")
class Client(test_gravitino.Base):
    def test_it_finds_what_it_looks_for(self):
        self.assertIsNotNone(PYTHON, "apache-gravitino is not installed (tests/requirements-client.txt)")
        self.daemon.start()
        done = subprocess.run([PYTHON, os.path.join(HERE, "gravitino_client.py"), "http://" + self.daemon.address, "ml", self.nap], capture_output=True, timeout=240)
        self.assertEqual(0, done.returncode, done.stderr.decode())
        got = json.loads(done.stdout)
        for key, steps in (("short", ("queued", "started", "succeeded")), ("bad", ("queued", "started", "failed")), ("begun", ("queued", "started")),
                           ("cancelled", ("cancelling", "cancelled")), ("removal", ("queued", "started", "succeeded"))):
            seen = got.pop(key)
            self.assertEqual([s for s in steps if s in seen], seen, key)
            self.assertEqual(steps[-1], seen[-1], key)
        self.assertEqual({
            "version": "1.3.1", "catalogs": ["lake"], "catalog": ["lake", "lakehouse-iceberg", ["lake"]], "schemas": ["db"], "schema": "db", "tables": ["orders"],
            "table": ["orders", [["a", "integer"]], "2"], "no catalog": "NoSuchCatalogException", "again": "JobTemplateAlreadyExistsException",
            "templates": ["builtin-iceberg-remove-orphan-files", "nap"], "template": ["nap", "sleeps", self.nap, ["{{seconds}}"], {"WHO": "{{who}}"}, {"owner": "ops"}, []],
            "in use": "InUseException", "jobs": [3, 3], "no job": "NoSuchJobException", "no template": ["NoSuchJobTemplateException"] * 3,
            "changed": ["siesta", "naps", ["0"]], "renamed": 3, "deleted": [True, False], "builtin": "IllegalJobTemplateOperationException"}, got)


if __name__ == "__main__":
    unittest.main(verbosity=2)
