# SPDX-License-Identifier: Apache-2.0
"""The n-th allocation fails during a simulation or a backtest: there is one clear error, or the answer of an undisturbed program.

EBB_FAULT_EVERY: each how many-th number is tried after the first hundred (default 37; 1 = all)."""

import os
import sys
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import test_decide_faults as faults  # noqa: E402


class AheadFaultTest(faults.DecideFaultTest):
    test_decide = test_whynot = test_replay = None  # they have a file of their own

    def check(self, words, one_state=None):
        with mock.patch.object(faults, "answer_of", lambda text: text):  # all of it, to the letter
            super().check(words, one_state)

    def test_simulate(self):
        """A night of a clock change, with commits and a sleep."""
        for policy in faults.POLICIES:
            self.check(["simulate", "--until", "+2d", "--policy", policy, "--table", faults.FACTS, "--at", faults.NOW,
                        "--asleep", "2026-03-29T05:00:00Z/2026-03-29T09:00:00Z", "--json"])

    def test_backtest(self):
        for policy in faults.POLICIES:
            self.run_ebb(["decide", policy, faults.FACTS, "--at", faults.NOW, "--json"])
        for policy in faults.POLICIES:
            self.check(["backtest", policy, "--since", "2026-01-01T00:00:00Z", "--until", "+1d", "--table", faults.FACTS, "--at", faults.NOW, "--json"], "state")


if __name__ == "__main__":
    unittest.main()
