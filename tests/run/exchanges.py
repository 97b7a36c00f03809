# SPDX-License-Identifier: Apache-2.0
"""What a real Gravitino server answered (tests/fixtures/gravitino/exchanges.jsonl), compared with what another one answers."""
import json
import os

FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures", "gravitino", "exchanges.jsonl")
MISSING = object()


def all_of_them():
    with open(FILE, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def at(tree, path):
    """What a dotted path leads to, or MISSING."""
    for part in path.split("."):
        if isinstance(tree, list):
            if not part.isdigit() or int(part) >= len(tree):
                return MISSING
            tree = tree[int(part)]
        elif isinstance(tree, dict) and part in tree:
            tree = tree[part]
        else:
            return MISSING
    return tree


class Comparison:
    """Of a test case."""

    def check(self, x, ask, executable):
        """ask(path, method, body, headers) → daemon.Answer; executable: a program for the templates of shell jobs."""
        headers = {} if x["method"] == "GET" else {"Content-Type": "application/json"}
        headers.update(x.get("headers", {}))
        body = x.get("raw")
        if "body" in x:
            body = json.dumps(x["body"]).replace("{executable}", executable).replace("{{{{a}}}}", "{{a}}")
        answer = ask(x["path"], x["method"], body, {k: v for k, v in headers.items() if v is not None})
        self.assertEqual(x["status"], answer.status, answer.text)
        self.assertEqual(x.get("allow", False), "Allow" in answer.headers)
        if x.get("empty"):
            self.assertEqual(b"", answer.body)
        elif x.get("html"):
            self.assertTrue(answer.headers["Content-Type"].startswith("text/html"))
            self.assertIn("<html>", answer.text)
        else:
            self.assertEqual("application/json", answer.headers["Content-Type"])
            self.assertEqual(str(len(answer.body)), answer.headers["Content-Length"])
            self.check_json(x, answer.json())

    def check_json(self, x, got):
        self.assertEqual(x["code"], got["code"])
        if "exact" in x:
            self.assertEqual(x["exact"], got)
        if x["code"]:
            self.assertTrue(got["type"] and got["message"], got)
        for key in ("type", "message"):
            if key in x:
                self.assertEqual(x[key], got[key])
        for path in x.get("fields", ()):
            self.assertIsNot(MISSING, at(got, path), (path, got))
        for path, value in x.get("equals", {}).items():
            self.assertEqual(value, at(got, path), (path, got))
        for path, values in x.get("sets", {}).items():
            self.assertEqual(sorted(values), sorted(at(got, path)))
        for path, names in x.get("members", {}).items():
            self.assertEqual(set(), set(names) - set(at(got, path)), path)
            self.assertEqual(set(), set(at(got, path)) - set(names) - {"comment"}, path)
        for path, count in x.get("count", {}).items():
            self.assertEqual(count, len(at(got, path)))
        for path, (key, value, wanted) in x.get("pairs", {}).items():
            self.assertEqual(wanted, {item[key]: item[value] for item in at(got, path)})
