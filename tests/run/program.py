# SPDX-License-Identifier: Apache-2.0
"""Runs the program under test: the path is in EBB, else the newest of the usual build folders."""

import glob
import hashlib
import json
import os
import stat
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def path():
    if os.environ.get("EBB"):
        return os.environ["EBB"]
    built = sorted(glob.glob(os.path.join(ROOT, "build", "*", "ebb")), key=os.path.getmtime)
    if not built:
        raise RuntimeError("no program: set EBB to its path, or build it")
    return built[-1]


class Done:
    """What a run gave."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    def json(self):
        return json.loads(self.out)

    def error(self):
        """The error object of --json, or {}."""
        for line in reversed(self.err.splitlines()):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict) and "error" in found:
                return found["error"]
        return {}


def run(args, config=None, state=None, env=None, timeout=120):
    words = [path()] + list(args)
    if config:
        words += ["--config", config]
    if state:
        words += ["--state", state]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, env={**os.environ, "TZ": "UTC", **(env or {})})
    return Done(done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode("utf-8", "surrogateescape"))


def read_plan(name):
    """(header, candidates as bytes of URIs, summary) of a plan file."""
    import base64

    with open(name, "rb") as f:
        lines = [json.loads(line) for line in f.read().splitlines()]
    uris = [base64.b64decode(c["path_b64"]) if "path_b64" in c else c["path"].encode("utf-8") for c in lines[1:-1]]
    return lines[0], uris, lines[-1]


def entry(path):
    """What must not change of one file, or of a link."""
    st = os.lstat(path)
    if stat.S_ISLNK(st.st_mode):
        content = os.readlink(path)
    else:
        with open(path, "rb") as f:
            content = hashlib.sha256(f.read()).hexdigest()
    return (st.st_ino, st.st_size, st.st_mtime_ns, st.st_mode, content)


def tree(root, without=()):
    """{path: what must not change} of everything but folders below root; links by their target."""
    found = {}
    for folder, subdirs, files in os.walk(root):
        subdirs[:] = [d for d in subdirs if d not in without]
        for name in files + [d for d in subdirs if os.path.islink(os.path.join(folder, d))]:
            full = os.path.join(folder, name)
            try:
                found[full] = entry(full)
            except FileNotFoundError:  # it went while this walked: it is not there
                continue
    return found


def measured(text):
    """Say a figure that the runner of all tests shows, whether or not the test holds."""
    print("measured: " + text, flush=True)
