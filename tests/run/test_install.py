# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` puts into a prefix works there: program, library, Lua module, manual, completions."""
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("EBB_BUILD_DIR", os.path.join(ROOT, "build", "release"))
FILES = ("bin/ebb", "lib/libebb.a", "lib/libebb.so", "lib/libebb.so.0", "lib/pkgconfig/ebb.pc", "lib/lua/5.4/ebb.so", "share/lua/5.4/ebb/testing.lua", "include/ebb.h",
         "share/man/man1/ebb.1", "share/bash-completion/completions/ebb", "share/zsh/site-functions/_ebb", "share/ebb/scripts",
         "share/ebb/policies", "share/ebb/policies/templates/facts.json", "share/ebb/policies/templates/orphans/spec.lua",
         "share/ebb/lua-stubs/policy.lua", "share/ebb/lua-stubs/ebb/testing.lua", "share/lua/5.4/ebb.lua", "share/ebb/demo/wh", "share/doc/ebb/LICENSE", "share/doc/ebb/operations.md",
         "share/doc/ebb/ebb-dashboard.json", "lib/systemd/system/ebb.service", "lib/systemd/system/ebb.socket", "lib/sysusers.d/ebb.conf")


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.prefix)
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True, stdout=subprocess.DEVNULL)

    def path(self, *names):
        return os.path.join(self.prefix, *names)

    def run_in(self, command, **settings):
        return subprocess.run(command, env=dict(os.environ, **settings), capture_output=True, text=True, check=False)

    def test_every_part_is_there(self):
        for name in FILES:
            with self.subTest(name=name):
                self.assertTrue(os.path.exists(self.path(name)))

    def test_specs_stay_behind(self):
        self.assertEqual([], glob.glob(self.path("share/ebb/**/*_spec.lua"), recursive=True))

    def test_program_starts_anywhere(self):
        done = self.run_in([self.path("bin/ebb"), "--version"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^ebb \d+\.\d+\.\d+")

    def test_library_shows_its_interface_only(self):
        done = self.run_in(["nm", "--dynamic", "--defined-only", "--format=posix", self.path("lib/libebb.so")])
        names = {line.split()[0].split("@")[0] for line in done.stdout.splitlines()}
        self.assertIn("ebb_host_open", names)
        self.assertEqual(set(), {n for n in names if not n.startswith("ebb_host_")})

    def link(self, *libraries):
        source, binary = self.path("v.c"), self.path("v")
        with open(source, "w", encoding="ascii") as file:
            file.write("#include <ebb.h>\n#include <stdio.h>\nint main(void)\n{\n    return puts(ebb_host_version()) < 0;\n}\n")
        done = self.run_in(["cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-o", binary, source, *libraries])
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.run_in([binary], LD_LIBRARY_PATH=self.path("lib"))

    def test_program_links_shared_and_static(self):
        pkg = ["pkg-config", "--cflags", "--libs", "ebb"]
        shared = self.run_in(pkg, PKG_CONFIG_PATH=self.path("lib/pkgconfig")).stdout.split()
        static = self.run_in(pkg + ["--static"], PKG_CONFIG_PATH=self.path("lib/pkgconfig")).stdout.split()
        for flags in (shared, [self.path("lib/libebb.a") if flag == "-lebb" else flag for flag in static]):
            with self.subTest(flags=flags):
                done = self.link(*flags)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, r"^\d+\.\d+\.\d+\n$")

    def test_lua_module_loads(self):
        done = self.run_in(["lua5.4", "-e", 'print(type(require "ebb"))'], LUA_CPATH_5_4=self.path("lib/lua/5.4/?.so"))
        self.assertEqual((done.returncode, done.stdout), (0, "table\n"), done.stderr)

    def test_lua_part_of_the_module_loads(self):
        done = self.run_in(["lua5.4", "-e", 'print(type(require("ebb.testing").session))'], LUA_CPATH_5_4=self.path("lib/lua/5.4/?.so"),
                           LUA_PATH_5_4=self.path("share/lua/5.4/?.lua"))
        self.assertEqual((done.returncode, done.stdout), (0, "function\n"), done.stderr)

    def test_manual_and_completions_are_well_formed(self):
        with open(self.path("share/man/man1/ebb.1"), encoding="utf-8") as page:
            self.assertRegex(page.read(), r"(?m)^\.TH EBB 1")
        done = self.run_in(["bash", "-n", self.path("share/bash-completion/completions/ebb")])
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("share/zsh/site-functions/_ebb"), encoding="utf-8") as page:
            self.assertTrue(page.read().startswith("#compdef ebb\n"))


if __name__ == "__main__":
    unittest.main()
