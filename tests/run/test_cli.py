# SPDX-License-Identifier: Apache-2.0
"""The command line: how arguments are read, how errors look, what is printed, and what happens when output can't be written."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import fixtures  # noqa: E402
import program  # noqa: E402

ROOT = program.ROOT
OLD = ["--older-than", "2026-06-01T00:00:00Z"]
PLAN_KEYS = {"plan", "file", "status", "held_by", "table", "uuid", "location", "cutoff", "listed", "reachable", "reachable_listed", "too_young",
             "hidden", "candidates", "candidate_bytes", "metadata_files_read"}

# arguments, what stands in the message, what stands in the hint
USAGE = [
    ([], "command: is missing", "ebb help"),
    (["plna"], "plna: unknown command", "did you mean plan?"),
    (["job"], "job: the rest of the command is missing", "ebb help job"),
    (["job", "remove-orphan-fils"], "job remove-orphan-fils: unknown command", "did you mean job remove-orphan-files?"),
    (["plan"], "plan: TABLE|GLOB is missing", "usage: ebb plan"),
    (["plan", "a", "b"], "plan: b: one argument too many", "usage: ebb plan"),
    (["simulate", "a"], "simulate: a: one argument too many", "name a table by --table a"),
    (["tables", "a", "b"], "tables: b: one argument too many", "usage: ebb tables"),
    (["run", "a"], "run: a: one argument too many", "--table a"),
    (["plan", "a", "--oldr-than", "3d"], "plan: unknown option --oldr-than", "did you mean --older-than?"),
    (["plan", "a", "--old", "3d"], "plan: unknown option --old", ""),
    (["plan", "a", "-x"], "plan: unknown option -x", ""),
    (["plan", "a", "--older-than"], "--older-than: AGE|INSTANT is missing", ""),
    (["job", "remove-orphan-files", "--older-than", "--dry-run"], "--older-than: TIME is missing", "--older-than=--dry-run"),
    (["plan", "a", "--older-than", "3d", "--older-than=4d"], "--older-than: given twice", ""),
    (["plan", "a", "--keep-deleted-entries=yes"], "--keep-deleted-entries: takes no value", ""),
    (["plan", "a", "--prefix-mismatch", "err"], "--prefix-mismatch err: one of error|ignore|delete is wanted", ""),
    (["plan", "a", "--max-files", "0"], "--max-files 0: a whole number from 1 on", ""),
    (["plan", "a", "--max-files", "-1"], "--max-files -1: a whole number from 1 on", ""),
    (["plan", "a", "--max-files", "99999999999999999999"], "a whole number", ""),
    (["plan", "a", "--max-share", "0"], "--max-share 0: a share is wanted", ""),
    (["plan", "a", "--max-share", "101%"], "--max-share 101%: a share is wanted", ""),
    (["plan", "a", "--max-share", "nan"], "--max-share nan: a share is wanted", ""),
    (["plan", "a", "--max-share", "0x1"], "--max-share 0x1: a share is wanted", ""),
    (["plan", "a", "--max-bytes", "0B"], "--max-bytes 0B: a size from 1B on", ""),
    (["plan", "a", "--max-bytes", "lots"], "--max-bytes", ""),
    (["plan", "a", "--equal-schemes", "s3,x=s3a,s3n"], "--equal-schemes s3,x=s3a,s3n: NAMES=NAME is wanted", "separated by commas"),
    (["plan", "a", "--equal-schemes", "s3"], "--equal-schemes s3: NAMES=NAME is wanted", ""),
    (["plan", "a", "--at", "2026-06-01T00:00:00Z"], "plan: unknown option --at", ""),
    (["--at", "2026-06-01T00:00:00Z", "plan", "a"], "plan: unknown option --at", ""),
    (["--map", "a=b", "show", "p-1"], "show: unknown option --map", ""),
    (["--older-than", "3d", "plan", "a"], "ebb: unknown option --older-than", "behind its name"),
    (["decide", "p.lua", "t", "--at", "yesterday"], "--at", ""),
    (["apply"], "apply: PLAN is missing", ""),
    (["apply", "p-1", "--resume", "r-1"], "not both", ""),
    (["apply", "p-1", "--delete", "--quarantine", "/x", "--yes"], "--delete or --quarantine", ""),
    (["apply", "--resume", "r-1", "--delete", "--yes"], "--delete: a resumed run", ""),
    (["apply", "p-1", "--override", "everything", "--yes"], "--override everything: one of", ""),
    (["apply", "p-1"], "apply: there is no terminal to ask at", "--yes"),
    (["restore"], "restore: RUN is missing", ""),
    (["explain", "x-1"], "explain x-1: an id", ""),
    (["sql", "remove-orphan-files", "--catalog", "c", "--table", "s.t", "--engine", "native"], "--engine native", ""),
    (["job", "remove-orphan-files", "--catalog", "c", "--table", "s.t", "--dry-run", "maybe"], "--dry-run maybe", ""),
    (["job", "remove-orphan-files", "--catalog", "c", "--table", ""], "--table: is missing", ""),
]


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.top)
        cls.empty = os.path.join(cls.top, "empty.lua")
        with open(cls.empty, "w", encoding="ascii") as f:
            f.write("return {}\n")

    def ebb(self, *args, config=None, state=None):
        return program.run(["-C", config or self.empty, "--state", state or os.path.join(self.top, "state"), *args])


class Arguments(Base):
    def test_what_can_not_be_read_is_usage(self):
        for args, message, hint in USAGE:
            with self.subTest(args=args):
                done = self.ebb(*args)
                self.assertEqual((64, ""), (done.status, done.out))
                first, _, rest = done.err.partition("\n")
                self.assertTrue(first.startswith("ebb: "), done.err)
                self.assertIn(message, first)
                self.assertIn(hint, rest)

    def test_the_same_as_an_object(self):
        for args, message, hint in USAGE:
            with self.subTest(args=args):
                error = self.ebb("--json", *args).error()
                self.assertLessEqual({"code", "message", "hint", "retryable"}, set(error))
                self.assertIn(error["code"], ("usage", "time.invalid"))
                self.assertIn(message.removeprefix("ebb: "), error["message"])
                self.assertIn(hint, error["hint"] or "")

    def test_forms_of_options_mean_the_same(self):
        missing = os.path.join(self.top, "no.lua")
        for args in (["-C", missing, "tables"], ["-C" + missing, "tables"], ["--config", missing, "tables"], ["--config=" + missing, "tables"],
                     ["tables", "--config=" + missing], ["tables", "-C", missing]):
            with self.subTest(args=args):
                done = program.run(args)
                self.assertIn("no.lua", done.err)
                self.assertNotEqual(0, done.status)

    def test_two_dashes_end_options(self):
        done = self.ebb("--", "plan", "--json")
        self.assertEqual(64, done.status)
        self.assertIn("--json", done.err)
        self.assertTrue(done.err.startswith("ebb: "), "not an object: --json was no option here")

    def test_a_dash_alone_is_a_word(self):
        self.assertIn("-", self.ebb("plan", "-").err)

    def test_control_characters_do_not_reach_the_terminal(self):
        done = self.ebb("plan", "/no/such\x1b[31m\ntable")
        self.assertNotIn("\x1b", done.err)
        self.assertIn("\\x1b[31m\\x0a", done.err.lower())
        self.assertEqual(1, len([line for line in done.err.splitlines() if line.startswith("ebb: ")]))

    def test_version(self):
        done = self.ebb("--version")
        self.assertEqual(0, done.status)
        self.assertRegex(done.out, r"^ebb \d+\.\d+\.\d+\nLua 5\.4\.\d+\nSQLite 3\.[\d.]+\n$")


    def test_a_state_folder_that_can_not_be_made_names_the_remedy(self):
        blocked = os.path.join(self.top, "a file")
        with open(blocked, "w", encoding="ascii"):
            pass
        done = self.ebb("decisions", state=os.path.join(blocked, "state"))
        self.assertEqual((3, ""), (done.status, done.out))
        self.assertRegex(done.err, r"\Aebb: .*\n  hint: --state DIR [^\n]*\n\Z")


class Help(Base):
    def commands(self):
        block = self.ebb("help").out.split("Commands:\n")[1].split("\n\n")[0]
        return [re.match(r"  (\S+(?: \S+)?)", line).group(1) for line in block.splitlines()]

    def test_every_command_has_help_with_examples(self):
        commands = self.commands()
        self.assertGreater(len(commands), 15)
        for name in commands:
            with self.subTest(command=name):
                done = self.ebb(*name.split(), "--help")
                self.assertEqual((0, ""), (done.status, done.err))
                self.assertTrue(done.out.startswith("Usage: ebb " + name))
                self.assertIn("\nExamples:\n", done.out)
                self.assertEqual(done.out, self.ebb("help", *name.split()).out)
                self.assertEqual(done.out, self.ebb("-h", *name.split()).out)
                self.assertLessEqual(max(len(line) for line in done.out.split("Examples:")[0].splitlines()), 80)

    def test_help_of_groups_leads_on(self):
        for name in ("token", "job", "sql", "new"):
            done = self.ebb(name, "--help")
            self.assertEqual(0, done.status, done.err)
            self.assertIn("ebb %s COMMAND --help tells more, with examples." % name, done.out)

    def test_help_needs_no_arguments_and_no_configuration(self):
        self.assertEqual(0, program.run(["apply", "--help", "--config", "/no/such"]).status)

    def test_group_and_unknown(self):
        self.assertIn("job remove-orphan-files", self.ebb("job", "--help").out)
        done = self.ebb("help", "planz")
        self.assertEqual(64, done.status)
        self.assertIn("did you mean plan", done.err)

    def test_examples_are_read_as_they_stand(self):
        """Each example names a command and options that exist: asking for help with it must not be a usage error."""
        for name in self.commands():
            text = self.ebb(*name.split(), "--help").out.split("Examples:\n")[1]
            for line in re.findall(r"^  (ebb .*)$", text, re.M):
                with self.subTest(example=line):
                    import shlex

                    words = shlex.split(line.split(" | ")[0])[1:]
                    self.assertEqual(0, self.ebb(*words, "--help").status)

    def test_manual_and_completions_name_everything(self):
        page, bash, zsh = (self.ebb(c).out for c in ("__man", "__complete-bash", "__complete-zsh"))
        for name in self.commands():
            with self.subTest(command=name):
                self.assertIn(".SS \"ebb " + name.replace("-", "\\-"), page)
                self.assertIn("'%s') words=" % name, bash)
                self.assertIn("'%s')" % name, zsh)
        self.assertNotIn("__man", self.ebb("help").out + page + bash + zsh)

    def complete(self, *words):
        script = 'source /dev/stdin <<<"$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ebb; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, "bash", self.ebb("__complete-bash").out, "ebb", *words], capture_output=True, text=True,
                              check=True)
        return done.stdout.split()

    def test_bash_completes(self):
        self.assertEqual({"plan", "plans", "purge"}, set(self.complete("p")))
        self.assertEqual(["remove-orphan-files"], self.complete("--state", "x", "job", ""))
        self.assertEqual(["error", "ignore", "delete"], self.complete("plan", "t", "--prefix-mismatch", ""))
        self.assertEqual(["--dry-run"], self.complete("job", "remove-orphan-files", "--dr"))


class Errors(unittest.TestCase):
    def test_page_says_what_the_program_knows(self):
        with open(os.path.join(ROOT, "core", "base", "err.h"), encoding="utf-8") as f:
            known = re.findall(r'X\(E\w+, "([^"]+)", "([^"]*)", (\d+)\)', f.read())
        with open(os.path.join(ROOT, "docs", "errors.md"), encoding="utf-8") as f:
            page = re.findall(r"^\| `([a-z_.]+)` \| (\d+) \| (?:`([^`]+)`)? ?\| (.+?) \| (.+?) \|$", f.read(), re.M)
        self.assertGreater(len(known), 60)
        self.assertEqual([(code, status, klass) for code, klass, status in known], [row[:3] for row in page])


class Tables(Base):
    """With a real table: ten orphans among 68 files."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.case = [c for c in fixtures.cases() if c.name == "c01-v1-basic"][0]

    def setUp(self):
        self.base = tempfile.mkdtemp(dir=self.top)
        self.place = self.case.unpack(self.base)
        self.state = os.path.join(self.base, "state")
        self.map = ["--map", "file:/ebb=" + self.base]
        self.table = os.path.join(self.base, "wh", "c01-v1-basic", "db", "t")

    def ebb(self, *args, config=None, state=None):
        return super().ebb(*args, config=config, state=state or self.state)

    def plan(self, *args):
        done = self.ebb("plan", self.table, *OLD, *self.map, "--json", *args)
        self.assertIn(done.status, (0, 2), done.err)
        return done.json()

    def test_plan_object(self):
        plan = self.plan()
        self.assertLessEqual(PLAN_KEYS, set(plan))
        self.assertEqual("ready", plan["status"])
        self.assertEqual("2026-06-01T00:00:00Z", plan["cutoff"])
        self.assertTrue(os.path.exists(plan["file"]))

    def test_plan_for_people_tells_what_comes_next(self):
        done = self.ebb("plan", self.table, *OLD, *self.map)
        self.assertEqual((0, ""), (done.status, done.err))
        self.assertRegex(done.out, r"candidates +10 files, 184 B\n")
        self.assertRegex(done.out.splitlines()[-1], r"apply p-\w+$")

    def test_held_plan_names_the_fuse(self):
        for option, fuse in ((["--max-files", "9"], "max_files"), (["--max-bytes", "183B"], "max_bytes"), (["--max-share", "10%"], "max_share"),
                             (["--max-share", "0.1"], "max_share")):
            with self.subTest(option=option):
                done = self.ebb("plan", self.table, *OLD, *self.map, *option)
                self.assertEqual(2, done.status)
                self.assertIn("held by " + fuse, done.out)
                self.assertTrue(done.out.rstrip().endswith("--override " + fuse))
                done = self.ebb("plan", self.table, *OLD, *self.map, "--json", *option)
                self.assertEqual((2, "held", [fuse]), (done.status, done.json()["status"], done.json()["held_by"]))

    def test_limits_are_not_exceeded_by_what_equals_them(self):
        self.assertEqual("ready", self.plan("--max-files", "10", "--max-bytes", "184B")["status"])

    def test_options_without_value_here(self):
        self.assertEqual(10, self.plan("--with", self.table, "--keep-deleted-entries", "--age", "mtime", "--progress", "none")["candidates"])

    def test_progress_as_lines_of_json(self):
        done = self.ebb("plan", self.table, *OLD, *self.map, "--progress", "json")
        lines = [json.loads(line) for line in done.err.splitlines()]
        self.assertTrue(lines)
        for line in lines:
            self.assertLessEqual({"phase", "done"}, set(line["progress"]))

    def test_show_gives_the_lines_of_the_file(self):
        plan = self.plan()
        done = self.ebb("show", plan["plan"], "--json")
        with open(plan["file"], encoding="utf-8") as f:
            self.assertEqual(f.read(), done.out)
        self.assertEqual(done.out, self.ebb("show", plan["file"], "--json").out)
        self.assertEqual(64, self.ebb("show", plan["plan"], "--json", "--limit", "3").status)

    def test_show_lists_up_to_the_limit(self):
        plan = self.plan()["plan"]
        for limit, shown in (("3", 3), ("10", 10), ("0", 10)):
            with self.subTest(limit=limit):
                out = self.ebb("show", plan, "--limit", limit).out
                self.assertEqual(shown, len(re.findall(r"^  20\d\d-", out, re.M)))
                self.assertEqual(shown < 10, "and 7 more" in out)

    def test_show_refuses_a_plan_that_was_touched(self):
        plan = self.plan()
        with open(plan["file"], "a", encoding="ascii") as f:
            f.write("\n")
        done = self.ebb("show", plan["file"], "--json")
        self.assertEqual((2, "", "plan.unreadable"), (done.status, done.out, done.error()["code"]))

    def test_diff(self):
        first = self.plan()["plan"]
        self.assertEqual((0, ""), (self.ebb("diff", first, self.plan()["plan"]).status, self.ebb("diff", first, first).out))
        names = [line["path"] for line in map(json.loads, self.ebb("show", first, "--json").out.splitlines()) if "path" in line]
        gone, changed = (os.path.join(self.base, n.removeprefix("file:/ebb/")) for n in (names[0], names[1]))
        os.unlink(gone)
        with open(changed, "ab") as f:
            f.write(b"more")
        os.utime(changed, (1700000000, 1700000000))
        fresh = os.path.join(self.table, "data", "zzz-fresh.parquet")
        shutil.copy2(changed, fresh)
        done = self.ebb("diff", first, self.plan()["plan"], "--json")
        self.assertEqual(1, done.status)
        self.assertEqual(
            [{"change": "removed", "path": names[0]}, {"change": "changed", "path": names[1]},
             {"change": "added", "path": "file:/ebb/wh/c01-v1-basic/db/t/data/zzz-fresh.parquet"}],
            [json.loads(line) for line in done.out.splitlines()])
        self.assertEqual(["-", "~", "+"], [line[0] for line in self.ebb("diff", first, self.plan()["plan"]).out.splitlines()])

    def test_apply_needs_yes_and_says_how_to_undo(self):
        plan = self.plan()["plan"]
        before = program.tree(self.table)
        self.assertEqual(64, self.ebb("apply", plan).status)
        self.assertEqual(before, program.tree(self.table))
        done = self.ebb("apply", plan, "--yes")
        self.assertEqual((0, ""), (done.status, done.err))
        undo = done.out.splitlines()[-1].split()
        self.assertEqual("restore", undo[-2])
        done = self.ebb("restore", undo[-1], "--json")
        self.assertEqual(10, done.json()["restored"])
        self.assertIn("0 moved, 10 returned", self.ebb("runs").out)
        self.assertEqual({k: v[1:] for k, v in before.items()}, {k: v[1:] for k, v in program.tree(self.table, [".ebb-quarantine"]).items()})

    def test_apply_object_and_records(self):
        plan = self.plan()["plan"]
        run = self.ebb("apply", plan, "--yes", "--json").json()
        self.assertEqual(("done", 10, 0, [], [], plan),
                         (run["status"], run["moved"], run["deleted"], run["skipped"], run["failed"], run["plan"]))
        self.assertIn(run["run"], run["quarantine"])
        rows = [json.loads(line) for line in self.ebb("runs", "--json").out.splitlines()]
        self.assertEqual([(run["run"], "done")], [(r["id"], r["status"]) for r in rows])
        rows = [json.loads(line) for line in self.ebb("plans", "--json", "--table", "*.t").out.splitlines()]
        self.assertEqual([(plan, "applied")], [(r["plan"], r["status"]) for r in rows])
        for args in (["runs", "--json", "--table", "x*"], ["plans", "--json", "--since", "2999-01-01T00:00:00Z"], ["decisions", "--json"],
                     ["runs", "--json", "--policy", "none"]):
            self.assertEqual((0, ""), (self.ebb(*args).status, self.ebb(*args).out))
        self.assertEqual(1, len(self.ebb("runs", "--since", "1d").out.splitlines()))
        text = self.ebb("explain", run["run"][:20]).out
        for part in (run["run"], plan, "10 are left: nothing references them"):
            self.assertIn(part, text)
        self.assertEqual({"run", "plan"}, set(self.ebb("explain", run["run"], "--json").json()))
        done = self.ebb("apply", plan, "--yes", "--json")
        self.assertEqual((2, "plan.already_applied"), (done.status, done.error()["code"]))
        self.assertEqual({"runs": [], "deleted": 0, "bytes": 0}, {k: self.ebb("purge", "--json").json()[k] for k in ("runs", "deleted", "bytes")})
        purged = self.ebb("purge", run["run"], "--older-than", "0d", "--json").json()
        self.assertEqual(([run["run"]], 10, 184), (purged["runs"], purged["deleted"], purged["bytes"]))

    def test_restore_from_the_folder_alone(self):
        run = self.ebb("apply", self.plan()["plan"], "--yes", "--json").json()["run"]
        shutil.rmtree(self.state)
        folder = os.path.join(self.table, ".ebb-quarantine", run)
        self.assertEqual(10, self.ebb("restore", "--from", os.path.relpath(folder), "--json").json()["restored"])

    def test_verify(self):
        self.assertEqual([], self.ebb("verify", self.table, *self.map, "--json").json()["missing"])
        orphans = {line["path"].rsplit("/", 1)[1] for line in map(json.loads, self.ebb("show", self.plan()["plan"], "--json").out.splitlines())
                   if "path" in line}
        live = [f for f in os.listdir(os.path.join(self.table, "data", "cat=a")) if f.endswith(".parquet") and f[0] not in "._" and f not in orphans]
        os.unlink(os.path.join(self.table, "data", "cat=a", live[0]))
        done = self.ebb("verify", self.table, *self.map, "--json")
        self.assertEqual((1, "verify.missing_files", 1), (done.status, done.error()["code"], len(done.json()["missing"])))

    def test_unknown_records(self):
        for args in (["show", "p-0000000000"], ["explain", "r-0000000000"], ["restore", "r-0000000000"], ["apply", "p-0000000000", "--yes"],
                     ["apply", "--resume", "r-0000000000", "--yes"], ["purge", "r-0000000000"]):
            with self.subTest(args=args):
                done = self.ebb(*args, "--json")
                self.assertEqual((64, "record.not_found"), (done.status, done.error()["code"]))

    # ---- catalogs and globs ----

    def configure(self, more=""):
        path = os.path.join(self.base, "more.lua" if more else "ebb.lua")
        with open(path, "w", encoding="ascii") as f:
            f.write('return { catalogs = { files = { type = "directory", path = "wh/c01-v1-basic" } }, locations = { ["file:/ebb"] = "." }, %s }\n' % more)
        return path

    def test_tables_and_globs(self):
        config = self.configure()
        broken = os.path.join(self.base, "wh", "c01-v1-basic", "db", "broken", "metadata")
        os.makedirs(broken)
        with open(os.path.join(broken, "v1.metadata.json"), "w", encoding="ascii") as f:
            f.write("{")
        rows = {r["table"]: r for r in map(json.loads, self.ebb("tables", "--json", config=config).out.splitlines())}
        self.assertEqual({"files.db.broken", "files.db.t"}, set(rows))
        self.assertEqual("metadata.unreadable", rows["files.db.broken"]["error"]["code"])
        self.assertEqual((1, 5, []), tuple(rows["files.db.t"][k] for k in ("format_version", "snapshots", "policies")))
        done = self.ebb("plan", "files.**", *OLD, "--json", config=config)
        self.assertEqual(2, done.status, "the greatest status of all tables")
        lines = [json.loads(line) for line in done.out.splitlines()]
        self.assertEqual(["error", "plan"], ["error" if "error" in line else "plan" for line in lines])
        done = self.ebb("plan", "files.other.*", *OLD, "--json", config=config)
        self.assertEqual((64, "table.not_found"), (done.status, done.error()["code"]))
        self.assertEqual(64, self.ebb("plan", "files.**", "-o", "x.plan", config=config).status)

    def test_tables_without_catalogs(self):
        done = self.ebb("tables", "--json")
        self.assertEqual((64, "config.invalid"), (done.status, done.error()["code"]))

    def test_floor_is_lowered_only_by_the_configuration(self):
        done = self.ebb("plan", "files.db.t", "--older-than", "0d", "--json", config=self.configure())
        self.assertEqual((2, "cutoff.below_floor"), (done.status, done.error()["code"]))
        config = self.configure('tables = { ["files.db.*"] = { allow_below_floor = true } }')
        plan = self.ebb("plan", "files.db.t", "--older-than", "0d", "--max-share", "1", "--json", config=config).json()
        self.assertGreater(plan["candidates"], 10)
        done = self.ebb("apply", plan["plan"], "--yes", "--json", config=self.configure())
        self.assertEqual((2, "cutoff.below_floor"), (done.status, done.error()["code"]), "nor when it is applied")
        self.assertEqual(0, self.ebb("apply", plan["plan"], "--yes", config=config).status)

    def test_job_and_sql(self):
        config = self.configure()
        args = ["--catalog", "files", "--table", "db.t", "--older-than", "2026-06-01 00:00:00", "--location", "", "--engine", "", "--spark-conf", ""]
        done = self.ebb("job", "remove-orphan-files", *args, "--dry-run", "true", config=config)
        orphans = done.out.splitlines()
        self.assertEqual((0, 10), (done.status, len(orphans)))
        self.assertTrue(done.err.endswith("orphan_file_location count: 10\n"))
        self.assertTrue(os.path.exists(os.path.join(self.base, orphans[0].removeprefix("file:/ebb/"))))
        done = self.ebb("job", "remove-orphan-files", *args, "--dry-run", "", config=config)
        self.assertEqual((0, orphans), (done.status, done.out.splitlines()))
        self.assertFalse(os.path.exists(os.path.join(self.base, orphans[0].removeprefix("file:/ebb/"))))
        done = self.ebb("sql", "remove-orphan-files", *args, config=config)
        self.assertEqual("CALL `files`.system.remove_orphan_files(table => '`files`.`db`.`t`', older_than => TIMESTAMP '2026-06-01 00:00:00Z', "
                         "dry_run => false)\n", done.out)

    # ---- output that can't be written ----

    def test_output_that_can_not_be_written_is_a_failure(self):
        words = [program.path(), "plan", self.table, *OLD, *self.map, "--state", self.state, "--config", self.empty]
        with open("/dev/full", "wb") as full:
            done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(3, done.returncode)
        self.assertIn(b"standard output: No space left", done.stderr)
        done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *words], stderr=subprocess.PIPE, check=False)
        self.assertEqual(3, done.returncode)
        self.assertIn(b"standard output", done.stderr)
        for name in ("ebb.db", "audit.jsonl"):
            path = os.path.join(self.state, name)
            if os.path.exists(path):
                with open(path, "rb") as f:
                    self.assertNotIn(b"candidates  ", f.read(), "printed into an own file")

    def test_a_reader_that_went_away(self):
        plan = self.plan()["plan"]
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([program.path(), "show", plan, "--json", "--state", self.state, "--config", self.empty], stdout=write,
                              stderr=subprocess.PIPE, check=False)
        os.close(write)
        self.assertEqual(3, done.returncode)
        self.assertIn("error", json.loads(done.stderr))

    # ---- a person at a terminal ----

    def at_terminal(self, answer, plan):
        pid, fd = pty.fork()
        if pid == 0:
            os.environ["NO_COLOR"] = "1"
            os.execv(program.path(), ["ebb", "apply", plan, "--state", self.state, "--config", self.empty])
        text, asked, end = b"", False, time.monotonic() + 60
        while time.monotonic() < end:
            if not select.select([fd], [], [], 1)[0]:
                continue
            try:
                more = os.read(fd, 4096)
            except OSError:
                more = b""
            if not more:
                break
            text += more
            if not asked and b"[y/N]" in text:
                asked = True
                answer(pid, fd)
        _, status = os.waitpid(pid, 0)
        os.close(fd)
        return os.waitstatus_to_exitcode(status), text.decode()

    def test_asked_and_answered(self):
        plan = self.plan()["plan"]
        before = program.tree(self.table)
        for line in (b"\n", b"n\n", b"yess\n"):
            status, text = self.at_terminal(lambda pid, fd, line=line: os.write(fd, line), plan)
            self.assertEqual(0, status)
            self.assertIn("Move 10 files, 184 B, of path.db.t to quarantine? [y/N]", text)
            self.assertIn("Nothing was done.", text)
            self.assertEqual(before, program.tree(self.table))
        status, text = self.at_terminal(lambda pid, fd: os.kill(pid, signal.SIGINT), plan)
        self.assertEqual(5, status, text)
        self.assertEqual(before, program.tree(self.table))
        status, text = self.at_terminal(lambda pid, fd: os.write(fd, b"y\n"), plan)
        self.assertEqual(0, status, text)
        self.assertRegex(text, r"moved +10")


class Policies(Base):
    def write(self, name, text):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def test_check(self):
        good = os.path.join(ROOT, "policies", "examples", "orphans_weekly.lua")
        done = self.ebb("check", good, "--json")
        self.assertEqual((0, []), (done.status, done.json()))
        bad = self.write("bad/broken.lua", "return policy {\n  name = \n}\n")
        self.write("bad/broken_spec.lua", "not looked at")
        done = self.ebb("check", os.path.dirname(bad), "--json")
        self.assertEqual(1, done.status)
        first = done.json()[0]
        self.assertEqual((bad, "error"), (first["file"], first["severity"]))
        self.assertLessEqual({"file", "line", "column", "severity", "code", "message"}, set(first))
        done = self.ebb("check", bad)
        self.assertEqual(1, done.status)
        self.assertTrue(done.out.startswith(bad + ":"))
        self.assertIn("1 file, 1 error", done.out)

    def test_manifest(self):
        done = self.ebb("manifest", os.path.join(ROOT, "policies", "examples", "orphans_weekly.lua"))
        self.assertEqual((0, "orphans-weekly"), (done.status, done.json()["name"]))
        self.assertEqual(4, self.ebb("manifest", self.write("x.lua", "error 'no'")).status)

    def test_run_with_nothing_bound(self):
        done = self.ebb("run", "--json")
        self.assertEqual((64, ""), (done.status, done.out))


if __name__ == "__main__":
    unittest.main()
