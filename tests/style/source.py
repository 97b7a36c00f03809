# SPDX-License-Identifier: Apache-2.0
"""The project's files, and C text in a form that can be searched: comments and literals emptied, lines kept."""
import os
import re

ROOT = os.environ.get("EBB_STYLE_ROOT") or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
FOLDERS = ("core", "tests", "scripts", "policies", "cmake", "docs", ".ci")
SCRIPTS = ("bootstrap", ".ci/run", "tests/run/run_all")
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def paths(*suffixes, under=("",)):
    """Files of the project, relative to its root, that end in one of the suffixes."""
    found = [name for name in os.listdir(ROOT) if os.path.isfile(os.path.join(ROOT, name))]
    for folder in FOLDERS:
        for here, folders, names in os.walk(os.path.join(ROOT, folder)):
            folders[:] = [f for f in folders if f not in ("__pycache__", "fixtures", "corpus", "cases")]
            found += [os.path.relpath(os.path.join(here, name), ROOT) for name in names]
    return sorted(p for p in found if p.endswith(suffixes) and any(p.startswith(u) for u in under))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def blank(match):
    """A comment becomes blanks, a literal keeps its quotes and length."""
    text = match.group(0)
    if text[0] == "/":
        return re.sub(r"[^\n]", " ", text)
    return text[0] + "_" * (len(text) - 2) + text[0]


def code(text):
    """C text without what stands in comments and literals."""
    return TOKEN.sub(blank, text)


def line_at(text, offset):
    return text.count("\n", 0, offset) + 1


class Function:
    def __init__(self, name, head, line, length):
        self.name, self.head, self.line, self.length = name, head, line, length
        self.is_static = bool(re.match(r".*\bstatic\b", head, re.S))


def functions(text):
    """Definitions in C text as clang-format leaves it: the body's braces stand alone in the first column."""
    lines = code(text).split("\n")
    found = []
    start = None
    for i, line in enumerate(lines):
        if line == "{":
            start = i
        elif line == "}" and start is not None:
            first = start
            while first and lines[first - 1].strip() and not re.match(r"[};#]", lines[first - 1]):
                first -= 1
            head = "\n".join(lines[first:start])
            bare = re.sub(r"__attribute__\s*\(\(.*?\)\)\)?|EBB_LJMP|EBB_API", " ", head, flags=re.S)
            name = re.search(r"(\w+)\s*\(", bare)
            found.append(Function(name.group(1) if name else "?", head, first + 1, i - start + 1))
            start = None
    return found


def arguments(text, start):
    """The arguments of the call whose opening parenthesis stands at start, as written; literals may hold anything."""
    depth, begin, found = 0, start + 1, []
    plain = code(text[start:start + 4000])
    for i, c in enumerate(plain):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if depth == 0 or (c == "," and depth == 1):
            found.append(text[begin:start + i].strip())
            begin = start + i + 1
        if depth == 0:
            break
    return found
