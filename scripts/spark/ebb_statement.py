# SPDX-License-Identifier: Apache-2.0
"""Runs one SQL statement for ebb and prints the values of one column.

    ebb_statement.py '{"key": "ebb-…", "statement": "CALL …", "column": "orphan_file_location"}'

The values come as JSON on lines of their own, since other output goes to the same place and few lines of it are kept:
    EBB-ROWS <key> <line> <JSON array of texts>
    EBB-END <key> <lines> <rows>
    EBB-FAILED <key> <JSON text: why>
"""
import json
import sys

LINE_BYTES = 262144
LINES_MAX = 150


def lines_of(key, values):
    lines, piece, size = [], [], 0
    for value in values:
        text = json.dumps(value)
        if piece and size + len(text) > LINE_BYTES:
            lines.append(piece)
            piece, size = [], 0
        piece.append(text)
        size += len(text) + 2
    if piece:
        lines.append(piece)
    if len(lines) > LINES_MAX:
        raise ValueError("more rows than the log of a batch can carry (%d)" % len(values))
    out = ["EBB-ROWS %s %d [%s]" % (key, i, ", ".join(piece)) for i, piece in enumerate(lines)]
    return out + ["EBB-END %s %d %d" % (key, len(lines), len(values))]


def run(request):
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    for name, value in (("spark.sql.session.timeZone", "UTC"), ("spark.sql.variable.substitute", "false"), ("spark.sql.parser.escapedStringLiterals", "false")):
        spark.conf.set(name, value)
    frame = spark.sql(request["statement"])
    column = frame.columns.index(request["column"])
    values = [row[column] for row in frame.toLocalIterator()]
    return [value if isinstance(value, str) else "" if value is None else str(value) for value in values]


def main():
    request = json.loads(sys.argv[1])
    key = request["key"]
    try:
        out = lines_of(key, run(request))
    except Exception as error:  # told in one line; the traceback of a driver is of no use to who waits for it
        why = " ".join(str(error).split())[:2000]
        print("\nEBB-FAILED %s %s" % (key, json.dumps("%s: %s" % (type(error).__name__, why))), flush=True)
        sys.exit(1)
    print("\n" + "\n".join(out), flush=True)


if __name__ == "__main__":
    main()
