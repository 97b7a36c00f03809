# SPDX-License-Identifier: Apache-2.0
"""Every style rule finds what it is there for: each case is a small tree with one thing wrong."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */\n"
GOOD = {
    "core/base/err.h": LICENCE + '#define E(X) \\\n    X(EUSAGE, "usage", "", 64)\n\n/* Says it. */\nint ebb_say(int x);\n',
    "core/base/say.c": LICENCE + '#include "base/err.h"\n\nint ebb_say(int x)\n{\n    printf("a (%d\\" system(", x);\n    return x;\n}\n',
    "docs/errors.md": "| `usage` | 64 |\n",
    "tests/safety.tsv": "S1\tnothing\ttest_say.c::says\n",
    "tests/unit/base/test_say.c": LICENCE + "static void says(void)\n{\n}\n",
    "tests/style/excused.txt": "# none\n",
}


def function(lines):
    return LICENCE + "static int long_one(void)\n{\n" + "    x();\n" * (lines - 2) + "}\n"


BAD = [
    ("include_direction", "core/base/say.c", LICENCE + '#include "io/place.h"\n'),
    ("include_direction", "core/io/x.c", LICENCE + '#include "base/err_priv.h"\n'),
    ("include_direction", "core/table/x.c", LICENCE + "#include <lua.h>\n"),
    ("banned_functions", "core/base/x.c", LICENCE + "static void f(char *a)\n{\n    strcpy (a, b);\n}\n"),
    ("licence_lines", "core/base/x.c", "\n"),
    ("licence_lines", "scripts/x.lua", "return 1\n"),
    ("sizes", "core/base/x.c", function(61)),
    ("sizes", "core/base/x.c", LICENCE * 601),
    ("sizes", "tests/style/excused.txt", "61 core/base/say.c:ebb_say\n"),
    ("sizes", "tests/style/excused.txt", "61 core/base/gone.c\n"),
    ("undocumented", "core/base/x.h", LICENCE + "\nint ebb_x(void);\n"),
    ("literal_formats", "core/base/x.c", LICENCE + "static void f(void)\n{\n    luaL_error(L, text);\n}\n"),
    ("literal_formats", "core/base/x.c", LICENCE + "static void f(void)\n{\n    snprintf(a, g(1, 2), text);\n}\n"),
    ("unfinished", "docs/x.md", "TO" "DO: all\n"),
    ("names", "core/base/x.c", LICENCE + "int other_name(void)\n{\n}\n"),
    ("names", "core/base/x.h", LICENCE + "/* Does x. */\nint ebb__x_do(void);\n"),
    ("mutable_state", "core/base/x.c", LICENCE + "static int count;\n"),
    ("mutable_state", "core/base/x.c", LICENCE + 'static const char *last = "";\n'),
    ("error_codes", "docs/errors.md", "nothing\n"),
    ("error_codes", "core/base/x.c", LICENCE + 'static const char *const CODE = "http.odd";\n'),
    ("safety_rows", "tests/safety.tsv", "S1\tnothing\tgone\n"),
    ("safety_rows", "tests/safety.tsv", "S1\tnothing\n"),
    ("broken_links", "docs/x.md", "see [it](gone.md#there)\n"),
]


class Style(unittest.TestCase):
    def check(self, *changes):
        with tempfile.TemporaryDirectory() as root:
            for path, text in list(GOOD.items()) + list(changes):
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            return subprocess.run([sys.executable, os.path.join(HERE, "check.py")], env=dict(os.environ, EBB_STYLE_ROOT=root),
                                  capture_output=True, text=True, check=False)

    def test_good_tree_passes(self):
        done = self.check()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_each_rule_finds_its_own(self):
        for rule, path, text in BAD:
            with self.subTest(rule=rule, path=path, text=text[-60:]):
                done = self.check((path, text))
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn("(%s)" % rule, done.stdout)


if __name__ == "__main__":
    unittest.main()
