# SPDX-License-Identifier: Apache-2.0
"""Events told to ebb serve: what was answered 202 is kept, once, through kill -9; a full queue says so; what is late still triggers."""
import http.client
import json
import os
import random
import sqlite3
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import daemon  # noqa: E402
import program  # noqa: E402
import test_run  # noqa: E402
import test_serve  # noqa: E402

KILLS = int(os.environ.get("EBB_KILLS", "12" if os.environ.get("EBB_CI") else "5"))
SENDERS = 3


def events(sender, start, count):
    return [{"source": "s%d" % sender, "id": "%d" % n, "type": "files.left", "table": "lake.db.t%d" % (n % 5), "n": n} for n in range(start, start + count)]


class Sender(threading.Thread):
    """Tells batches, some of them again; keeps what was taken."""

    def __init__(self, number, d):
        super().__init__(daemon=True)
        self.number, self.d = number, d
        self.random = random.Random(number)
        self.next = 0
        self.taken, self.sent = set(), set()
        self.ended = threading.Event()
        self.odd = []

    def tell(self, start, count):
        batch = events(self.number, start, count)
        self.sent.update(e["id"] for e in batch)
        self.random.shuffle(batch)
        try:
            answer = self.d.ask("/api/events", "POST", batch, timeout=30)
        except (OSError, http.client.HTTPException):  # it is being killed
            time.sleep(0.02)
            return False
        if answer.status == 202:
            self.taken.update(e["id"] for e in batch)
            return True
        if answer.status not in (429, 503):
            self.odd.append((answer.status, answer.text))
        return False

    def run(self):
        while not self.ended.is_set():
            count = self.random.randint(1, 200)
            for _ in range(50):
                if self.tell(self.next, count) or self.ended.is_set():
                    break
            self.next += count
            if self.random.random() < 0.2 and self.next > 50:
                self.tell(self.random.randrange(self.next - 50), 50)


class Events(test_serve.Base):
    def rows(self, sql):
        with sqlite3.connect(os.path.join(self.state, "ebb.db"), timeout=60) as db:
            return db.execute(sql).fetchall()

    def test_what_was_taken_survives_kills(self):
        self.policy()
        self.bind("observe")
        d = self.serve()
        senders = [Sender(n, d) for n in range(SENDERS)]
        for sender in senders:
            sender.start()
        dice = random.Random(7)
        try:
            for number in range(KILLS):
                before = sum(len(s.taken) for s in senders)
                daemon.wait(lambda b=before: sum(len(s.taken) for s in senders) > b, what="events that are taken")
                time.sleep(dice.random() * 0.5)
                if number % 3 == 2:
                    self.assertEqual(0, d.stop())  # what was taken is written before the end
                else:
                    d.kill()
                d.start()
        finally:
            for sender in senders:
                sender.ended.set()
            for sender in senders:
                sender.join(60)
        d.kill()
        self.assertEqual([("ok",)], self.rows("PRAGMA integrity_check"))
        for sender in senders:
            self.assertEqual([], sender.odd)
            kept = [row[0] for row in self.rows("SELECT id FROM event WHERE source = 's%d'" % sender.number)]
            self.assertEqual(len(kept), len(set(kept)))
            self.assertEqual(set(), sender.taken - set(kept))
            self.assertEqual(set(), set(kept) - sender.sent)
            self.assertGreater(len(sender.taken), 0)

    def test_a_full_queue_says_so(self):
        """Nothing can be written for a while: what waits is bounded, and what waited is kept."""
        self.policy()
        self.bind("observe")
        answers = []
        d = self.serve()
        db = sqlite3.connect(os.path.join(self.state, "ebb.db"), isolation_level=None)
        db.execute("BEGIN IMMEDIATE")

        def tell(number):
            answers.append(d.ask("/api/events", "POST", events(number, 0, 10000), timeout=60))

        threads = [threading.Thread(target=tell, args=(n,), daemon=True) for n in range(13)]
        for thread in threads:
            thread.start()
        daemon.wait(lambda: any(a.status == 429 for a in answers), 30, what="429")
        db.execute("ROLLBACK")
        db.close()
        for thread in threads:
            thread.join(60)
        full = [a for a in answers if a.status == 429]
        self.assertEqual(13, len(answers))
        self.assertTrue(all(a.headers["Retry-After"].isdigit() for a in full))
        self.assertTrue(all(a.status in (202, 429) for a in answers))
        self.assertEqual(10000 * (13 - len(full)), self.rows("SELECT count(*) FROM event")[0][0])
        self.assertEqual(202, d.ask("/api/events", "POST", events(99, 0, 1)).status)
        self.assertEqual(0, d.stop())

    def test_formats_and_mistakes(self):
        self.policy()
        self.bind("observe")
        d = self.serve()
        one = {"source": "s", "id": "1", "type": "commit.failed", "table": "lake.db.a", "files_written": 3}
        self.assertEqual({"accepted": 1, "duplicates": 0}, d.ask("/api/events", "POST", one).json())
        self.assertEqual({"accepted": 0, "duplicates": 1}, d.ask("/api/events", "POST", one).json())
        cloud = {"specversion": "1.0", "source": "s", "id": "2", "type": "commit.failed", "subject": "lake.db.a", "data": {"n": 1}}
        batch = d.ask("/api/events", "POST", json.dumps([cloud, cloud]), {"Content-Type": "application/cloudevents-batch+json"})
        self.assertEqual((202, {"accepted": 1, "duplicates": 1}), (batch.status, batch.json()))
        binary = d.ask("/api/events", "POST", '{"n":2}', {"Content-Type": "application/json", "ce-specversion": "1.0", "ce-id": "3", "ce-source": "s",
                                                         "ce-type": "x"})
        self.assertEqual(202, binary.status)
        bad = d.ask("/api/events", "POST", [one, {"source": "s", "type": "No"}])
        self.assertEqual((400, True), (bad.status, "events[1].type" in bad.text))
        self.assertEqual(400, d.ask("/api/events", "POST", "{}", {"Content-Type": "text/plain"}).status // 100 * 100)
        listed = program.run(["events", "--json"], self.config, self.state)
        self.assertEqual(0, listed.status)
        rows = [json.loads(line) for line in listed.out.splitlines()]
        self.assertEqual([("1", "commit.failed"), ("2", "commit.failed"), ("3", "x")], [(r["id"], r["type"]) for r in rows])
        self.assertEqual({"files_written": 3}, rows[0]["data"])
        self.assertEqual("lake.db.a", rows[1]["table"])
        self.assertEqual(["2"], [json.loads(x)["id"] for x in program.run(["events", "--json", "--table", "lake.*", "--since", "1h"], self.config,
                                                                          self.state).out.splitlines()][1:])
        people = program.run(["events", "--type", "x"], self.config, self.state).out
        self.assertEqual(1, len(people.splitlines()))
        self.assertIn("from s", people)
        self.assertEqual(0, d.stop())

    def test_a_late_event_triggers(self):
        """It happened before the last one that triggered, was told after it, and the policy counts it."""
        self.write("policies/sweep.lua", 'return policy { api = 1, name = "sweep", triggers = { on.event { "files.left" } },\n'
                                         'guard = { overlap = "queue_one" },\n'
                                         'decide = function(t, ctx)\n'
                                         'if ctx.events.count { "files.left", since = "last_run" } < 1 then return skip(all {}) end\n'
                                         '%s end }' % test_run.RUN)
        self.table("a")
        self.bind("observe")
        d = self.serve()
        daemon.wait(d.is_ready, what="readiness")

        def decisions():
            return [json.loads(line) for line in program.run(["decisions", "--json"], self.config, self.state).out.splitlines()]

        def tell(ident, at):
            self.assertEqual(202, d.ask("/api/events", "POST", {"source": "s", "id": ident, "type": "files.left", "table": "lake.db.a", "at": at}).status)

        now = int(time.time() * 1000)
        daemon.wait(lambda: self.rows("SELECT count(*) FROM value WHERE scope = 'schedule'")[0][0] > 0, what="a first look")
        tell("1", now)
        daemon.wait(lambda: len(decisions()) == 1, what="a decision")
        tell("2", now - 3600 * 1000)
        daemon.wait(lambda: len(decisions()) == 2, what="a decision on a late event")
        tell("2", now - 3600 * 1000)  # again: no news
        tell("3", now - 7200 * 1000)
        daemon.wait(lambda: len(decisions()) == 3, what="a third decision")
        self.assertEqual(["run"] * 3, [x["verdict"] for x in decisions()])
        self.assertEqual([["1"], ["2"], ["3"]], [x["trigger"]["events"] for x in decisions()])
        self.assertEqual(0, d.stop())


if __name__ == "__main__":
    unittest.main()
