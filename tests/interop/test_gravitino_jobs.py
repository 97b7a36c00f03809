# SPDX-License-Identifier: Apache-2.0
"""Jobs, both ways: ebb lets a Gravitino server run its job, and the server runs it for others."""
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "run")]
import daemon  # noqa: E402
import gravitino_lake as lake  # noqa: E402
import program  # noqa: E402
from gravitino_lake import TEMPLATE  # noqa: E402

ORPHANS = ["old-1.parquet", "old-2.parquet"]
JOB = ["job", "remove-orphan-files", "--catalog", "grav", "--table", "db.orders"]
THERE = [*JOB, "--engine", "gravitino"]


class Registering(lake.Base):
    def template(self, name=TEMPLATE):
        return self.call("GET", "/jobs/templates/" + name)["jobTemplate"]

    def status(self, *args):
        return json.loads(self.good("gravitino", "register", "--json", *args).out)["status"]

    def test_new_same_changed(self):
        self.assertEqual("registered", self.status())
        first = self.template()
        self.assertEqual(("shell", os.path.realpath(program.path())), (first["jobType"], first["executable"]))
        self.assertEqual(["--config", os.path.realpath(self.config), "--state", os.path.realpath(self.state)], first["arguments"][:4])
        self.assertEqual("unchanged", self.status())
        self.assertEqual(first, self.template())
        self.assertEqual("changed", self.status("--program", "/usr/bin/ebb", "--program-config", "/etc/ebb/ebb.lua", "--program-state", "/var/lib/ebb"))
        changed = self.template()
        self.assertEqual(("/usr/bin/ebb", ["--config", "/etc/ebb/ebb.lua", "--state", "/var/lib/ebb", "job", "remove-orphan-files"]), (changed["executable"], changed["arguments"][:6]))
        self.assertEqual("unchanged", self.status("--program", "/usr/bin/ebb", "--program-config", "/etc/ebb/ebb.lua", "--program-state", "/var/lib/ebb"))

    def test_the_doctor_tells(self):
        def told():
            return [line for line in self.ebb("doctor").out.splitlines() if line.split()[1] == "gravitino"]
        self.assertEqual(["ok    gravitino       grav: job template %s is not registered" % TEMPLATE], told())
        self.assertIn("ok    policies        policies 0, none is bound here: those of the server are", self.ebb("doctor").out)
        self.configure("engines = { gravitino = {} }")
        self.assertEqual(["warn  gravitino       grav: job template %s is not registered" % TEMPLATE], told())
        self.register()
        self.assertEqual(["ok    gravitino       grav: job template %s is registered" % TEMPLATE], told())
        self.server.fail("GET", "/jobs/templates/", 503, times=100)
        self.assertIn("answers 503", told()[0])

    def test_paths_are_of_the_other_machine(self):
        self.refused(64, "an absolute path is wanted", "gravitino", "register", "--program", "bin/ebb")

    def test_one_that_others_made_stays(self):
        theirs = {"name": TEMPLATE, "jobType": "shell", "executable": "/bin/rm", "arguments": ["-rf", "{{location}}"]}
        self.call("POST", "/jobs/templates", {"jobTemplate": theirs})
        before = self.template()
        self.refused(2, "was not registered by ebb", "gravitino", "register")
        self.assertEqual(before, self.template())
        self.assertEqual("foreign", self.ebb("gravitino", "status", "--json").json()["template_status"])

    def test_another_name(self):
        self.configure('engines = { gravitino = { template = "clean up" } }')
        self.assertEqual("registered", self.status())
        self.assertEqual("shell", self.template("clean%20up")["jobType"])
        self.configure('engines = { gravitino = { template = "builtin-x" } }')
        self.refused(64, "the server's own", "gravitino", "register")


class RunByIt(lake.Base):
    """Somebody asks the server, the server runs ebb."""

    def setUp(self):
        super().setUp()
        self.register()

    def test_files_go_to_quarantine(self):
        job = self.run_there()
        self.assertEqual("succeeded", self.until_there(job, *lake.FINAL))
        self.assertEqual(ORPHANS, self.moved())
        run = self.server.run(job)
        uris = ["file:%s/data/%s" % (self.orders, name) for name in ORPHANS]
        self.assertEqual(uris, run.output.splitlines())
        self.assertEqual("orphan_file_location count: 2", run.errors.splitlines()[-1])

    def test_a_dry_run(self):
        before = program.tree(self.orders)
        job = self.run_there(dry_run="true")
        self.assertEqual("succeeded", self.until_there(job, *lake.FINAL))
        self.assertEqual(before, program.tree(self.orders))
        self.assertEqual(2, len(self.server.run(job).output.splitlines()))

    def test_placeholders_that_nobody_filled(self):
        """They stay as they are in the command."""
        before = program.tree(self.orders)
        for left_out in ("catalog_name", "table_identifier", "older_than", "location", "dry_run"):
            job = self.run_there(**{left_out: None})
            self.assertEqual("failed", self.until_there(job, *lake.FINAL))
            self.assertIn("{{%s}}: a placeholder that was not filled in" % left_out, self.server.run(job).errors)
        self.assertEqual(before, program.tree(self.orders))

    def test_values_that_want_to_be_more(self):
        before = program.tree(self.orders)
        for key in ("catalog_name", "table_identifier", "older_than", "location", "dry_run"):
            for value in ("--config=/etc/passwd", "--state", "x --dry-run=false", "'; touch %s/own" % self.top, "`touch %s/own`" % self.top, "$1", "../../..", "a\nb", "{{dry_run}}"):
                job = self.call("POST", "/jobs/runs", {"jobTemplateName": TEMPLATE, "jobConf": {
                    "catalog_name": "grav", "table_identifier": "db.orders", "older_than": "", "location": "", "dry_run": "true", key: value}})["job"]["jobId"]
                self.assertEqual("failed", self.until_there(job, *lake.FINAL), (key, value))
        self.assertEqual(before, program.tree(self.orders))
        self.assertFalse(os.path.exists(os.path.join(self.top, "own")))

    def test_older_than_and_location(self):
        nothing = self.run_there(older_than="2020-01-01 00:00:00")
        self.assertEqual("succeeded", self.until_there(nothing, *lake.FINAL))
        self.assertEqual([], self.moved())
        elsewhere = self.run_there(location="file:/elsewhere")
        self.assertEqual("failed", self.until_there(elsewhere, *lake.FINAL))
        inside = self.run_there(location="file:%s/data" % self.orders)
        self.assertEqual("succeeded", self.until_there(inside, *lake.FINAL))
        self.assertEqual(ORPHANS, self.moved())

    def test_cancelled_in_the_middle(self):
        """SIGTERM to the one process: the batch at hand ends, and what was moved can be put back."""
        for i in range(4000):
            self.write("wh/db/orders/data/many-%04d.parquet" % i, "x", 10 * 86400)
            self.write("wh/db/orders/data/young-%04d.parquet" % i, "x")
        job = self.run_there()
        daemon.wait(lambda: len(self.moved()) > 0, what="the first files in quarantine")
        self.call("POST", "/jobs/runs/" + job)
        self.assertEqual("cancelled", self.until_there(job, "cancelled"))
        daemon.wait(lambda: self.server.run(job).process.poll() is not None, what="the end of the process")
        run, = [json.loads(line) for line in self.good("runs", "--json").out.splitlines()]
        if run["status"] != "done":  # it was faster
            self.assertEqual("interrupted", run["status"])
            self.assertLess(len(self.moved()), 4002)
            self.good("apply", "--resume", run["id"], "--yes")
        self.assertEqual(4002, len(self.moved()))
        self.good("restore", run["id"])
        self.assertEqual([], self.moved())
        self.assertEqual(8004, len(os.listdir(os.path.join(self.orders, "data"))))

    def test_standard_input_that_never_ends(self):
        """The program's own reading of it would hang: a run's standard input is an open pipe."""
        job = self.run_there(dry_run="true")
        self.assertEqual("succeeded", self.until_there(job, *lake.FINAL))

    def test_two_at_once_on_one_table(self):
        self.server.executor.most = 4
        jobs = [self.run_there() for _ in range(4)]
        ends = [self.until_there(job, *lake.FINAL) for job in jobs]
        self.assertIn("succeeded", ends)
        self.assertEqual(ORPHANS, self.moved())


class RunThrough(lake.Base):
    """ebb plans, and lets the server run the job."""

    def setUp(self):
        super().setUp()
        self.register()

    def posts(self):
        return self.server.count("POST", "/jobs/runs$")

    def runs(self, kind="engine"):
        return [r for r in map(json.loads, self.good("runs", "--json").out.splitlines()) if r["kind"] == kind]

    def test_from_plan_to_quarantine(self):
        done = self.good(*THERE)
        self.assertEqual(["file:%s/data/%s" % (self.orders, name) for name in ORPHANS], done.out.splitlines())
        self.assertEqual(ORPHANS, self.moved())
        run, = self.runs()
        job, = self.server.all_runs()
        self.assertEqual(("done", 2, 0, "run " + job.id), (run["status"], run["moved"], run["deleted"], run["handle"]))
        self.assertEqual("anna", job.audit["creator"])
        audit = open(os.path.join(self.state, "audit.jsonl"), encoding="utf-8")
        with audit:
            events = [json.loads(line) for line in audit]
        self.assertEqual(2, len([e for e in events if e["event"] == "moved" and e.get("engine") == "gravitino"]), events)

    def test_nothing_to_do_asks_for_no_job(self):
        self.good(*THERE)
        self.good(*THERE)
        self.assertEqual(1, self.posts())

    def test_a_dry_run_asks_for_no_job(self):
        done = self.good(*THERE, "--dry-run", "true")
        self.assertEqual(2, len(done.out.splitlines()))
        self.assertEqual(0, self.posts())

    def test_a_held_plan_asks_for_no_job(self):
        for i in range(10):
            self.write("wh/db/orders/data/o%d.parquet" % i, "x", 10 * 86400)
        self.assertEqual(2, self.ebb(*THERE).status)
        self.assertEqual(0, self.posts())

    def test_values_arrive_as_they_are(self):
        r"""$ and \ mean something in the server's substitution."""
        name = "or$1\\d$HOME'\"x"
        folder = self.table("odd")
        target = os.path.join(os.path.dirname(folder), name)
        os.rename(folder, target)
        metadata = os.path.join(target, "metadata", "v1.metadata.json")
        with open(metadata, encoding="utf-8") as f:
            tree = json.load(f)
        tree["location"] = "file:" + target
        tree["statistics"][0]["statistics-path"] = "file:%s/data/live.parquet" % target
        self.write(os.path.relpath(metadata, self.top), json.dumps(tree), 10 * 86400)
        self.show(name, target)
        self.good("job", "remove-orphan-files", "--catalog", "grav", "--table", "db." + name, "--engine", "gravitino")
        self.assertEqual(ORPHANS, self.moved(target))
        run, = self.server.all_runs()
        self.assertIn("--table=db." + name, run.command)

    def test_no_template(self):
        self.call("DELETE", "/jobs/templates/" + TEMPLATE)
        self.refused(64, "ebb gravitino register", *THERE)
        self.assertEqual(0, self.posts())

    def test_a_template_that_is_not_ours(self):
        """Whatever stands under the name would get the values."""
        for arguments in (["-rf", "{{location}}"], ["job", "remove-orphan-files", "--catalog={{catalog_name}}", "--table={{table_identifier}}", "--older-than={{older_than}}", "--location={{location}}"],
                          ["job", "remove-orphan-files", "--catalog={{catalog_name}}", "--table={{table_identifier}}", "--older-than=", "--location={{location}}", "--dry-run={{dry_run}}"]):
            self.call("DELETE", "/jobs/templates/" + TEMPLATE)
            self.call("POST", "/jobs/templates", {"jobTemplate": {"name": TEMPLATE, "jobType": "shell", "executable": "/bin/rm", "arguments": arguments}})
            done = self.refused(2, "is not the one that ebb registers", *THERE, "--json")
            self.assertEqual("engine.unsafe", done.error()["code"])
        self.assertEqual(0, self.posts())

    def test_a_job_that_fails(self):
        self.good("gravitino", "register", "--program", "/bin/false")
        done = self.refused(3, "failed", *THERE)
        self.assertIn("error.log", done.err)
        self.assertEqual("failed", self.runs()[0]["status"])

    def test_a_program_that_is_not_there(self):
        self.good("gravitino", "register", "--program", "/nowhere/ebb")
        self.refused(3, "Failed to fetch", *THERE)
        self.assertEqual(1, self.posts())
        self.assertEqual("failed", self.runs()[0]["status"])

    def test_a_job_that_does_nothing_is_no_success(self):
        self.good("gravitino", "register", "--program", "/bin/true")
        self.refused(3, "2 of 2 files", *THERE)
        self.assertEqual("partial", self.runs()[0]["status"])

    def test_the_answer_to_the_start_is_lost(self):
        """It is found among the runs, and not started again."""
        for status in ("drop", 502, 503):
            self.server.fail("POST", "/jobs/runs$", status, times=1, after=True)
            self.good(*THERE)
            self.assertEqual(1, self.posts())
            self.good("restore", self.runs("apply")[-1]["id"])
            self.tearDown()
            self.doCleanups()
            self.setUp()

    def test_the_start_itself_is_lost(self):
        self.server.fail("POST", "/jobs/runs$", "drop", times=1)
        self.assertEqual(3, self.ebb(*THERE).status)
        self.assertEqual([], self.moved())
        self.assertEqual([], self.server.all_runs())
        self.good(*THERE)
        self.assertEqual(ORPHANS, self.moved())

    def test_two_at_once_by_one_user(self):
        """A lost answer, and somebody else started one too: which is ours is not known, so none is taken."""
        self.server.fail("POST", "/jobs/runs$", "drop", times=1, after=True)
        self.server.delay("GET", "/jobs/runs", 1.5, times=2)
        child = self.start()
        daemon.wait(lambda: self.posts() == 1, what="the start")
        self.run_there()
        self.assertEqual(3, child.wait(60))
        self.assertEqual("failed", self.runs()[0]["status"])

    def test_a_status_that_comes_late(self):
        self.server.freeze()
        child = self.start()
        daemon.wait(lambda: self.moved() == ORPHANS, what="the files in quarantine")
        time.sleep(1)
        self.assertIsNone(child.poll())
        self.server.thaw()
        self.assertEqual(0, child.wait(60))

    def test_troubles_while_it_is_awaited(self):
        self.server.freeze()
        child = self.start()
        daemon.wait(lambda: self.server.count("GET", "/jobs/runs/"), what="a look")
        self.server.fail("GET", "/jobs/runs/", 503, times=4)  # all tries of one look
        self.server.fail("GET", "/jobs/runs/", "drop", times=4)
        daemon.wait(lambda: self.server.count("GET", "/jobs/runs/") > 9, what="looks in vain", seconds=120)
        self.server.thaw()
        self.assertEqual(0, child.wait(120))

    def test_errors_of_the_server_while_it_is_awaited(self):
        """None of them is the end of the run."""
        self.server.freeze()
        child = self.start()
        for status, body in ((500, {"code": 1002, "type": "RuntimeException", "message": "x"}), (401, {"code": 1011, "type": "UnauthorizedException", "message": "x"}), (200, {"code": 0})):
            looks = self.server.count("GET", "/jobs/runs/")
            self.server.fail("GET", "/jobs/runs/", status, times=1, body=json.dumps(body).encode())
            daemon.wait(lambda: self.server.count("GET", "/jobs/runs/") > looks + 1, what="another look")
        self.server.thaw()
        self.assertEqual(0, child.wait(60))
        self.assertEqual(("done", 2), (self.runs()[0]["status"], self.runs()[0]["moved"]))

    def test_a_run_that_the_server_forgot(self):
        self.server.freeze()
        child = self.start()
        job = daemon.wait(lambda: self.server.all_runs(), what="a run")[0]
        daemon.wait(lambda: self.server.count("GET", "/jobs/runs/"), what="a look")
        self.server.forget(job.id)
        self.assertEqual(3, child.wait(60))
        self.assertIn("not known", child.stderr.read())
        self.assertEqual("failed", self.runs()[0]["status"])

    def start(self, *more):
        child = subprocess.Popen([program.path(), *THERE, *more, "--config", self.config, "--state", self.state], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (child.poll() is None and child.kill(), child.wait(), child.stderr.close()))
        return child

    def slow_program(self):
        """ebb, after a nap."""
        script = self.write("bin/slow", '#!/bin/sh\nsleep 4\nexec "%s" "$@"\n' % os.path.realpath(program.path()))
        os.chmod(script, 0o755)
        self.good("gravitino", "register", "--program", script)

    def test_interrupted(self):
        self.slow_program()
        child = self.start()
        job = daemon.wait(lambda: self.server.all_runs(), what="a run")[0]
        daemon.wait(lambda: self.status_there(job.id) == "started", what="its start")
        child.send_signal(signal.SIGTERM)
        self.assertEqual(5, child.wait(60))
        self.assertEqual("cancelled", self.until_there(job.id, "cancelled"))
        self.assertEqual([], self.moved())

    def test_interrupted_before_the_answer_to_the_start(self):
        """The run is known once it comes, and told to end."""
        self.slow_program()
        self.server.delay("POST", "/jobs/runs$", 1, times=1, after=True)
        child = self.start()
        job = daemon.wait(lambda: self.server.all_runs(), what="a run")[0]
        child.send_signal(signal.SIGTERM)
        self.assertEqual(5, child.wait(60))
        self.assertEqual("cancelled", self.until_there(job.id, *lake.FINAL))
        self.assertEqual([], self.moved())

    def test_cancelled_there_by_somebody(self):
        self.good("gravitino", "register", "--program", self.nap_after())
        child = self.start()
        job = daemon.wait(lambda: self.server.all_runs(), what="a run")[0]
        daemon.wait(lambda: self.moved() == ORPHANS, what="the files in quarantine")
        self.call("POST", "/jobs/runs/" + job.id)
        self.assertEqual(5, child.wait(60))
        self.assertEqual(("failed", 2), (self.runs()[0]["status"], self.runs()[0]["moved"]))

    def nap_after(self):
        script = self.write("bin/slow", '#!/bin/sh\n"%s" "$@"\nexec sleep 20\n' % os.path.realpath(program.path()))
        os.chmod(script, 0o755)
        return script

    def crash_at(self, condition):
        child = self.start()
        daemon.wait(condition, what="the moment of the crash")
        child.kill()
        child.wait()

    def test_killed_while_the_job_runs(self):
        """The next job finds the run again, waits for it, and has nothing to do."""
        self.slow_program()
        self.crash_at(lambda: self.slot().startswith("run "))
        self.assertEqual("started", self.runs()[0]["status"])
        done = self.ebb(*THERE)
        self.assertEqual(0, done.status, done.err + "".join(run.errors for run in self.server.all_runs()))
        self.assertEqual(ORPHANS, self.moved())
        self.assertEqual(1, self.posts())
        self.assertEqual("done", self.runs()[0]["status"])

    def slot(self):
        with sqlite3.connect(os.path.join(self.state, "ebb.db")) as db:
            row = db.execute("SELECT json FROM value WHERE scope = 'engine-run'").fetchone()
        db.close()
        return json.loads(row[0])["handle"] if row else ""

    def test_killed_between_the_start_and_its_answer(self):
        self.server.delay("POST", "/jobs/runs$", 3, times=1, after=True)
        self.crash_at(lambda: self.server.all_runs() and self.slot().startswith("since "))
        self.good(*THERE)
        self.assertEqual(ORPHANS, self.moved())
        self.assertEqual(1, self.posts())
        self.assertEqual(["done"], [r["status"] for r in self.runs()])

    def test_killed_before_the_start_arrived(self):
        self.server.delay("POST", "/jobs/runs$", 3, times=1)
        self.crash_at(lambda: self.slot().startswith("since ") and self.posts())
        time.sleep(4)
        self.server.executor.close()

    def test_the_server_is_restarted(self):
        """Running jobs have failed then."""
        self.slow_program()
        child = self.start()
        daemon.wait(lambda: self.slot().startswith("run "), what="a run")
        self.server.restart()
        self.assertEqual(3, child.wait(60))
        self.assertEqual("failed", self.runs()[0]["status"])
        self.register()
        self.good(*THERE)
        self.assertEqual(ORPHANS, self.moved())

    def test_a_binding_with_the_engine(self):
        self.policy()
        binding = 'bind = { { policy = "sweep", tables = { "grav.**" }, mode = "%s", engine = "gravitino" } }'
        self.configure(binding % "observe")
        self.good("run", "--json", "--at", lake.test_run.instant(time.time() - lake.test_run.DAY))
        self.configure(binding % "enforce")
        self.good("run", "--json")
        self.assertEqual(ORPHANS, self.moved())
        self.assertEqual(1, self.posts())

    def test_of_another_catalog_it_is_no_engine(self):
        self.refused(64, "is of type directory, not gravitino", "job", "remove-orphan-files", "--catalog", "lake", "--table", "db.orders", "--engine", "gravitino")


if __name__ == "__main__":
    unittest.main()
