# SPDX-License-Identifier: Apache-2.0
"""What the stand-in for Gravitino 1.3.0 keeps: metalakes, catalogs, schemas, tables, policies and where they are attached, statistics.

An operation is a method that takes a call (gravitino_server.Call) and gives the body of a good answer. It first tells what it is
about, as the messages of errors do.
"""
import re

import gravitino_wire as wire
from gravitino_wire import Fault, check, record, text

NAME = re.compile(r"\w[\w/=-]{0,63}")
TYPES = ("METALAKE", "CATALOG", "SCHEMA", "FILESET", "TABLE", "TOPIC", "COLUMN", "ROLE", "MODEL", "TAG", "POLICY", "JOB", "JOB_TEMPLATE", "VIEW", "FUNCTION")
LEVELS = {"CATALOG": 1, "METALAKE": 1, "ROLE": 1, "TAG": 1, "POLICY": 1, "JOB": 1, "JOB_TEMPLATE": 1, "SCHEMA": 2, "COLUMN": 4}
ATTACHABLE = ("CATALOG", "SCHEMA", "TABLE", "FILESET", "TOPIC", "MODEL")
HIDDEN = re.compile(r"jdbc-(user|password)|.*(secret|password|credential$|token$|account-key).*")
PREFIX = "custom-"


class Metalake:
    def __init__(self, name, audit, comment=None, properties=None):
        self.name, self.audit, self.comment, self.properties = name, audit, comment, dict(properties or {})
        self.in_use = True
        self.catalogs, self.policies, self.templates, self.runs = {}, {}, {}, {}
        self.links = {}  # (type, full name): policies
        self.statistics = {}  # full name: {name: statistic}
        self.partitions = {}  # full name: {partition: {name: statistic}}
        self.gone_runs = {}  # of templates that were deleted: still read, never listed

    def json(self):
        properties = {**self.properties, "in-use": str(self.in_use).lower()}
        return wire.without_nulls({"name": self.name, "comment": self.comment, "properties": properties, "audit": self.audit})


class Catalog:
    def __init__(self, name, audit, kind="relational", provider="lakehouse-iceberg", comment=None, properties=None):
        self.name, self.audit, self.kind, self.provider, self.comment = name, audit, kind, provider, comment
        self.properties = dict(properties or {})
        self.in_use = True
        self.schemas = {}

    def json(self):
        shown = {key: value for key, value in self.properties.items() if not HIDDEN.fullmatch(key)}
        return wire.without_nulls({"name": self.name, "type": self.kind, "provider": self.provider, "comment": self.comment,
                                   "properties": {**shown, "in-use": str(self.in_use).lower()}, "audit": self.audit})


class Schema:
    def __init__(self, name, audit, comment=None, properties=None):
        self.name, self.audit, self.comment, self.properties = name, audit, comment, dict(properties or {})
        self.tables = {}

    def json(self):
        return wire.without_nulls({"name": self.name, "comment": self.comment, "properties": self.properties, "audit": self.audit})


class Policy:
    def __init__(self, name, kind, content, enabled, comment, audit):
        self.name, self.kind, self.content, self.enabled, self.comment, self.audit = name, kind, content, enabled, comment, audit

    def json(self, mix, inherited=None):
        content = dict(self.content)
        if "supportedObjectTypes" in content:
            content["supportedObjectTypes"] = mix(content["supportedObjectTypes"])
        shown = wire.without_nulls({"name": self.name, "comment": self.comment, "policyType": self.kind, "enabled": self.enabled, "content": content})
        return {**shown, "inherited": inherited, "audit": self.audit}


# ---- contents of policies ----


def object_type(value):
    if not isinstance(value, str) or value.upper() not in TYPES:
        raise wire.Malformed("com.fasterxml.jackson.databind.exc.InvalidFormatException: not one of the values accepted for Enum class: %.60r" % (value,))
    return value.lower()


CUSTOM = record({"customRules": wire.map_of(wire.anything), "properties": wire.map_of(text), "supportedObjectTypes": wire.list_of(object_type)})
COMPACTION_DEFAULTS = {"minDataFileMse": 405323966463344, "minDeleteFileNumber": 1, "dataFileMseWeight": 1, "deleteFileNumberWeight": 100, "maxPartitionNum": 50}
COMPACTION = record({**dict.fromkeys(COMPACTION_DEFAULTS, wire.long), "rewriteOptions": wire.map_of(text)})
ORPHANS = record({"olderThanDays": wire.long, "location": text, "dryRun": wire.boolean})
EXPIRATION = record({"olderThanDays": wire.long, "retainLast": wire.long, "dryRun": wire.boolean})


def finish_custom(content):
    check(content["supportedObjectTypes"], "supportedObjectTypes cannot be empty")
    if content["customRules"] is not None:
        content["customRules"] = {key: value for key, value in content["customRules"].items() if value is not None}
    content["supportedObjectTypes"] = list(dict.fromkeys(content["supportedObjectTypes"]))
    return wire.without_nulls(content)


def finish_compaction(content):
    content = {**COMPACTION_DEFAULTS, "rewriteOptions": {}, **wire.without_nulls(content)}
    for key in ("minDataFileMse", "minDeleteFileNumber", "dataFileMseWeight", "deleteFileNumberWeight"):
        check(content[key] >= 0, key + " must be >= 0")
    check(content["maxPartitionNum"] > 0, "maxPartitionNum must be > 0")
    for key, value in content["rewriteOptions"].items():
        check(key.strip(), "rewrite option key is blank")
        check(re.fullmatch(r"[A-Za-z0-9._-]+", key), "rewrite option key '%s' contains illegal characters" % key)
        check(not key.startswith("job.options."), "rewrite option key '%s' must not start with 'job.options.'" % key)
        check(not wire.is_blank(value), "rewrite option '%s' must have non-empty value" % key)
    return content


def finish_orphans(content):
    content = {"olderThanDays": 3, "dryRun": False, **wire.without_nulls(content)}
    check(content["olderThanDays"] > 0, "olderThanDays must be > 0")
    return content


def finish_expiration(content):
    content = {"olderThanDays": 5, "retainLast": 1, **wire.without_nulls(content)}
    check(content["olderThanDays"] > 0 and content["retainLast"] > 0, "olderThanDays and retainLast must be > 0")
    return content


KINDS = {"custom": (CUSTOM, finish_custom), "system_iceberg_compaction": (COMPACTION, finish_compaction)}
NEWER_KINDS = {"system_iceberg_orphan_file_removal": (ORPHANS, finish_orphans), "system_iceberg_snapshot_expiration": (EXPIRATION, finish_expiration)}


# ---- tables ----

PLAIN_TYPES = {"timestamp": "timestamp(6)", "timestamp_tz": "timestamp_tz(6)", "time": "time(6)"}


def table_json(name, table, location, audit):
    """As a GET shows it; table: a dict with what is known of it."""
    properties = {"location": location, "current-snapshot-id": "none", "format": "iceberg/parquet", "provider": "iceberg", "format-version": "2", **(table.get("properties") or {})}
    columns = []
    for column in table.get("columns") or []:
        column = {"nullable": True, "autoIncrement": False, **wire.without_nulls(column)}
        if isinstance(column["type"], str):
            column["type"] = PLAIN_TYPES.get(column["type"], column["type"])
        columns.append({key: column[key] for key in ("name", "type", "comment", "nullable", "autoIncrement", "defaultValue") if key in column})
    partitioning = table.get("partitioning") or []
    strategy = {"strategy": "hash" if partitioning else "none", "number": 0, "funcArgs": []}
    return wire.without_nulls({
        "name": name, "comment": table.get("comment"), "columns": columns, "properties": properties, "audit": audit, "distribution": table.get("distribution") or strategy,
        "sortOrders": table.get("sortOrders") or [], "partitioning": partitioning, "indexes": table.get("indexes") or []})


TABLE = record({"name": text, "comment": text, "columns": wire.list_of(wire.anything), "properties": wire.map_of(text), "sortOrders": wire.list_of(wire.anything),
                "distribution": wire.anything, "partitioning": wire.list_of(wire.anything), "indexes": wire.list_of(wire.anything)})
TABLE_UPDATES = {"rename": {"newName": text, "newSchemaName": text}, "updateComment": {"newComment": text}, "setProperty": {"property": text, "value": text},
                 "removeProperty": {"property": text}}
NAMED = record({"name": text, "comment": text, "properties": wire.map_of(text)})
STATISTIC_NAMES = record({"names": wire.list_of(text)})
STATISTIC_UPDATES = record({"updates": wire.map_of(wire.statistic)})
PARTITION_UPDATES = record({"updates": wire.list_of(record({"partitionName": text, "statistics": wire.map_of(wire.statistic)}))})
PARTITION_DROPS = record({"drops": wire.list_of(record({"partitionName": text, "statisticNames": wire.list_of(text)}))})
POLICY_UPDATES = {"rename": {"newName": text}, "updateComment": {"newComment": text}, "updateContent": {"policyType": text, "newContent": lambda value: value}}


def check_name(scope, name):
    check(not wire.is_blank(name), "\"name\" field is required and cannot be empty")
    check(NAME.fullmatch(name), "The %s name '%s' is illegal." % (scope, name))


class Places:
    """Metalakes, catalogs, schemas, tables."""

    def lake(self, call):
        """The metalake of a call, which is there and in use."""
        name = call.args["metalake"]
        if name not in self.metalakes:
            raise Fault("NoSuchMetalakeException", "Metalake %s does not exist" % name)
        if not self.metalakes[name].in_use:
            raise Fault("MetalakeNotInUseException", "Metalake %s is not in use, please enable it first" % name)
        return self.metalakes[name]

    def catalog(self, lake, name):
        if name not in lake.catalogs:
            raise Fault("NoSuchCatalogException", "Catalog %s.%s does not exist" % (lake.name, name))
        if not lake.catalogs[name].in_use:
            raise Fault("CatalogNotInUseException", "Catalog %s.%s is not in use, please enable it first" % (lake.name, name))
        return lake.catalogs[name]

    def behind(self, lake, name):
        """{schema: {table: what is known, or a function that tells}} of the catalog's own and of what lies behind it."""
        catalog = self.catalog(lake, name)
        found = {schema.name: dict(schema.tables) for schema in catalog.schemas.values()}
        if self.backing:
            try:
                more = self.backing(lake.name, name) or {}
            except Exception as error:  # whatever the catalog behind says
                raise Fault("ConnectionFailedException", str(error))
            for schema, tables in more.items():
                found.setdefault(schema, {}).update(tables)
        return found

    def schema_tables(self, lake, catalog, schema):
        found = self.behind(lake, catalog)
        if schema not in found:
            raise Fault("NoSuchSchemaException", "Schema %s.%s does not exist" % (catalog, schema))
        return found[schema]

    def table(self, lake, catalog, schema, name):
        tables = self.schema_tables(lake, catalog, schema)
        if name not in tables:
            raise Fault("NoSuchTableException", "Table %s.%s.%s does not exist" % (catalog, schema, name))
        table = tables[name]() if callable(tables[name]) else tables[name]
        audit = table.get("audit") or self.audits.setdefault((lake.name, catalog, schema, name), self.audit("anonymous"))
        location = "%s/%s/%s" % (lake.catalogs[catalog].properties.get("warehouse", "file:///warehouse/" + catalog).rstrip("/"), schema, name)
        return table_json(name, table, location, audit)

    def has(self, lake, kind, parts):
        """Whether an object is there; one of a catalog that is not in use raises."""
        try:
            if kind == "CATALOG":
                return bool(self.catalog(lake, parts[0]))
            if kind == "SCHEMA":
                return bool(self.schema_tables(lake, *parts) is not None)
            return kind == "TABLE" and parts[2] in self.schema_tables(lake, parts[0], parts[1])
        except Fault as fault:
            if fault.kind.startswith("NoSuch"):
                return False
            raise

    # -- metalakes

    def list_metalakes(self, call):
        call.about("metalake", "LIST")
        return {"metalakes": self.mix([lake.json() for lake in self.metalakes.values()])}

    def create_metalake(self, call):
        body = call.body(NAMED)
        call.about("metalake", "CREATE", body["name"])
        check_name("METALAKE", body["name"])
        if body["name"] in self.metalakes:
            raise Fault("MetalakeAlreadyExistsException", "Metalake %s already exists" % body["name"])
        return {"metalake": self.add_metalake(body["name"], call.user, body["comment"], body["properties"]).json()}

    def get_metalake(self, call):
        name = call.args["metalake"]
        call.about("metalake", "LOAD", name)
        if name not in self.metalakes:
            raise Fault("NoSuchMetalakeException", "Metalake %s does not exist" % name)
        return {"metalake": self.metalakes[name].json()}

    def set_metalake(self, call):
        in_use = call.body(record({"inUse": wire.boolean}))["inUse"]
        call.about("metalake", "ENABLE" if in_use else "DISABLE", call.args["metalake"])
        self.get_metalake(call)
        self.metalakes[call.args["metalake"]].in_use = bool(in_use)
        return {}

    def drop_metalake(self, call):
        name = call.args["metalake"]
        call.about("metalake", "DROP", name)
        lake = self.metalakes.get(name)
        if lake and not call.is_set("force"):
            if lake.in_use:
                raise Fault("MetalakeInUseException", "Metalake %s is in use, please disable it first or use force option" % name)
            if lake.catalogs:
                raise Fault("NonEmptyMetalakeException", "Metalake %s has catalogs, please drop them first or use force option" % name)
        return {"dropped": self.metalakes.pop(name, None) is not None}

    # -- catalogs

    def list_catalogs(self, call):
        call.about("catalog", "LIST", "", call.args["metalake"])
        lake = self.lake(call)
        if call.is_set("details"):
            return {"catalogs": self.mix([catalog.json() for catalog in lake.catalogs.values()])}
        return {"identifiers": self.mix([{"namespace": [lake.name], "name": name} for name in lake.catalogs])}

    def create_catalog(self, call):
        body = call.body(record({"name": text, "type": text, "provider": text, "comment": text, "properties": wire.map_of(text)}))
        call.about("catalog", "CREATE", body["name"], call.args["metalake"])
        lake = self.lake(call)
        check_name("CATALOG", body["name"])
        check(not wire.is_blank(body["type"]), "\"type\" field is required and cannot be empty")
        if body["name"] in lake.catalogs:
            raise Fault("CatalogAlreadyExistsException", "Catalog %s.%s already exists" % (lake.name, body["name"]))
        catalog = Catalog(body["name"], self.audit(call.user), body["type"].lower(), body["provider"] or "", body["comment"], body["properties"])
        lake.catalogs[catalog.name] = catalog
        return {"catalog": catalog.json()}

    def get_catalog(self, call):
        name = call.args["catalog"]
        call.about("catalog", "LOAD", name, call.args["metalake"])
        lake = self.lake(call)
        if name not in lake.catalogs:
            raise Fault("NoSuchCatalogException", "Catalog %s.%s does not exist" % (lake.name, name))
        return {"catalog": lake.catalogs[name].json()}

    def set_catalog(self, call):
        in_use = call.body(record({"inUse": wire.boolean}))["inUse"]
        call.about("catalog", "ENABLE" if in_use else "DISABLE", call.args["catalog"], call.args["metalake"])
        lake = self.lake(call)
        if call.args["catalog"] not in lake.catalogs:
            raise Fault("NoSuchCatalogException", "Catalog %s.%s does not exist" % (lake.name, call.args["catalog"]))
        lake.catalogs[call.args["catalog"]].in_use = bool(in_use)
        return {}

    def drop_catalog(self, call):
        name = call.args["catalog"]
        call.about("catalog", "DROP", name, call.args["metalake"])
        lake = self.lake(call)
        catalog = lake.catalogs.get(name)
        if catalog and not call.is_set("force"):
            if catalog.in_use:
                raise Fault("CatalogInUseException", "Catalog %s.%s is in use, please disable it first or use force option" % (lake.name, name))
            if catalog.schemas:
                raise Fault("NonEmptyCatalogException", "Catalog %s.%s has schemas, please drop them first or use force option" % (lake.name, name))
        self.detach(lake, name)
        return {"dropped": lake.catalogs.pop(name, None) is not None}

    # -- schemas

    def list_schemas(self, call):
        call.about("schema", "LIST", "", call.args["catalog"])
        lake = self.lake(call)
        names = self.behind(lake, call.args["catalog"])
        return {"identifiers": self.mix([{"namespace": [lake.name, call.args["catalog"]], "name": name} for name in names])}

    def create_schema(self, call):
        body = call.body(NAMED)
        catalog = call.args["catalog"]
        call.about("schema", "CREATE", body["name"], catalog)
        lake = self.lake(call)
        check_name("SCHEMA", body["name"])
        if body["name"] in self.behind(lake, catalog):
            raise Fault("SchemaAlreadyExistsException", "Schema %s.%s already exists" % (catalog, body["name"]))
        schema = Schema(body["name"], self.audit(call.user), body["comment"], body["properties"])
        lake.catalogs[catalog].schemas[schema.name] = schema
        return {"schema": schema.json()}

    def get_schema(self, call):
        catalog, name = call.args["catalog"], call.args["schema"]
        call.about("schema", "LOAD", name, catalog)
        lake = self.lake(call)
        self.schema_tables(lake, catalog, name)
        own = lake.catalogs[catalog].schemas.get(name) or Schema(name, self.audits.setdefault((lake.name, catalog, name), self.audit("anonymous")))
        return {"schema": own.json()}

    def drop_schema(self, call):
        catalog, name = call.args["catalog"], call.args["schema"]
        call.about("schema", "DROP", name, catalog)
        lake = self.lake(call)
        schema = self.catalog(lake, catalog).schemas.get(name)
        if schema and schema.tables and not call.is_set("cascade"):
            raise Fault("NonEmptySchemaException", "Namespace %s is not empty" % name)
        self.detach(lake, "%s.%s" % (catalog, name))
        return {"dropped": lake.catalogs[catalog].schemas.pop(name, None) is not None}

    # -- tables

    def list_tables(self, call):
        catalog, schema = call.args["catalog"], call.args["schema"]
        call.about("table", "LIST", "", schema)
        lake = self.lake(call)
        return {"identifiers": self.mix([{"namespace": [lake.name, catalog, schema], "name": name} for name in self.schema_tables(lake, catalog, schema)])}

    def create_table(self, call):
        """The answer is what was asked for; location and format show at the next GET."""
        body = call.body(TABLE)
        catalog, schema = call.args["catalog"], call.args["schema"]
        call.about("table", "CREATE", body["name"], schema)
        lake = self.lake(call)
        check_name("TABLE", body["name"])
        check(body["columns"], "\"columns\" field is required and cannot be empty")
        if body["name"] in self.schema_tables(lake, catalog, schema):
            raise Fault("TableAlreadyExistsException", "Table %s.%s.%s already exists" % (catalog, schema, body["name"]))
        self.add_table(lake.name, catalog, schema, body["name"], user=call.user, **{key: value for key, value in body.items() if key != "name"})
        shown = table_json(body["name"], body, "", self.audit(call.user))
        columns = [{**shown_column, "type": asked["type"]} for shown_column, asked in zip(shown["columns"], body["columns"])]
        return {"table": {**shown, "columns": columns, "properties": body["properties"] or {}, "distribution": body["distribution"] or {"strategy": "none", "number": 0, "funcArgs": []}}}

    def get_table(self, call):
        call.about("table", "LOAD", call.args["table"], call.args["schema"])
        return {"table": self.table(self.lake(call), call.args["catalog"], call.args["schema"], call.args["table"])}

    def alter_table(self, call):
        body = call.body(record({"updates": wire.list_of(wire.tagged("@type", TABLE_UPDATES))}))
        catalog, schema, name = call.args["catalog"], call.args["schema"], call.args["table"]
        call.about("table", "ALTER", name, schema)
        lake = self.lake(call)
        self.table(lake, catalog, schema, name)
        tables = lake.catalogs[catalog].schemas[schema].tables
        for update in body["updates"] or []:
            name = self.change_table(lake, (catalog, schema), tables, name, update)
        return {"table": self.table(lake, catalog, schema, name)}

    def change_table(self, lake, place, tables, name, update):
        table = tables[name]
        if update["@type"] == "rename":
            tables[update["newName"]] = tables.pop(name)
            old, new = "%s.%s.%s" % (*place, name), "%s.%s.%s" % (*place, update["newName"])
            for kept in (lake.statistics, lake.partitions):
                if old in kept:
                    kept[new] = kept.pop(old)
            if ("TABLE", old) in lake.links:
                lake.links["TABLE", new] = lake.links.pop(("TABLE", old))
            return update["newName"]
        if update["@type"] == "updateComment":
            table["comment"] = update["newComment"]
        elif update["@type"] == "setProperty":
            table["properties"] = {**(table.get("properties") or {}), update["property"]: update["value"]}
        else:
            (table.get("properties") or {}).pop(update["property"], None)
        return name

    def drop_table_call(self, call):
        catalog, schema, name = call.args["catalog"], call.args["schema"], call.args["table"]
        call.about("table", "DROP", name, schema)
        lake = self.lake(call)
        own = self.catalog(lake, catalog).schemas.get(schema)
        return {"dropped": bool(own) and self.drop_table(lake.name, catalog, schema, name)}

    def list_partitions(self, call):
        name = call.args["table"]
        call.about("partition", "LIST", "", name)
        self.table(self.lake(call), call.args["catalog"], call.args["schema"], name)
        raise Fault("UnsupportedOperationException", "Table %s does not support partition operations" % name)

    def detach(self, lake, full_name):
        """Of an object that goes, and of all below it."""
        for kept in (lake.links, lake.statistics, lake.partitions):
            for key in list(kept):
                name = key[1] if isinstance(key, tuple) else key
                if name == full_name or name.startswith(full_name + "."):
                    del kept[key]


class Policies:
    def kinds(self):
        return {**KINDS, **NEWER_KINDS} if self.newer else KINDS

    def content_shape(self, kind):
        """What is no known type is read as the content of a custom policy."""
        return self.kinds().get((kind or "").lower(), KINDS["custom"])

    def kind_of(self, kind):
        check(not wire.is_blank(kind), "policyType cannot be blank")
        if kind.lower() in self.kinds():
            return kind.lower()
        check(not kind.startswith("system_"), "Unknown built-in policy type: " + kind)
        return wire.refuse("Unknown policy type: %s, it should start with 'system_' or be 'custom'" % kind)

    def policy(self, lake, name):
        if name not in lake.policies:
            raise Fault("NoSuchPolicyException", "Policy with name %s under metalake %s does not exist" % (name, lake.name))
        return lake.policies[name]

    def list_policies(self, call):
        call.about("policy", "LIST", "", call.args["metalake"])
        lake = self.lake(call)
        if call.is_set("details"):
            return {"policies": self.mix([policy.json(self.mix) for policy in lake.policies.values()])}
        return {"names": self.mix(list(lake.policies))}

    def create_policy(self, call):
        shapes = {"name": text, "comment": text, "policyType": text, "enabled": wire.boolean}
        body = call.body(record({**shapes, "content": lambda value: value}))
        shape, finish = self.content_shape(body["policyType"])
        content = shape(body["content"])
        call.about("policy", "CREATE", body["name"], call.args["metalake"])
        check(not wire.is_blank(body["name"]), "\"name\" is required and cannot be empty")
        check(not wire.is_blank(body["policyType"]), "\"policyType\" is required and cannot be empty")
        check(content is not None, "\"content\" is required and cannot be null")
        content = finish(content)
        kind = self.kind_of(body["policyType"])
        lake = self.lake(call)
        if body["name"] in lake.policies:
            raise Fault("PolicyAlreadyExistsException", "Policy with name %s under metalake %s already exists" % (body["name"], lake.name))
        policy = Policy(body["name"], kind, content, body["enabled"] is not False, body["comment"], self.audit(call.user))
        lake.policies[policy.name] = policy
        return {"policy": policy.json(self.mix)}

    def get_policy(self, call):
        call.about("policy", "GET", call.args["policy"], call.args["metalake"])
        return {"policy": self.policy(self.lake(call), call.args["policy"]).json(self.mix)}

    def alter_policy(self, call):
        body = call.body(record({"updates": wire.list_of(wire.tagged("@type", POLICY_UPDATES))}))
        updates = body["updates"]
        for update in updates or []:
            if update["@type"] == "updateContent":
                update["newContent"] = self.content_shape(update["policyType"])[0](update["newContent"])
        call.about("policy", "ALTER", call.args["policy"], call.args["metalake"])
        check(updates is not None, "\"updates\" must not be null")
        lake = self.lake(call)
        policy = self.policy(lake, call.args["policy"])
        name, comment, content = policy.name, policy.comment, policy.content
        for update in updates:
            if update["@type"] == "rename":
                check(not wire.is_blank(update["newName"]), "\"newName\" must not be blank")
                name = update["newName"]
            elif update["@type"] == "updateComment":
                comment = update["newComment"]
            else:
                content = self.new_content(policy, update)
        if name != policy.name and name in lake.policies:
            raise Fault("RuntimeException", "Trying to alter policy %s under metalake %s, but the new name already exists" % (policy.name, lake.name))
        del lake.policies[policy.name]
        policy.name, policy.comment, policy.content = name, comment, content
        lake.policies[name] = policy
        policy.audit = self.touched(policy.audit, call.user)
        return {"policy": policy.json(self.mix)}

    def new_content(self, policy, update):
        check(update["policyType"] is not None, "\"policyType\" must not be null")
        check(update["newContent"] is not None, "\"newContent\" must not be null")
        content = self.content_shape(update["policyType"])[1](update["newContent"])
        check(self.kind_of(update["policyType"]) == policy.kind, "Policy type mismatch: expected %s but got %s" % (policy.kind, update["policyType"]))
        return content

    def set_policy(self, call):
        enable = bool(call.body(record({"enable": wire.boolean}))["enable"])
        call.about("policy", "ENABLE" if enable else "DISABLE", call.args["policy"], call.args["metalake"])
        policy = self.policy(self.lake(call), call.args["policy"])
        if policy.enabled != enable:
            policy.enabled = enable
            policy.audit = self.touched(policy.audit, call.user)
        return {}

    def delete_policy(self, call):
        call.about("policy", "DELETE", call.args["policy"], call.args["metalake"])
        lake = self.lake(call)
        policy = lake.policies.pop(call.args["policy"], None)
        for attached in lake.links.values():
            if policy in attached:
                attached.remove(policy)
        return {"dropped": policy is not None}

    def list_objects(self, call):
        call.about("policy", "LIST", "", call.args["metalake"])
        lake = self.lake(call)
        policy = self.policy(lake, call.args["policy"])
        return {"metadataObjects": self.mix([{"type": kind.lower(), "fullName": name} for (kind, name), attached in lake.links.items() if policy in attached])}

    # -- at an object

    def object_of(self, call):
        """(type, parts of the full name) of the object in the path."""
        kind, full_name = call.args["type"].upper(), call.args["fullName"]
        check(kind in TYPES, "No enum constant org.apache.gravitino.MetadataObject.Type." + kind)
        check(not wire.is_blank(full_name), "Metadata object full name cannot be blank")
        levels = LEVELS.get(kind, 3)
        parts = [full_name] if levels == 1 else full_name.split(".")
        check(len(parts) == levels, "If the type is %s, the length of names must be %d" % (kind, levels))
        check("*" not in parts, "Cannot create a metadata object with `*` name.")
        return kind, parts

    def existing_object(self, lake, kind, parts):
        if not self.has(lake, kind, parts):
            raise Fault("NoSuchMetadataObjectException", "Metadata object %s type %s doesn't exist" % (".".join(parts), kind))

    def attached(self, lake, kind, parts):
        """[(policy, inherited)], the object's own first; each policy once."""
        found = {policy: False for policy in lake.links.get((kind, ".".join(parts)), ())}
        for levels in range(len(parts) - 1, 0, -1):
            for policy in lake.links.get(("SCHEMA" if levels == 2 else "CATALOG", ".".join(parts[:levels])), ()):
                found.setdefault(policy, True)
        return list(found.items())

    def list_attached(self, call):
        call.about("policy", "LIST", "", call.args["fullName"])
        kind, parts = self.object_of(call)
        lake = self.lake(call)
        self.existing_object(lake, kind, parts)
        found = self.mix(self.attached(lake, kind, parts))
        if call.is_set("details"):
            return {"policies": [policy.json(self.mix, inherited) for policy, inherited in found]}
        return {"names": [policy.name for policy, _ in found]}

    def get_attached(self, call):
        name = call.args["policy"]
        call.about("policy", "GET", name, call.args["fullName"])
        kind, parts = self.object_of(call)
        lake = self.lake(call)
        self.existing_object(lake, kind, parts)
        for policy, inherited in self.attached(lake, kind, parts):
            if policy.name == name:
                return {"policy": policy.json(self.mix, inherited)}
        raise Fault("NoSuchPolicyException", "Policy not found: %s for object type: %s, full name: %s under metalake: %s"
                    % (name, call.args["type"], call.args["fullName"], lake.name), is_final=True)

    def attach(self, call):
        body = call.body(record({"policiesToAdd": wire.list_of(text), "policiesToRemove": wire.list_of(text)}))
        call.about("policy", "ASSOCIATE", "", call.args["fullName"])
        check(body["policiesToAdd"] is not None or body["policiesToRemove"] is not None, "policiesToAdd and policiesToRemove cannot both be null")
        for member, names in body.items():
            check(not any(wire.is_blank(name) for name in names or ()), member + " must not contain null or empty policy names")
        kind, parts = self.object_of(call)
        check(kind in ATTACHABLE, "Cannot associate policies for unsupported metadata object type " + kind)
        lake = self.lake(call)
        self.existing_object(lake, kind, parts)
        links = lake.links.setdefault((kind, ".".join(parts)), [])
        add, remove = dict.fromkeys(body["policiesToAdd"] or ()), dict.fromkeys(body["policiesToRemove"] or ())
        adding = [lake.policies[name] for name in add if name not in remove and name in lake.policies]
        if any(policy in links for policy in adding):
            raise Fault("PolicyAlreadyAssociatedException", "Failed to associate policies for metadata object due to some policies [%s] already associated to the metadata "
                        "object MetadataObject: [fullName=%s], [type=%s]" % (", ".join(body["policiesToAdd"]), ".".join(parts), kind))
        links[:] = [policy for policy in links if policy.name not in remove or policy.name in add] + adding
        return {"names": self.mix([policy.name for policy in links])}


class Statistics:
    def stat_table(self, call, doing):
        """The full name of the table in the path."""
        kind, parts = self.object_of(call)
        if kind != "TABLE":
            raise Fault("UnsupportedOperationException", doing + " is only supported for tables now.")
        return kind, parts

    def stat_lake(self, call, kind, parts):
        lake = self.lake(call)
        self.existing_object(lake, kind, parts)
        return lake, ".".join(parts)

    def new_statistics(self, user, values):
        now = self.now()
        audit = {"creator": user, "createTime": now, "lastModifier": user, "lastModifiedTime": now}
        return {name: {"name": name, "value": value, "reserved": False, "modifiable": True, "audit": audit} for name, value in values.items()}

    def list_statistics(self, call):
        call.about("statistic", "LIST", call.args["fullName"], call.args["metalake"])
        lake, name = self.stat_lake(call, *self.stat_table(call, "Listing statistics"))
        return {"statistics": self.mix(list(lake.statistics.get(name, {}).values()))}

    def put_statistics(self, call):
        updates = call.body(STATISTIC_UPDATES)["updates"]
        call.about("statistic", "UPDATE", ",".join(updates or ()), call.args["fullName"])
        check(updates, "\"updates\" must not be null or empty")
        for name, value in updates.items():
            check(not wire.is_blank(name), "statistic \"name\" must not be null or empty")
            check(value is not None, "statistic \"value\" for '%s' must not be null" % name)
        place = self.stat_table(call, "Update statistics")
        self.check_names(updates, "Statistic name must start with %s , but got: %s")
        lake, table = self.stat_lake(call, *place)
        lake.statistics.setdefault(table, {}).update(self.new_statistics(call.user, updates))
        return {}

    def check_names(self, names, message):
        for name in names:
            if not name.startswith(PREFIX):
                raise Fault("IllegalStatisticNameException", message % (PREFIX, name))

    def drop_statistics(self, call):
        names = call.body(STATISTIC_NAMES)["names"]
        call.about("statistic", "DROP", ",".join(name or "" for name in names or ()), call.args["fullName"])
        check(names, "\"names\" must not be null or empty")
        check(not any(wire.is_blank(name) for name in names), "Each name must be a non-empty string")
        lake, table = self.stat_lake(call, *self.stat_table(call, "Dropping statistics"))
        kept = lake.statistics.get(table, {})
        return {"dropped": any([kept.pop(name, None) is not None for name in names])}

    def list_partition_statistics(self, call):
        query = call.query
        first, last = query.get("from"), query.get("to")
        with_first, with_last = query.get("fromInclusive", "true").lower() == "true", query.get("toInclusive", "false").lower() == "true"
        low = "(-INF" if first is None else "[("[not with_first] + first
        high = "INF)" if last is None else last + "])"[not with_last]
        call.about("partition stats", "LIST", low + "," + high, call.args["fullName"])
        lake, table = self.stat_lake(call, *self.stat_table(call, "Listing partition statistics"))

        def is_inside(name):
            return (first is None or name > first or (with_first and name == first)) and (last is None or name < last or (with_last and name == last))

        found = lake.partitions.get(table, {})
        return {"partitionStatistics": [{"partitionName": name, "statistics": self.mix(list(found[name].values()))} for name in sorted(found) if found[name] and is_inside(name)]}

    def put_partition_statistics(self, call):
        updates = call.body(PARTITION_UPDATES)["updates"]
        call.about("partition stats", "UPDATE", ",".join(update["partitionName"] or "" for update in updates or ()), call.args["fullName"])
        check(updates, "\"updates\" must not be null or empty.")
        for update in updates:
            check(not wire.is_blank(update["partitionName"]), "\"partitionName\" must not be null or empty")
            check(update["statistics"], "\"statistics\" must not be null or empty")
            check(None not in update["statistics"].values(), "statistic \"value\" must not be null")
        place = self.stat_table(call, "Updating partition statistics")
        for update in updates:
            self.check_names(update["statistics"], "Statistic name must start with %s, but got: %s")
        lake, table = self.stat_lake(call, *place)
        for update in updates:
            lake.partitions.setdefault(table, {}).setdefault(update["partitionName"], {}).update(self.new_statistics(call.user, update["statistics"]))
        return {}

    def drop_partition_statistics(self, call):
        drops = call.body(PARTITION_DROPS)["drops"]
        call.about("partition stats", "DROP", ",".join(drop["partitionName"] or "" for drop in drops or ()), call.args["fullName"])
        check(drops, "\"drops\" must not be null or empty.")
        for drop in drops:
            check(not wire.is_blank(drop["partitionName"]), "\"partitionName\" must not be null or empty")
            check(drop["statisticNames"], "\"statisticNames\" must not be null or empty")
        lake, table = self.stat_lake(call, *self.stat_table(call, "Dropping partition statistics"))
        kept = lake.partitions.get(table, {})
        return {"dropped": any([kept.get(drop["partitionName"], {}).pop(name, None) is not None for drop in drops for name in drop["statisticNames"]])}
