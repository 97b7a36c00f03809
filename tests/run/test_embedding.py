# SPDX-License-Identifier: Apache-2.0
"""The program of docs/embedding.md compiles against the installed library as the page says, and does what it says."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("EBB_BUILD_DIR", os.path.join(ROOT, "build", "release"))


def program():
    with open(os.path.join(ROOT, "docs", "embedding.md"), encoding="utf-8") as page:
        return re.search(r"```c\n(.*?)```", page.read(), re.S).group(1)


class Embedding(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        self.prefix = os.path.join(self.dir, "prefix")
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.prefix], check=True, stdout=subprocess.DEVNULL)

    def compile(self):
        source, binary = os.path.join(self.dir, "keeper.c"), os.path.join(self.dir, "keeper")
        with open(source, "w", encoding="utf-8") as out:
            out.write(program())
        lib = subprocess.run(["find", self.prefix, "-name", "ebb.pc"], check=True, capture_output=True, text=True).stdout.split()[0]
        env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(lib))
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "ebb"], check=True, capture_output=True, text=True, env=env)
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", binary, source, *flags.stdout.split(),
                        "-Wl,-rpath," + os.path.dirname(os.path.dirname(lib))], check=True)
        return binary

    def test_program_is_short(self):
        self.assertLessEqual(len([line for line in program().splitlines() if line.strip()]), 70)

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
