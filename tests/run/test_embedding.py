# SPDX-License-Identifier: Apache-2.0
"""The program of docs/embedding.md compiles against the installed library as the page says, and does what it says."""

import os
import re
import shutil
import subprocess
import tempfile
import time
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

    def test_program_plans_applies_and_restores(self):
        case = os.path.join(ROOT, "tests", "fixtures", "tables", "c01-v1-basic.tar.gz")
        subprocess.run(["tar", "--extract", "--gzip", "--directory", self.dir, "--file", case], check=True)
        table = os.path.join(self.dir, "wh", "c01-v1-basic", "db", "t")
        self.set_times(table, time.time() - 10 * 86400)  # the ten planted files, and the three that the archive calls young
        before = self.tree(table)
        binary = self.compile()
        env = dict(os.environ)
        ran = subprocess.run([binary, os.path.join(self.dir, "state"), os.path.join(ROOT, "policies"), "iceberg-orphan-file-removal", table],
                             capture_output=True, text=True, env=env, check=False)
        # The table says it lives in /ebb: without a map nothing is planned, and the reason is told.
        self.assertEqual(2, ran.returncode, ran.stderr)
        self.assertIn("metadata.wrong_place", ran.stderr)
        config = self.with_map(table)
        ran = subprocess.run([binary, os.path.join(self.dir, "state"), os.path.join(ROOT, "policies"), "iceberg-orphan-file-removal", config],
                             capture_output=True, text=True, env=env, check=False)
        self.assertEqual(0, ran.returncode, ran.stderr)
        for word in ("decision {", "plan {", "applied {", "restored {"):
            self.assertIn(word, ran.stdout)
        self.assertIn('"candidates":13,', ran.stdout)
        self.assertIn('"restored":13,', ran.stdout)
        self.assertEqual(before, self.tree(table))

    def with_map(self, table):
        """The same table where its metadata says it is: below /ebb, in a folder that only this test has."""
        os.makedirs("/ebb", exist_ok=True)
        place = "/ebb/wh/c01-v1-basic"
        if os.path.lexists(place):
            self.skipTest("/ebb/wh/c01-v1-basic exists already")
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.symlink(os.path.join(self.dir, "wh", "c01-v1-basic"), place)
        self.addCleanup(os.unlink, place)
        return os.path.join(place, "db", "t")

    @staticmethod
    def set_times(top, at):
        for folder, _, names in os.walk(top):
            for name in names:
                os.utime(os.path.join(folder, name), (at, at))

    @staticmethod
    def tree(top):
        found = {}
        for folder, _, names in os.walk(top):
            if ".ebb-quarantine" in folder:
                continue
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as data:
                    found[os.path.relpath(path, top)] = (data.read(), os.lstat(path).st_mtime_ns)
        return found


if __name__ == "__main__":
    unittest.main()
