# SPDX-License-Identifier: Apache-2.0
"""/metrics of the running daemon, read by Prometheus' own parser: it holds, tells what happened, and keeps the conventions of names."""

import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import program  # noqa: E402
import test_run  # noqa: E402

WRONG_UNITS = re.compile(r"_(ms|milliseconds|us|micros|minutes|hours|days|kb|kib|mb|percent)(_|$)")


def parser():
    """The interpreter that has Prometheus' parser, or None."""
    for folder in (os.environ.get("EBB_VENV"), os.path.join(os.path.dirname(os.path.dirname(HERE)), ".venv")):
        name = os.path.join(folder or "/nowhere", "bin", "python")
        if os.path.exists(name) and subprocess.run([name, "-c", "import prometheus_client"], capture_output=True).returncode == 0:
            return name
    return None


class Metrics(test_run.Base):
    def families(self, d):
        answer = d.ask("/metrics")
        self.assertEqual(200, answer.status)
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"), answer.headers["Content-Type"])
        done = subprocess.run([parser(), os.path.join(HERE, "read_metrics.py")], input=answer.text, capture_output=True, text=True, timeout=60)
        self.assertEqual(0, done.returncode, done.stderr)
        return {name: (kind, words, samples) for name, kind, words, samples in json.loads(done.stdout)}

    def value(self, families, family, sample=None, **labels):
        found = [v for name, those, v in families[family][2] if name == (sample or family) and those == labels]
        self.assertEqual(1, len(found), (family, labels, families[family]))
        return found[0]

    def check_names(self, families):
        for name, (kind, words, samples) in families.items():
            with self.subTest(name):
                self.assertRegex(name, r"\A(ebb|process)_[a-z_]+\Z")
                self.assertIsNone(WRONG_UNITS.search(name))
                self.assertIn(kind, ("counter", "gauge", "histogram"))
                self.assertNotEqual("", words)
                self.assertFalse(kind != "counter" and name.endswith("_total"))
                for sample, labels, _ in samples:
                    self.assertEqual(kind == "counter", sample.endswith("_total"))
                    self.assertLessEqual(len(labels), 1)
                self.assertEqual(len(samples), len({(s, tuple(those.items())) for s, those, _ in samples}))

    def check_histogram(self, families, name):
        kind, _, samples = families[name]
        self.assertEqual("histogram", kind)
        buckets = [(float(those["le"]), v) for s, those, v in samples if s == name + "_bucket"]
        self.assertEqual(sorted(buckets), buckets)
        self.assertEqual([v for _, v in buckets], sorted(v for _, v in buckets))
        self.assertEqual((float("inf"), self.value(families, name, name + "_count")), buckets[-1])

    @unittest.skipUnless(parser(), "the reader of metrics (prometheus_client) is not installed")
    def test_what_prometheus_reads(self):
        self.policy()
        self.write("ebb.lua", 'return { catalogs = { lake = { type = "directory", path = "./wh" } }, policies = "./policies",\n'
                              'bind = { { policy = "sweep", tables = { "lake.**" }, mode = "enforce" } }, serve = { poll = "1s" } }')
        self.table("a")
        self.activate()
        with daemon.Daemon(self.config, self.state) as d:
            daemon.wait(lambda: d.metrics().get('ebb_jobs_ended_total{state="succeeded"}') == 1, what="the end of a job (%s)" % d.log)
            families = self.families(d)
            self.check_names(families)
            for name in ("ebb_job_duration_seconds", "ebb_table_look_duration_seconds", "ebb_http_request_duration_seconds"):
                self.check_histogram(families, name)
            self.assertEqual(1, self.value(families, "ebb_jobs_ended", "ebb_jobs_ended_total", state="succeeded"))
            self.assertEqual(2, self.value(families, "ebb_files_moved", "ebb_files_moved_total"))
            self.assertEqual(1, self.value(families, "ebb_tables"))
            self.assertEqual(1, self.value(families, "ebb_policies"))
            self.assertEqual(1, self.value(families, "ebb_leader"))
            self.assertEqual(1, self.value(families, "ebb_job_duration_seconds", "ebb_job_duration_seconds_count"))
            self.assertGreaterEqual(self.value(families, "ebb_http_requests", "ebb_http_requests_total", code="200"), 1)
            version = program.run(["--version"]).out.split()[1]
            self.assertEqual(1, self.value(families, "ebb_build_info", version=version))
            self.assertGreater(self.value(families, "process_resident_memory_bytes"), 1 << 20)
            self.assertEqual(0, d.stop(), d.said())


if __name__ == "__main__":
    unittest.main()
