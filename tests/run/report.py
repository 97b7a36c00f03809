#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the tests of one Python file and append to a file one JSON line for each: {"test", "status": pass|fail|skip, "why"}."""
import importlib.util
import json
import os
import sys
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


def main():
    path, out = sys.argv[1:3]
    name = os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except unittest.SkipTest as skip:
        verdicts = {name: ("skip", str(skip))}
    else:
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        result = unittest.TextTestRunner(resultclass=Result, verbosity=2).run(suite)
        verdicts = result.verdicts or {name: ("fail", "no tests in this file")}
    with open(out, "w", encoding="utf-8") as file:
        for test, (status, why) in verdicts.items():
            file.write(json.dumps({"test": test, "status": status, "why": why}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
