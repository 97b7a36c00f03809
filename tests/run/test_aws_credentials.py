# SPDX-License-Identifier: Apache-2.0
"""Where AWS keys come from: each source in its order, over servers of our own; temporary keys, broken sources, and no secret in any output."""

import json
import os
import shutil
import tempfile
import time
import unittest

import program
from aws_standin import Glue, Server, form

SECRET = "S3cr3tOfTheSource"
TOKEN = "T0kenOfTheSource"


def later(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


class Keys(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="ebb-keys-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.glue = Glue()
        self.addCleanup(self.glue.stop)
        self.glue.keys = {}
        self.tokens = []
        self.glue.hook = self.see

    def see(self, glue, action, asked, headers):
        self.tokens.append(headers.get("X-Amz-Security-Token"))

    def server(self, answer):
        made = Server(answer)
        self.addCleanup(made.stop)
        return made

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def ebb(self, more="", **env):
        """Lists an empty Glue: exit status 0 only with the right keys."""
        config = self.write("ebb.lua", 'return { catalogs = { aws = { type = "glue", endpoint = "%s", region = "%s", %s } } }' % (self.glue.uri, self.glue.region, more))
        clean = {"AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true", "NO_PROXY": "127.0.0.1"}
        done = program.run(["tables", "--json"], config=config, state=os.path.join(self.dir, "state"), env={**clean, **env})
        for text in (SECRET, TOKEN):
            self.assertNotIn(text, done.out + done.err)
        return done

    def good(self, key, token=None, more="", **env):
        self.tokens.clear()
        self.glue.keys = {key: SECRET}
        done = self.ebb(more, **env)
        self.assertEqual(0, done.status, done.err)
        self.assertEqual({token}, set(self.tokens))

    def fails(self, *texts, more="", code="config.invalid", **env):
        done = self.ebb(more, **env)
        self.assertNotEqual(0, done.status, done.out)
        self.assertEqual(1, len(done.err.strip().splitlines()), done.err)
        error = done.error()
        self.assertEqual(code, error["code"], done.err)
        for text in texts:
            self.assertIn(text, error["message"] + " / " + (error.get("hint") or ""))

    # ---- what is written down ----

    def test_configuration_comes_first(self):
        self.good("AKCONFIG", more='access_key_id = "AKCONFIG", secret_access_key = "%s"' % SECRET, AWS_ACCESS_KEY_ID="AKENV", AWS_SECRET_ACCESS_KEY="no")

    def test_environment(self):
        shared = self.write("credentials", "[default]\naws_access_key_id = AKFILE\naws_secret_access_key = no\n")
        self.good("AKENV", AWS_ACCESS_KEY_ID="AKENV", AWS_SECRET_ACCESS_KEY=SECRET, AWS_SHARED_CREDENTIALS_FILE=shared)
        self.good("AKENV", TOKEN, AWS_ACCESS_KEY_ID="AKENV", AWS_SECRET_ACCESS_KEY=SECRET, AWS_SESSION_TOKEN=TOKEN)

    def test_half_of_the_environment(self):
        self.fails("AWS_SECRET_ACCESS_KEY", AWS_ACCESS_KEY_ID="AKENV")

    def test_profiles(self):
        shared = self.write("credentials", "# mine\n[default]\naws_access_key_id=AKDEFAULT\naws_secret_access_key=%s\n\n[other]\naws_access_key_id = AKOTHER\n"
                            "aws_secret_access_key = %s\naws_session_token = %s\n" % (SECRET, SECRET, TOKEN))
        self.good("AKDEFAULT", AWS_SHARED_CREDENTIALS_FILE=shared)
        self.good("AKOTHER", TOKEN, AWS_SHARED_CREDENTIALS_FILE=shared, AWS_PROFILE="other")
        self.good("AKOTHER", TOKEN, more='profile = "other"', AWS_SHARED_CREDENTIALS_FILE=shared)
        config = self.write("config", "[profile third]\naws_access_key_id = AKTHIRD\naws_secret_access_key = %s\n" % SECRET)
        self.good("AKTHIRD", AWS_CONFIG_FILE=config, AWS_PROFILE="third")

    def test_a_profile_that_is_not_there(self):
        shared = self.write("credentials", "[default]\naws_access_key_id=A\naws_secret_access_key=%s\n" % SECRET)
        self.fails("nowhere", AWS_SHARED_CREDENTIALS_FILE=shared, AWS_PROFILE="nowhere")

    def test_a_profile_with_half_a_key(self):
        shared = self.write("credentials", "[default]\naws_secret_access_key=%s\n" % SECRET)
        self.fails("default", AWS_SHARED_CREDENTIALS_FILE=shared)

    def test_no_source_at_all(self):
        self.fails("AWS_ACCESS_KEY_ID")

    # ---- what is fetched ----

    def sts(self, seconds=3600, status=200):
        body = ("<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AKSTS</AccessKeyId><SecretAccessKey>%s</SecretAccessKey>"
                "<SessionToken>%s</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
                % (SECRET, TOKEN, later(seconds))).encode()
        return self.server(lambda *_: (status, {"Content-Type": "text/xml"}, body))

    def test_web_identity(self):
        sts = self.sts()
        token = self.write("token", "identity+of/me=\n")
        self.good("AKSTS", TOKEN, AWS_WEB_IDENTITY_TOKEN_FILE=token, AWS_ROLE_ARN="arn:aws:iam::1:role/ebb", AWS_ROLE_SESSION_NAME="s", AWS_ENDPOINT_URL_STS=sts.uri)
        method, _, _, body = sts.asked[0]
        self.assertEqual("POST", method)
        self.assertEqual({"Action": "AssumeRoleWithWebIdentity", "Version": "2011-06-15", "RoleArn": "arn:aws:iam::1:role/ebb", "RoleSessionName": "s",
                          "WebIdentityToken": "identity+of/me="}, form(body))
        self.assertEqual(1, len(sts.asked))

    def test_web_identity_refused(self):
        sts = self.sts(status=403)
        token = self.write("token", TOKEN)
        env = {"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ENDPOINT_URL_STS": sts.uri}
        self.fails("web identity", "403", AWS_ROLE_ARN="arn:r", **env)
        self.fails("AWS_ROLE_ARN", **env)
        self.fails("AWS_WEB_IDENTITY_TOKEN_FILE", AWS_ROLE_ARN="arn:r", **{**env, "AWS_WEB_IDENTITY_TOKEN_FILE": "/nonexistent/token"})

    def keys(self, key, seconds=3600):
        return json.dumps({"Code": "Success", "AccessKeyId": key, "SecretAccessKey": SECRET, "Token": TOKEN, "Expiration": later(seconds)}).encode()

    def test_container(self):
        made = self.server(lambda method, path, headers, body: (200, {}, self.keys("AKBOX")) if headers.get("Authorization") == "Bearer box" else (403, {}, b"{}"))
        self.good("AKBOX", TOKEN, AWS_CONTAINER_CREDENTIALS_FULL_URI=made.uri + "/keys?x=1", AWS_CONTAINER_AUTHORIZATION_TOKEN="Bearer box")
        self.assertEqual("/keys?x=1", made.asked[0][1])
        self.fails("container", AWS_CONTAINER_CREDENTIALS_FULL_URI=made.uri + "/keys", AWS_CONTAINER_AUTHORIZATION_TOKEN="wrong")
        self.fails("AWS_CONTAINER_CREDENTIALS_FULL_URI", AWS_CONTAINER_CREDENTIALS_FULL_URI="http://192.0.2.1/keys")

    def instance(self, role="worker", seconds=3600):
        def answer(method, path, headers, body):
            if method == "PUT" and path == "/latest/api/token":
                return 200, {}, b"session-of-imds"
            if headers.get("X-aws-ec2-metadata-token") != "session-of-imds":
                return 401, {}, b""
            if path.rstrip("/") == "/latest/meta-data/iam/security-credentials":
                return (200, {}, role.encode()) if role else (404, {}, b"")
            return 200, {}, self.keys("AKIMDS", seconds)

        return self.server(answer)

    def test_instance(self):
        made = self.instance()
        env = {"AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": made.uri}
        self.good("AKIMDS", TOKEN, **env)
        self.assertEqual(("PUT", "/latest/api/token"), made.asked[0][:2])
        self.assertTrue(made.asked[-1][1].endswith("/worker"))
        made.asked.clear()
        self.fails(**{**env, "AWS_EC2_METADATA_DISABLED": "true"})
        self.assertEqual([], made.asked)

    def test_an_instance_without_role(self):
        made = self.instance(role=None)
        self.fails(AWS_EC2_METADATA_DISABLED="", AWS_EC2_METADATA_SERVICE_ENDPOINT=made.uri)

    # ---- time ----

    def test_keys_about_to_expire_are_fetched_anew(self):
        self.glue.databases = {"a": {}, "b": {}}
        made = self.instance(seconds=200)  # less than five minutes are left: due at each use
        self.good("AKIMDS", TOKEN, AWS_EC2_METADATA_DISABLED="", AWS_EC2_METADATA_SERVICE_ENDPOINT=made.uri)
        fetched = [path for _, path, _, _ in made.asked if path.endswith("/worker")]
        self.assertGreaterEqual(len(fetched), 3)

    def test_keys_that_the_server_calls_expired_are_fetched_anew(self):
        made = self.instance()
        seen = []

        def hook(glue, action, asked, headers):
            seen.append(action)
            return (400, "ExpiredTokenException", "The security token included in the request is expired") if len(seen) == 1 else None

        self.glue.keys = {"AKIMDS": SECRET}
        self.glue.hook = hook
        done = self.ebb(AWS_EC2_METADATA_DISABLED="", AWS_EC2_METADATA_SERVICE_ENDPOINT=made.uri)
        self.assertEqual(0, done.status, done.err)
        self.assertEqual(2, len([path for _, path, _, _ in made.asked if path.endswith("/worker")]))

    def test_broken_answers(self):
        for body in (b"", b"<html>", b"{}", b'{"AccessKeyId": 5}', b'{"AccessKeyId":"A","SecretAccessKey":"' + SECRET.encode()):
            made = self.server(lambda *_, body=body: (200, {}, body))
            self.fails("container", AWS_CONTAINER_CREDENTIALS_FULL_URI=made.uri + "/")


if __name__ == "__main__":
    unittest.main()
