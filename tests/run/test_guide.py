# SPDX-License-Identifier: Apache-2.0
"""The policy guide: every command in it runs and prints what it says; its reference is current."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import program
from test_new import HAS_BUSTED, has_templates, sanitizer

GUIDE = os.path.join(program.ROOT, "docs", "policy-guide.md")
BEGIN, END = "<!-- reference: made by ebb __reference -->\n", "<!-- reference: end -->\n"
ID = re.compile(r"\b([dpr])-[0-9A-Z]{26}\b")


def read():
    with open(GUIDE, encoding="utf-8") as f:
        return f.read()


def steps(text):
    """(command, exit status, lines of output) of all console blocks."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                command, _, status = line[2:].partition("   # exit ")
                found.append([command, int(status or 0), []])
            elif line.startswith("> ") and not found[-1][2]:
                found[-1][0] += "\n" + line[2:]
            else:
                found[-1][2].append(line)
    return found


def fits(wanted, lines):
    """Whether lines are the wanted ones, where … is any text, and alone on its line any lines."""
    if not wanted:
        return not lines
    if wanted[0] == "…":
        return any(fits(wanted[1:], lines[i:]) for i in range(len(lines) + 1))
    pattern = ".*".join(re.escape(part) for part in wanted[0].rstrip().split("…"))
    return bool(lines) and re.fullmatch(pattern, lines[0].rstrip()) is not None and fits(wanted[1:], lines[1:])


class Shell:
    def __init__(self, folder):
        bin_dir = os.path.join(folder, "bin")
        os.mkdir(bin_dir)
        os.symlink(os.path.abspath(program.path()), os.path.join(bin_dir, "ebb"))
        env = {**os.environ, **sanitizer(), "PATH": bin_dir + ":" + os.environ["PATH"], "TZ": "UTC", "NO_COLOR": "1",
               "XDG_STATE_HOME": os.path.join(folder, "state"), "XDG_CONFIG_HOME": folder}
        self.bash = subprocess.Popen(["bash"], cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     encoding="utf-8", errors="surrogateescape")
        self.ids = {}

    def run(self, command):
        """(status, lines); an id written as p-… is the last one that was seen."""
        command = re.sub(r"\b([dpr])-…", lambda m: self.ids[m.group(1)], command)
        self.bash.stdin.write(command + "\nprintf '\\n@@%s\\n' $?\n")
        self.bash.stdin.flush()
        lines = []
        while True:
            line = self.bash.stdout.readline()
            if not line or line.startswith("@@"):
                break
            lines.append(line.rstrip("\n"))
            for kind in ID.finditer(line):
                self.ids[kind.group(1)] = kind.group(0)
        if lines and not lines[-1]:
            lines.pop()
        return int(line[2:] or -1) if line else -1, lines

    def close(self):
        self.bash.stdin.close()
        self.bash.wait(timeout=60)
        self.bash.stdout.close()


class Guide(unittest.TestCase):
    @unittest.skipUnless(HAS_BUSTED and shutil.which("bash"), "needs bash, busted and the Lua module")
    def test_every_command_runs_and_prints_what_the_guide_says(self):
        if not has_templates():
            self.skipTest("the program stands alone")
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        shell = Shell(folder)
        self.addCleanup(shell.close)
        for command, status, wanted in steps(read()):
            with self.subTest(command=command):
                got, lines = shell.run(command)
                self.assertEqual(status, got, "\n".join(lines))
                self.assertTrue(fits(wanted, lines), "%s\nprints\n%s\nbut the guide says\n%s" % (command, "\n".join(lines), "\n".join(wanted)))

    def test_reference_is_current(self):
        text = read()
        inside = text[text.index(BEGIN) + len(BEGIN):text.index(END)]
        self.assertEqual(program.run(["__reference"]).out, inside, "python3 tests/run/test_guide.py --write")


def write():
    text = read()
    made = text[:text.index(BEGIN) + len(BEGIN)] + program.run(["__reference"]).out + text[text.index(END):]
    with open(GUIDE, "w", encoding="utf-8") as f:
        f.write(made)


if __name__ == "__main__":
    import sys

    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main()
