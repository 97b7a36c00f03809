# SPDX-License-Identifier: Apache-2.0
"""Tables on S3 for the interop tests: fixtures uploaded with their ages, and a configuration under which ebb finds them."""
import concurrent.futures
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "run"), os.path.join(os.path.dirname(HERE), "oracle")]
import fixtures  # noqa: E402
import program  # noqa: E402

UPLOADS = 12


def upload(s3, bucket, base, root):
    """Files below base/root under their paths below base, with their times; {key: path} of what was sent, and the keys that were refused."""
    files, refused = {}, {}
    for folder, _, names in os.walk(os.path.join(base, root)):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                files[os.path.relpath(path, base)] = path

    def one(item):
        key, path = item
        with open(path, "rb") as f:
            data = f.read()
        try:
            s3.put(bucket, key, data, os.stat(path).st_mtime_ns // 10**6)
        except Exception as error:  # what a server can't hold is told by the test
            refused[key] = str(error)

    with concurrent.futures.ThreadPoolExecutor(UPLOADS) as pool:
        list(pool.map(one, files.items()))
    return files, refused


class OnS3(fixtures.Place):
    """A case whose files are in a bucket; `local` tells keys."""

    def __init__(self, case, base, s3, bucket):
        case.unpack(base)
        self.s3, self.bucket = s3, bucket
        super().__init__(case, base)
        self.files, self.refused = upload(s3, bucket, self.base, case.truth["root"])
        shutil.rmtree(os.path.join(self.base, case.truth["root"]))

    def _configure(self):
        """All by a catalog that tells the metadata file: what only a folder of files tells is not in a bucket."""
        self.maps = {prefix: "s3://" + self.bucket for prefix in fixtures.PREFIXES}
        database = os.path.join(self.base, "pointers.db")
        fixtures.make_sqlite(database, [(*table["name"].rsplit(".", 1), table["metadata"]) for table in self.case.tables if table["metadata"]])
        fixtures.write_config(self.config, {"sql": {"type": "sqlite", "path": database, "name": "cat"}}, self.maps)

    def label(self, table):
        return "sql." + table["name"]

    def local(self, path):
        return fixtures.text(path)[len("/ebb/") :]

    def run(self, *args, env=None, timeout=300):
        return program.run(list(args), self.config, self.state, {**self.s3.env(), **(env or {})}, timeout)

    def plan(self, table, *options, output=None, env=None):
        words = ["plan", self.label(table), "--older-than", fixtures.OLDER_THAN, "--json"] + (["-o", output] if output else [])
        return self.run(*words, *options, env=env)

    def candidates(self, output):
        """Keys of a plan's candidates, each once."""
        header, uris, _ = program.read_plan(output)
        root = header["table"]["location"]
        keys = []
        for uri in uris:
            uri = os.fsdecode(uri)
            assert uri.startswith(root + "/"), uri
            keys.append(fixtures.plain(root)[len("/ebb/") :] + uri[len(root) :])
        assert len(keys) == len(set(keys))
        return set(keys)
