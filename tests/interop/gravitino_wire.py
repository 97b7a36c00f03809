# SPDX-License-Identifier: Apache-2.0
"""How Gravitino 1.3.0 reads and writes: JSON as its Java side does, instants, errors.

A request body is read by a shape: a function that takes a value as it came and gives the value as the server has it, or raises
Malformed. Numbers keep their text, since a number stands for its own text where text is asked for.
"""
import json
import re
import time

LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1
STACK_LINES = 80

# type of an error: HTTP status and code; a suffix is enough
CODES = (("AlreadyExistsException", 409, 1004), ("AlreadyAssociatedException", 409, 1004), ("NotInUseException", 409, 1009), ("InUseException", 409, 1010),
         ("NonEmptySchemaException", 409, 1005), ("NonEmptyCatalogException", 409, 1005), ("UnsupportedOperationException", 405, 1006),
         ("ConnectionFailedException", 502, 1007), ("UnauthorizedException", 401, 1011), ("RuntimeException", 500, 1002),
         ("IllegalArgumentException", 400, 1001), ("IllegalStatisticNameException", 400, 1001), ("IllegalJobTemplateOperationException", 400, 1001))


def status_of(kind):
    """(HTTP status, code) of a type of error."""
    for suffix, status, code in CODES:
        if kind.endswith(suffix):
            return status, code
    return (404, 1003) if kind.startswith("NoSuch") else (500, 1002)


class Fault(Exception):
    """What went wrong, before it is said of which operation. is_final: `reason` is the whole message and there is no stack."""

    def __init__(self, kind, reason, is_final=False):
        super().__init__(reason)
        self.kind, self.reason, self.is_final = kind, reason, is_final


class Malformed(Exception):
    """A body that can't be read."""


def refuse(reason):
    raise Fault("IllegalArgumentException", reason)


def check(is_right, reason):
    if not is_right:
        refuse(reason)


def stack(first):
    return [first] + ["\tat org.apache.gravitino.standin.Frame%d.call(Frame%d.java:%d)" % (n, n, 10 + n) for n in range(1, STACK_LINES)]


def error_body(code, kind, message, why):
    """why: first line of the stack, None: no stack."""
    body = {"code": code, "type": kind, "message": message}
    if why is not None:
        body["stack"] = stack(why)
    return body


# ---- writing ----


def java_double(value):
    """The digits are Python's, where they go is Java's: 1.5E14, 0.001, 1.0E-4."""
    if value != value or value in (float("inf"), float("-inf")):
        return '"NaN"' if value != value else '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(float(value))
    digits, _, exponent = ("%r" % float(value)).partition("e")
    sign, digits = ("-", digits[1:]) if digits[0] == "-" else ("", digits)
    whole, _, fraction = digits.partition(".")
    power = int(exponent or 0) + len(whole) - 1
    all_digits = (whole + fraction).rstrip("0")
    stripped = all_digits.lstrip("0")
    power -= len(all_digits) - len(stripped)
    return "%s%s.%sE%d" % (sign, stripped[0], stripped[1:] or "0", power)


def dumps(value):
    if isinstance(value, dict):
        return "{" + ",".join("%s:%s" % (json.dumps(str(k), ensure_ascii=False), dumps(v)) for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(dumps, value)) + "]"
    if isinstance(value, float):
        return java_double(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def encode(value):
    return dumps(value).encode("utf-8", "replace")


def instant(ns):
    """ISO-8601 with 0, 3, 6 or 9 digits behind the second: as few as tell it."""
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns // 10**9))
    digits = "%09d" % (ns % 10**9)
    while digits and digits.endswith("000"):
        digits = digits[:-3]
    return text + ("." + digits if digits else "") + "Z"


def without_nulls(tree):
    return {key: value for key, value in tree.items() if value is not None}


# ---- reading ----


class Int(int):
    text = ""


class Real(float):
    text = ""


def _number(kind, text):
    number = kind(text)
    number.text = text
    return number


def _no_constant(text):
    raise Malformed("com.fasterxml.jackson.core.JsonParseException: Non-standard token '%s'" % text)


_decoder = json.JSONDecoder(parse_int=lambda t: _number(Int, t), parse_float=lambda t: _number(Real, t), parse_constant=_no_constant)


def parse(data):
    """The first JSON value of a body; what follows it is not looked at."""
    try:
        text = data.decode("utf-8")
        return _decoder.raw_decode(text, len(text) - len(text.lstrip(" \t\r\n")))[0]
    except (ValueError, RecursionError) as error:
        raise Malformed("com.fasterxml.jackson.core.JsonParseException: " + str(error)[:200])


def wrong(what, value):
    raise Malformed("com.fasterxml.jackson.databind.exc.MismatchedInputException: Cannot deserialize value of type `%s` from %.60r" % (what, value))


def text(value):
    """Numbers and booleans are told by their text."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.text if isinstance(value, (Int, Real)) else wrong("java.lang.String", value)


def boolean(value):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    return value != 0 if isinstance(value, Int) else wrong("boolean", value)


def long(value):
    if value is None:
        return None
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,20}\s*", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        wrong("java.lang.Long", value)
    number = int(value)
    return number if LONG_MIN <= number <= LONG_MAX else wrong("java.lang.Long", value)


def anything(value):
    """A value of any kind; members that are null go, at any depth."""
    if isinstance(value, dict):
        return {key: anything(item) for key, item in value.items() if item is not None}
    return [anything(item) for item in value] if isinstance(value, list) else value


def statistic(value):
    """Integers are cut to their lower 64 bits."""
    if isinstance(value, Int):
        return (int(value) - LONG_MIN) % 2**64 + LONG_MIN
    if isinstance(value, list):
        return [statistic(item) if item is not None else wrong("StatisticValue", item) for item in value]
    if isinstance(value, dict):
        return {key: statistic(item) if item is not None else wrong("StatisticValue", item) for key, item in value.items()}
    return value


def list_of(shape):
    def read(value):
        if value is None:
            return None
        return [shape(item) for item in value] if isinstance(value, list) else wrong("java.util.ArrayList", value)
    return read


def map_of(shape):
    def read(value):
        if value is None:
            return None
        return {key: shape(item) for key, item in value.items()} if isinstance(value, dict) else wrong("java.util.LinkedHashMap", value)
    return read


def record(shapes, ignores=False):
    """An object with these members; missing ones are None. Others are refused, unless they are ignored."""
    def read(value):
        if value is None:
            return None
        if not isinstance(value, dict):
            wrong("object", value)
        for key in value:
            if key not in shapes and not ignores:
                raise Malformed("com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException: Unrecognized field \"%s\"" % key)
        return {key: shape(value.get(key)) for key, shape in shapes.items()}
    return read


def tagged(tag, variants):
    """A record whose shape depends on the text of its member `tag`; unknown members are ignored."""
    def read(value):
        if not isinstance(value, dict) or not isinstance(value.get(tag), str) or value[tag] not in variants:
            raise Malformed("com.fasterxml.jackson.databind.exc.InvalidTypeIdException: Could not resolve type id of %.60r" % (value,))
        return {tag: value[tag], **record(variants[value[tag]], ignores=True)({key: item for key, item in value.items() if key != tag})}
    return read


def is_blank(value):
    return value is None or not value.strip()
