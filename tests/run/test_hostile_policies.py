# SPDX-License-Identifier: Apache-2.0
"""Policies that attack: the program ends by itself in bounded time and memory, says what must be said, and writes nowhere but into its state."""

import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import program  # noqa: E402

CASES = os.path.join(program.ROOT, "tests", "cases", "sandbox")
FACTS = os.path.join(program.ROOT, "tests", "fixtures", "facts", "clicks.json")
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]")
POLICY_CODES = {"error": {"policy.error", "policy.result", "policy.schema"}, "gas": {"policy.gas"}, "memory": {"policy.memory"},
                "deadline": {"policy.deadline"}}
GOOD = """return policy { api = 1, name = "%s", triggers = { time.calendar { "02:00" } },
decide = function(t, ctx) %s end }
"""


def has_sanitizer():
    with open(program.path(), "rb") as f:
        return b"__asan_init" in f.read()


SLOW = 10 if has_sanitizer() else 1


class Base(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.top)
        self.config = self.write("ebb.lua", "return {}")
        self.state = os.path.join(self.top, "state")

    def write(self, name, text):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode("utf-8"))
        return path

    def measured(self, *args):
        """Run in a folder of its own; (result, CPU seconds, peak MiB)."""
        words = [program.path(), *args, "--config", self.config, "--state", self.state]
        with tempfile.TemporaryFile() as out_file, tempfile.TemporaryFile() as err_file:
            with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out_file, stderr=err_file, cwd=self.top) as running:
                watch = threading.Timer(60 * SLOW, running.kill)
                watch.start()
                _, status, used = os.wait4(running.pid, 0)
                watch.cancel()
                running.returncode = os.waitstatus_to_exitcode(status)
            texts = []
            for file in (out_file, err_file):
                file.seek(0)
                texts.append(file.read().decode("utf-8", "surrogateescape"))
        out, err = texts
        self.assertGreaterEqual(running.returncode, 0, err)
        self.assertIsNone(CONTROL.search(out.replace("\n", "")), out)
        self.assertIsNone(CONTROL.search(err.replace("\n", "")), err)
        return program.Done(running.returncode, out, err), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

    def decide(self, policy, table=FACTS, *more):
        done, cpu, peak = self.measured("decide", policy, table, "--at", "2031-01-05T03:00:00Z", "--json", *more)
        self.assertLess(cpu, 2 * SLOW, policy)
        if SLOW == 1:
            self.assertLess(peak, 64 if table == FACTS else 256, policy)
        return done


class Cases(Base):
    def judge(self, path, expect, done):
        if expect == "no-run":
            if done.status == 0:
                self.assertNotEqual("run", done.json()["verdict"])
            else:
                self.assertIn(done.status, (2, 4), done.err)
        elif done.status == 0:
            self.assertIn(done.json()["verdict"], {word[3:] for word in expect.split(" or ") if word.startswith("ok=")})
        elif expect.startswith("check-fails"):
            self.assertEqual(4, done.status)
            self.assertNotEqual(0, self.measured("check", path)[0].status)
        else:
            wanted = set().union(*(POLICY_CODES.get(word, set()) for word in expect.split(" or ")))
            self.assertEqual(4, done.status, done.out + done.err)
            self.assertIn(done.error()["code"], wanted)

    def test_every_case(self):
        files = sorted(glob.glob(os.path.join(CASES, "*.lua")))
        self.assertGreater(len(files), 160)
        for path in files:
            with self.subTest(os.path.basename(path)):
                with open(path, encoding="utf-8", errors="replace") as f:
                    expect = re.search(r"-- expect: (.*)", f.readline()).group(1).strip()
                gas = []
                for _ in range(2):
                    done = self.decide(path)
                    self.judge(path, expect, done)
                    record = json.loads(done.out) if done.out else {}
                    gas.append(None if done.error().get("code") == "policy.deadline" else record.get("gas"))
                if None not in gas:
                    self.assertEqual(gas[0], gas[1])
        self.assertEqual({"ebb.lua", "state"}, set(os.listdir(self.top)))


class Program(Base):
    """The program itself."""

    def test_no_library_with_powers(self):
        """What reaches files, processes, the interpreter or coroutines is not even linked."""
        if not shutil.which("nm"):
            self.skipTest("nm is not installed")
        done = subprocess.run(["nm", "-D", "--undefined-only", program.path()], capture_output=True, text=True, check=True)
        names = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}
        self.assertIn("lua_pcallk", names)
        self.assertEqual(set(), names & {"luaL_openlibs", "luaopen_io", "luaopen_os", "luaopen_package", "luaopen_debug", "luaopen_coroutine",
                                         "luaopen_utf8", "luaL_loadfilex", "lua_atpanic"})

    def test_release_of_lua(self):
        done = program.run(["--version"])
        self.assertRegex(done.out, r"(?m)^Lua 5\.4\.([4-9])$")


class Determinism(Base):
    """The same input in another process: the same record."""

    TIMES = 1000

    def records(self, policy, state, times):
        found = set()
        words = [self.program, "decide", policy, FACTS, "--at", "2031-01-05T03:00:00Z", "--json", "--config", self.config, "--state", state]
        for _ in range(times):
            done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
            self.assertIn(done.returncode, (0, 2), done.stderr)
            record = json.loads(done.stdout)
            record.pop("id", None)
            found.add(json.dumps(record, sort_keys=True))
        return found

    def test_shipped_policies(self):
        built = os.path.join(os.environ.get("EBB_BUILD_DIR", ""), "ebb")
        self.program = built if os.access(built, os.X_OK) else program.path()
        with open(self.program, "rb") as f:
            times = 50 if b"__asan_init" in f.read() else self.TIMES
        top = os.path.join(program.ROOT, "policies")
        files = [f for folder in (top, os.path.join(top, "examples")) for f in glob.glob(os.path.join(folder, "*.lua"))
                 if not f.endswith("_spec.lua")]
        self.assertGreaterEqual(len(files), 3)
        workers = os.cpu_count() or 1
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for path in sorted(files):
                parts = [pool.submit(self.records, path, os.path.join(self.top, "state%d" % i), times // workers) for i in range(workers)]
                with self.subTest(os.path.relpath(path, top)):
                    self.assertEqual(1, len(set().union(*(part.result() for part in parts))))


class Slow(Base):
    """What costs little gas and much time, many times over."""

    def test_whynot(self):
        """It looks at many instants; at all but the first the policy burns its time."""
        burn = ("if ctx.now ~= 1925348400000 then local b, l = {}, {} for i = 1, 20000 do b[i * 1000003] = true end "
                "for i = 1, 20000 do b[i * 1000003] = nil end while true do pcall(action.rewrite_manifests, b) pcall(t.snapshots, b) end end "
                'return skip(all { check("a", ctx.now % 1000, "<", 1) })')
        done, cpu, _ = self.measured("whynot", self.write("p.lua", GOOD % ("p", burn)), FACTS, "--at", "2031-01-05T03:00:00Z")
        self.assertEqual(0, done.status, done.err)
        self.assertLess(cpu, 2 * SLOW)

    def test_secrets_that_are_nearly_in_a_text(self):
        with open(FACTS, encoding="utf-8") as f:
            facts = json.load(f)
        facts["table"]["properties"] = {"token%d" % i: "a" * 4000 + "b%d" % i for i in range(2000)}
        body = 'for k, v in pairs(t.properties) do end note(str.rep("a", 3900) .. "c") note("b", str.rep("a", 20)) return skip(all {})'
        done = self.decide(self.write("p.lua", GOOD % ("p", body)), self.write("facts.json", json.dumps(facts)))
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(["a" * 3900 + "c", "b ***"], done.json()["notes"])


class Files(Base):
    """What is no policy file at all."""

    def test_what_is_no_file(self):
        fifo = os.path.join(self.top, "fifo.lua")
        os.mkfifo(fifo)
        folder = os.path.join(self.top, "folder.lua")
        os.mkdir(folder)
        zero = os.path.join(self.top, "zero.lua")
        os.symlink("/dev/zero", zero)
        for path in (fifo, folder, zero):
            with self.subTest(path):
                done = self.decide(path)
                self.assertEqual((4, "policy.schema"), (done.status, done.error()["code"]))
                self.assertIn("not a regular file", done.error()["message"])
        self.assertNotEqual(0, self.decide(os.path.join(self.top, "none.lua")).status)

    def test_sizes_and_bytes(self):
        body = GOOD % ("p", "return skip(all {})")
        full = body + "-" * 2 + "x" * (65536 - len(body) - 2)
        self.assertEqual(0, self.decide(self.write("full.lua", full)).status)
        for name, text in (("long.lua", full + "x"), ("binary.lua", b"\x1bLuaT\x00\x19\x93\r\n\x1a\n"), ("nul.lua", body[:40] + "\0" + body[40:]),
                           ("empty.lua", ""), ("utf16.lua", body.encode("utf-16"))):
            with self.subTest(name):
                self.assertEqual(4, self.decide(self.write(name, text)).status)
        for name, text in (("crlf.lua", body.replace("\n", "\r\n")), ("latin.lua", b"-- caf\xe9\n" + body.encode())):
            with self.subTest(name):
                self.assertEqual(0, self.decide(self.write(name, text)).status)
        done = self.decide(self.write("bom.lua", b"\xef\xbb\xbf" + body.encode()))
        self.assertIn(done.status, (0, 4))

    def test_libraries(self):
        text = 'local u = use "%s"\n' + GOOD % ("p", "return skip(all {})")
        secret = self.write("secret.lua", "return {}")
        self.write("lib/ok.lua", "return {}")
        os.symlink(secret, os.path.join(self.top, "lib", "link.lua"))
        os.mkfifo(os.path.join(self.top, "lib", "fifo.lua"))
        self.write("lib/me.lua", 'return use "me"')
        self.assertEqual(0, self.decide(self.write("p.lua", text % "ok")).status)
        for name in ("../secret", "link", "fifo", "none", "OK", "", "/etc/passwd", "ok.lua", "ok\\0", "me"):
            with self.subTest(name):
                self.assertEqual(4, self.decide(self.write("p.lua", text % name)).status)

    def test_many_triggers(self):
        triggers = ",".join('time.calendar { "02:00" }' for _ in range(1500))
        done = self.decide(self.write("p.lua", 'return policy { api = 1, name = "p", triggers = { %s }, decide = function() return skip(all {}) end }' % triggers))
        self.assertEqual(4, done.status)
        loop = ('local t = {} for i = 1, 10000 do t[i] = time.calendar { "02:00" } end\n'
                'return policy { api = 1, name = "p", triggers = t, decide = function() return skip(all {}) end }')
        self.assertEqual(4, self.decide(self.write("p.lua", loop)).status)

    def test_a_wide_open_folder_is_read_all_the_same(self):
        path = self.write("p.lua", GOOD % ("p", "return skip(all {})"))
        os.chmod(path, 0o666)
        self.assertEqual(0, self.decide(path).status)


class Records(Base):
    """What policies and tables say ends up in records and on terminals."""

    def test_escape_codes(self):
        path = self.write("p.lua", GOOD % ("p", 'note("\\27[2Jgone\\r\\nnext\\0\\x9b31m") '
                                          'local v = all { check("\\27[31m", "\\27]0;title\\7", "==", "\\n") } return skip(v)'))
        done = self.decide(path)
        if done.status == 0:
            self.assertEqual("skip", done.json()["verdict"])
        self.measured("decide", path, FACTS, "--at", "2031-01-05T03:00:00Z")
        self.measured("decisions")
        self.measured("explain", (done.json() if done.out else {}).get("id", "d-000000"))

    def test_errors_with_escape_codes(self):
        for text in ('error("\\27[2J")', 'error({ code = "\\27" })', 'return skip(all { check("x", "\\27", "no\\27such", 1) })', 'local x = t["\\27[2J"]',
                     'error(string and "x" or "y")'):
            with self.subTest(text):
                done = self.decide(self.write("p.lua", GOOD % ("p", text)))
                self.assertEqual(4, done.status)
                self.assertEqual(4, self.measured("decide", os.path.join(self.top, "p.lua"), FACTS, "--at", "2031-01-05T03:00:00Z")[0].status)

    def test_names_of_the_table(self):
        with open(FACTS, encoding="utf-8") as f:
            facts = json.load(f)
        facts["table"].update(name="a\n\x1b[31mb\x9b", namespace="x\r\ny", uuid="\x1b]0;t\x07")
        fixture = self.write("odd.json", json.dumps(facts))
        done = self.decide(self.write("p.lua", GOOD % ("p", "note(t.name) return skip(all { check('n', t.name, '==', t.namespace) })")), fixture)
        self.assertEqual(0, done.status, done.err)
        self.measured("decisions")
        self.measured("decisions", "--json")
        self.measured("explain", done.json()["id"])

    def test_odd_instants(self):
        for text in ("return defer(all {}, math.maxinteger, 'x')", "return defer(all {}, math.mininteger, 'x')", "return defer(all {}, ctx.now, 'x')",
                     "return run(all {}, action.remove_orphan_files { older_than = math.mininteger })",
                     "return run(all {}, action.remove_orphan_files { older_than = math.maxinteger })"):
            path = self.write("p.lua", GOOD % ("p", text))
            for at in ("1960-01-01T00:00:00Z", "2031-01-05T03:00:00Z"):
                with self.subTest(text + " " + at):
                    done, _, _ = self.measured("decide", path, FACTS, "--at", at, "--json")
                    self.assertIn(done.status, (0, 2, 4, 64), done.err)
                    if "maxinteger" in text or "defer" in text:
                        self.assertNotEqual(0, done.status)

    def test_huge_strings(self):
        text = 'local s = str.rep("x", 4000) for i = 1, 200 do note(s) check(s, s, "==", s) end return skip(all { check("c", s, "==", s) })'
        done = self.decide(self.write("p.lua", GOOD % ("p", text)))
        self.assertIn(done.status, (0, 4))
        self.assertLess(len(done.out), 1 << 20)

    def test_events_by_hand(self):
        path = self.write("p.lua", GOOD % ("p", "return skip(all { check('n', #ctx.trigger.events, '==', 1) })"))
        for event in ("x id=5", "x id=", "x at=99999999999999999999", "x source=other", "x type=y", "x a=\x1b[31m"):
            with self.subTest(event):
                done = self.decide(path, FACTS, "--event", event)
                self.assertEqual(0, done.status, done.err)
                self.assertEqual("true", done.json()["checks"][0]["r"])
        self.assertEqual(64, self.decide(path, FACTS, "--event", "").status)

    def test_hostile_fixtures(self):
        path = self.write("p.lua", GOOD % ("p", "return skip(all { check('x', t.stats.bytes, '>', 1) })"))
        for name, text in (("deep.json", '{"table":' + "[" * 5000 + "]" * 5000 + "}"), ("twice.json", '{"table":{},"table":{}}'),
                           ("wide.json", '{"table":{},"events":[%s]}' % ",".join(["1"] * 1100000)), ("cut.json", '{"table":'), ("five.json", "5"),
                           ("string.json", '{"table":"x"}'), ("odd.json", '{"table":{"stats":[1,2],"properties":5,"snapshots":{"a":1}},"runs":{"a":1},"events":7}')):
            with self.subTest(name):
                self.assertIn(self.decide(path, self.write(name, text)).status, (0, 2, 4, 64))


if __name__ == "__main__":
    unittest.main()
