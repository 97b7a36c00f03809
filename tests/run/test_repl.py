# SPDX-License-Identifier: Apache-2.0
"""ebb repl: every command through a pipe, saved sessions, random input, and a real terminal (tmux)."""

import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import fixtures  # noqa: E402
import program  # noqa: E402

FACTS = os.path.join(program.ROOT, "tests", "fixtures", "facts", "clicks.json")
EXAMPLES = os.path.join(program.ROOT, "policies", "examples")
COMMANDS = """tables use policies show params stats parts history events decide why whynot plan diff now at step next run-until
event commits set param reset reload test cover bench gas save load capture more explain quit help""".split()


def sanitizer():
    """The environment in which Lua can load a module that was built with the address sanitizer."""
    needed = subprocess.run(["ldd", program.path()], capture_output=True, text=True).stdout
    found = re.search(r"libasan\S* => (\S+)", needed)
    return {"LD_PRELOAD": found.group(1), "ASAN_OPTIONS": "detect_leaks=0"} if found else {}


class Base(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        self.state = os.path.join(self.top, "state")
        self.bundle = os.path.join(self.top, "policies")
        os.mkdir(self.bundle)
        self.add("orphans_on_event.lua")

    def add(self, name):
        shutil.copy(os.path.join(EXAMPLES, name), self.bundle)

    def write(self, name, text):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def command(self, *args):
        return [program.path(), "repl", "--state", self.state, *args]

    def facts(self):
        with open(FACTS, encoding="utf-8") as f:
            return json.load(f)

    def read(self, name):
        with open(os.path.join(self.top, name), encoding="utf-8") as f:
            return f.read()

    def pipe(self, lines, *args, status=0, facts=FACTS, env=None):
        """What a piped session says, without the banner."""
        text = lines if isinstance(lines, bytes) else "\n".join(lines if isinstance(lines, list) else [lines]).encode("utf-8") + b"\n"
        words = self.command("--bundle", self.bundle, *args, *([facts] if facts else []))
        done = subprocess.run(words, input=text, capture_output=True, timeout=300, cwd=self.top, env={**os.environ, "TZ": "UTC", **(env or {})})
        self.assertEqual((status, b""), (done.returncode, done.stderr), done.stdout[-2000:])
        return done.stdout.decode("utf-8")

    def said(self, lines, *args, **more):
        """The lines that come behind the banner and the table."""
        return self.pipe(lines, *args, **more).splitlines()[3 if more.get("facts", FACTS) else 2:]


class Commands(Base):
    def test_banner(self):
        lines = self.pipe([":quit", "1 + 1"]).splitlines()
        self.assertRegex(lines[0], r"^ebb \S+  Lua 5\.4\.\d  bundle sha256:[0-9a-f]{6} \(1 policy, 0 errors\)  tzdata \S+$")
        self.assertEqual("overlay session: nothing you do here reaches a table.  :help for commands", lines[1])
        self.assertEqual("prod.events.clicks  v2  uuid 7d1e…  current snapshot 3776207205136740581  policies: orphans-on-event", lines[2])
        self.assertEqual(3, len(lines))

    def test_help(self):
        text = self.pipe([":help"] + [":help " + name for name in COMMANDS] + [":help check", ":help nothing"])
        for name in COMMANDS[:-1]:
            self.assertRegex(text, r"(?m)^ (look|decide|time|change|check|session) .*:%s\b" % name)
        self.assertNotIn("error: :help", text.replace("error: :help nothing", ""))
        self.assertRegex(text, r"(?m)^ check  .*\(function\)$")
        self.assertIn("error: :help nothing: neither a command nor a name that policies have", text)

    def test_unknown_commands(self):
        said = self.said([":polices", ":stepp 1h", ":step", ":step 1h 2h", ":", ":use 'a", ":decide nobody", ":decide orphans-on-evnt"])
        self.assertEqual(["error: :polices: unknown command", "  hint: did you mean :policies?", "error: :stepp: unknown command",
                          "  hint: did you mean :step?", "error: :step: something is missing", "  hint: write :step DURATION",
                          "error: :step: too many words", "  hint: write :step DURATION"], said[:8])
        self.assertIn("error: input: a quote has no end", said)
        self.assertIn("error: policy nobody: there is none of this name", said)
        self.assertIn("  hint: did you mean orphans-on-event?", said)

    def test_story(self):
        """A failed commit arms a run in the night when an hour is missing."""
        said = self.said([":at 2026-03-29T00:00:00Z", ":event commit.failed files_written=212", ":step 1h", ":why orphans-on-event",
                          ":step 71h", ":run-until 2026-04-01T00:00:00Z", ":now", ":why"])
        self.assertEqual("now 2026-03-29T00:00:00Z  (Sun 01:00 Europe/Berlin)   overlay", said[0])
        self.assertEqual("event e-s1 commit.failed at 00:00:00Z.  debounced: orphans-on-event decides at 00:10:00Z", said[1])
        self.assertRegex(said[2], r"^00:10:00Z orphans-on-event  DEFER until 2026-04-01T00:00:00Z  \S")
        self.assertEqual("now 2026-03-29T01:00:00Z  (Sun 03:00 Europe/Berlin: the hour from 02:00 to 03:00 did not exist)   overlay", said[3])
        self.assertRegex(said[4], r"^DEFER because .*leftovers_are_ripe")
        self.assertTrue([line for line in said[5:] if re.match(r"^    leftovers_are_ripe +false  2026-04-01T00:00:00Z <= now$", line)], said)
        self.assertTrue([line for line in said if re.match(
            r"^2026-04-01T00:00:00Z orphans-on-event  RUN remove_orphan_files  \(mode observe: recorded, not started\)$", line)], said)
        self.assertEqual("now 2026-04-01T00:00:00Z  (Wed 02:00 Europe/Berlin)   overlay", said[-4])
        self.assertEqual("RUN because all{failed_commits, leftovers_are_ripe}", said[-3])
        self.assertRegex(said[-2], r"^    failed_commits +true  1 > 0$")
        self.assertRegex(said[-1], r"^    leftovers_are_ripe +true  2026-04-01T00:00:00Z <= ")
        self.assertEqual("RUN because all{failed_commits, leftovers_are_ripe}   (decided at 2026-04-01T00:00:00Z)", self.said(
            [":at 2026-03-29T00:00:00Z", ":event commit.failed files_written=212", ":step 72h", ":step 1h", ":why"])[-3])

    def test_whynot(self):
        said = self.said([":at 2026-03-29T00:00:00Z", ":event commit.failed files_written=212", ":step 1h", ":whynot orphans-on-event"])
        text = "\n".join(said[4:])
        self.assertTrue(said[4].startswith("orphans-on-event on prod.events.clicks: not now. DEFER until 2026-04-01T00:00:00Z"), text)
        self.assertRegex(text, r"(?m)^   many_new_snapshots +false +0 >= 500 +needs 500 more$")
        self.assertRegex(text, r"(?m)^     failed_commits +true +1 > 0$")
        self.assertRegex(text, r"(?m)^     leftovers_are_ripe +false +2026-04-01T00:00:00Z <= now +true in 71h$")
        self.assertRegex(text, r"(?m)^ earliest possible +2026-04-01T00:00:00Z \(Wed 02:00 Europe/Berlin\)$")

    def test_event_that_nobody_takes(self):
        said = self.said([":at 2026-03-29T00:00:00Z", ":event commit.failed files_written=9 retried_ok=true", ":event other.thing",
                          ":events 2", "ctx.events.count { \"commit.failed\", since = 1 }"])
        self.assertEqual(["event e-s1 commit.failed at 00:00:00Z.", "event e-s2 other.thing at 00:00:00Z."], said[1:3])
        self.assertTrue(said[3].startswith(" 2026-03-29T00:00:00Z  e-s"), said)

    def test_look(self):
        self.add("compact_scored.lua")
        said = "\n".join(self.said([":tables", ":policies", ":show compact-scored", ":params compact-scored", ":stats", ":parts", ":parts 1",
                                    ":history 2", ":events"]))
        self.assertRegex(said, r"(?m)^prod\.events\.clicks +\S*clicks\.json$")
        self.assertRegex(said, r"(?m)^ compact-scored +takes it +\S")
        self.assertIn('name = "compact-scored"', said)
        self.assertRegex(said, r"(?m)^ settle +45m +duration ")
        self.assertIn(" data files 45 210   bytes 482.6 GiB   delete files 41   manifests 88   snapshots 3   longest write 1h30m", said)
        self.assertIn(" as of 2026-03-29T00:00:00Z (snapshot 3776207205136740581)", said)
        self.assertRegex(said, r"(?m)^ ds=2026-03-26 +200 files, 8\.0 GiB +last write 2026-03-26T21:20:00Z$")
        self.assertIn(" and 2 more: :parts 3", said)
        self.assertIn(" 2026-03-28T23:20:00Z  snapshot 3776207205136740581  append", said)
        self.assertIn(" 2026-03-28T22:05:00Z  e-771  commit.failed  files_written=212  source=\"spark\"", said)

    def test_without_a_table(self):
        said = self.said([":stats", ":decide", ":now", "1 + 1", "t.name", ":next"], facts=None)
        self.assertEqual(["error: no table is in use", "  hint: :use TABLE or :use fixture.json"], said[:2])
        self.assertIn("2", said)
        self.assertNotIn("Traceback", "\n".join(said))

    def test_use_more_tables(self):
        other = self.facts()
        other["table"].update(name="views", uuid="0b9e9a52-5f5b-4c1b-9a55-0c5e3c1f0b42")
        self.write("views.json", json.dumps(other))
        said = self.said([":use views.json", ":set stats.bytes 5", "t.stats.bytes", ":use prod.events.clicks", "t.stats.bytes", ":use nothing.json"])
        self.assertTrue(said[0].startswith("prod.events.views  v2"), said)
        self.assertEqual(["5", "518185156608"], [said[2], said[4]])
        self.assertIn("nothing.json", said[5])
        self.assertTrue(said[5].startswith("error: "), said)

    def test_decide(self):
        self.add("compact_scored.lua")
        said = self.said([":at 2026-03-29T00:00:00Z", ":decide compact-scored", ":param min_score 99", ":decide compact-scored",
                          ":param min_score 400", ":params"])
        self.assertRegex(said[1], r"^RUN rewrite_data_files   \d+ partitions, ")
        self.assertTrue([line for line in said if re.match(r"^ ds=2026-03-26 +\d+\.\d .* yes$", line)], said)
        self.assertIn("min_score 40 -> 99 (overlay)", [line.replace("40.0", "40").replace("99.0", "99") for line in said])
        self.assertTrue([line for line in said if line.startswith("SKIP   worth_a_job false: 0 >= 1")], said)
        self.assertTrue([line for line in said if line.startswith("error: ") and "min_score" in line], said)

    def test_change(self):
        said = self.said([":set stats.bytes 1GiB", "t.stats.bytes", ":set stats.longest_write 90m", ":set properties { a = 'b' }",
                          "t.properties.a", ":set stats.bytes nil", "t.stats.bytes", ":set stats.byts 3", ":commits 3", ":commits 0",
                          "ctx.events.count { 'snapshot.committed', since = '1h' }", ":reset", "t.stats.bytes", ":param nothing 1"])
        self.assertEqual("stats.bytes 518185156608 -> 1073741824 (overlay)", said[0])
        self.assertEqual("1073741824", said[1])
        self.assertEqual("stats.longest_write 5400000 (1h30m) -> 5400000 (1h30m) (overlay)", said[2])
        self.assertEqual('"b"', said[4])
        self.assertTrue(said[6].startswith("nil   -- unknown: "), said)
        self.assertIn("3 commits by writers (overlay)", said)
        self.assertIn("error: :commits: from 1 to 100000 of them", said)
        self.assertIn("518185156608", said[-3:])
        self.assertEqual("error: :param nothing: no policy has this parameter", said[-1])
        self.assertEqual(["retain 3d -> 4d (overlay)", "345600000"], self.said([":param retain 4d", "ctx.params.retain"]))

    def test_next(self):
        self.add("orphans_weekly.lua")
        said = self.said([":at 2026-03-28T12:00:00Z", ":next 2 orphans-weekly", ":next orphans-on-event", ":next 0"])
        self.assertRegex(said[1], r"^ nominal +fires +note$")
        self.assertRegex(said[2], r"^ Sun 2026-03-29 02:00 +2026-03-29T0\d:\d\d:\S+ .*02:00 does not exist")
        self.assertRegex(said[3], r"^ Sun 2026-04-05 02:00 +2026-04-05T0\d:\d\d:")
        self.assertEqual(" no time trigger: it waits for events", said[5])
        self.assertEqual("error: :next: from 1 to 1000 fires", said[6])

    def test_clock(self):
        said = self.said([":at yesterday", ":at 2026-03-29T00:00:00Z", ":step nonsense", ":step 99999d", ":run-until 2026-03-28T00:00:00Z", ":now"])
        self.assertTrue(all(line.startswith(("error: ", "  hint: ", "now ")) for line in said), said)
        self.assertEqual("now 2026-03-29T00:00:00Z  (Sun 01:00 Europe/Berlin)   overlay", said[-1])

    def test_gas_and_bench(self):
        said = self.said([":gas", "local x = 1", ":gas", ":bench orphans-on-event 10", ":bench orphans-on-event 0"])
        self.assertEqual("error: :gas: nothing was evaluated yet", said[0])
        self.assertRegex(said[1], r"^gas \d+ of 2 000 000$")
        self.assertEqual(said[1], said[2])
        self.assertRegex(said[3], r"^10 evaluations, [\d.]+ us each$")
        self.assertTrue(said[4].startswith("error: :bench: "))

    def test_reload(self):
        """A broken policy never replaces a good one."""
        path = os.path.join(self.bundle, "orphans_on_event.lua")
        with open(path, encoding="utf-8") as f:
            good = f.read()
        bad = good.replace("min_interval", "min_intervall")
        self.assertNotEqual(good, bad)
        with subprocess.Popen(self.command("--bundle", self.bundle, FACTS), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              cwd=self.top) as running:
            def say(line, until):
                running.stdin.write(line + "\n")
                running.stdin.flush()
                lines = []
                while not lines or not re.search(until, lines[-1]):
                    lines.append(running.stdout.readline())
                    self.assertTrue(lines[-1], lines)
                return lines

            say("1", "^1$")
            self.write("policies/orphans_on_event.lua", bad)
            lines = say(":reload", "still using")
            self.assertRegex("".join(lines), r"orphans_on_event\.lua:\d+.*guard\.min_intervall: unknown.*min_interval")
            self.assertRegex(lines[-1], r"^1 error\. still using bundle sha256:[0-9a-f]{6}$")
            say(":decide orphans-on-event", "^(SKIP|DEFER|RUN)")
            self.write("policies/orphans_on_event.lua", good.replace("every_n", "each_n"))
            say(":reload", r"^bundle sha256:[0-9a-f]{6} \(1 policy\)$")
            say(":params", "^ each_n ")
            os.remove(path)
            say(":reload", r"^bundle sha256:[0-9a-f]{6} \(0 policies\)$")
            say(":decide orphans-on-event", "there is none of this name")
            running.stdin.close()
            self.assertEqual(0, running.wait(60))

    def test_broken_bundle(self):
        self.write("policies/broken.lua", "return policy {\n  api = 1,\n")
        lines = self.pipe([":policies"]).splitlines()
        self.assertRegex(lines[0], r"broken\.lua:\d+: ")
        self.assertIn("(1 policy, 1 error)", lines[1])

    def test_capture(self):
        self.write("other.json", '{"format-version": 2}')
        said = self.said([":set stats.bytes 7", ":capture > out.json", ":use out.json", "t.stats.bytes", ":capture > out.json",
                          ":capture > v1.metadata.json", ":capture > other.json"])
        self.assertRegex(said[1], r"^captured prod\.events\.clicks as it is in this session: \d+ bytes in out\.json$")
        self.assertEqual(7, json.loads(self.read("out.json"))["table"]["stats"]["bytes"])
        self.assertIn("7", said)
        self.assertTrue(said[-4].startswith("captured prod.events.clicks"), said)
        self.assertIn("v1.metadata.json: the name of a fixture ends in .json, and not in .metadata.json", said[-3])
        self.assertIn("other.json: is there and is no captured table; it is not written over", said[-2])
        self.assertEqual('{"format-version": 2}', self.read("other.json"))

    @unittest.skipUnless(shutil.which("busted"), "busted is not installed")
    @unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(program.path()), "lua", "ebb.so")), "the Lua module is not built beside the program")
    def test_specs(self):
        self.write("policies/always.lua", """return policy { api = 1, name = "always",
decide = function(t, ctx)
  local v = all { check("live", t.current_snapshot, "exists") }
  if not v.ok then return skip(v) end
  return run(v, action.remove_orphan_files { older_than = ctx.now - 5 * 86400000 })
end }
""")
        self.write("policies/always_spec.lua", """local ebb = require "ebb.testing"
describe("always", function()
  it("runs", function()
    local s = ebb.session { policy = "always", fixture = "%s" }
    assert.equal("run", s:decide().verdict)
  end)
  it("is wrong here", function() assert.equal(1, 2) end)
end)
""" % FACTS)
        os.remove(os.path.join(self.bundle, "orphans_on_event.lua"))
        said = "\n".join(self.said([":test", ":test runs", ":cover", ":test nothing.like.this"], env=sanitizer()))
        self.assertRegex(said, r"(?m)^always +1 passed, 1 failed")
        self.assertRegex(said, r"(?m)^always +1 passed\b(?!, 1)")
        self.assertRegex(said, r"(?m)^  live +true 1  false 0  unknown –$")
        self.assertRegex(said, r"(?m)^always  4 of 5 lines$|^always  \d+ of \d+ lines$")

    def test_plan_of_a_fixture(self):
        said = self.said([":plan orphans-on-event", ":diff a b", ":explain p-nothing"])
        self.assertIn("is a fixture: it has no files that could be listed", said[0])
        self.assertTrue(all(line.startswith(("error: ", "  hint: ")) for line in said), said)


class Lua(Base):
    def test_values(self):
        said = self.said(["1 + 2", "t.stats", "t.partitions { limit = 1 }", "nil", '"a\\27[2J"', "print(t.name)", "note(1, 2)"])
        self.assertEqual("3", said[0])
        self.assertIn("  longest_write = 5400000 (1h30m),", said)
        self.assertIn('"a\\x1b[2J"', said)
        self.assertEqual(["clicks", "1  2"], said[-2:])

    def test_missing(self):
        facts = self.facts()
        del facts["table"]["stats"]["longest_write"]
        path = self.write("f.json", json.dumps(facts))
        said = self.said(["t.stats.longest_write"], facts=path)
        self.assertEqual(["nil   -- unknown: no writer has reported a duration. A check on it is 'unknown', never true."], said)

    def test_block(self):
        said = self.said(["for _, p in ipairs(t.partitions{}) do", "  if p.delete_records > 0 then note(p.key, ratio(p.delete_records, p.records)) end",
                          "end", "1 +", "2"])
        self.assertEqual(["ds=2026-03-28  0.1", "3"], [said[0], said[2]])
        self.assertRegex(said[1], r"^gas \d+ of 2 000 000$")

    def test_block_without_end(self):
        self.assertEqual(["error: the input ends within a block"], self.said(["for i = 1, 2 do", "  note(i)"]))

    def test_errors(self):
        said = self.said(["t.stats.bytes = 0", "local x = = 3", "while true do end", "os.exit()", "t.stats.byts", "error('x\\27[2J')"])
        self.assertEqual("error: t is read-only.  To try another value in this session: :set stats.bytes 0", said[0])
        self.assertEqual(["syntax error, line 1, column 11: unexpected symbol near '='", "  local x = = 3", "            ^"], said[1:4])
        self.assertRegex(said[4], r"^aborted: gas 2 000 000 used up in \d+ ms\.  session unchanged$")
        self.assertTrue(said[5].startswith("error: os: unknown"), said)
        self.assertIn("error: t.stats.byts: unknown", said)
        self.assertIn("error: x\\x1b[2J", said)

    def test_more(self):
        lines = self.said(["for i = 1, 2000 do print(i) end", ":more", ":more", ":more", ":more", ":more", ":more"])
        self.assertEqual("… 1601 more lines: :more", lines[400])
        self.assertEqual([str(i) for i in range(1, 2001)], [line for line in lines if line.isdigit()])
        self.assertEqual("error: :more: nothing was left out", lines[-1])

    def test_nothing_stays(self):
        said = self.said(["local a = 1", "a", "b = 1"])
        self.assertTrue(said[1].startswith("error: a: unknown"), said)

    def test_control_characters_in_facts(self):
        facts = self.facts()
        facts["table"]["name"] = "ev\x1b[2Jil"
        facts["table"]["partitions"][0]["key"] = "ds=\x07\x9b"
        facts["table"]["properties"] = {"a\x1b]0;x": "b\x1b[2J"}
        facts["events"].append({"id": "\x1b[31m", "type": "x\x1b[2J", "at": 1774742300000, "k\x1b": "\x1b"})
        path = self.write("f.json", json.dumps(facts))
        text = self.pipe([":tables", "t", "t.properties", ":stats", ":parts", ":events", ":history", ":policies", ":event 'a\x1b[2J' k=\x1b",
                          ":foo\x1b[2J", ":use \x1b[2J", ":at \x1b", ":help \x1b[2J", ":save", ":set \x1b[2J 4", ":explain \x1b[2J", "\x1b[2J"], facts=path)
        self.assertEqual([], re.findall(r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]", text))


class Sessions(Base):
    LINES = [":at 2026-03-29T00:00:00Z", ":event commit.failed files_written=212", "for i = 1, 2 do", "  print('ebb> ', i)", "end",
             "print('ebb> x')", "print('# x')", "while true do end", ":step 1h", ":stats", ":foo"]

    def save(self):
        said = self.said(self.LINES + [":save s.session"])
        self.assertEqual("saved 12 lines; replay with: ebb repl --load s.session --check", said[-1])
        return os.path.join(self.top, "s.session")

    def replay(self, path, *args):
        done = subprocess.run(self.command("--bundle", self.bundle, "--load", path, *args), input=b"", capture_output=True, timeout=120, cwd=self.top)
        return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")

    def test_check(self):
        path = self.save()
        self.assertEqual((0, "", ""), self.replay(path, "--check"))
        text = self.read(path)
        self.assertIn("\nebb> for i = 1, 2 do\n ..>   print('ebb> ', i)\n ..> end\n", text)
        self.write("s.session", text.replace("DEFER", "RUN"))
        status, out, err = self.replay(path, "--check")
        self.assertEqual((1, ""), (status, err))
        self.assertRegex(out, r"(?m)^\S*s\.session:\d+: :step 1h$")
        self.assertRegex(out, r"(?m)^-00:10:00Z orphans-on-event  RUN")
        self.assertRegex(out, r"(?m)^\+00:10:00Z orphans-on-event  DEFER")

    def test_load(self):
        path = self.save()
        status, out, err = self.replay(path)
        self.assertEqual((0, ""), (status, err))
        self.assertIn("ebb> :step 1h\n00:10:00Z orphans-on-event  DEFER", out)
        said = self.said([":load s.session", ":now"])
        self.assertTrue(said[-1].startswith("now 2026-03-29T01:00:00Z"), said)

    def test_what_is_no_session_is_no_passed_test(self):
        for text in ("", ":step 1h\n", "{}\n", "# a session of ebb repl\n", "\n\nebb\n"):
            status, out, err = self.replay(self.write("n.session", text), "--check")
            self.assertEqual((64, ""), (status, out), text)
            self.assertIn("is no saved session", err)

    def test_files_are_not_overwritten(self):
        before = self.read("policies/orphans_on_event.lua")
        said = self.said([":save policies/orphans_on_event.lua", ":save /nonexistent/x", ":load nothing", ":load " + FACTS])
        self.assertTrue(said[0].startswith("error: "), said)
        self.assertEqual(before, self.read("policies/orphans_on_event.lua"))

    def test_control_characters(self):
        path = self.write("c.session", "# a session of ebb repl\nebb> 1 -- \x1b[2J\n1 \x1b[2J \\x\nebb> :foo\x07\n")
        for words in (["--check"], []):
            out = self.replay(path, *words)[1]
            self.assertEqual([], re.findall(r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]", out))
        self.assertIn("-1 \\x1b[2J \\x\n+1\n", self.replay(path, "--check")[1])

    def test_sessions_that_load_themselves(self):
        self.write("a.session", "# a session of ebb repl\nebb> :load a.session\n")
        self.assertIn("sessions load each other", self.pipe([":load a.session"]))

    def test_usage(self):
        for args in (["--check"], ["--load", "missing"], ["--allow-apply"], ["--attach", "x"], ["--catalog", "nonsense"],
                     ["--catalog", "directory:"], ["missing.json"], ["--bundle", "missing"]):
            done = program.run(["repl", *args], state=self.state)
            self.assertNotEqual(0, done.status, args)
            self.assertIn("ebb: ", done.err, args)


class Hostile(Base):
    WORDS = [":" + name for name in COMMANDS if name not in ("test", "cover", "quit", "bench")] + [
        "orphans-on-event", "clicks.json", "2026-03-29T00:00:00Z", "3h", "10d", "-1", "5", "99999999999999999999", "commit.failed", "a=b", "=", "stats.bytes",
        "t.stats", "t", "ctx.now", "nil", "{", "}", "for", "end", "do", "[[", "]]", "\"", "'", "--", "\\", ">", "x.session", "..", "./", "ü", "\u202e",
        "\x1b[2J", "\x07", "\x7f", "\x00", "\r", "\t", "note(", ")", "check('a', 1, '<', 2)", "properties", "flags.freeze", "true", "every_n", "retain"]

    def test_random_lines(self):
        self.add("orphans_weekly.lua")
        rng = random.Random(7)
        lines = []
        for _ in range(2000):
            line = " ".join(rng.choice(self.WORDS) for _ in range(rng.randint(1, 6))).encode("utf-8")
            if rng.random() < 0.2:
                line = bytes(rng.randrange(256) for _ in range(rng.randint(0, 60))).replace(b"\n", b" ")
            lines.append(line)
        text = self.pipe(b"\n".join(lines) + b"\n]]\nend\n)\n1 + 1\n:now\n")
        self.assertEqual([], re.findall(r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]", text))
        self.assertTrue(text.splitlines()[-1].startswith(("now ", "error: ")), text[-300:])

    def test_huge_lines(self):
        for line in (b"x" * 5000000, b"(" * 100000, b"{" * 3000, b":" + b"a " * 100000, b":use " + b"/" * 100000, b"\xff" * 200000,
                     b'"' + b"a" * 100000 + b'"', b"\x00" * 1000, b":event x " + b"k=1 " * 60):
            text = self.pipe(line + b"\n1 + 1\n")
            self.assertEqual("2", text.splitlines()[-1], line[:20])

    def test_told_to_stop(self):
        with subprocess.Popen(self.command(FACTS), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            running.stdout.readline()
            running.terminate()
            self.assertEqual(5, running.wait(30))
            self.assertEqual(b"", running.stderr.read())

    def test_closed_output(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run(self.command(FACTS), input=b"1\n", stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(3, done.returncode)


class RealTable(Base):
    POLICY = """return policy { api = 1, name = "sweep", guard = { min_interval = "1d" },
decide = function(t, ctx)
  local v = all { check("live", t.current_snapshot, "exists") }
  if not v.ok then return skip(v) end
  return run(v, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 })
end }
"""

    def test_plan(self):
        """Facts, decision and plan of a real table; nothing of it changes."""
        base = os.path.join(self.top, "base")
        os.mkdir(base)
        place = next(c for c in fixtures.cases() if len(c.tables) == 1).unpack(base)
        self.write("policies/sweep.lua", self.POLICY)
        os.remove(os.path.join(self.bundle, "orphans_on_event.lua"))
        before = program.tree(base)
        lines = [":tables", ":use " + place.label(place.case.tables[0]), ":stats", ":parts", ":history", ":decide sweep", ":plan sweep -o p1.plan",
                 ":plan sweep -o p2.plan", ":diff p1.plan p2.plan", ":plan sweep -x"]
        out = self.pipe(lines, "--config", place.config, facts=None)
        self.assertIn(place.label(place.case.tables[0]), out)
        self.assertIn("RUN remove_orphan_files", out)
        self.assertTrue(os.path.exists(os.path.join(self.top, "p1.plan")), out)
        self.assertEqual(before, program.tree(base))

    def test_catalog(self):
        """A catalog that only the command line names."""
        base = os.path.join(self.top, "base")
        os.mkdir(base)
        place = next(c for c in fixtures.cases() if c.tables[0]["catalog"] == "hadoop").unpack(base)
        maps = [word for prefix in fixtures.PREFIXES for word in ("--map", "%s=%s" % (prefix, base))]
        self.write("ebb.lua", "return {}")
        table = "here." + place.case.tables[0]["name"]
        out = self.pipe([":tables", ":use " + table, "t.name"], "--config", os.path.join(self.top, "ebb.lua"), "--catalog",
                        "here=directory:" + os.path.join(base, place.case.truth["root"]), *maps, facts=None)
        self.assertRegex(out, r"(?m)^%s " % re.escape(table))
        self.assertIn('"%s"' % table.rsplit(".", 1)[1], out)


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class Terminal(Base):
    def setUp(self):
        super().setUp()
        self.socket = os.path.join(self.top, "tmux")
        self.add("orphans_weekly.lua")

    def tmux(self, *args):
        done = subprocess.run(["tmux", "-f", "/dev/null", "-S", self.socket, *args], capture_output=True, timeout=60)
        return done.stdout.decode("utf-8", "replace")

    def start(self, *args, width=100, height=40, env=""):
        self.socket += "1"  # a new server each time
        words = " ".join("'%s'" % w for w in self.command("--bundle", self.bundle, *args))
        # A leak checker hangs when its terminal goes away while it works; the sessions through a pipe are checked for leaks.
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height),
                  "cd '%s' && env LC_ALL=C.UTF-8 TERM=screen ASAN_OPTIONS=detect_leaks=0 %s %s; echo ended $?; sleep 600"
                  % (self.top, env, words))
        self.addCleanup(self.tmux, "kill-server")
        self.wait("ebb>")

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def wait(self, pattern, seconds=30):
        """The screen, once the pattern stands on it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            text = self.screen()
            if re.search(pattern, text, re.M):
                return text
            time.sleep(0.05)
        self.fail("never seen: %s\n%s" % (pattern, self.screen()))

    def keys(self, text):
        self.tmux("send-keys", "-l", text)

    def key(self, *names):
        self.tmux("send-keys", *names)

    def line(self, text):
        self.keys(text)
        self.key("Enter")

    def test_completion(self):
        self.start(FACTS)
        self.keys("t.stats.data")
        self.key("Tab")
        self.wait(r"^ebb> t\.stats\.data_files$")
        self.key("Enter")
        self.wait(r"^45210$")
        self.keys(":sh")
        self.key("Tab")
        self.keys("orphans-w")
        self.key("Tab")
        self.wait(r"^ebb> :show orphans-weekly$")
        self.key("C-u")
        self.keys(":st")
        self.key("Tab", "Tab")
        self.wait(r"^:stats  :step$")
        self.key("C-u")
        self.keys("action.remove_or")
        self.key("Tab")
        self.wait(r"^ebb> action\.remove_orphan_files$")
        self.key("C-u")
        self.keys("ev")
        self.key("Tab", "Tab")
        self.keys("|")
        self.wait(r"^ebb> ev\|$")
        self.key("C-u")
        self.keys(":use ./pol")
        self.key("Tab")
        self.wait(r"^ebb> :use \./policies/$")

    def test_block_and_history(self):
        self.start(FACTS)
        self.line("for i = 1, 2 do")
        self.wait(r"^ \.\.>")
        self.line("  print(i * 21)")
        self.line("end")
        self.wait(r"^42\ngas ")
        self.line("1 + 1")
        self.wait(r"^2$")
        self.key("Up", "Up")
        self.wait(r"print\(i \* 21\)\nend *$")
        self.key("Enter")
        self.wait(r"(?s)^42\ngas .*^42\ngas ")
        self.key("C-d")
        self.wait(r"^ended 0$")
        path = os.path.join(self.state, "history")
        self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode))
        self.tmux("kill-server")
        self.start(FACTS)
        self.key("Up")
        self.wait(r"^ebb> for i = 1, 2 do\n  print\(i \* 21\)\nend *$")

    def test_interrupt(self):
        self.start(FACTS)
        self.keys("some text")
        self.wait("some text")
        self.key("C-c")
        self.wait(r"^ebb> some text\^C\nebb>$")
        self.line("for i = 1, 2 do")
        self.wait(r"^ \.\.>")
        self.key("C-c")
        self.wait(r"^ \.\.> \^C\nebb>$")
        self.line("while true do end")
        self.wait(r"^aborted: gas 2 000 000 used up")
        self.line(":bench orphans-on-event 10000000")
        time.sleep(1)
        self.key("C-c", "C-c", "C-c")
        self.wait(r"^\d+ evaluations, |^error: interrupted", 60)
        self.line("20 + 1")
        self.wait(r"^21$")
        self.key("C-d")
        self.wait(r"^ended 0$")

    def test_pages_and_size(self):
        self.start(FACTS, width=80, height=24)
        self.line("for i = 1, 50 do print(i) end")
        self.wait(r"^… 29 more lines: :more$")
        self.line(":more")
        self.wait(r"^50$|^… \d+ more lines: :more$")
        self.line("print(('x'):rep(200))")
        self.wait(r"^x{79}…$")
        self.tmux("resize-window", "-x", "120", "-y", "30")
        time.sleep(0.6)
        self.line("print(('y'):rep(200))")
        self.wait(r"^y{119}…$")
        self.line(":more")
        self.wait(r"^y{120}$")

    def test_colour(self):
        self.start(FACTS, env="NO_COLOR=1")
        self.line(":why orphans-on-event")
        self.wait(r"^(SKIP|DEFER|RUN)")
        self.assertNotIn("\x1b[3", self.tmux("capture-pane", "-p", "-e"))

    def test_dumb_terminal(self):
        self.start(FACTS, env="TERM=dumb")
        self.line("for i = 1, 1 do")
        self.wait(r"^ \.\.>")
        self.line("print(41 + i) end")
        self.wait(r"^42$")
        self.keys("half a line")
        self.key("C-c")
        self.wait(r"(?s)half a line\^C.*ebb>")
        self.line("50 + 1")
        self.wait(r"^51$")

    def test_bytes_that_are_no_text(self):
        self.start(FACTS)
        self.tmux("send-keys", "-H", "22", "ff", "fe", "c3", "28", "e2", "82", "22", "0d")
        time.sleep(0.5)
        self.key("C-c")
        self.line("30 + 3")
        self.wait(r"^33$")
        self.line("\"ü–x\"")
        self.wait(r"^\"ü–x\"$")


if __name__ == "__main__":
    unittest.main()
