# SPDX-License-Identifier: Apache-2.0
"""What ships for operators: the unit is well formed and as closed as it can be, the dashboard asks for metrics that exist."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import program

ROOT = program.ROOT
EXPOSURE_MAX = 20  # tenths, of `systemd-analyze security`: 0 is closed, 100 open
HARDENING = {"ProtectSystem": "strict", "NoNewPrivileges": "yes", "PrivateTmp": "yes", "MemoryDenyWriteExecute": "yes", "CapabilityBoundingSet": "",
             "Type": "notify", "StateDirectory": "ebb", "RestrictNamespaces": "yes", "SystemCallArchitectures": "native"}


def read(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as f:
        return f.read()


def settings(text):
    found = {}
    for line in text.splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            found.setdefault(key, []).append(value)
    return found


class Unit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        os.makedirs(os.path.join(cls.dir, "bin"))
        shutil.copy(program.path(), os.path.join(cls.dir, "bin", "ebb"))
        text = read("packaging", "ebb.service.in").replace("@EBB_BINDIR@", os.path.join(cls.dir, "bin")).replace("@EBB_DOCDIR@", "/usr/share/doc/ebb")
        cls.unit = os.path.join(cls.dir, "ebb.service")
        with open(cls.unit, "w", encoding="utf-8") as f:
            f.write(text)
        shutil.copy(os.path.join(ROOT, "packaging", "ebb.socket"), cls.dir)

    def test_it_is_closed(self):
        found = settings(read("packaging", "ebb.service.in"))
        self.assertEqual(HARDENING, {key: found[key][-1] for key in HARDENING})
        self.assertEqual("@system-service", found["SystemCallFilter"][0])
        self.assertNotIn("ReadWritePaths", found)  # which folders ebb may change is said by who runs it

    def test_options_of_the_program_exist(self):
        words = settings(read("packaging", "ebb.service.in"))["ExecStart"][0].split()
        self.assertEqual(("@EBB_BINDIR@/ebb", "serve"), tuple(words[:2]))
        shown = program.run(["serve", "--help"])
        self.assertEqual(0, shown.status, shown.err)
        for word in words:
            if word.startswith("--"):
                self.assertIn(word, shown.out)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not here")
    def test_systemd_reads_it(self):
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", self.unit, os.path.join(self.dir, "ebb.socket")],
                              capture_output=True, text=True, check=False)
        if "Failed to initialize manager" in done.stderr:
            self.skipTest("systemd can't work here: " + done.stderr)
        said = [line for line in done.stderr.splitlines() if "ebb" in line]
        self.assertEqual((0, []), (done.returncode, said), done.stderr)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not here")
    def test_systemd_finds_it_closed(self):
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=%d" % EXPOSURE_MAX, self.unit], capture_output=True, text=True, check=False)
        if "unrecognized option" in done.stderr or "Failed to initialize manager" in done.stderr:
            self.skipTest("systemd can't judge here: " + done.stderr)
        self.assertEqual(0, done.returncode, done.stdout[-600:] + done.stderr)


class Dashboard(unittest.TestCase):
    def setUp(self):
        self.board = json.loads(read("docs", "grafana", "ebb-dashboard.json"))
        self.panels = [p for p in self.board["panels"] if p["type"] != "row"]
        listed = re.findall(r'X\((\w+), "(ebb_\w+)", (\w+), "(\w*)"', read("core", "service", "metrics.h"))
        self.metrics = {name: (kind, label) for _, name, kind, label in listed}
        self.assertGreater(len(self.metrics), 20)

    def expressions(self):
        return [(p["title"], t["expr"], t.get("legendFormat", "")) for p in self.panels for t in p["targets"]]

    def names(self, expr):
        return re.findall(r"\b((?:ebb|process)_\w+)\{", expr)

    def test_metrics_exist_and_are_used_as_what_they_are(self):
        for title, expr, _ in self.expressions():
            for name in self.names(expr):
                with self.subTest(panel=title, metric=name):
                    if name.startswith("process_") or name == "ebb_build_info":
                        self.assertIn('"%s' % name, read("core", "service", "metrics_process.c"))
                        continue
                    base = re.sub(r"_(bucket|sum|count)$", "", name)
                    kind = self.metrics[base][0]
                    self.assertEqual(kind == "HISTOGRAM", base != name)
                    is_rate = re.search(r"\b(rate|increase)\(" + name, expr) is not None
                    self.assertEqual(kind != "GAUGE", is_rate)

    def test_labels_exist(self):
        for title, expr, legend in self.expressions():
            for label in re.findall(r"by \((\w+)\)", expr):
                if label not in ("le", "version"):
                    self.assertIn(label, [self.metrics[n][1] for n in self.names(expr)], title)
            for label in re.findall(r"\{\{(\w+)\}\}", legend):
                self.assertTrue(label == "instance" or "by (%s)" % label in expr, title)

    def test_every_metric_is_shown(self):
        shown = {re.sub(r"_(bucket|sum|count)$", "", n) for _, e, _ in self.expressions() for n in self.names(e)}
        self.assertEqual(set(), set(self.metrics) - shown)

    def test_panels(self):
        ids = [p["id"] for p in self.board["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        cells = set()
        for p in self.board["panels"]:
            at = p["gridPos"]
            mine = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            self.assertEqual(set(), cells & mine, p["title"])
            self.assertLessEqual(at["x"] + at["w"], 24)
            cells |= mine
        for title, expr, _ in self.expressions():
            for pair in ("()", "{}", "[]"):
                self.assertEqual(expr.count(pair[0]), expr.count(pair[1]), title)
            self.assertTrue(self.names(expr), title)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not here")
    def test_prometheus_reads_the_queries(self):
        for title, expr, _ in self.expressions():
            query = expr.replace("$__rate_interval", "5m").replace("$__range", "1d").replace("$job", "ebb").replace("$instance", ".*")
            done = subprocess.run(["promtool", "promql", "format", query, "--experimental"], capture_output=True, text=True, check=False)
            self.assertEqual(0, done.returncode, title + ": " + done.stderr)


if __name__ == "__main__":
    unittest.main()
