#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""moto's server, where a request with the header X-Test-Mtime (ms since 1970) stores an object of that age. Run by moto's own python."""
import datetime
import sys

import flask
import moto.s3.models
from moto.server import main

real_now = moto.s3.models.utcnow


def now():
    told = flask.request.headers.get("X-Test-Mtime") if flask.has_request_context() else None
    if told:
        return datetime.datetime.fromtimestamp(int(told) / 1000, datetime.timezone.utc).replace(tzinfo=real_now().tzinfo)
    return real_now()


moto.s3.models.utcnow = now

if __name__ == "__main__":
    main(sys.argv[1:])
