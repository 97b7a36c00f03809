#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the compiler can't check of the project's own rules. Each finding is a line `file:line: what`; exit 1 if any."""
import os
import re
import sys

import source

LAYERS = ["base", "format", "io", "table", "engine", "service", "front"]
BANNED = ("strcpy", "strcat", "sprintf", "vsprintf", "strtok", "atoi", "atol", "atoll", "gets", "system", "popen", "assert",
          "alloca", "tmpnam", "mktemp", "setjmp", "longjmp")
FORMATS = {"printf": 0, "fprintf": 1, "dprintf": 1, "snprintf": 2, "asprintf": 1, "syslog": 1, "luaL_error": 1,
           "lua_pushfstring": 1, "luaL_argerror": None, "ebb_err_set": 2, "ebb_err_errno": 2, "ebb_err_hint": 1,
           "ebb_buf_printf": 1}
FILE_MAX, FUNCTION_MAX = 600, 60
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" "DO", "FIX" "ME", "X" "XX", "not implemented" " yet")) + r")\b")


def c_files(*suffixes):
    return source.paths(*(suffixes or (".c", ".h")), under=("core/",))


def layer_of(path):
    return path.split("/")[1]


def include_direction():
    """base <- format <- io <- table <- engine <- service <- front; Lua's headers only in engine and front/lua."""
    for path in c_files():
        if layer_of(path) not in LAYERS:
            continue
        for number, line in enumerate(source.read(path).split("\n"), 1):
            match = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
            if not match:
                continue
            target = match.group(1)
            layer = target.split("/")[0]
            if layer in LAYERS and LAYERS.index(layer) > LAYERS.index(layer_of(path)):
                yield path, number, "layer %s includes %s, which lies further out" % (layer_of(path), target)
            if target.endswith("_priv.h") and layer in LAYERS and layer != layer_of(path):
                yield path, number, "%s is private to layer %s" % (target, layer)
            if re.match(r"(lua|lauxlib|lualib|luaconf)\.h$", target) and not path.startswith(("core/engine/", "core/front/lua/")):
                yield path, number, "%s is for core/engine and core/front/lua" % target


def banned_functions():
    call = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(BANNED))
    for path in c_files():
        text = source.code(source.read(path))
        for match in call.finditer(text):
            yield path, source.line_at(text, match.start()), "%s is banned" % match.group(1)


def licence_lines():
    for path in source.paths(".c", ".h", ".lua", ".py", ".sh", ".cmake", "CMakeLists.txt", ".clang-format") + list(source.SCRIPTS):
        if not os.path.exists(os.path.join(source.ROOT, path)):
            continue
        head = "\n".join(source.read(path).split("\n")[:3])
        if "SPDX-License-Identifier: Apache-2.0" not in head:
            yield path, 1, "no SPDX line at the top"


def excused():
    """tests/style/excused.txt: `size name`; what is excused may only become smaller, and leaves the list when it is small enough."""
    sizes = {}
    for line in source.read("tests/style/excused.txt").split("\n"):
        if line and not line.startswith("#"):
            size, name = line.split(None, 1)
            sizes[name] = int(size)
    return sizes


def sizes():
    """Of the product: a test may be as long as its cases are many."""
    found = {}
    for path in c_files() + source.paths(".lua", under=("scripts/", "policies/")):
        text = source.read(path)
        found[path] = (text.count("\n"), FILE_MAX, 1)
        if path.endswith((".c", ".h")):
            for function in source.functions(text):
                found["%s:%s" % (path, function.name)] = (function.length, FUNCTION_MAX, function.line)
    allowed = excused()
    for name, (size, most, line) in sorted(found.items()):
        if size > allowed.get(name, most):
            yield name.split(":")[0], line, "%s has %d lines, at most %d" % (name, size, allowed.get(name, most))
        elif name in allowed and size < allowed[name]:
            yield "tests/style/excused.txt", 1, "%s has %d lines now: take it off the list or lower its number" % (name, size)
    for name in sorted(set(allowed) - set(found)):
        yield "tests/style/excused.txt", 1, "%s is gone: take it off the list" % name


def undocumented():
    """A public prototype has a comment before it; one comment may stand over a group without blank lines."""
    for path in c_files(".h"):
        if path.endswith("_priv.h"):
            continue
        text = source.read(path)
        lines = text.split("\n")
        plain = source.code(text)
        for match in re.finditer(r"^(?:EBB_API\s+)?(?:const\s+)?(?:struct\s+|enum\s+)?\w+[\s*]+(ebb_\w+)\(", plain, re.M):
            line = source.line_at(plain, match.start()) - 1
            first = line
            while first and lines[first - 1].strip():
                first -= 1
            if "/*" not in "\n".join(lines[first:line]):
                yield path, line + 1, "%s has no comment" % match.group(1)


def excepted(text, offset):
    """Inside a region where the compiler's own check is switched off, in the open, by a pragma."""
    before = text[:offset]
    return before.rfind('ignored "-Wformat-nonliteral"') > before.rfind("diagnostic pop")


def literal_formats():
    call = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(f for f, n in FORMATS.items() if n is not None))
    for path in c_files(".c"):
        text = source.read(path)
        plain = source.code(text)
        for match in call.finditer(plain):
            arguments = source.arguments(text, match.end() - 1)
            at = FORMATS[match.group(1)]
            if text[text.rfind("\n", 0, match.start()) + 1:match.start()].startswith(("int ", "void ")):
                continue  # its definition
            if excepted(text, match.start()):
                continue
            if len(arguments) > at and not re.match(r'(?:[^"?]*\?\s*)?(?:[A-Z][A-Z0-9_]*\s*)*"', arguments[at]):
                yield path, source.line_at(plain, match.start()), "the format of %s is no literal" % match.group(1)


def unfinished():
    for path in source.paths(".c", ".h", ".lua", ".py", ".sh", ".cmake", ".md", ".txt", ".tsv") + list(source.SCRIPTS):
        if not os.path.exists(os.path.join(source.ROOT, path)):
            continue
        for number, line in enumerate(source.read(path).split("\n"), 1):
            match = UNFINISHED.search(line)
            if match:
                yield path, number, "says %s" % match.group(1)


def names():
    for path in c_files(".c"):
        for function in source.functions(source.read(path)):
            if function.is_static or function.name in ("main", "luaopen_ebb", "luaopen_ebb_session"):
                continue
            if not function.name.startswith("ebb_"):
                yield path, function.line, "%s is neither static nor named ebb_…" % function.name
    for path in c_files(".h"):
        if path.endswith("_priv.h"):
            continue
        text = source.code(source.read(path))
        for match in re.finditer(r"\b(ebb__\w+)\s*\(", text):
            yield path, source.line_at(text, match.start()), "%s belongs into a _priv.h" % match.group(1)


def mutable_state():
    """No global or static variable that can change; the counter of crash points exists in test builds only."""
    for path in c_files(".c"):
        if path == "core/base/failpoint.c":
            continue
        text = re.sub(r"^#.*(?:\\\n.*)*$", lambda m: re.sub(r"[^\n]", " ", m.group(0)), source.code(source.read(path)), flags=re.M)
        for match in re.finditer(r"^[ \t]*(?:static|_Thread_local|thread_local)\b[^;{(=]*(?=[;=])", text, re.M):
            declared = match.group(0)
            last = declared.rsplit("*", 1)[-1]
            if not re.search(r"\bconst\b", last):
                yield path, source.line_at(text, match.start()), "a variable that lives on and can change: " + " ".join(declared.split())


def error_codes():
    """Every stable error code is explained to users."""
    if not os.path.exists(os.path.join(source.ROOT, "docs/errors.md")):
        yield "docs/errors.md", 1, "is missing"
        return
    page = source.read("docs/errors.md")
    for code in re.findall(r'^\s*X\(\w+, "([^"]+)"', source.read("core/base/err.h"), re.M):
        if not re.search(r"`%s`" % re.escape(code), page):
            yield "docs/errors.md", 1, "says nothing about `%s`" % code
    for path in c_files(".c"):
        for code in re.findall(r'"(http\.[a-z_]+)"', source.read(path)):
            if "`%s`" % code not in page:
                yield "docs/errors.md", 1, "says nothing about `%s` of %s" % (code, path)


def safety_rows():
    """tests/safety.tsv: id, rule, test. The test is `function` or `file::function` and stands somewhere below tests/."""
    path = "tests/safety.tsv"
    if not os.path.exists(os.path.join(source.ROOT, path)):
        yield path, 1, "is missing"
        return
    texts = {p: source.read(p) for p in source.paths(".c", ".py", ".lua", ".sh", under=("tests/",))}
    seen = set()
    for number, line in enumerate(source.read(path).split("\n"), 1):
        if not line or line.startswith("#") or line.startswith("id\t"):
            continue
        cells = line.split("\t")
        if len(cells) != 3 or not all(c.strip() for c in cells):
            yield path, number, "is not `id`, `rule`, `test`"
            continue
        if cells[0] in seen:
            yield path, number, "%s stands twice" % cells[0]
        seen.add(cells[0])
        for test in re.split(r"[,\s]+", cells[2].strip()):
            name = re.split(r"::|\.", test)[-1] if "::" in test else test
            where = [p for p in texts if p.endswith(test.split("::")[0])] if "::" in test else list(texts)
            if not any(re.search(r"\b%s\b" % re.escape(name), texts[p]) for p in where):
                yield path, number, "%s: there is no test %s" % (cells[0], test)


def broken_links():
    """A relative link of a page leads to a file."""
    for path in source.paths(".md"):
        text = source.read(path)
        for match in re.finditer(r"\]\(([^)\s#]+)[^)]*\)", text):
            target = os.path.join(source.ROOT, os.path.dirname(path), match.group(1))
            if not re.match(r"[a-z]+:", match.group(1)) and not os.path.exists(target):
                yield path, source.line_at(text, match.start()), "leads to %s, which is not there" % match.group(1)


RULES = (include_direction, banned_functions, licence_lines, sizes, undocumented, literal_formats, unfinished, names, mutable_state,
         error_codes, safety_rows, broken_links)


def main():
    count = 0
    for rule in RULES:
        for path, line, what in rule():
            print("%s:%d: %s (%s)" % (path, line, what, rule.__name__))
            count += 1
    print("%d findings in %d rules" % (count, len(RULES)))
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
