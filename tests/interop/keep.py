#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keep.py LOG COMMAND… runs a server as long as standard input stays open.

Whoever starts a server holds the other end of standard input, so its end, by whatever signal, ends the server and all its children.
"""
import ctypes
import os
import select
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
GRACE_S = 10


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end(process):
    """The whole process group: asked first, then made."""
    for sign, seconds in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        deadline = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
    process.wait()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open(sys.argv[1], "ab") as log:
        process = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                   preexec_fn=die_with_parent)
    try:
        while process.poll() is None:
            if select.select([0], [], [], 0.5)[0] and not os.read(0, 4096):
                break
    finally:
        status = process.poll()
        end(process)
    return 1 if status is None else status & 0xFF


if __name__ == "__main__":
    sys.exit(main())
