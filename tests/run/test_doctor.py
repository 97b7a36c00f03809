# SPDX-License-Identifier: Apache-2.0
"""ebb doctor: each thing that can be wrong is told with what to mend, nothing is changed, and no secret is shown."""
import fcntl
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

import daemon
import program

POLICY = 'return policy { api = 1, name = "%s", target = { tables = { "**" } },\n  decide = function(t, ctx) return skip(all {}) end,\n}\n'


class Doctor(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        self.state = os.path.join(self.dir, "state")
        self.policies = os.path.join(self.dir, "policies")
        os.mkdir(self.policies)
        self.table = os.path.join(self.dir, "wh", "db", "t")
        self.write_table(self.table)
        self.write("policies/a.lua", POLICY % "a")

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def write_table(self, folder, updated=1735689600000):
        os.makedirs(os.path.join(folder, "metadata"))
        with open(os.path.join(folder, "metadata", "v1.metadata.json"), "w", encoding="utf-8") as f:
            json.dump({"format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": "file:" + folder,
                       "last-sequence-number": 0, "last-updated-ms": updated, "last-column-id": 1, "current-schema-id": 0,
                       "schemas": [{"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "required": False, "type": "long"}]}],
                       "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999,
                       "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}], "properties": {}, "current-snapshot-id": -1,
                       "refs": {}, "snapshots": [], "statistics": [], "snapshot-log": [], "metadata-log": []}, f)
        with open(os.path.join(folder, "metadata", "version-hint.text"), "w", encoding="ascii") as f:
            f.write("1")

    def configure(self, more="", bind='{ policy = "a", mode = "observe" }', catalog="./wh"):
        return self.write("ebb.lua", 'return { catalogs = { files = { type = "directory", path = "%s" } }, policies = "./policies", bind = { %s }, %s }'
                          % (catalog, bind, more))

    def doctor(self, *args, config=None, **env):
        return program.run(["doctor", *args], config=config or os.path.join(self.dir, "ebb.lua"), state=self.state, env=env)

    def lines(self, check, config=None):
        """[(level, message, hint)] of one check; the exit status goes with the levels."""
        done = self.doctor("--json", config=config)
        self.assertEqual("", done.err)
        found = done.json()
        levels = [c["level"] for c in found["checks"]]
        worst = "fail" if "fail" in levels else "warn" if "warn" in levels else "ok"
        self.assertEqual((worst, int(worst == "fail")), (found["worst"], done.status))
        return [(c["level"], c["message"], c.get("hint", "")) for c in found["checks"] if c["check"] == check]

    def told(self, check, level, text, hint="", config=None):
        found = self.lines(check, config)
        self.assertTrue([1 for lv, message, h in found if lv == level and text in message and hint in h], found)

    def test_a_sound_place(self):
        self.configure()
        done = self.doctor("--json")
        checks = done.json()["checks"]
        self.assertEqual(0, done.status)
        self.assertEqual([], [c for c in checks if c["level"] == "fail"])
        self.assertEqual([], [c for c in checks if c["level"] == "warn" and c["check"] not in ("clock", "limits")])
        self.assertEqual({"configuration", "policies", "catalog", "clock", "zones", "state", "serve", "limits", "versions"}, {c["check"] for c in checks})
        self.told("catalog", "ok", "files: tables 1, metadata read of 1, with problems 0")
        self.told("policies", "ok", "observe 1, approve 0, enforce 0")
        self.assertRegex(self.doctor().out, r"(?m)^ok +catalog +files: tables 1")

    def test_nothing_is_changed(self):
        self.configure(bind='{ policy = "a", mode = "enforce" }')
        self.assertEqual(0, program.run(["runs"], config=os.path.join(self.dir, "ebb.lua"), state=self.state).status)
        before = program.tree(self.dir)
        folders = {f: os.stat(f).st_mtime_ns for f, _, _ in os.walk(os.path.join(self.dir, "wh"))}
        self.assertEqual(0, self.doctor().status)
        after = program.tree(self.dir)
        for name in ("ebb.db-shm", "ebb.db-wal"):  # SQLite's own, for as long as it reads
            after.pop(os.path.join(self.state, name), None)
        self.assertEqual(before, after)
        self.assertEqual(folders, {f: os.stat(f).st_mtime_ns for f, _, _ in os.walk(os.path.join(self.dir, "wh"))})

    def test_the_state_folder_is_not_made(self):
        self.configure()
        self.told("state", "ok", "is not there yet")
        self.assertFalse(os.path.exists(self.state))

    def test_configurations_that_do_not_load(self):
        self.write("ebb.lua", 'return { polices = "./p" }')
        self.told("configuration", "fail", "polices: unknown key", "did you mean policies?")
        self.write("ebb.lua", "return {")
        self.told("configuration", "fail", "ebb.lua")
        self.told("configuration", "fail", "No such file", config=os.path.join(self.dir, "none.lua"))
        self.assertIsNone(self.doctor("--json").json()["configuration"])

    def test_a_configuration_that_others_may_write(self):
        os.chmod(self.configure(), 0o666)
        self.told("configuration", "warn", "others may write", "chmod go-w")

    def test_policies(self):
        self.configure(bind='{ policy = "b" }')
        self.told("policies", "fail", "policy b")
        self.configure(bind='{ policy = "a", params = { days = 1 } }')
        self.told("policies", "fail", "days")
        self.configure(bind="")
        self.told("policies", "warn", "none is bound")
        self.write("policies/b.lua", "return policy {\n  name = 5,\n}")
        self.configure()
        self.told("policies", "fail", "b.lua:")
        shutil.rmtree(self.policies)
        self.told("policies", "fail", "policies")

    def test_catalogs_that_can_not_be_listed(self):
        self.configure(catalog="./none")
        self.told("catalog", "fail", "none")
        self.write("not.db", "no database" * 1000)
        self.write("ebb.lua", 'return { catalogs = { s = { type = "sqlite", path = "./not.db" } } }')
        self.told("catalog", "fail", "not.db")

    def test_tables_with_problems(self):
        self.configure()
        self.write("wh/db/u/metadata/v1.metadata.json", "{")
        self.write("wh/db/u/metadata/version-hint.text", "1")
        self.told("table", "warn", "files.db.u: metadata.unreadable")
        self.told("catalog", "warn", "tables 2, metadata read of 2, with problems 1", "left alone")

    def test_many_problems_are_counted(self):
        self.configure()
        for i in range(12):
            self.write("wh/db/u%02d/metadata/v1.metadata.json" % i, "{")
            self.write("wh/db/u%02d/metadata/version-hint.text" % i, "1")
        self.assertEqual(5, len(self.lines("table")))
        self.told("catalog", "warn", "with problems 12")

    def test_tables_of_the_future(self):
        self.write_table(os.path.join(self.dir, "wh", "db", "late"), updated=32503680000000)
        self.configure()
        self.told("clock", "fail", "in the future", "clock")

    def test_quarantine_that_is_no_folder(self):
        self.configure()
        self.write("wh/db/t/.ebb-quarantine", "x")
        self.told("table", "fail", "is no folder")

    @unittest.skipUnless(os.geteuid() == 0, "root alone may mount")
    def test_quarantine_on_another_file_system(self):
        self.configure()
        folder = os.path.join(self.table, ".ebb-quarantine")
        os.mkdir(folder)
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=False, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("mounting is not allowed here")
        self.addCleanup(subprocess.run, ["umount", folder], check=True)
        self.told("table", "fail", "another file system", "unmount")

    @unittest.skipUnless(shutil.which("setpriv") and os.geteuid() == 0, "only root may become somebody else")
    def test_as_somebody_else(self):
        self.configure(bind='{ policy = "a", mode = "enforce" }')
        os.chmod(self.dir, 0o755)
        os.mkdir(self.state, 0o755)
        done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", program.path(), "doctor", "--json", "--config",
                               os.path.join(self.dir, "ebb.lua"), "--state", self.state], capture_output=True, text=True, check=False)
        if not done.stdout:
            self.skipTest("the program can't be reached by others: " + done.stderr)
        checks = json.loads(done.stdout)["checks"]
        self.assertEqual(1, done.returncode)
        self.assertTrue([c for c in checks if c["check"] == "state" and c["level"] == "fail" and "Permission denied" in c["message"]], checks)
        self.assertTrue([c for c in checks if c["check"] == "table" and c["level"] == "fail" and "may only be read" in c["message"]], checks)

    def test_state_folders(self):
        self.configure()
        self.write("state", "a file")
        self.told("state", "fail", "is no folder")
        os.unlink(self.state)
        os.mkdir(self.state, 0o777)
        os.chmod(self.state, 0o777)
        self.told("state", "warn", "others get in", "chmod 0700")

    def make_store(self):
        self.configure()
        self.assertEqual(0, program.run(["runs"], config=os.path.join(self.dir, "ebb.lua"), state=self.state).status)
        return os.path.join(self.state, "ebb.db")

    def test_a_sound_store(self):
        self.make_store()
        self.told("store", "ok", "schema version ")
        self.told("store", "ok", "records 0")
        self.told("daemon", "ok", "no daemon")

    def test_stores_that_are_broken(self):
        path = self.make_store()
        with open(path, "r+b") as f:
            f.seek(4096 * 2)
            f.write(b"\xff" * 4096 * 3)
        self.told("store", "fail", "ebb.db: ")
        with open(path, "wb") as f:
            f.write(b"no database at all" * 1000)
        self.told("store", "fail", "ebb.db")
        os.unlink(path)
        os.symlink("/etc/passwd", path)
        self.told("store", "fail", "is not a regular file")

    def test_a_store_of_a_newer_program(self):
        path = self.make_store()
        db = sqlite3.connect(path)
        db.execute("PRAGMA user_version = 999")
        db.close()
        self.told("store", "fail", "schema version 999", "newer ebb")

    def test_a_daemon(self):
        self.make_store()
        with open(os.path.join(self.state, "ebb.serve.lock"), "w", encoding="ascii") as f:
            f.write("4711\n")
            f.flush()
            fcntl.lockf(f, fcntl.LOCK_EX)
            self.told("daemon", "warn", "runs, pid 4711")
        self.told("daemon", "ok", "no daemon")

    def test_a_daemon_that_serves(self):
        self.configure()
        with daemon.Daemon(os.path.join(self.dir, "ebb.lua"), self.state) as d:
            self.told("daemon", "ok", "runs, pid %d, http://%s" % (d.process.pid, d.address))
            self.assertEqual(0, d.stop())
        self.told("daemon", "ok", "no daemon")

    def test_addresses(self):
        self.configure('serve = { listen = "0.0.0.0:8490" }')
        self.told("serve", "fail", "without TLS", "serve.tls")
        self.told("serve", "fail", "without tokens", "serve.auth")
        self.configure('serve = { listen = "[::]:8490", auth = "token", insecure = true }')
        self.told("serve", "warn", "in the clear")
        self.configure('serve = { listen = "[::1]:8490" }')
        self.told("serve", "ok", "listens on [::1]:8490, auth none")

    def make_cert(self, name, days):
        done = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=ebb", "-days", str(days),
                               "-keyout", os.path.join(self.dir, name + ".key"), "-out", os.path.join(self.dir, name + ".pem")], capture_output=True, check=False)
        if done.returncode:
            self.skipTest("no openssl")

    @unittest.skipUnless(shutil.which("openssl"), "openssl makes the certificates")
    def test_certificates(self):
        self.make_cert("good", 400)
        self.make_cert("short", 10)
        for cert, key, level, text in (("good.pem", "good.key", "ok", "the certificate is good for"), ("short.pem", "short.key", "warn", "expires within"),
                                       ("good.pem", "short.key", "fail", "is not the key of"), ("none.pem", "good.key", "fail", "can't be read as a certificate"),
                                       ("good.pem", "good.pem", "fail", "can't be read as a private key")):
            with self.subTest(cert=cert, key=key):
                self.configure('serve = { tls = { cert = "%s", key = "%s" } }' % (cert, key))
                self.told("serve", level, text)
        os.chmod(os.path.join(self.dir, "good.key"), 0o644)
        self.configure('serve = { tls = { cert = "good.pem", key = "good.key" } }')
        self.told("serve", "warn", "others may read the key", "chmod 0600")

    def test_programs(self):
        self.configure('serve = { executables = { "./x" }, notify = { { command = { "./y" } } } }')
        self.told("serve", "fail", "executables: ")
        self.told("serve", "fail", "notify: ")
        self.write("x", "#!/bin/sh\n", 0o777)
        self.told("serve", "warn", "others may write")

    def test_no_secret_is_shown(self):
        self.configure('serve = { notify = { { url = "https://planted-a:planted-b@h/planted-c?planted-d", headers = { Authorization = "Bearer " .. env "EBB_PLANTED" } } } },'
                       ' flags = { ["planted" == env "EBB_PLANTED" and "x" or "y"] = true }')
        for args in ((), ("--json",), ("--effective",), ("--json", "--effective")):
            done = self.doctor(*args, EBB_PLANTED="planted-e")
            self.assertEqual(0, done.status, done.out + done.err)
            self.assertNotIn("planted", done.out + done.err)
        shown = self.doctor("--json", EBB_PLANTED="planted-e").json()["configuration"]
        self.assertEqual([{"url": "https://***@h/***", "headers": {"Authorization": "***"}}], shown["serve"]["notify"])

    def test_a_place_that_came_from_the_environment_is_masked(self):
        self.configure('tables = {}', catalog='" .. env "EBB_PLANTED" .. "')
        done = self.doctor("--json", EBB_PLANTED="/planted/nowhere")
        self.assertEqual(1, done.status)
        self.assertNotIn("planted", done.out + done.err)
        self.assertIn("***", done.out)

    def test_what_counts_is_shown_with_its_default(self):
        self.configure()
        done = self.doctor("--effective")
        shown = json.loads(done.out[done.out.index("\n{\n"):])
        self.assertEqual(shown, self.doctor("--json").json()["configuration"])
        self.assertIn('\n    "listen": "127.0.0.1:8490",\n', done.out)
        self.assertEqual(("127.0.0.1:8490", "default", "none", 2, "1m", {"decisions": "90d", "events": "30d", "jobs": "90d"}),
                         tuple(shown["serve"][k] for k in ("listen", "metalake", "auth", "jobs", "poll", "keep")))
        self.assertEqual(os.path.join(os.path.realpath(self.dir), "./wh"), shown["catalogs"]["files"]["path"])
        self.assertEqual("observe", shown["bind"][0]["mode"])


if __name__ == "__main__":
    unittest.main()
