# SPDX-License-Identifier: Apache-2.0
"""Small servers in place of AWS's: Glue's JSON interface, STS, a container's and an instance's keys. Each on a port of the kernel's."""

import hashlib
import hmac
import http.server
import json
import threading
import urllib.parse

ACCOUNT = "111122223333"


class Server:
    """answer(method, path, headers, body) → (status, headers, bytes); None closes the connection."""

    def __init__(self, answer):
        outer, self.asked = self, []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.asked.append((self.command, self.path, dict(self.headers), body))
                made = answer(self.command, self.path, self.headers, body)
                if made is None:
                    self.close_connection = True
                    return
                status, headers, data = made
                self.send_response_only(status)
                for name, value in {"Date": self.date_time_string(), **headers, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_HEAD = serve

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.uri = "http://127.0.0.1:%d" % self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


def signature(secret, date, region, service, text):
    key = ("AWS4" + secret).encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def check_signature(secret, region, service, method, path, headers, body):
    """Why a signature is wrong; None: it is right."""
    said = headers.get("Authorization") or ""
    parts = dict(one.split("=", 1) for one in said.replace("AWS4-HMAC-SHA256 ", "").split(", ") if "=" in one)
    stamp = headers.get("X-Amz-Date") or ""
    scope = "%s/%s/%s/aws4_request" % (stamp[:8], region, service)
    if not parts.get("Credential", "").endswith("/" + scope):
        return "Credential should be scoped to a valid region"
    names = parts["SignedHeaders"].split(";")
    canonical = "\n".join([method, path, "", *("%s:%s" % (name, headers.get(name).strip()) for name in names), "", ";".join(names), hashlib.sha256(body).hexdigest()])
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    return None if signature(secret, stamp[:8], region, service, text) == parts["Signature"] else "The request signature we calculated does not match"


class Glue:
    """databases: {name: {table: Table object}}; tables of other accounts: accounts[id] of the same form. hook(glue, action, body, headers) →
    (status, type, message), an object (the answer), or None to answer as usual."""

    def __init__(self, key="AKIDEXAMPLE", secret="glue-secret-of-the-test", region="eu-test-1"):
        self.key, self.secret, self.region = key, secret, region
        self.databases, self.links, self.accounts = {}, {}, {}
        self.page, self.hook = 100, None
        self.keys = {key: secret}
        self.log = []
        self.server = Server(self.answer)
        self.uri = self.server.uri

    def stop(self):
        self.server.stop()

    def add(self, database, name, **members):
        self.databases.setdefault(database, {})[name] = {"Name": name, "DatabaseName": database, "CatalogId": ACCOUNT, **members}

    def add_iceberg(self, database, name, metadata, table_type="ICEBERG"):
        self.add(database, name, TableType="EXTERNAL_TABLE", Parameters={"table_type": table_type, "metadata_location": metadata},
                 StorageDescriptor={"Location": metadata.rsplit("/metadata/", 1)[0]})

    def fail(self, type_, message, status=400):
        return status, {"Content-Type": "application/x-amz-json-1.1"}, json.dumps({"__type": type_, "Message": message}).encode()

    def answer(self, method, path, headers, body):
        action = (headers.get("X-Amz-Target") or "").replace("AWSGlue.", "")
        key = (headers.get("Authorization") or "").partition("Credential=")[2].partition("/")[0]
        asked = json.loads(body)
        self.log.append((action, asked))
        if self.hook:
            made = self.hook(self, action, asked, headers)
            if isinstance(made, tuple):
                return self.fail(made[1], made[2], made[0])
            if isinstance(made, bytes):
                return 200, {"Content-Type": "text/html"}, made
            if made is not None:
                return 200, {}, json.dumps(made).encode()
        if key not in self.keys:
            return self.fail("UnrecognizedClientException", "The security token included in the request is invalid.")
        why = check_signature(self.keys[key], self.region, "glue", method, path, headers, body)
        if why:
            return self.fail("InvalidSignatureException", why)
        made = getattr(self, action)(asked)
        return self.fail(*made) if isinstance(made, tuple) else (200, {"Content-Type": "application/x-amz-json-1.1"}, json.dumps(made).encode())

    def paged(self, name, items, asked):
        start = int(asked.get("NextToken") or 0)
        made = {name: items[start : start + self.page]}
        if start + self.page < len(items):
            made["NextToken"] = str(start + self.page)
        return made

    def place(self, asked):
        account = asked.get("CatalogId") or ACCOUNT
        return self.databases if account == ACCOUNT else self.accounts.get(account, {})

    def GetDatabases(self, asked):
        return self.paged("DatabaseList", [{"Name": name, "CatalogId": ACCOUNT} for name in self.place(asked)] + list(self.links.values()), asked)

    def GetDatabase(self, asked):
        if asked["Name"] in self.links:
            return {"Database": self.links[asked["Name"]]}
        if asked["Name"] not in self.place(asked):
            return "EntityNotFoundException", "Database %s not found." % asked["Name"]
        return {"Database": {"Name": asked["Name"], "CatalogId": ACCOUNT}}

    def GetTables(self, asked):
        if asked["DatabaseName"] not in self.place(asked):
            return "EntityNotFoundException", "Database %s not found." % asked["DatabaseName"]
        return self.paged("TableList", list(self.place(asked)[asked["DatabaseName"]].values()), asked)

    def GetTable(self, asked):
        table = self.place(asked).get(asked["DatabaseName"], {}).get(asked["Name"])
        return {"Table": table} if table else ("EntityNotFoundException", "Entity Not Found")


def form(body):
    return {name: value[0] for name, value in urllib.parse.parse_qs(body.decode()).items()}
