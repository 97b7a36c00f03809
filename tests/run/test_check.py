# SPDX-License-Identifier: Apache-2.0
"""ebb check: findings as text and JSON, of files and folders, and exit statuses."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import program

ROOT = program.ROOT
HEAD = 'return policy { api = 1, name = "%s",\n'
TAIL = "\n  decide = function(t, ctx) return skip(all {}) end,\n}\n"
GOOD = HEAD + TAIL


class Check(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode("utf-8"))
        return path

    def check(self, *args):
        return program.run(["check", *args], state=os.path.join(self.dir, "state"))

    def found(self, *args):
        done = self.check(*args, "--json")
        self.assertEqual("", done.err)
        return done.status, [(os.path.relpath(d["file"], self.dir), d["line"], d["column"], d["severity"], d["code"]) for d in done.json()]

    def test_caret_stands_under_the_place(self):
        path = self.write("a.lua", 'return policy {\n\tname = "Ü", guard = { min_intervall = "5d" },\n}\n')
        done = self.check(path)
        self.assertEqual(1, done.status)
        lines = done.out.splitlines()
        at = next(i for i, line in enumerate(lines) if "schema.unknown_key" in line)
        self.assertEqual(path + ":2:24: error: guard.min_intervall: unknown, did you mean `min_interval`? [schema.unknown_key]", lines[at])
        self.assertEqual('  \tname = "Ü", guard = { min_intervall = "5d" },', lines[at + 1])
        self.assertEqual("  \t" + " " * 22 + "^", lines[at + 2])

    def test_json_has_the_keys_that_are_promised(self):
        path = self.write("a.lua", HEAD % "a" + '  guard = { min_intervall = "5d" },' + TAIL)
        done = self.check(path, "--json")
        self.assertEqual([{"file": path, "line": 2, "column": 13, "severity": "error", "code": "schema.unknown_key",
                           "message": "guard.min_intervall: unknown, did you mean `min_interval`?", "hint": "did you mean min_interval?"}], done.json())

    def test_warnings_alone_are_no_failure_but_with_strict(self):
        path = self.write("a.lua", HEAD % "a" + '  triggers = { time.cron { "0 4 1 * 1" } },' + TAIL)
        self.assertEqual((0, [("a.lua", 2, 16, "warning", "lint.cron_days")]), self.found(path))
        self.assertEqual(1, self.check(path, "--strict").status)
        self.assertIn("1 file, 0 errors, 1 warning", self.check(path).out)

    def test_files_that_are_no_policies(self):
        self.write("bom.lua", b"\xef\xbb\xbf" + (GOOD % "bom").encode())
        self.write("crlf.lua", (GOOD % "crlf").replace("\n", "\r\n"))
        self.write("empty.lua", "")
        self.write("long.lua", GOOD % "long" + "-" * 65536)
        self.write("luac.lua", b"\x1bLuaT\x00")
        self.write("nul.lua", b"return 1\n\x00")
        os.mkdir(os.path.join(self.dir, "dir.lua"))
        os.mkfifo(os.path.join(self.dir, "pipe.lua"))
        self.assertEqual((1, [
            ("bom.lua", 1, 1, "error", "file.bom"),
            ("crlf.lua", 1, 40, "warning", "lint.line_ends"),
            ("dir.lua", 0, 0, "error", "file.not_regular"),
            ("empty.lua", 0, 0, "error", "file.empty"),
            ("long.lua", 0, 0, "error", "file.too_long"),
            ("luac.lua", 0, 0, "error", "file.binary"),
            ("nul.lua", 2, 1, "error", "file.nul"),
            ("pipe.lua", 0, 0, "error", "file.not_regular"),
        ]), self.found(self.dir))
        for d in self.check(self.dir, "--json").json():
            self.assertTrue(d.get("hint"), d)

    @unittest.skipIf(os.geteuid() == 0, "root reads everything")
    def test_unreadable(self):
        os.chmod(self.write("a.lua", GOOD % "a"), 0)
        self.assertEqual((1, [("a.lua", 0, 0, "error", "io.permission")]), self.found(self.dir))

    def test_missing_file_is_a_mistake_on_the_command_line(self):
        done = self.check(os.path.join(self.dir, "none.lua"))
        self.assertEqual(64, done.status)

    def test_links_are_followed_for_policies_but_not_for_libraries(self):
        os.symlink(self.write("far/a.lua", GOOD % "a"), os.path.join(self.dir, "a.lua"))
        self.assertEqual((0, []), self.found(self.dir))

    def test_one_name_in_two_files(self):
        self.write("a.lua", GOOD % "same")
        self.write("b.lua", GOOD % "same")
        status, found = self.found(self.dir)
        self.assertEqual((1, [("b.lua", 1, 26, "error", "policy.duplicate_name")]), (status, found))

    def use(self, libraries, line='local u = use "u"\n'):
        self.write("p.lua", line + GOOD % "p")
        for name, text in libraries.items():
            self.write("lib/" + name, text)
        return self.found(self.dir)

    def test_use(self):
        self.assertEqual((0, []), self.use({"u.lua": "return { a = 1 }"}))

    def test_use_of_what_is_missing(self):
        self.assertEqual((1, [("p.lua", 1, 11, "error", "use.missing")]), self.use({}))

    def test_use_in_a_circle(self):
        self.assertEqual((1, [("lib/v.lua", 1, 8, "error", "use.cycle")]), self.use({"u.lua": 'return use "v"', "v.lua": 'return use "u"'}))

    def test_what_goes_wrong_with_use_tells_the_remedy(self):
        for libraries, hint in (({}, "lib/name.lua"), ({"u.lua": 'return use "u"'}, "a library of its own")):
            self.use(libraries)
            self.assertIn(hint, self.check(self.dir, "--json").json()[0]["hint"])

    def test_use_of_a_link(self):
        self.write("other.txt", "return { a = 1 }")
        os.mkdir(os.path.join(self.dir, "lib"))
        os.symlink("../other.txt", os.path.join(self.dir, "lib", "u.lua"))
        self.assertEqual((1, [("p.lua", 1, 11, "error", "use.link")]), self.use({}))

    def test_use_from_a_linked_folder(self):
        self.write("far/u.lua", "return { a = 1 }")
        os.symlink("far", os.path.join(self.dir, "lib"))
        self.assertEqual((1, [("p.lua", 1, 11, "error", "use.link")]), self.use({}))

    def test_use_by_a_path(self):
        for name in ("../u", "a/b", "A", "u.lua", "", "1u"):
            with self.subTest(name=name):
                self.assertEqual((1, [("p.lua", 1, 11, "error", "use.name")]), self.use({}, 'local u = use "%s"\n' % name))

    def test_use_of_what_gives_nothing(self):
        self.assertEqual((1, [("p.lua", 1, 11, "error", "use.result")]), self.use({"u.lua": "local a = 1"}))

    def test_mistakes_in_a_library_have_its_place(self):
        self.assertEqual((1, [("lib/u.lua", 2, 7, "error", "syntax")]), self.use({"u.lua": "\nlocal = 1"}))
        self.assertEqual((1, [("lib/u.lua", 2, 11, "error", "header.error")]), self.use({"u.lua": "local a\nreturn 1, a.b"}))
        self.assertEqual((0, [("lib/u.lua", 1, 32, "warning", "lint.unknown_global")]),
                         self.use({"u.lua": "return { f = function() return os.time() end }"}))

    def test_loading_has_no_effects(self):
        for text in ('os.execute("touch gone")', 'io.open("gone", "w")', 'require "os"', "load('x = 1')()", "x = 1"):
            with self.subTest(text=text):
                status, found = self.found(self.write("a.lua", text + "\n" + GOOD % "a"))
                self.assertEqual((1, "header.error"), (status, found[0][4]))
        self.assertEqual(["a.lua"], os.listdir(self.dir))

    def test_what_ships_gives_no_findings(self):
        for folder in ("policies", "policies/examples"):
            done = self.check(os.path.join(ROOT, folder), "--json", "--strict")
            self.assertEqual((0, []), (done.status, done.json()), folder)

    def test_manifests_can_be_compared_key_by_key(self):
        path = self.write("a.lua", HEAD % "a" + '  guard = { timeout = "2h", min_interval = "5h" },' + TAIL)
        done = program.run(["manifest", path])
        self.assertEqual(0, done.status)
        lines = done.out.splitlines()
        self.assertEqual(json.loads(done.out)["guard"], {"timeout": "2h", "min_interval": "5h"})
        self.assertIn('    "min_interval": "5h",', lines)
        self.assertLess(lines.index('    "min_interval": "5h",'), lines.index('    "timeout": "2h"'))
        self.assertEqual(done.out, program.run(["manifest", path]).out)

    def test_thousand_policies(self):
        for i in range(1000):
            self.write("p%d.lua" % i, GOOD % ("p%d" % i))
        before = os.times()
        done = self.check(self.dir)
        after = os.times()
        self.assertEqual(0, done.status)
        program.measured("check of 1000 policies: %.2f s of CPU" % (after.children_user - before.children_user))


class Documented(unittest.TestCase):
    def test_every_code_is_in_the_table(self):
        with open(os.path.join(ROOT, "docs", "errors.md"), encoding="utf-8") as f:
            text = f.read()
        pattern = r'"(syntax|(schema|header|file|use|lint)\.[a-z_0-9]+|policy\.duplicate_name)"'
        done = subprocess.run(["grep", "-rhoE", pattern, os.path.join(ROOT, "core", "engine"), os.path.join(ROOT, "core", "front")],
                              capture_output=True, text=True, check=True)
        codes = {line.strip('"') for line in done.stdout.splitlines()} - {"file.lua"}
        self.assertGreater(len(codes), 25)
        self.assertEqual(set(), {c for c in codes if "`%s`" % c not in text})


if __name__ == "__main__":
    unittest.main()
