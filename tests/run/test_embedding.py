# SPDX-License-Identifier: Apache-2.0
"""The program of docs/embedding.md compiles against the installed library as the page says, and does what it says."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("EBB_BUILD_DIR", os.path.join(ROOT, "build", "release"))


def programs():
    with open(os.path.join(ROOT, "docs", "embedding.md"), encoding="utf-8") as page:
        return re.findall(r"```c\n(.*?)```", page.read(), re.S)


class Embedding(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        self.prefix = os.path.join(self.dir, "prefix")
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.prefix], check=True, stdout=subprocess.DEVNULL)

    def compile(self, index=0):
        source, binary = os.path.join(self.dir, "keeper%d.c" % index), os.path.join(self.dir, "keeper%d" % index)
        with open(source, "w", encoding="utf-8") as out:
            out.write(programs()[index])
        lib = subprocess.run(["find", self.prefix, "-name", "ebb.pc"], check=True, capture_output=True, text=True).stdout.split()[0]
        env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(lib))
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "ebb"], check=True, capture_output=True, text=True, env=env)
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", binary, source, *flags.stdout.split(),
                        "-Wl,-rpath," + os.path.dirname(os.path.dirname(lib))], check=True)
        return binary

    def test_programs_are_short(self):
        for text in programs():
            self.assertLessEqual(len([line for line in text.splitlines() if line.strip()]), 70)

    def test_program_decides_and_schedules(self):
        binary = self.compile(1)
        policy = os.path.join(ROOT, "policies", "examples", "orphans_on_event.lua")
        facts = os.path.join(ROOT, "tests", "fixtures", "facts", "clicks.json")
        ran = subprocess.run([binary, policy, facts], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(0, ran.returncode, ran.stderr)
        lines = [line.split(": ", 1) for line in ran.stdout.splitlines()]
        self.assertEqual(["now", "after 0 h", "after 72 h"], [when for when, _ in lines][:3])
        records = [json.loads(text) for _, text in lines]
        # The failed commit arms a run that starts when its leftovers are three days old.
        self.assertEqual(["defer", "run"], [record["verdict"] for record in records[1:3]])
        self.assertEqual("2026-04-01T00:00:00Z", records[1]["until"])
        again = subprocess.run([binary, policy, facts], capture_output=True, text=True, check=True, timeout=60)
        self.assertEqual(ran.stdout, again.stdout)

    def test_program_tells_what_is_wrong(self):
        ran = subprocess.run([self.compile(1), os.path.join(ROOT, "tests", "cases", "sandbox", "r51_header_loop.lua"), "/dev/null"],
                             capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(4, ran.returncode)
        self.assertIn("bundle: policy.gas", ran.stderr)

    def keep(self, binary, table):
        return subprocess.run([binary, os.path.join(self.dir, "state"), os.path.join(ROOT, "policies"), "iceberg-orphan-file-removal", table],
                              capture_output=True, text=True, check=False)

    def test_program_tells_why_it_refuses(self):
        case = os.path.join(ROOT, "tests", "fixtures", "tables", "c01-v1-basic.tar.gz")
        subprocess.run(["tar", "--extract", "--gzip", "--directory", self.dir, "--file", case], check=True)
        ran = self.keep(self.compile(), os.path.join(self.dir, "wh", "c01-v1-basic", "db", "t"))
        # The table says it lives in /ebb: without a map nothing is planned, and the reason is told.
        self.assertEqual(2, ran.returncode, ran.stderr)
        self.assertIn("metadata.wrong_place", ran.stderr)

    def test_program_plans_applies_and_restores(self):
        table = os.path.join(self.dir, "ns", "t")
        subprocess.run([sys.executable, os.path.join(ROOT, "tests", "bench", "make_table.py"), "--out", table, "--files", "40", "--partitions", "2",
                        "--snapshots", "2", "--orphans", "5", "--young", "3", "--jobs", "1"], check=True, stdout=subprocess.DEVNULL)
        before = self.tree(table)
        ran = self.keep(self.compile(), table)
        self.assertEqual(0, ran.returncode, ran.stderr)
        for word in ("decision {", "plan {", "applied {", "restored {"):
            self.assertIn(word, ran.stdout)
        self.assertIn('"candidates":5,', ran.stdout)
        self.assertIn('"restored":5,', ran.stdout)
        self.assertEqual(before, self.tree(table))

    @staticmethod
    def tree(top):
        """The same inode with the same size and time is the same file: none is ever copied. (Its sparse files would take long to read.)"""
        found = {}
        for folder, _, names in os.walk(top):
            if ".ebb-quarantine" in folder:
                continue
            for name in names:
                st = os.lstat(os.path.join(folder, name))
                found[os.path.relpath(os.path.join(folder, name), top)] = (st.st_ino, st.st_size, st.st_mtime_ns)
        return found


if __name__ == "__main__":
    unittest.main()
