#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Spark session that reads requests, one JSON object a line, and answers each with one: {"sql": …}, {"columns": …} or {"many": […]} → {"rows": …} or {"error": …}."""
import json
import os
import sys

from pyspark.sql import SparkSession


def said(error):
    return str(error).split("\n\tat ", maxsplit=1)[0].split("\n\nJVM stacktrace", maxsplit=1)[0]


def rows(spark, text):
    return [list(row) for row in spark.sql(text).collect()]


def attempt(spark, text):
    try:
        return rows(spark, text)
    except Exception as error:  # whatever Spark says is an answer
        return {"error": said(error)}


def answer(spark, request):
    if "many" in request:
        return {"rows": [attempt(spark, text) for text in request["many"]]}
    if "columns" in request:
        return {"rows": spark.sql(request["columns"]).columns}
    found = attempt(spark, request["sql"])
    return found if isinstance(found, dict) else {"rows": found}


def main():
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what Spark prints goes to the log
    with open(sys.argv[1], encoding="utf-8") as f:
        conf = json.load(f)
    builder = SparkSession.builder.master("local[2]").appName("ebb")
    for name, value in conf.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    print(json.dumps({"ready": True}), file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(spark, json.loads(line)), default=str), file=out, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
