# SPDX-License-Identifier: Apache-2.0
"""`ebb test`: specs beside policies, their coverage, golden explanations; the shipped specs themselves; plain busted."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import program

EXAMPLES = os.path.join(program.ROOT, "policies", "examples")
BUSTED, LUA = shutil.which("busted"), shutil.which("lua5.4")
MODULE = os.path.join(os.path.dirname(program.path()), "lua", "ebb.so")

# What the engine always knows: how it ran before, and whether something is known.
NEVER_UNKNOWN = {"table_is_live", "never_scanned"}  # `exists` and `unknown` always have an answer

SPEC = """
local ebb = require "ebb.testing"
describe("%s", function()
  it("%s", function()
    local s = ebb.session { policy = "orphans-on-event", fixture = "clicks.json" }
    s:at "2026-03-29T00:00:00Z"
    %s
  end)
end)
"""


def sanitizer():
    """What must be loaded first for a module that was built with a sanitizer."""
    needed = subprocess.run(["ldd", MODULE], capture_output=True, text=True, check=False).stdout
    found = re.search(r"libasan\S* => (\S+)", needed)
    return {"LD_PRELOAD": found.group(1)} if found else {}


@unittest.skipUnless(BUSTED and LUA, "busted or lua5.4 is not installed")
@unittest.skipUnless(os.path.exists(MODULE), "the Lua module is not built beside the program")
class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def run_ebb(self, *args, **env):
        return program.run(["test", *args], env={**sanitizer(), **env}, timeout=300)

    def copy(self, name="orphans_on_event.lua"):
        shutil.copy(os.path.join(EXAMPLES, name), self.dir)
        shutil.copy(os.path.join(EXAMPLES, "fixtures", "clicks.json"), self.dir)

    def spec(self, body, name="orphans_on_event_spec.lua", describe="orphans-on-event", it="works"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(SPEC % (describe, it, body))
        return self.path(name)


class Shipped(Case):
    done = None

    def shipped(self):
        """One run for all that look at it."""
        if not Shipped.done:
            Shipped.done = self.run_ebb(os.path.join(program.ROOT, "policies"), "--json")
        return Shipped.done

    def test_they_hold_and_see_every_check_in_each_outcome(self):
        done = self.shipped()
        self.assertEqual(done.status, 0, self.run_ebb(os.path.join(program.ROOT, "policies")).out)
        report = done.json()
        policies = {p["policy"]: p for p in report["policies"]}
        self.assertEqual({"compact-scored", "iceberg-orphan-file-removal", "orphans-on-event", "orphans-weekly"}, set(policies))
        for name in ("compact-scored", "orphans-on-event", "orphans-weekly"):
            self.assertGreaterEqual(policies[name]["passed"], 10)
            self.assertEqual(policies[name]["lines"]["missed"], [], name)
            for check, seen in policies[name]["checks"].items():
                outcomes = {"true", "false"} if check in NEVER_UNKNOWN else {"true", "false", "unknown"}
                with self.subTest(policy=name, check=check):
                    self.assertEqual(set(), {o for o in outcomes if not seen[o]})
        self.assertEqual(report["failed"], 0)
        self.assertEqual(report["passed"], len(report["tests"]))

    def test_the_named_checks_are_those_of_the_guide(self):
        report = self.shipped().json()
        checks = {p["policy"]: set(p["checks"]) for p in report["policies"]}
        self.assertEqual(checks["orphans-on-event"], {"many_new_snapshots", "failed_commits", "leftovers_are_ripe"})
        self.assertEqual(checks["orphans-weekly"], {"table_is_live", "one_location", "no_failing_streak", "writers_are_short",
                                                    "waste_is_worth_it", "estimate_is_stale", "never_scanned"})
        self.assertEqual(checks["compact-scored"], {"settled", "rested", "worth_a_job", "no_conflict_storm"})

    def test_policies_are_well_formed(self):
        done = program.run(["check", "--strict", os.path.join(program.ROOT, "policies"), EXAMPLES])
        self.assertEqual(done.status, 0, done.out)


class Told(Case):
    def test_one_line_for_each_policy(self):
        self.copy()
        self.spec('s:event { "commit.failed", files_written = 1 }\n assert.verdict(s:step "1h", { "defer" })')
        done = self.run_ebb(self.dir)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertRegex(done.out, r"\Aorphans-on-event +1 passed +checks seen true/false/unknown: 1/3 2/3 0/3  "
                                   r"\(leftovers_are_ripe, many_new_snapshots never true; failed_commits never false; "
                                   r"failed_commits, leftovers_are_ripe, many_new_snapshots never unknown\)\n"
                                   r"  lines executed: \d+ of \d+  \(never [\d, ]+\)\n\Z")

    def test_a_failure_says_where_and_what_was_got(self):
        self.copy()
        spec = self.spec('assert.verdict(s:decide(), { "run" })')
        done = self.run_ebb(self.dir)
        self.assertEqual(done.status, 1)
        self.assertIn("orphans-on-event   0 passed, 1 failed", done.out)
        self.assertRegex(done.out, r"  FAILED orphans-on-event works: want run, got skip by policy because "
                                   r"many_new_snapshots false.*    %s:7\n" % re.escape(spec))
        self.assertIn("many_new_snapshots  false    0 >= 500", done.out)
        report = self.run_ebb(spec, "--json")
        self.assertEqual(report.status, 1)
        test = report.json()["tests"][0]
        self.assertEqual((test["status"], test["file"], test["line"], test["policy"]), ("failed", spec, 7, "orphans-on-event"))

    def test_a_spec_that_can_not_be_loaded_fails(self):
        self.copy()
        for text in ("local x = = 3", "error('oh')", "require 'no.such.module'"):
            with open(self.path("a_spec.lua"), "w", encoding="ascii") as file:
                file.write(text)
            with self.subTest(text=text):
                done = self.run_ebb(self.dir)
                self.assertEqual(done.status, 1, done.err)
                self.assertIn("1 failed", done.out)
                self.assertIn("a_spec.lua", done.out)

    def test_a_policy_that_goes_wrong_is_an_error_of_its_decision(self):
        self.copy()
        with open(self.path("orphans_on_event.lua"), "a+", encoding="utf-8") as file:
            file.seek(0)
            text = file.read()
            file.truncate(0)
            file.write(text.replace("local p      = ctx.params", "local p      = ctx.params\n    error('oh no')"))
        self.spec('assert.verdict(s:decide(), { "run" })')
        done = self.run_ebb(self.dir)
        self.assertEqual(done.status, 1)
        self.assertIn("want run, got error", done.out)
        self.assertIn("oh no", done.out)

    def test_json_is_alone_on_standard_output(self):
        self.copy()
        self.spec('print "from the spec"')
        done = self.run_ebb(self.dir, "--json")
        self.assertEqual(done.json()["passed"], 1)
        self.assertIn("from the spec", done.err)
        self.assertIn("from the spec", self.run_ebb(self.dir).out)

    def test_a_policy_stands_for_its_spec_and_each_runs_once(self):
        self.copy()
        self.spec("")
        for paths in ([self.path("orphans_on_event.lua")], [self.dir, self.path("orphans_on_event.lua"), self.dir + "/."]):
            self.assertEqual(self.run_ebb("--json", *paths).json()["passed"], 1)

    def test_the_configured_folder_is_the_default(self):
        self.copy()
        self.spec("")
        with open(self.path("ebb.lua"), "w", encoding="utf-8") as file:
            file.write("return { policies = %s }\n" % json.dumps(self.dir))
        done = self.run_ebb("--config", self.path("ebb.lua"), "--json")
        self.assertEqual((done.status, done.json()["passed"]), (0, 1), done.err)

    def test_filter(self):
        self.copy()
        self.spec("", name="a_spec.lua", it="keeps quiet hours")
        self.spec("", name="b_spec.lua", it="does not")
        done = self.run_ebb(self.dir, "--filter", "quiet (days|hours)$", "--json")
        self.assertEqual([t["name"] for t in done.json()["tests"]], ["orphans-on-event keeps quiet hours"])
        done = self.run_ebb(self.dir, "--filter", "nothing of that kind")
        self.assertEqual(done.status, 64)
        self.assertIn("takes the name of no test", done.err)
        self.assertEqual(self.run_ebb(self.dir, "--filter", "(").status, 64)


class Golden(Case):
    def test_a_difference_fails_until_it_is_taken_over(self):
        self.copy()
        self.spec('ebb.golden(s:decide(), "now")')
        golden = self.path("golden", "orphans_on_event_spec", "now.txt")
        done = self.run_ebb(self.dir)
        self.assertEqual(done.status, 1)
        self.assertIn("--update-golden", done.out)
        self.assertFalse(os.path.exists(golden))
        done = self.run_ebb(self.dir, "--update-golden")
        self.assertEqual(done.status, 0, done.out)
        self.assertIn("wrote " + golden, done.out)
        self.assertEqual(self.run_ebb(self.dir).status, 0)
        self.assertEqual(self.run_ebb(self.dir, "--update-golden", "--json").json()["goldens"], [])
        with open(golden, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("verdict skip by policy\n", text)
        self.assertNotRegex(text, "gas|d-0|sha256")
        self.spec('s:set("properties", {}); s:commits(500); ebb.golden(s:decide(), "now")')
        done = self.run_ebb(self.dir, EBB_TEST_UPDATE_GOLDEN="1")  # only the option counts
        self.assertEqual(done.status, 1)
        self.assertIn("    - verdict skip by policy\n    + verdict run by policy\n", done.out)


class Refused(Case):
    def test_usage(self):
        self.copy()
        for args, said in (([self.path("none")], "no such file"), ([self.path("clicks.json")], "neither"),
                           ([self.path("orphans_on_event.lua")], "no spec"), (["--golden"], "golden"),
                           ([self.dir + ",x"], "comma")):
            with self.subTest(args=args):
                done = self.run_ebb(*args)
                self.assertEqual(done.status, 64, done.err)
                self.assertIn(said, done.err)

    def test_a_folder_without_specs(self):
        done = self.run_ebb(self.dir)
        self.assertEqual(done.status, 64)
        self.assertIn("there is no spec", done.err)
        os.makedirs(self.path("a", "b"))
        self.copy()
        os.rename(self.spec(""), self.path("a", "b", "x_spec.lua"))
        for name in ("orphans_on_event.lua", "clicks.json"):
            os.rename(self.path(name), self.path("a", name))
        self.assertEqual(self.run_ebb(self.dir).status, 0)

    def test_busted_is_missing(self):
        self.copy()
        self.spec("")
        done = self.run_ebb(self.dir, PATH=self.path("empty"))
        self.assertEqual(done.status, 3)
        self.assertIn("busted: not found on PATH", done.err)
        self.assertIn("lua-busted", done.err)

    def fake(self, text):
        os.makedirs(self.path("bin"), exist_ok=True)
        with open(self.path("bin", "busted"), "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(self.path("bin", "busted"), 0o755)
        return self.path("bin") + ":" + os.environ["PATH"]

    def test_busted_breaks(self):
        self.copy()
        self.spec("")
        for text, said in (("#!/bin/sh\nexit 7\n", "status 7"), ("#!/bin/sh\nkill -9 $$\n", "signal 9"),
                           ("#!/bin/sh\necho '{' > $EBB_TEST_REPORT\n", "report of busted"), ("nonsense", "")):
            with self.subTest(text=text):
                done = self.run_ebb(self.dir, PATH=self.fake(text))
                self.assertIn(done.status, (2, 3), done.err)
                self.assertIn(said, done.err)

    def test_a_spec_that_leaves_early_is_no_success(self):
        self.copy()
        self.spec("os.exit(0)")
        done = self.run_ebb(self.dir)
        self.assertEqual(done.status, 3, done.out)
        self.assertIn("before it could tell anything", done.err)

    def test_nothing_is_left_behind(self):
        self.copy()
        self.spec("")
        os.makedirs(self.path("tmp"))
        self.assertEqual(self.run_ebb(self.dir, TMPDIR=self.path("tmp")).status, 0)
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_it_ends_when_it_is_told_to(self):
        self.copy()
        spec = self.spec('io.stderr:write("here\\n") while true do end')
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                child = subprocess.Popen([program.path(), "test", spec], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, env={**os.environ, **sanitizer()})
                self.addCleanup(child.kill)
                self.assertEqual(child.stderr.readline(), b"here\n")
                began = time.time()
                child.send_signal(number)
                out, err = child.communicate(timeout=60)
                self.assertEqual(child.returncode, 5, (out, err))
                self.assertLess(time.time() - began, 20)


class Plain(Case):
    @unittest.skipUnless(shutil.which("lua5.1"), "lua5.1 is not installed")
    def test_another_lua_is_an_error_not_a_crash(self):
        env = {**os.environ, "LUA_PATH": os.path.join(program.ROOT, "scripts", "lua", "?.lua"),
               "LUA_CPATH": os.path.join(os.path.dirname(MODULE), "?.so")}
        for name in ("ebb", "ebb.testing"):
            done = subprocess.run(["lua5.1", "-e", "require '%s'" % name], env=env, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1, (name, done.stderr))
            self.assertIn("this module is for Lua 5.4, not Lua 5.1", done.stderr)
            self.assertIn("busted --lua=lua5.4", done.stderr)

    def test_busted_alone(self):
        self.copy()
        self.spec('s:commits(500)\n assert.verdict(s:decide(), { "run" })')
        env = {**os.environ, **sanitizer(), "LUA_PATH": os.path.join(program.ROOT, "scripts", "lua", "?.lua") + ";;",
               "LUA_CPATH": os.path.join(os.path.dirname(MODULE), "?.so") + ";;"}
        done = subprocess.run([LUA, BUSTED, "--output=TAP", self.dir], env=env, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("ok 1 - orphans-on-event works", done.stdout)
        self.spec('assert.verdict(s:decide(), { "run" })')
        done = subprocess.run([LUA, BUSTED, "--output=TAP", self.dir], env=env, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("want run, got skip", done.stdout)


if __name__ == "__main__":
    unittest.main()
