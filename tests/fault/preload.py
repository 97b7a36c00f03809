# SPDX-License-Identifier: Apache-2.0
"""Builds the preload library (preload.c) and makes the environment that has a fault in it."""

import os
import subprocess
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "preload.c")


def build(folder):
    library = os.path.join(folder, "preload.so")
    if not os.path.exists(library):
        subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-o", library, SOURCE, "-ldl"], check=True)
    return library


def fault(library, what, number=0, error=5, mode="once", count=None):
    """The environment in which the number-th call of what fails; count: a file that gets the numbers of calls."""
    env = {"LD_PRELOAD": library, "EBB_FAULT": "%s:%d:%d:%s" % (what, number, error, mode)}
    env["ASAN_OPTIONS"] = "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")
    if count:
        env["EBB_FAULT_COUNT"] = count
    return env


def read_counts(path):
    """{"alloc": number, "io": number}, and the file is gone."""
    with open(path, encoding="ascii") as f:
        words = f.read().split()
    os.unlink(path)
    return {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}


def wait_until_stopped(pid, seconds=60):
    """Wait for a process with a fault of mode "stop" to get there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as f:
            if f.read().rsplit(") ", 1)[1].startswith("T"):
                return True
        time.sleep(0.01)
    return False
