# SPDX-License-Identifier: Apache-2.0
"""The n-th allocation fails while a policy decides, is asked why not, or a decision is made again: there is one clear error, or the answer is the one
that an undisturbed program gives. Memory that ran out never makes another decision.

EBB_FAULT_EVERY: each how many-th number is tried after the first hundred (default 37; 1 = all)."""

import concurrent.futures
import errno
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))

import preload  # noqa: E402
import program  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EVERY = int(os.environ.get("EBB_FAULT_EVERY", "37"))
DENSE = 100
NOW = "2026-03-29T00:00:00Z"
FACTS = os.path.join(ROOT, "tests", "fixtures", "facts", "clicks.json")
POLICIES = [os.path.join(ROOT, "policies", "examples", name) for name in ("orphans_on_event.lua", "compact_scored.lua")]


def numbers(total):
    return sorted(set(range(1, min(total, DENSE) + 1)) | set(range(DENSE, total + 1, EVERY)) | {total})


def answer_of(text):
    """What must be the same: not ids, and not what the state of the script took."""
    record = json.loads(text)
    for key in ("id", "state", "mem_peak"):
        record.pop(key, None)
        if isinstance(record.get("record"), dict):
            record["record"].pop(key, None)
    return record


class DecideFaultTest(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="ebb-decide-fault-")
        self.addCleanup(shutil.rmtree, self.top, True)
        self.library = preload.build(self.top)

    def run_ebb(self, words, env=None, state="state"):
        return program.run(words, state=os.path.join(self.top, state), env=env)

    def check(self, words, one_state=None):
        plain = self.run_ebb(words)
        self.assertIn(plain.status, (0, 2), plain.err)
        wanted = answer_of(plain.out)
        counts = os.path.join(self.top, "counts")
        self.run_ebb(words, preload.fault(self.library, "alloc", count=counts))
        total = preload.read_counts(counts)["alloc"]

        def one(n):
            done = self.run_ebb(words, preload.fault(self.library, "alloc", n, errno.ENOMEM), one_state or "state-%d" % (n % 2))
            if "CHECK failed: sanitizer_" in done.err:
                return None
            if "Sanitizer" in done.err or "runtime error" in done.err or done.status < 0:
                return "alloc %d: %s" % (n, done.err[-2000:])
            if done.status == plain.status:
                return None if answer_of(done.out) == wanted else "alloc %d: another answer: %s" % (n, done.out[:1000])
            if done.status in (1, 2, 3, 4, 64) and ": " in done.err:
                return None
            return "alloc %d: status %d without an error: %s" % (n, done.status, done.err[:500])

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            troubles = [t for t in pool.map(one, numbers(total)) if t]
        print("%s: %d allocations" % (" ".join(words[:2]), total), flush=True)
        self.assertEqual([], troubles[:5])

    def test_decide(self):
        for policy in POLICIES:
            self.check(["decide", policy, FACTS, "--at", NOW, "--json"])

    def test_whynot(self):
        for policy in POLICIES:
            self.check(["whynot", policy, FACTS, "--at", NOW, "--json"])

    def test_replay(self):
        for policy in POLICIES:
            made = self.run_ebb(["decide", policy, FACTS, "--at", NOW, "--json"])
            self.check(["replay", json.loads(made.out)["id"], "--json"], "state")


if __name__ == "__main__":
    unittest.main()
