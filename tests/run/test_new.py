# SPDX-License-Identifier: Apache-2.0
"""ebb new policy: what it writes passes ebb check --strict and ebb test, and it never overwrites. Definitions for editors."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import program

ROOT = program.ROOT
MODULE = os.path.join(os.path.dirname(program.path()), "lua", "ebb.so")
HAS_BUSTED = shutil.which("busted") and os.path.exists(MODULE)
KINDS = ("orphans", "expire", "compact", "blank")
STUBS = os.path.join(ROOT, "lua-stubs")


def sanitizer():
    """What must be loaded first for a module that was built with a sanitizer."""
    needed = subprocess.run(["ldd", MODULE], capture_output=True, text=True, check=False).stdout
    found = re.search(r"libasan\S* => (\S+)", needed)
    return {"LD_PRELOAD": found.group(1), "ASAN_OPTIONS": "detect_leaks=0"} if found else {}


def has_templates():
    """Whether the program finds the files it is shipped with."""
    with tempfile.TemporaryDirectory() as folder:
        return program.run(["new", "policy", "--from", "blank", "a", folder]).status == 0


class New(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        if not has_templates():
            self.skipTest("the program stands alone")

    def new(self, *args, cwd=None):
        done = subprocess.run([program.path(), "new", "policy", *args], cwd=cwd or self.dir, capture_output=True, text=True, check=False,
                              env={**os.environ, "XDG_STATE_HOME": self.dir, "XDG_CONFIG_HOME": self.dir})
        return program.Done(done.returncode, done.stdout, done.stderr)

    def files(self, folder):
        return sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, names in os.walk(folder) for f in names)

    def test_what_is_written(self):
        folder = os.path.join(self.dir, "p")
        done = self.new("--from", "orphans", "sweep-nightly", folder)
        self.assertEqual((0, ""), (done.status, done.err))
        made = [".luarc.json", "fixtures/sweep_nightly.json", "sweep_nightly.lua", "sweep_nightly_spec.lua"]
        self.assertEqual(made, self.files(folder))
        self.assertEqual({os.path.join(folder, f) for f in made}, set(done.out.splitlines()[:-1]))
        for name in made:
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                text = f.read()
            self.assertNotIn("template", text)
        with open(os.path.join(folder, ".luarc.json"), encoding="utf-8") as f:
            settings = json.load(f)
        self.assertTrue(os.path.exists(os.path.join(settings["workspace.library"][0], "policy.lua")))
        self.assertEqual("sweep-nightly", json.loads(program.run(["manifest", os.path.join(folder, "sweep_nightly.lua")]).out)["name"])

    def test_result_is_clean_and_decides(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                done = self.new("--from", kind, "my-" + kind, "p", "--json")
                self.assertEqual(0, done.status, done.err)
                policy = os.path.join(self.dir, done.json()["files"][0])
                self.assertEqual((0, []), (program.run(["check", "--strict", policy]).status, program.run(["check", "--json", policy]).json()))
                decided = program.run(["decide", policy, os.path.join(self.dir, "p/fixtures/my_%s.json" % kind), "--at", "2026-04-30T02:30:00Z", "--json"],
                                      state=os.path.join(self.dir, "state"))
                verdict = {"orphans": "run", "compact": "run", "expire": "skip", "blank": "skip"}[kind]
                self.assertEqual((0, verdict), (decided.status, decided.json().get("verdict")), decided.err)

    @unittest.skipUnless(HAS_BUSTED, "needs busted and the Lua module")
    def test_result_passes_its_tests(self):
        with open(os.path.join(self.dir, "ebb.lua"), "w", encoding="utf-8") as f:
            f.write('return { policies = "./p" }')
        for kind in KINDS:
            self.assertEqual(0, self.new("--from", kind, "my-" + kind).status)
        done = subprocess.run([program.path(), "test"], cwd=self.dir, capture_output=True, text=True, check=False,
                              env={**os.environ, **sanitizer(), "XDG_STATE_HOME": self.dir})
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertNotIn("failed", done.stdout)

    def test_nothing_is_overwritten(self):
        for name in ("a.lua", "a_spec.lua", "fixtures/a.json"):
            with self.subTest(name=name):
                folder = tempfile.mkdtemp(dir=self.dir)
                os.makedirs(os.path.join(folder, "fixtures"))
                with open(os.path.join(folder, name), "w", encoding="ascii") as f:
                    f.write("mine")
                done = self.new("--from", "blank", "a", folder)
                self.assertEqual(3, done.status)
                self.assertIn("is there already; nothing was written", done.err)
                self.assertEqual([name], self.files(folder))
        folder = tempfile.mkdtemp(dir=self.dir)
        os.symlink("/nowhere/at/all", os.path.join(folder, "a.lua"))
        self.assertEqual(3, self.new("--from", "blank", "a", folder).status)

    def test_editor_settings_stay(self):
        settings = os.path.join(self.dir, ".luarc.json")
        with open(settings, "w", encoding="ascii") as f:
            f.write("{}")
        self.assertEqual(0, self.new("--from", "blank", "a", self.dir).status)
        with open(settings, encoding="ascii") as f:
            self.assertEqual("{}", f.read())

    def test_names(self):
        for name in ("A", "1a", "a_b", "a.lua", "../a", "a/b", "", "a b", "ä", "a" * 64, "-a", "my-spec"):
            with self.subTest(name=name):
                done = self.new("--from", "blank", "--", name, "p")
                self.assertEqual(64, done.status)
                self.assertIn("hint:", done.err)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "p")))
        self.assertEqual(0, self.new("--from", "blank", "a" * 63, "p").status)

    def test_mistakes_on_the_command_line(self):
        for args in (("a", "p"), ("--from", "compactor", "a", "p"), ("--from", "blank"), ("--from", "blank", "a", "b", "c")):
            with self.subTest(args=args):
                self.assertEqual(64, self.new(*args).status)

    def test_folder_that_can_not_be_made(self):
        done = self.new("--from", "blank", "a", "no/such/parent")
        self.assertEqual(3, done.status)
        with open(os.path.join(self.dir, "file"), "w", encoding="ascii"):
            pass
        self.assertEqual(3, self.new("--from", "blank", "a", "file").status)

    def test_default_folder(self):
        self.assertEqual(0, self.new("--from", "blank", "a").status)
        self.assertTrue(os.path.exists(os.path.join(self.dir, "policies", "a.lua")))
        with open(os.path.join(self.dir, "ebb.lua"), "w", encoding="ascii") as f:
            f.write('return { policies = "./mine" }')
        self.assertEqual(0, self.new("--from", "blank", "a").status)
        self.assertTrue(os.path.exists(os.path.join(self.dir, "mine", "a.lua")))


class Stubs(unittest.TestCase):
    def test_definitions_are_current(self):
        with open(os.path.join(STUBS, "policy.lua"), encoding="utf-8") as f:
            self.assertEqual(program.run(["__stubs"]).out, f.read(), "ebb __stubs > lua-stubs/policy.lua")

    def test_definitions_load_as_lua(self):
        for name in ("policy.lua", "ebb/testing.lua"):
            done = subprocess.run(["lua5.4", "-e", "assert(loadfile([[%s]]))" % os.path.join(STUBS, name)], capture_output=True, text=True, check=False)
            self.assertEqual(0, done.returncode, done.stderr)

    def test_annotations_are_well_formed(self):
        tags = {"meta", "alias", "class", "field", "param", "return", "type"}
        for name in ("policy.lua", "ebb/testing.lua"):
            with open(os.path.join(STUBS, name), encoding="utf-8") as f:
                lines = f.read().splitlines()
            classes = {line.split()[1] for line in lines if line.startswith("---@class") or line.startswith("---@alias")}
            for line in lines:
                if line.startswith("---@"):
                    self.assertIn(line[4:].split()[0], tags, line)
                for used in re.findall(r"ebb\.[a-z_.]*[a-z_]", line if line.startswith(("---@field", "---@param", "---@return")) else ""):
                    if name == "policy.lua":
                        self.assertIn(used, classes, line)
                for opening, closing in ("()", "{}", "[]"):
                    if line.startswith("---@"):
                        self.assertEqual(line.count(opening), line.count(closing), line)

    def test_every_function_of_ebb_testing_is_defined(self):
        with open(os.path.join(ROOT, "scripts", "lua", "ebb", "testing.lua"), encoding="utf-8") as f:
            source = f.read()
        with open(os.path.join(STUBS, "ebb", "testing.lua"), encoding="utf-8") as f:
            stubs = f.read()
        made = set(re.findall(r"function (?:M|Session|Decision)[.:](\w+)", source)) | set(re.findall(r'^method\(? ?"(\w+)"', source, re.M))
        made |= {name for group in re.findall(r"^((?:M\.\w+, )*M\.\w+) =", source, re.M) for name in re.findall(r"M\.(\w+)", group)}
        self.assertGreater(len(made), 15)
        defined = set(re.findall(r"^function \w+[.:](\w+)", stubs, re.M))
        self.assertEqual(set(), made - defined)
        self.assertEqual(set(), defined - made - {"verdict", "explain"})


if __name__ == "__main__":
    unittest.main()
