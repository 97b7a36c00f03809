#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.py FILE… OUT: run the tests of Python files, one after another in this process, and append to OUT one JSON line for each as soon as its
file is through: {"test", "status": pass|fail|skip, "why"}."""
import importlib.util
import json
import os
import sys
import time
import unittest


class Result(unittest.TextTestResult):
    """One verdict for each test, also where several of its parts fail."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.verdicts = {}

    def note(self, test, status, why=""):
        name = test.id()
        if self.verdicts.get(name, ("pass",))[0] != "fail":
            self.verdicts[name] = (status, why)

    def addSuccess(self, test):
        super().addSuccess(test)
        if test.id() not in self.verdicts:
            self.note(test, "pass")

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "fail", str(err[1]).split("\n")[0])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "fail", str(err[1]).split("\n")[0])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(getattr(test, "test_case", test), "skip", reason)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, "fail", "%s: %s" % (subtest._subDescription(), str(err[1]).split("\n")[0]))

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.note(test, "pass")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, "fail", "succeeded although it was expected to fail")


def run_file(path):
    name = os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except unittest.SkipTest as skip:
        return {name: ("skip", str(skip))}
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(resultclass=Result, verbosity=2).run(suite)
    return result.verdicts or {name: ("fail", "no tests in this file")}


def main():
    for path in sys.argv[1:-1]:
        begin = time.monotonic()
        verdicts = run_file(path)
        with open(sys.argv[-1], "a", encoding="utf-8") as file:
            for test, (status, why) in verdicts.items():
                file.write(json.dumps({"test": test, "status": status, "why": why}) + "\n")
        if len(sys.argv) > 3:
            print("measured: %s took %.0f s" % (os.path.basename(path), time.monotonic() - begin), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
