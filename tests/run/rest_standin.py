# SPDX-License-Identifier: Apache-2.0
"""An Iceberg REST catalog of our own that can be made to misbehave. Its tables are real metadata files in a local folder."""

import http.server
import json
import os
import threading
import time
import urllib.parse
import uuid


def snapshot(number, parent=None, age_ms=0):
    made = {"snapshot-id": number, "sequence-number": number % 1000, "timestamp-ms": int(time.time() * 1000) - age_ms, "summary": {"operation": "append", "total-data-files": "0", "total-delete-files": "0"}, "manifests": [],
            "schema-id": 0}
    if parent is not None:
        made["parent-snapshot-id"] = parent
    return made


class Table:
    def __init__(self, folder, snapshots=(), refs=None, properties=None):
        self.folder, self.version = folder, 0
        os.makedirs(os.path.join(folder, "metadata"))
        os.makedirs(os.path.join(folder, "data"))
        self.config, self.credentials, self.shown = {}, None, None
        for one in snapshots:
            one.pop("manifests", None)
            one["manifest-list"] = "file:%s/metadata/snap-%d.avro" % (folder, one["snapshot-id"])
            with open(os.path.join(folder, "metadata", "snap-%d.avro" % one["snapshot-id"]), "wb") as f:
                f.write(EMPTY_LIST)
        self.metadata = {
            "format-version": 2, "table-uuid": str(uuid.uuid4()), "location": "file:" + folder, "last-sequence-number": 9, "last-updated-ms": int(time.time() * 1000),
            "last-column-id": 1, "current-schema-id": 0, "schemas": [{"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": False, "type": "long"}]}],
            "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999, "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}], "properties": properties or {}, "snapshots": list(snapshots), "snapshot-log": [], "metadata-log": []}
        if snapshots:
            self.metadata["refs"] = refs or {"main": {"snapshot-id": snapshots[-1]["snapshot-id"], "type": "branch"}}
            if "main" in self.metadata["refs"]:
                self.metadata["current-snapshot-id"] = self.metadata["refs"]["main"]["snapshot-id"]
        self.write()

    def write(self):
        self.location = "file:%s/metadata/%05d-%s.metadata.json" % (self.folder, self.version, uuid.uuid4())
        with open(self.location[5:], "w", encoding="utf-8") as f:
            json.dump(self.metadata, f)
        self.version += 1
        self.etag = "e%d-%s" % (self.version, self.metadata["table-uuid"][:6])

    def ids(self):
        return [one["snapshot-id"] for one in self.metadata["snapshots"]]

    def remove_snapshots(self, ids):
        m = self.metadata
        m["snapshots"] = [one for one in m["snapshots"] if one["snapshot-id"] not in ids]
        m["refs"] = {name: ref for name, ref in m.get("refs", {}).items() if ref["snapshot-id"] not in ids}  # without a word, as real servers do
        if m.get("current-snapshot-id") in ids:
            m["current-snapshot-id"] = -1
        self.write()


def _avro_list():
    """An Avro file without records, with the schema of a manifest list."""
    schema = {"type": "record", "name": "manifest_file", "fields": [
        {"name": "manifest_path", "type": "string", "field-id": 500}, {"name": "manifest_length", "type": "long", "field-id": 501},
        {"name": "partition_spec_id", "type": "int", "field-id": 502}, {"name": "content", "type": "int", "field-id": 517},
        {"name": "sequence_number", "type": "long", "field-id": 515}, {"name": "min_sequence_number", "type": "long", "field-id": 516},
        {"name": "added_snapshot_id", "type": "long", "field-id": 503}]}

    def text(raw):
        n, out = len(raw) << 1, b""
        while n > 127:
            out, n = out + bytes([n & 127 | 128]), n >> 7
        return out + bytes([n]) + raw

    return b"Obj\x01" + b"\x04" + text(b"avro.schema") + text(json.dumps(schema).encode()) + text(b"avro.codec") + text(b"null") + b"\x00" + b"0123456789abcdef"


EMPTY_LIST = _avro_list()


class Catalog:
    """hook(catalog, method, path, query, headers, body) → (status, headers, bytes), or None to answer as usual; "drop" closes."""

    def __init__(self, separator="\x1f"):
        self.spaces = {}  # tuple of levels → {name: Table}
        self.separator, self.page, self.hook = separator, None, None
        self.config = {"defaults": {}, "overrides": {}, "endpoints": []}
        self.credential, self.expires_in, self.tokens, self.uses, self.uses_max = None, 3600, [], 0, None
        self.token = None
        self.log, self.lock = [], threading.Lock()
        catalog = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def serve(self):
                n = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(n)
                with catalog.lock:
                    answer = catalog.answer(self.command, self.path, self.headers, body)
                if answer == "drop":
                    self.close_connection = True
                    self.connection.close()
                    return
                status, headers, data = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                try:
                    self.wfile.write(data)
                except OSError:
                    pass

            do_GET = do_POST = do_HEAD = do_DELETE = serve

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.uri = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def add(self, levels, name, table):
        for i in range(1, len(levels) + 1):
            self.spaces.setdefault(tuple(levels[:i]), {})
        self.spaces[tuple(levels)][name] = table
        return table

    def count(self, part, method="GET"):
        return sum(1 for m, path in self.log if m == method and part in path)

    # ---- answers ----

    @staticmethod
    def json(status, value, headers=None):
        return status, {"Content-Type": "application/json", **(headers or {})}, json.dumps(value).encode()

    @staticmethod
    def error(status, kind, message):
        return Catalog.json(status, {"error": {"message": message, "type": kind, "code": status}})

    def answer(self, method, target, headers, body):
        url = urllib.parse.urlsplit(target)
        query = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        self.log.append((method, target))
        if self.hook:
            made = self.hook(self, method, url.path, query, headers, body)
            if made is not None:
                return made
        if url.path == "/v1/oauth/tokens":
            return self.give_token(body)
        refused = self.check_token(headers)
        if refused:
            return refused
        if url.path == "/v1/config":
            return self.json(200, self.config)
        prefix = self.config["overrides"].get("prefix", self.config["defaults"].get("prefix"))
        start = "/v1/" + (prefix + "/" if prefix else "")
        if not url.path.startswith(start):
            return self.error(400, "BadRequestException", "No route for request: " + url.path)
        return self.route(method, url.path[len(start):].split("/"), query, headers, body)

    def give_token(self, body):
        form = urllib.parse.parse_qs(body.decode())
        if "%s:%s" % (form.get("client_id", [""])[0], form.get("client_secret", [""])[0]) != self.credential or form.get("grant_type") != ["client_credentials"]:
            return self.json(401, {"error": "invalid_client", "error_description": "Credentials given were invalid"})
        self.tokens.append("token-%d-of-the-stand-in" % (len(self.tokens) + 1))
        self.token, self.uses = self.tokens[-1], 0
        return self.json(200, {"access_token": self.token, "token_type": "bearer", "expires_in": self.expires_in, "scope": form.get("scope", [""])[0]})

    def check_token(self, headers):
        if self.token is None and self.credential is None:
            return None
        self.uses += headers.get("Authorization") == "Bearer %s" % self.token
        if self.uses_max is not None and self.uses > self.uses_max:
            self.token = "expired"
        if headers.get("Authorization") != "Bearer %s" % self.token or self.token == "expired":
            return self.error(401, "NotAuthorizedException", "Not authorized")
        return None

    def paged(self, key, items, query):
        size = min(int(query.get("pageSize", ["1000"])[0]), self.page or 1000)
        at = int(query.get("pageToken", [""])[0] or 0)
        more = at + size < len(items)
        return self.json(200, {key: items[at:at + size], "next-page-token": str(at + size) if more else None})

    def levels(self, text):
        return tuple(urllib.parse.unquote(text).split(self.separator))

    def route(self, method, parts, query, headers, body):
        if parts == ["namespaces"]:
            parent = tuple(query["parent"][0].split(self.separator)) if "parent" in query else ()
            if parent and parent not in self.spaces:
                return self.error(404, "NoSuchNamespaceException", "Namespace does not exist")
            below = sorted(space for space in self.spaces if len(space) == len(parent) + 1 and space[:len(parent)] == parent)
            return self.paged("namespaces", [list(space) for space in below], query)
        space = self.levels(parts[1])
        if space not in self.spaces:
            return self.error(404, "NoSuchNamespaceException", "Namespace does not exist")
        if parts[2:] == ["tables"]:
            return self.paged("identifiers", [{"namespace": list(space), "name": name} for name in sorted(self.spaces[space])], query)
        table = self.spaces[space].get(urllib.parse.unquote(parts[3]))
        if table is None:
            return self.error(404, "NoSuchTableException", "Table does not exist")
        if parts[4:] == ["credentials"]:
            return self.json(200, {"storage-credentials": table.credentials() if callable(table.credentials) else table.credentials})
        return self.commit(table, json.loads(body)) if method == "POST" else self.load(table, query, headers)

    def load(self, table, query, headers):
        if table.etag and headers.get("If-None-Match") == table.etag:
            return 304, {"ETag": table.etag}, b""
        metadata = {**table.metadata, "snapshots": table.shown(table.metadata["snapshots"])} if table.shown else table.metadata
        made = {"metadata-location": table.location, "metadata": metadata, "config": table.config() if callable(table.config) else table.config}
        if table.credentials:
            made["storage-credentials"] = table.credentials() if callable(table.credentials) else table.credentials
        return self.json(200, made, {"ETag": table.etag} if table.etag else None)

    def commit(self, table, asked):
        for need in asked["requirements"]:
            if need["type"] == "assert-table-uuid" and need["uuid"] != table.metadata["table-uuid"]:
                return self.error(409, "CommitFailedException", "Requirement failed: UUID does not match")
            if need["type"] == "assert-ref-snapshot-id" and table.metadata.get("refs", {}).get(need["ref"], {}).get("snapshot-id") != need["snapshot-id"]:
                return self.error(409, "CommitFailedException", "Requirement failed: branch %s has changed" % need["ref"])
        for update in asked["updates"]:
            if update["action"] != "remove-snapshots":
                return 500, {"Content-Type": "text/html"}, b"<html><head><title>Error 500 Server Error</title></head><body>no such action</body></html>"
            table.remove_snapshots(update["snapshot-ids"])
        return self.json(200, {"metadata-location": table.location, "metadata": table.metadata}, {"ETag": table.etag})
