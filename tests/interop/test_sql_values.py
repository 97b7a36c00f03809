# SPDX-License-Identifier: Apache-2.0
"""What ebb writes into statements arrives in real Spark and real Trino as it was: tables of cases, 10,000 values, names of tables."""
import os
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers  # noqa: E402
import sqltext  # noqa: E402

COUNT = 10000
BATCH = 200
ECHO = re.compile(r"unsupported strategy: (.*)\. Only binpack or sort is supported", re.S)
INJECTIONS = ["'); DROP TABLE lake.shop.victim; --", "\\'); DROP TABLE lake.shop.victim; --", "'; DROP TABLE lake.shop.victim; SELECT '", "\n;\nDROP TABLE lake.shop.victim;\n",
              "/*'*/; DROP TABLE lake.shop.victim; --", "' || (DROP TABLE lake.shop.victim) || '", "${x}'; CREATE TABLE lake.shop.made (i INT) USING iceberg; --",
              "\r\n-- '\r\nDROP TABLE lake.shop.victim;", "''; DROP TABLE lake.shop.victim; ''", "\\\\'; DROP TABLE lake.shop.victim; --"]
# Not here, since what lies behind the quoting can't carry it: "#" ends the key in Iceberg's reading of s3:// locations, "%" and "/" are refused in paths by
# the catalog's HTTP server.
NAMES = ["plain", "we`ird", "`", "a``b", 'or"ders', "or'ders", "my table", "2026", "table", "Events", "日本", "a--b", "t-2", "x/* y */", "a.b", "ünï", "it''s", "select", "a$b",
         "$files2", "a(b)", "a=b", "a,b", "a@b", "a&b", "tick``s` and more", "' OR '1'='1", "\\", "back\\slash", "a\\'b", "UPPER lower"]


def batches(items):
    return [items[i : i + BATCH] for i in range(0, len(items), BATCH)]


def good_rows(dialect):
    return [value for d, value, text in sqltext.rows("sql_literals.tsv") if d == dialect and not isinstance(text, sqltext.Refused)]


def differences(values, got):
    return [(value, back) for value, back in zip(values, got) if value != back]


class Tables(unittest.TestCase):
    """The tables of cases against ebb's encoder: what follows proves that the tables are right."""

    def test_literals(self):
        for dialect in ("spark", "trino"):
            rows = [row for row in sqltext.rows("sql_literals.tsv") if row[0] == dialect]
            got = sqltext.literals(dialect, [row[1] for row in rows])
            for (_, value, text), found in zip(rows, got):
                with self.subTest(dialect=dialect, value=value):
                    self.assertEqual((type(text), text), (type(found), found))

    def test_identifiers(self):
        for dialect in ("spark", "trino", "spark_arg"):
            rows = [row for row in sqltext.rows("identifiers.tsv") if row[0] == dialect]
            for (_, parts, text), found in zip(rows, sqltext.identifiers(dialect, [row[1] for row in rows])):
                with self.subTest(dialect=dialect, parts=parts):
                    self.assertEqual((type(text), text), (type(found), found))

    def test_what_no_engine_carries_is_refused(self):
        for value in ("\0", "a\0b", "\0'", b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"):
            for dialect in ("spark", "trino"):
                with self.subTest(dialect=dialect, value=value):
                    self.assertEqual([sqltext.Refused("sql.invalid")], sqltext.literals(dialect, [value]))
                    self.assertIsInstance(sqltext.identifiers(dialect, [["lake", "shop", value]])[0], sqltext.Refused)


class Spark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rest = servers.rest(servers.parts.ICEBERG)
        rest.namespace(["shop"], __name__)
        cls.spark = servers.spark(rest)
        cls.spark.sql("CREATE TABLE IF NOT EXISTS lake.shop.victim (id BIGINT, s STRING) USING iceberg")
        cls.values = list(dict.fromkeys(good_rows("spark") + INJECTIONS + sqltext.values(COUNT)))

    def setUp(self):
        self.addCleanup(self.check_nothing_happened)
        self.before = self.tables()

    def tables(self):
        return sorted(row[1] for row in self.spark.sql("SHOW TABLES IN lake.shop"))

    def check_nothing_happened(self):
        self.assertEqual(self.before, self.tables())
        self.assertIn("victim", self.before)

    def literals(self, values):
        texts = sqltext.literals("spark", values)
        self.assertFalse([t for t in texts if isinstance(t, sqltext.Refused)])
        return texts

    def test_values_by_select(self):
        begin = time.monotonic()
        got = []
        for batch in batches(self.values):
            got += self.spark.sql("SELECT " + ", ".join(self.literals(batch)))[0]
        self.assertEqual([], differences(self.values, got)[:5])
        self.assertGreaterEqual(len(got), COUNT)
        sqltext.measured("%d values through Spark's SELECT in %.0f s" % (len(got), time.monotonic() - begin))

    def test_values_by_call(self):
        """Iceberg's own grammar for CALL, which tells an unknown strategy back; 60 a second, so each third value."""
        begin = time.monotonic()
        values = good_rows("spark") + INJECTIONS + self.values[::3]
        head = "CALL lake.system.rewrite_data_files(table => %s, strategy => " % sqltext.identifiers("spark_arg", [["shop", "victim"]])[0]
        got = []
        for batch in batches(values):
            got += self.spark.sql_many([head + text + ")" for text in self.literals(batch)])
        wrong = []
        for value, answer in zip(values, got):
            found = ECHO.search(answer["error"]) if isinstance(answer, dict) else None
            if not found or found.group(1) != value:
                wrong.append((value, answer))
        self.assertEqual([], wrong[:5])
        sqltext.measured("%d values through Spark's CALL in %.0f s" % (len(got), time.monotonic() - begin))

    def test_values_by_spark_sql(self):
        """A file of statements for spark-sql, which splits it, substitutes variables, and drops a bare CR."""
        begin = time.monotonic()
        lists = batches(self.values)
        statements = "".join("SELECT %s;\n" % ", ".join("concat('v', hex(encode(%s, 'UTF-8')))" % text for text in self.literals(batch)) for batch in lists)
        done = self.spark.cli(statements, seconds=300)
        self.assertEqual(0, done.returncode, done.stderr[-2000:])
        got = [bytes.fromhex(cell[1:]).decode("utf-8") for line in done.stdout.decode().splitlines() if line.startswith("v") for cell in line.split("\t")]
        self.assertEqual(len(self.values), len(got))
        self.assertEqual([], differences(self.values, got)[:5])
        sqltext.measured("%d values through spark-sql -f in %.0f s" % (len(got), time.monotonic() - begin))

    def test_values_come_to_rest(self):
        """Written into a table and read back: what is in the file is what was said."""
        name = "lake.shop.rest"
        self.spark.sql("CREATE TABLE %s (n BIGINT, s STRING) USING iceberg" % name)
        try:
            some = self.values[:1000]
            self.spark.sql("INSERT INTO %s VALUES %s" % (name, ", ".join("(%d, %s)" % pair for pair in enumerate(self.literals(some)))))
            got = [row[0] for row in self.spark.sql("SELECT s FROM %s ORDER BY n" % name)]
            self.assertEqual([], differences(some, got)[:5])
        finally:
            self.spark.sql("DROP TABLE " + name)

    def test_names_of_columns(self):
        """Any text is a column's name: what a name may be is the parser's matter alone there."""
        values = [v for v in self.values if v and "${" not in v][:4000]
        names = [text for text in sqltext.identifiers("spark", [[v] for v in values])]
        got = []
        for batch in batches(names):
            got += self.spark.columns("SELECT " + ", ".join("1 AS " + name for name in batch))
        self.assertEqual([], differences(values, got)[:5])

    def test_names_of_tables(self):
        for name in NAMES:
            with self.subTest(name=name):
                text, argument = sqltext.identifiers("spark", [["lake", "shop", name]])[0], sqltext.identifiers("spark_arg", [["lake", "shop", name]])[0]
                self.spark.sql("CREATE TABLE %s (id BIGINT) USING iceberg" % text)
                try:
                    self.assertIn(name, self.tables())
                    self.spark.sql("INSERT INTO %s VALUES (7)" % text)
                    self.assertEqual([[7]], self.spark.sql("SELECT id FROM " + text))
                    self.assertEqual([[0, 0]], self.spark.sql("CALL lake.system.rewrite_manifests(table => %s)" % argument))
                finally:
                    self.spark.sql("DROP TABLE " + text)

    def test_names_by_spark_sql(self):
        """Several statements in a file: what splits it sees quotes and comments also in back-ticks, so names with those go alone."""
        names = [name for name in NAMES if not re.search(r"['\";\\\\]|--|/\*", name)]
        texts = sqltext.identifiers("spark", [["lake", "shop", name] for name in names])
        arguments = sqltext.identifiers("spark_arg", [["lake", "shop", name] for name in names])
        call = "CALL lake.system.rewrite_manifests(table => %s);\n"
        make = "".join("CREATE TABLE %s (id BIGINT) USING iceberg;\nINSERT INTO %s VALUES (%d);\n" % (text, text, n) for n, text in enumerate(texts))
        look = "".join("SELECT concat('v', id) FROM %s;\n" % text + call % argument for text, argument in zip(texts, arguments))
        try:
            done = self.spark.cli(make + look, seconds=300)
            self.assertEqual(0, done.returncode, done.stderr[-2000:])
            self.assertEqual(["v%d" % n for n in range(len(names))], [line for line in done.stdout.decode().splitlines() if line.startswith("v")])
            self.assertEqual(sorted(names + self.before), self.tables())
        finally:
            self.spark.sql_many(["DROP TABLE IF EXISTS " + text for text in texts])

    def test_a_name_with_quotes_alone_by_spark_sql(self):
        text = sqltext.identifiers("spark", [["lake", "shop", "or'd\"ers"]])[0]
        self.spark.sql("CREATE TABLE %s (id BIGINT) USING iceberg" % text)
        try:
            done = self.spark.cli("SELECT concat('v', count(*)) FROM " + text)
            self.assertEqual((0, b"v0\n"), (done.returncode, done.stdout), done.stderr[-2000:])
        finally:
            self.spark.sql("DROP TABLE " + text)


class Trino(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rest = servers.rest("1.10.1")
        rest.namespace(["fort"], __name__)
        cls.trino = servers.trino(rest)
        cls.trino.query("CREATE TABLE IF NOT EXISTS lake.fort.victim (id BIGINT)")

    def setUp(self):
        self.addCleanup(lambda: self.assertEqual([["victim"]], self.trino.query("SHOW TABLES IN lake.fort")))

    def test_values_by_select(self):
        values = list(dict.fromkeys(good_rows("trino") + [i.replace(".shop.", ".fort.") for i in INJECTIONS] + sqltext.values(COUNT)))
        begin, got = time.monotonic(), []
        for batch in batches(values):
            got += self.trino.query("SELECT " + ", ".join(sqltext.literals("trino", batch)))[0]
        self.assertEqual([], differences(values, got)[:5])
        self.assertGreaterEqual(len(got), COUNT)
        sqltext.measured("%d values through Trino's SELECT in %.0f s" % (len(got), time.monotonic() - begin))

    def test_injections_in_an_argument(self):
        """The threshold is no duration, says Trino of each, and of nothing else."""
        for value in INJECTIONS:
            with self.subTest(value=value):
                with self.assertRaises(servers.TrinoError) as caught:
                    self.trino.query('ALTER TABLE "lake"."fort"."victim" EXECUTE remove_orphan_files(retention_threshold => %s)' % sqltext.literals("trino", [value])[0])
                self.assertEqual("INVALID_PROCEDURE_ARGUMENT", caught.exception.error["errorName"], caught.exception)

    def test_names_of_tables(self):
        """Trino makes names lower case; a "$" or "@" asks for a metadata table or a snapshot."""
        for name in [n for n in NAMES if n == n.lower() and "$" not in n and "@" not in n]:
            with self.subTest(name=name):
                text = sqltext.identifiers("trino", [["lake", "fort", name]])[0]
                self.trino.query("CREATE TABLE %s (id BIGINT)" % text)
                try:
                    self.assertIn([name], self.trino.query("SHOW TABLES IN lake.fort"))
                    self.trino.query("INSERT INTO %s VALUES 7" % text)
                    self.assertEqual([[7]], self.trino.query("SELECT id FROM " + text))
                finally:
                    self.trino.query("DROP TABLE " + text)

    def test_names_of_columns(self):
        values = [v for v in sqltext.values(3000) if v]
        names = sqltext.identifiers("trino", [[v] for v in values])
        for batch in batches(names):
            self.assertEqual([[1] * len(batch)], self.trino.query("SELECT " + ", ".join("1 AS " + name for name in batch)))


if __name__ == "__main__":
    unittest.main()
