# SPDX-License-Identifier: Apache-2.0
"""The served OpenAPI document against the daemon, by schemathesis: no server error, nothing that is not documented, nothing taken that the document forbids.

It lives in a virtual environment, as the second reader does (tests/run/second_reader.py)."""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import second_reader  # noqa: E402
import test_api  # noqa: E402

CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance", "response_schema_conformance",
          "negative_data_rejection", "unsupported_method", "allow_header_conformance")
# What is too long is refused before it is looked at.
CONFIG = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 406, 409, 413, 414, 415, 422, 431]
"""
SECONDS = 80


def program():
    """The program of the virtual environment, or None."""
    for folder in (os.environ.get("EBB_VENV"), os.path.join(second_reader.ROOT, ".venv")):
        name = os.path.join(folder or "/nowhere", "bin", "schemathesis")
        if os.path.exists(name):
            return name
    return None


class Document(test_api.Base):
    def test_the_document_is_one(self):
        name = program()
        if not name:
            self.skipTest("the server's document can't be judged: no validator in a virtual environment")
        self.configure()
        d = self.start()
        document = self.write("openapi.json", d.ask("/api/openapi.json").text)
        done = subprocess.run([os.path.join(os.path.dirname(name), "python"), "-m", "openapi_spec_validator", document], capture_output=True, text=True, check=False)
        self.assertEqual(0, done.returncode, (done.stdout + done.stderr)[:3000])

    def test_the_document_holds(self):
        name = program()
        if not name:
            self.skipTest("the server can't be tested by its document: no schemathesis in a virtual environment")
        self.configure()
        d = self.start()
        self.plan(d)
        self.post(d, "/api/events", {"source": "t", "id": "1", "type": "nothing", "table": "lake.db.a"}, 202)
        config = self.write("schemathesis.toml", CONFIG)
        done = subprocess.run([name, "--config-file", config, "run", "http://%s/api/openapi.json" % d.address, "--exclude-path", "/api/stream", "--checks", ",".join(CHECKS),
                               "--phases", "examples,coverage,fuzzing", "--max-examples", "20", "--max-time", str(SECONDS), "--request-timeout", "60",
                               "--generation-database", "none", "--continue-on-failure", "--no-color"],
                              capture_output=True, text=True, errors="replace", timeout=900, cwd=self.top, check=False)
        said = "\n".join(line[:300] for line in (done.stdout + done.stderr).splitlines())
        self.assertEqual(0, done.returncode, said[:20000] + "\n…\n" + said[-3000:])
        self.assertIsNone(d.process.poll())
        self.assertTrue(d.is_ready())
        self.assertEqual(0, d.stop())


if __name__ == "__main__":
    unittest.main()
