# SPDX-License-Identifier: Apache-2.0
"""PyIceberg as a second reader. It lives in a virtual environment: EBB_VENV, else .venv in the checkout, made by

    python3 -m venv .venv && .venv/bin/pip install -r tests/requirements.txt
    .venv/bin/pip install --no-deps -r tests/requirements-client.txt

Where it is missing its checks are left out, and counted as failures when CI=true."""

import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def python(modules="pyiceberg, pyarrow"):
    """The interpreter that has PyIceberg (or other modules), or None."""
    for folder in (os.environ.get("EBB_VENV"), os.path.join(ROOT, ".venv")):
        name = os.path.join(folder or "/nowhere", "bin", "python")
        if os.path.exists(name) and subprocess.run([name, "-c", "import " + modules], capture_output=True).returncode == 0:
            return name
    return None


def is_wanted():
    return os.environ.get("CI", "").lower() == "true"


class Reader:
    """A process of the second reader; it answers one list of jobs after the other."""

    def __init__(self, interpreter, script="read_tables.py"):
        self.process = subprocess.Popen([interpreter, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=HERE)

    def read(self, jobs):
        """[{snapshot id: digest of the rows} or {"unreadable": why}] for [{"metadata": uri, "maps": {prefix: folder}}]."""
        self.process.stdin.write(json.dumps(jobs).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)
