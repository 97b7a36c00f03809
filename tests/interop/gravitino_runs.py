# SPDX-License-Identifier: Apache-2.0
"""Job templates and job runs of the stand-in for Gravitino 1.3.0, with its local executor: runs are real child processes."""
import collections
import errno
import os
import re
import shutil
import signal
import subprocess
import threading
import urllib.parse

import gravitino_wire as wire
from gravitino_wire import Fault, check, record, text

PLACEHOLDER = re.compile(r"\{\{([\w.-]+)\}\}", re.ASCII)
ACTIVE = ("queued", "started", "cancelling")
BUILTIN = "builtin-"
COMMON = {"executable": text, "arguments": wire.list_of(text), "environments": wire.map_of(text), "customFields": wire.map_of(text)}
OF_SHELL = {"scripts": wire.list_of(text)}
OF_SPARK = {"className": text, "jars": wire.list_of(text), "files": wire.list_of(text), "archives": wire.list_of(text), "configs": wire.map_of(text)}
FIELDS = ("jobType", "name", "comment", *COMMON, *OF_SHELL, *OF_SPARK)
AUDIT = record({"creator": text, "createTime": text, "lastModifier": text, "lastModifiedTime": text})
TEMPLATES = {kind: record({"jobType": text, "name": text, "comment": text, **COMMON, **own, "audit": AUDIT}) for kind, own in (("shell", OF_SHELL), ("spark", OF_SPARK))}


def renewed(shapes):
    return {"new" + key[0].upper() + key[1:]: shape for key, shape in shapes.items()}


NEW_TEMPLATE = wire.tagged("@type", {"shell": renewed({**COMMON, **OF_SHELL}), "spark": renewed({**COMMON, **OF_SPARK})})
UPDATES = wire.tagged("@type", {"rename": {"newName": text}, "updateComment": {"newComment": text},
                                "updateTemplate": {"newTemplate": lambda value: value if value is None else NEW_TEMPLATE(value)}})


# ---- substitution, as java.util.regex.Matcher.appendReplacement does it ----


def group_number(replacement, at):
    """The number behind a `$` (of groups there is one), and where it ends."""
    number = ord(replacement[at]) - ord("0")
    check(0 <= number <= 9, "Illegal group reference")
    at += 1
    while at < len(replacement) and "0" <= replacement[at] <= "9" and number * 10 + int(replacement[at]) <= 1:
        number, at = number * 10 + int(replacement[at]), at + 1
    if number > 1:
        raise Fault("RuntimeException", "No group %d" % number)
    return number, at


def named_group(replacement, at):
    name = re.match(r"[a-zA-Z0-9]*", replacement[at:]).group()
    check(name and replacement[at + len(name) : at + len(name) + 1] == "}", "named capturing group is missing trailing '}'")
    check(not name[0].isdigit(), "capturing group name {%s} starts with digit character" % name)
    wire.refuse("No group with name {%s}" % name)


def expand(match, replacement):
    """What a replacement stands for: `\\` takes the next character as it is, `$` names a group of the match."""
    out, at = [], 0
    while at < len(replacement):
        char = replacement[at]
        at += 1
        if char == "\\":
            check(at < len(replacement), "character to be escaped is missing")
            out.append(replacement[at])
            at += 1
        elif char == "$":
            check(at < len(replacement), "Illegal group reference: group index is missing")
            if replacement[at] == "{":
                named_group(replacement, at + 1)
            number, at = group_number(replacement, at)
            out.append(match.group(number))
        else:
            out.append(char)
    return "".join(out)


def substitute(source, conf):
    if wire.is_blank(source):
        return source
    return PLACEHOLDER.sub(lambda match: expand(match, conf[match.group(1)]) if match.group(1) in conf else match.group(), source)


def substitute_map(source, conf):
    made = {}
    for key, value in source.items():
        key, value = substitute(key, conf), substitute(value, conf)
        if key in made:
            raise Fault("RuntimeException", "Duplicate key %s (attempted merging values %s and %s)" % (key, made[key], value))
        made[key] = value
    return made


# ---- files ----


def fetch(uri, folder):
    """The path in the staging folder of a link to a local file; what is elsewhere is not fetched."""
    try:
        parts = urllib.parse.urlsplit(uri)
        if parts.scheme not in ("", "file") or re.search(r"\s", uri):
            raise ValueError("only local files are fetched")
        path = urllib.parse.unquote(parts.path)
        linked = os.path.join(folder, os.path.basename(path))
        if not os.path.exists(path) or not os.path.basename(path):
            raise ValueError("Source file does not exist: " + path)
        if os.path.islink(linked):
            os.unlink(linked)
        os.symlink(os.path.normpath(path), linked)
        return linked
    except (ValueError, OSError):
        raise Fault("RuntimeException", "Failed to fetch file from URI " + uri)


class Template:
    def __init__(self, fields, audit):
        self.fields, self.audit = fields, audit
        self.kind = fields["jobType"]
        for key, empty in (("arguments", list), ("environments", dict), ("customFields", dict)):
            fields[key] = fields[key] if fields[key] is not None else empty()
        for key in OF_SHELL if self.kind == "shell" else OF_SPARK:
            if fields[key] is None and key != "className":
                fields[key] = {} if key == "configs" else []

    @property
    def name(self):
        return self.fields["name"]

    def json(self):
        own = OF_SHELL if self.kind == "shell" else OF_SPARK
        order = ["jobType", "name", "comment", *COMMON, "audit", *own]
        return wire.without_nulls({key: self.audit if key == "audit" else self.fields[key] for key in order})


class Run:
    """A job. status: what is told; own: what the executor knows, None when it has forgotten it."""

    def __init__(self, job_id, lake, template, folder, audit):
        self.id, self.lake, self.template, self.folder, self.audit = job_id, lake, template, folder, audit
        self.status = self.own = "queued"
        self.command, self.environment, self.executable = [], {}, None
        self.process, self.exit_code, self.error, self.history = None, None, None, ["queued"]

    def json(self):
        return {"jobId": self.id, "jobTemplateName": self.template.name, "status": self.status, "audit": self.audit}

    def log(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as f:
            return f.read()

    @property
    def output(self):
        return self.log("output.log")

    @property
    def errors(self):
        return self.log("error.log")


class Executor:
    """Runs children, so many at a time; `lock` is the server's."""

    def __init__(self, lock, most, queue_limit, environment=None, spark_home=None):
        self.lock, self.most, self.queue_limit, self.environment, self.spark_home = lock, most, queue_limit, environment, spark_home
        self.queue, self.running, self.is_closed = collections.deque(), [], False

    def submit(self, run):
        if len(self.queue) >= self.queue_limit:
            raise Fault("RuntimeException", "Failed to submit job template %s for execution" % run.template.name)
        self.queue.append(run)
        self.advance()

    def advance(self):
        while self.queue and len(self.running) < self.most and not self.is_closed:
            run = self.queue.popleft()
            try:
                self.launch(run)
            except (OSError, ValueError) as error:
                run.own, run.error = "failed", str(error)

    def command_of(self, run):
        if run.template.kind == "shell":
            if not os.access(run.executable, os.X_OK):
                os.chmod(run.executable, os.stat(run.executable).st_mode | 0o100)
            return run.command
        home = self.spark_home or os.environ.get("SPARK_HOME")
        if not home or not os.access(os.path.join(home, "bin", "spark-submit"), os.X_OK):
            raise ValueError("spark-submit is not found or not executable")
        return [os.path.join(home, "bin", "spark-submit"), *run.command]

    def launch(self, run):
        command = self.command_of(run)
        environment = {**(os.environ if self.environment is None else self.environment), **run.environment}
        with open(os.path.join(run.folder, "output.log"), "wb") as out, open(os.path.join(run.folder, "error.log"), "wb") as errors:
            def begin(words):
                return subprocess.Popen(words, cwd=run.folder, env=environment, stdin=subprocess.PIPE, stdout=out, stderr=errors, start_new_session=True)
            try:
                run.process = begin(command)
            except OSError as error:
                if error.errno != errno.ENOEXEC:
                    raise
                run.process = begin(["/bin/sh", *command])  # as posix_spawnp does
        run.own = "started"
        self.running.append(run)
        threading.Thread(target=self.watch, args=(run,), daemon=True).start()

    def watch(self, run):
        code = run.process.wait()
        with self.lock:
            run.exit_code = code
            close_input(run)
            if run in self.running:
                self.running.remove(run)
            if run.own is not None:
                run.own = "succeeded" if code == 0 else "cancelled" if run.own == "cancelling" else "failed"
            self.advance()

    def cancel(self, run):
        if run.own == "queued":
            self.queue.remove(run)
            run.own = "cancelled"
        elif run.own == "started":
            terminate(run)
            run.own = "cancelling"
        elif run.own is None:
            raise Fault("RuntimeException", "Failed to cancel job with ID %s under metalake %s" % (run.id, run.lake.name))

    def close(self):
        """As an orderly stop of the server does: what runs is told to end, what waits is forgotten. Gives what ran."""
        self.is_closed = True
        ran = list(self.running)
        for run in ran:
            terminate(run)
        self.abandon()
        return ran

    def abandon(self):
        """As a crash does: the children go on, nobody knows them."""
        self.is_closed = True
        for run in [*self.running, *self.queue]:
            run.own = None
        self.running, self.queue = [], collections.deque()


def terminate(run):
    run.process.send_signal(signal.SIGTERM)
    close_input(run)


def close_input(run):
    try:
        run.process.stdin.close()
    except OSError:
        pass


class Jobs:
    """Operations on templates and runs."""

    # -- templates

    def template(self, lake, name):
        if name not in lake.templates:
            raise Fault("NoSuchJobTemplateException", "Job template with name %s under metalake %s does not exist" % (name, lake.name))
        return lake.templates[name]

    def list_templates(self, call):
        call.about("job template", "LIST", "", call.args["metalake"])
        lake = self.lake(call)
        if call.is_set("details"):
            return {"jobTemplates": self.mix([template.json() for template in lake.templates.values()])}
        return {"names": self.mix(list(lake.templates))}

    def register_template(self, call):
        tree = call.body(record({"jobTemplate": lambda value: value}))["jobTemplate"]
        kind = str((tree if isinstance(tree, dict) else {}).get("jobType")).lower()
        if kind not in TEMPLATES:
            raise wire.Malformed("com.fasterxml.jackson.databind.exc.InvalidTypeIdException: missing type id property 'jobType'")
        fields = {**TEMPLATES[kind](tree), "jobType": kind}
        call.about("job template", "REGISTER", fields["name"], call.args["metalake"])
        check(not wire.is_blank(fields["name"]), "\"name\" is required and cannot be empty")
        check(not wire.is_blank(fields["executable"]), "\"executable\" is required and cannot be empty")
        check(kind == "shell" or not wire.is_blank(fields["className"]), "\"className\" is required and cannot be empty")
        self.check_reserved(fields["name"])
        lake = self.lake(call)
        if fields["name"] in lake.templates:
            raise Fault("JobTemplateAlreadyExistsException", "Job template with name %s under metalake %s already exists" % (fields["name"], lake.name))
        lake.templates[fields["name"]] = Template(fields, self.audit(call.user))
        return {}

    def check_reserved(self, name):
        if name.startswith(BUILTIN):
            raise Fault("IllegalJobTemplateOperationException", "Job template name '%s' is reserved for built-in templates. User-created job templates cannot have names starting "
                        "with '%s'" % (name, BUILTIN))

    def check_builtin(self, name, doing):
        if name.startswith(BUILTIN):
            raise Fault("IllegalJobTemplateOperationException", "Cannot %s built-in job template '%s'. Built-in job templates are managed by the system and cannot be modified or "
                        "deleted by users" % (doing, name))

    def get_template(self, call):
        call.about("job template", "GET", call.args["template"], call.args["metalake"])
        return {"jobTemplate": self.template(self.lake(call), call.args["template"]).json()}

    def alter_template(self, call):
        updates = call.body(record({"updates": wire.list_of(UPDATES)}))["updates"]
        name = call.args["template"]
        call.about("job template", "ALTER", name, call.args["metalake"])
        check(updates is not None, "\"updates\" cannot be null")
        self.check_builtin(name, "alter")
        for update in updates:
            check(update["@type"] != "rename" or not wire.is_blank(update["newName"]), "\"newName\" must not be blank")
            check(update["@type"] != "updateTemplate" or update["newTemplate"] is not None, "\"newTemplate\" must not be null")
        renames = [update["newName"] for update in updates if update["@type"] == "rename"]
        if renames:
            self.check_reserved(renames[-1])
        lake = self.lake(call)
        template = self.template(lake, name)
        fields = dict(template.fields)
        for update in updates:
            self.change(template, fields, update)
        if fields["name"] != name and fields["name"] in lake.templates:
            raise Fault("RuntimeException", "Failed to rename job template from %s to %s under metalake %s, the new name already exists" % (name, fields["name"], lake.name))
        del lake.templates[name]
        template.fields, template.audit = fields, self.touched(template.audit, call.user)
        lake.templates[template.name] = template
        return {"jobTemplate": template.json()}

    def change(self, template, fields, update):
        if update["@type"] == "rename":
            fields["name"] = update["newName"]
        elif update["@type"] == "updateComment":
            fields["comment"] = update["newComment"]
        else:
            new = update["newTemplate"]
            check(new["@type"] == template.kind, "Job template %s is not a %s job template, cannot update to %s template" % (template.name, new["@type"], new["@type"]))
            for key, value in new.items():
                if key != "@type" and value is not None:
                    fields[key[3].lower() + key[4:]] = value

    def delete_template(self, call):
        name = call.args["template"]
        call.about("job template", "DELETE", name, call.args["metalake"])
        self.check_builtin(name, "delete")
        lake = self.lake(call)
        if name not in lake.templates:
            return {"dropped": False}
        runs = [run for run in lake.runs.values() if run.template is lake.templates[name]]
        if any(run.status in ACTIVE for run in runs):
            raise Fault("InUseException", "Job template %s under metalake %s has active jobs associated with it" % (name, lake.name))
        shutil.rmtree(os.path.join(self.staging, lake.name, name), ignore_errors=True)
        for run in runs:
            lake.gone_runs[run.id] = lake.runs.pop(run.id)
        del lake.templates[name]
        return {"dropped": True}

    # -- runs

    def run_of(self, lake, job_id):
        run = lake.runs.get(job_id) or lake.gone_runs.get(job_id)
        if not run:
            raise Fault("NoSuchJobException", "Job with ID %s under metalake %s does not exist" % (job_id, lake.name))
        return run

    def list_runs(self, call):
        call.about("job", "LIST", "", call.args["metalake"])
        lake = self.lake(call)
        wanted = call.query.get("jobTemplateName")
        template = self.template(lake, wanted) if wanted is not None else None
        return {"jobs": self.mix([run.json() for run in lake.runs.values() if template is None or run.template is template])}

    def start_run(self, call):
        body = call.body(record({"jobTemplateName": text, "jobConf": wire.map_of(text)}))
        call.about("job", "RUN", "", call.args["metalake"])
        check(not wire.is_blank(body["jobTemplateName"]), "\"jobTemplateName\" is required and cannot be empty")
        conf = body["jobConf"] or {}
        for key, value in conf.items():
            if value is None:
                raise Fault("RuntimeException", "null value in entry: %s=null" % key)
        lake = self.lake(call)
        template = self.template(lake, body["jobTemplateName"])
        number = self.new_number()
        folder = os.path.join(self.staging, lake.name, template.name, "job-%d" % number)
        os.makedirs(folder)
        run = Run("job-%d" % number, lake, template, folder, None)
        self.prepare(run, conf)
        self.executor.submit(run)
        run.audit = self.audit(call.user)
        lake.runs[run.id] = run
        return {"job": run.json()}

    def prepare(self, run, conf):
        """What is run, from the template and the values; its files are in the staging folder."""
        fields = run.template.fields
        run.executable = fetch(substitute(fields["executable"], conf), run.folder)
        arguments = [substitute(argument, conf) for argument in fields["arguments"]]
        run.environment = substitute_map(fields["environments"], conf)
        substitute_map(fields["customFields"], conf)
        if run.template.kind == "shell":
            for script in fields["scripts"]:
                fetch(substitute(script, conf), run.folder)
            run.command = [run.executable, *arguments]
            return
        run.command = ["--class", substitute(fields["className"], conf)]
        for key in ("jars", "files", "archives"):
            fetched = [fetch(substitute(uri, conf), run.folder) for uri in fields[key]]
            run.command += ["--" + key, ",".join(fetched)] if fetched else []
        for key, value in substitute_map(fields["configs"], conf).items():
            run.command += ["--conf", "%s=%s" % (key, value)]
        run.command += [run.executable, *arguments]

    def get_run(self, call):
        call.about("job", "GET", call.args["job"], call.args["metalake"])
        return {"job": self.run_of(self.lake(call), call.args["job"]).json()}

    def cancel_run(self, call):
        call.about("job", "CANCEL", call.args["job"], call.args["metalake"])
        run = self.run_of(self.lake(call), call.args["job"])
        if run.status in ("queued", "started"):
            self.executor.cancel(run)
            self.tell(run, "cancelling", call.user)
        return {"job": run.json()}

    def tell(self, run, status, user):
        run.status = status
        run.history.append(status)
        run.audit = self.touched(run.audit, user)

    def pull(self):
        """Statuses become what the executor knows. The server does it at its interval; a test may do it, too."""
        with self.lock:
            for lake in self.metalakes.values():
                for run in list(lake.runs.values()) if lake.in_use else ():
                    known = run.own or ("cancelled" if run.status == "cancelling" else "failed")
                    if run.status in ACTIVE and known != run.status:
                        self.tell(run, known, "anonymous")


def builtin_templates(jar):
    """Fields of the templates that every metalake has; jar: a local file that stands for the one they are in."""
    common = {"spark.master": "{{spark_master}}", "spark.executor.instances": "{{spark_executor_instances}}", "spark.executor.cores": "{{spark_executor_cores}}",
              "spark.executor.memory": "{{spark_executor_memory}}", "spark.driver.memory": "{{spark_driver_memory}}"}
    catalog = "spark.sql.catalog.{{catalog_name}}"
    iceberg = {**common, catalog: "org.apache.iceberg.spark.SparkCatalog", catalog + ".type": "{{catalog_type}}", catalog + ".uri": "{{catalog_uri}}",
               catalog + ".warehouse": "{{warehouse_location}}", "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"}
    table = ["--catalog", "{{catalog_name}}", "--table", "{{table_identifier}}"]
    rewrite = table + ["--strategy", "{{strategy}}", "--sort-order", "{{sort_order}}", "--where", "{{where_clause}}", "--options", "{{options}}", "--spark-conf", "{{spark_conf}}"]
    update = table + ["--update-mode", "{{update_mode}}", "--updater-options", "{{updater_options}}", "--spark-conf", "{{spark_conf}}"]
    jobs = "org.apache.gravitino.maintenance.jobs."
    for name, comment, job, arguments, configs in (
            ("sparkpi", "Built-in SparkPi job template", "spark.SparkPiJob", ["{{slices}}"], common),
            ("iceberg-rewrite-data-files", "Built-in Iceberg rewrite data files job template", "iceberg.IcebergRewriteDataFilesJob", rewrite, iceberg),
            ("iceberg-update-stats", "Built-in Iceberg update stats job template", "iceberg.IcebergUpdateStatsAndMetricsJob", update, iceberg)):
        yield {"jobType": "spark", "name": BUILTIN + name, "comment": comment, "executable": jar, "arguments": arguments, "environments": {}, "customFields": {"version": "v1"},
               "className": jobs + job, "jars": [], "files": [], "archives": [], "configs": dict(configs)}
