# SPDX-License-Identifier: Apache-2.0
"""What the Python client of Gravitino does with a server, as one JSON object; its arguments: URI, metalake, executable."""

import json
import sys
import time

from gravitino import GravitinoClient
from gravitino.api.job.job_template_change import JobTemplateChange, ShellTemplateUpdate
from gravitino.api.job.shell_job_template import ShellJobTemplate
from gravitino.name_identifier import NameIdentifier
from gravitino.namespace import Namespace

uri, metalake, executable = sys.argv[1:4]
FINAL = ("succeeded", "failed", "cancelled")
BUILTIN = "builtin-iceberg-remove-orphan-files"


def raised(call, *args):
    try:
        call(*args)
    except Exception as error:  # the kind is what is told
        return type(error).__name__
    return None


def watch(client, job, until, seconds=60):
    seen = [job.job_status().value]
    end = time.monotonic() + seconds
    while seen[-1] not in until and time.monotonic() < end:
        time.sleep(0.02)
        status = client.get_job(job.job_id()).job_status().value
        if status != seen[-1]:
            seen.append(status)
    return seen


def main():
    client = GravitinoClient(uri=uri, metalake_name=metalake)
    out = {"version": client.get_server_version().version(), "catalogs": client.list_catalogs()}
    catalog = client.load_catalog("lake")
    out["catalog"] = [catalog.name(), catalog.provider(), [c.name() for c in client.list_catalogs_info()] if hasattr(client, "list_catalogs_info") else ["lake"]]
    out["schemas"] = catalog.as_schemas().list_schemas()
    out["schema"] = catalog.as_schemas().load_schema("db").name()
    tables = catalog.as_table_catalog()
    out["tables"] = [t.name() for t in tables.list_tables(Namespace.of("db"))]
    table = tables.load_table(NameIdentifier.of("db", "orders"))
    out["table"] = [table.name(), [[c.name(), c.data_type().simple_string()] for c in table.columns()], table.properties()["format-version"]]
    out["no catalog"] = raised(client.load_catalog, "no")

    template = (ShellJobTemplate.builder().with_name("nap").with_comment("sleeps").with_executable(executable).with_arguments(["{{seconds}}"])
                .with_environments({"WHO": "{{who}}"}).with_custom_fields({"owner": "ops"}).with_scripts([]).build())
    client.register_job_template(template)
    out["again"] = raised(client.register_job_template, template)
    out["templates"] = sorted(t.name for t in client.list_job_templates())
    back = client.get_job_template("nap")
    out["template"] = [back.name, back.comment, back.executable, back.arguments, back.environments, back.custom_fields, back.scripts]
    out["short"] = watch(client, client.run_job("nap", {"seconds": "0", "who": "me"}), FINAL)
    out["bad"] = watch(client, client.run_job("nap", {"seconds": "nonsense", "who": "me"}), FINAL)
    job = client.run_job("nap", {"seconds": "1000", "who": "me"})
    out["begun"] = watch(client, job, ("started",))
    out["in use"] = raised(client.delete_job_template, "nap")
    out["cancelled"] = watch(client, client.cancel_job(job.job_id()), FINAL)
    out["jobs"] = [len(client.list_jobs("nap")), len(client.list_jobs())]
    out["no job"] = raised(client.get_job, "job-1")
    out["no template"] = [raised(client.get_job_template, "no"), raised(client.run_job, "no", {}), raised(client.list_jobs, "no")]
    changed = client.alter_job_template("nap", JobTemplateChange.update_comment("naps"), JobTemplateChange.rename("siesta"),
                                        JobTemplateChange.update_template(ShellTemplateUpdate(new_arguments=["0"])))
    out["changed"] = [changed.name, changed.comment, changed.arguments]
    out["renamed"] = len(client.list_jobs("siesta"))
    out["deleted"] = [client.delete_job_template("siesta"), client.delete_job_template("siesta")]
    conf = {"catalog_name": "lake", "table_identifier": "db.orders", "older_than": "", "location": "", "dry_run": "true", "spark_conf": ""}
    out["removal"] = watch(client, client.run_job(BUILTIN, conf), FINAL)
    out["builtin"] = raised(client.delete_job_template, BUILTIN)
    return out


json.dump(main(), sys.stdout)
