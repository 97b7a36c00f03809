/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans: their candidates, and what people say to them. An approval is kept beside the plan: who, when, and which fuses
 * may be blown. A rejection changes the plan's status, which no claim of a plan passes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"
#include "io/store_jobs.h"
#include "service/api_priv.h"

#define ANSWER_SCOPE "plan-answer"
#define ANSWER_MAX ((size_t)64 << 10)

/* ---- looking ---- */

static int read_answer(const struct ebb_api_call *call, const char *plan, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_buf text;
    bool found;
    int rc;

    *out = NULL;
    ebb_buf_init(&text, ANSWER_MAX);
    rc = ebb_store_get_value(ebb__api_store(call), ANSWER_SCOPE, plan, &text, &found, err);
    if (!rc && found)
        rc = ebb_value_of_json("answer to a plan", text.data, text.len, NULL, out, err);
    ebb_buf_fini(&text);
    return rc;
}

static int show(struct ebb_api_call *call, const struct ebb_record *plan, struct ebb_err *err)
{
    struct ebb_value *answer = NULL;
    struct ebb_jsonw w;
    int rc = read_answer(call, plan->id, &answer, err);

    if (rc)
        return rc;
    ebb_jsonw_init(&w, &call->out);
    ebb__api_record(&w, EBB_RECORD_PLAN, plan, true);
    if (answer && !call->out.bad) { /* one more member */
        call->out.data[--call->out.len] = '\0';
        ebb_buf_puts(&call->out, ",\"answer\":");
        rc = ebb_value_to_json(answer, &call->out, err);
        ebb_buf_putc(&call->out, '}');
    }
    ebb_buf_putc(&call->out, '\n');
    ebb_value_free(answer);
    return rc;
}

static int plan_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__api_taken taken;
    int rc = ebb__api_take(call, EBB_RECORD_PLAN, call->args->items[0], &taken, err);

    if (rc)
        return rc;
    rc = show(call, &taken.record, err);
    ebb__api_taken_fini(&taken);
    return rc;
}

/* ---- candidates ---- */

/* Where the line after the first begins. */
static int first_line_end(int fd, int64_t size, int64_t *out)
{
    char piece[4096];

    for (int64_t at = 0; at < size;) {
        ssize_t n = pread(fd, piece, sizeof piece, at);
        const char *end = n > 0 ? memchr(piece, '\n', (size_t)n) : NULL;

        if (n <= 0)
            return -1;
        if (end) {
            *out = at + (end - piece) + 1;
            return 0;
        }
        at += n;
    }
    return -1;
}

/* Where the last line begins; the file ends in a line feed. */
static int last_line_start(int fd, int64_t size, int64_t *out)
{
    char piece[4096];

    for (int64_t to = size - 1; to > 0;) {
        int64_t from = to > (int64_t)sizeof piece ? to - (int64_t)sizeof piece : 0;
        ssize_t n = pread(fd, piece, (size_t)(to - from), from);

        if (n != to - from)
            return -1;
        for (int64_t i = n; i > 0; i--)
            if (piece[i - 1] == '\n') {
                *out = from + i;
                return 0;
            }
        to = from;
    }
    return -1;
}

/* The lines between the first and the last of a file that was found whole. */
static int send_lines(struct ebb_api_call *call, const char *path, struct ebb_err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return ebb_err_errno(err, errno, "%s", path);
    if (fstat(fd, &st) != 0 || first_line_end(fd, st.st_size, &call->stream_from) ||
        last_line_start(fd, st.st_size, &call->stream_to) || call->stream_to < call->stream_from) {
        close(fd);
        return ebb_err_set(err, EBB_EPLAN, "%s: changed while it was read", path);
    }
    call->stream_fd = fd;
    call->answer_type = "application/x-ndjson";
    return 0;
}

static int candidates_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__api_taken taken;
    struct ebb_plan_file *file = NULL;
    int rc = ebb__api_take(call, EBB_RECORD_PLAN, call->args->items[0], &taken, err);

    if (rc)
        return rc;
    rc = ebb_plan_file_open(ebb_workspace_site(call->ws), taken.record.id, &file, err);
    if (!rc)
        rc = send_lines(call, ebb_plan_file_path(file), err);
    ebb_plan_file_close(file);
    ebb__api_taken_fini(&taken);
    return rc;
}

/* ---- saying something ---- */

static int is_open(const struct ebb_record *plan, struct ebb_err *err)
{
    if (!strcmp(plan->status, "ready") || !strcmp(plan->status, "held"))
        return 0;
    if (!strcmp(plan->status, "applied"))
        return ebb_err_set(err, EBB_EPLAN_APPLIED, "plan %s: was applied already", plan->id);
    ebb_err_set(err, EBB_ERUN_STATE, "plan %s: is %s, neither ready nor held", plan->id, plan->status);
    ebb_err_hint(err, "make a new one: ebb plan %.256s, or POST /api/jobs", plan->table);
    return -(int)EBB_ERUN_STATE;
}

static bool has_text(const struct ebb_value *list, const char *text)
{
    for (size_t i = 0; i < ebb_value_get_count(list); i++)
        if (ebb_value_get_str(ebb_value_get_at(list, i)) && !strcmp(ebb_value_get_str(ebb_value_get_at(list, i)), text))
            return true;
    return false;
}

/* Each fuse that holds the plan must be named. */
static int check_fuses(const struct ebb_record *plan, const struct ebb_value *overrides, struct ebb_err *err)
{
    struct ebb_value *map = NULL;
    const struct ebb_value *held;
    int rc = ebb_value_of_json(plan->id, plan->json, strlen(plan->json), NULL, &map, err);

    held = ebb_value_get(map, "held_by");
    for (size_t i = 0; !rc && i < ebb_value_get_count(held); i++) {
        const char *fuse = ebb_value_get_str(ebb_value_get_at(held, i));

        if (!fuse || has_text(overrides, fuse))
            continue;
        rc = ebb_err_set(err, EBB_EFUSE, "plan %s: is held by %s, which was not named", plan->id, fuse);
        ebb_err_hint(err, "look at the plan; {\"overrides\": [\"%s\"]} says that it may go on all the same", fuse);
    }
    ebb_value_free(map);
    return rc;
}

static int keep_answer(struct ebb_api_call *call, const char *plan, const char *answer, struct ebb_err *err)
{
    struct ebb_buf json;
    struct ebb_jsonw w;
    int rc;

    ebb_buf_init(&json, ANSWER_MAX);
    ebb_jsonw_init(&w, &json);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "answer", answer);
    ebb_jsonw_kstr(&w, "by", call->who.name);
    ebb_jsonw_kbool(&w, "verified", call->who.is_verified);
    ebb__api_time(&w, "at", call->now_ms);
    if (ebb_value_get(call->json, "overrides")) {
        ebb_jsonw_key(&w, "overrides");
        ebb_value_write(ebb_value_get(call->json, "overrides"), &w);
    }
    if (ebb_value_text_of(call->json, "reason"))
        ebb_jsonw_kstr(&w, "reason", ebb_value_text_of(call->json, "reason"));
    ebb_jsonw_end(&w, '}');
    rc = ebb_buf_check(&json, "answer to a plan", err);
    if (!rc)
        rc = ebb_store_put_value(ebb__api_store(call), ANSWER_SCOPE, plan, ebb_buf_cstr(&json), err);
    ebb_buf_fini(&json);
    return rc;
}

static void tell(struct ebb_api_call *call, const struct ebb_record *plan, const char *what)
{
    struct ebb_buf json;
    struct ebb_jsonw w;

    ebb_buf_init(&json, 16384);
    ebb_jsonw_init(&w, &json);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "plan", plan->id);
    ebb_jsonw_kstr(&w, "table", plan->table);
    ebb_jsonw_kstr(&w, "status", what);
    ebb_jsonw_kstr(&w, "by", call->who.name);
    ebb_jsonw_end(&w, '}');
    if (!json.bad)
        ebb_hub_publish(call->hub, "plan", ebb_buf_cstr(&json));
    ebb_buf_fini(&json);
}

static int plan_approve(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__api_taken taken;
    int rc = ebb__api_take(call, EBB_RECORD_PLAN, call->args->items[0], &taken, err);

    if (rc)
        return rc;
    rc = is_open(&taken.record, err);
    if (!rc)
        rc = check_fuses(&taken.record, ebb_value_get(call->json, "overrides"), err);
    if (!rc)
        rc = keep_answer(call, taken.record.id, "approved", err);
    if (!rc)
        rc = show(call, &taken.record, err);
    if (!rc)
        tell(call, &taken.record, "approved");
    ebb__api_taken_fini(&taken);
    return rc;
}

static int plan_reject(struct ebb_api_call *call, struct ebb_err *err)
{
    static const char *const OPEN[] = {"ready", "held", NULL};
    struct ebb__api_taken taken;
    int rc = ebb__api_take(call, EBB_RECORD_PLAN, call->args->items[0], &taken, err);

    if (rc)
        return rc;
    rc = is_open(&taken.record, err);
    if (!rc)
        rc = ebb_store_set_status(ebb__api_store(call), EBB_RECORD_PLAN, taken.record.id, OPEN, "rejected", err);
    taken.record.status = "rejected";
    if (!rc)
        rc = keep_answer(call, taken.record.id, "rejected", err);
    if (!rc)
        rc = show(call, &taken.record, err);
    if (!rc)
        tell(call, &taken.record, "rejected");
    ebb__api_taken_fini(&taken);
    return rc;
}

/* ---- applying ---- */

static void write_config(struct ebb_buf *out, const char *plan, const struct ebb_value *asked,
                         const struct ebb_value *overrides)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "plan", plan);
    if (overrides) {
        ebb_jsonw_key(&w, "overrides");
        ebb_value_write(overrides, &w);
    }
    if (ebb_value_bool_of(asked, "delete", false))
        ebb_jsonw_kbool(&w, "delete", true);
    if (ebb_value_text_of(asked, "verify"))
        ebb_jsonw_kstr(&w, "verify", ebb_value_text_of(asked, "verify"));
    ebb_jsonw_end(&w, '}');
}

static int queue_apply(struct ebb_api_call *call, const struct ebb_record *plan, const struct ebb_value *overrides,
                       struct ebb_err *err)
{
    struct ebb_job_record job = {.kind = "apply", .table = plan->table, .uuid = plan->uuid, .policy = plan->policy};
    struct ebb_buf json;
    int rc;

    ebb_buf_init(&json, ANSWER_MAX);
    write_config(&json, plan->id, call->json, overrides);
    job.parent = plan->id;
    job.json = ebb_buf_cstr(&json);
    rc = ebb_buf_check(&json, "job", err);
    if (!rc)
        rc = ebb__api_put_job(call, &job, err);
    ebb_buf_fini(&json);
    return rc;
}

/* The overrides are those that are named now, else those of an approval. */
static int plan_apply(struct ebb_api_call *call, struct ebb_err *err)
{
    const struct ebb_value *overrides = ebb_value_get(call->json, "overrides");
    struct ebb_value *answer = NULL;
    struct ebb__api_taken taken;
    int rc;

    if (ebb_value_bool_of(call->json, "delete", false) && call->who.role < EBB_ROLE_ADMIN) {
        call->status = 403;
        return ebb_err_set(err, EBB_EPERMISSION, "delete: the role admin is wanted, since it can't be undone");
    }
    rc = ebb__api_take(call, EBB_RECORD_PLAN, call->args->items[0], &taken, err);
    if (rc)
        return rc;
    rc = read_answer(call, taken.record.id, &answer, err);
    if (!overrides)
        overrides = ebb_value_get(answer, "overrides");
    if (!rc && (!call->idempotency_key || !strcmp(taken.record.status, "rejected")))
        rc = is_open(&taken.record, err);
    if (!rc && is_open(&taken.record, NULL) == 0)
        rc = check_fuses(&taken.record, overrides, err);
    if (!rc)
        rc = queue_apply(call, &taken.record, overrides, err);
    ebb_value_free(answer);
    ebb__api_taken_fini(&taken);
    return rc;
}

#define OVERRIDES                                                                                                      \
    "'overrides':{'type':'array','maxItems':16,'description':'fuses that hold the plan and may be blown','items':{"    \
    "'type':'string','enum':['max_files','max_bytes','max_share','zero_overlap','missing_files']}}"

const struct ebb_route EBB__API_RECORD_ROUTES[] = {
    {"GET", "/api/decisions", EBB_ROLE_VIEW, ebb__api_decisions_get, "What policies decided",
     "{'parameters':[" EBB__API_LIST_PARAMETERS
     "{'name':'verdict','in':'query','schema':{'type':'string','enum':['run','skip','defer','refused','error']}}],"
     "'answer':{'200':{'$ref':'#/components/schemas/Decisions'}}}"},
    {"GET", "/api/decisions/{id}", EBB_ROLE_VIEW, ebb__api_decision_get, "A decision with its record",
     "{'answer':{'200':{'$ref':'#/components/schemas/Decision'}}}"},
    {"GET", "/api/decisions/{id}/explanation", EBB_ROLE_VIEW, ebb__api_explain_get,
     "A decision with its checks and guards, and the plans and runs that came of it",
     "{'answer':{'200':{'$ref':'#/components/schemas/Explanation'}}}"},
    {"GET", "/api/plans", EBB_ROLE_VIEW, ebb__api_plans_get, "Plans",
     "{'parameters':[" EBB__API_LIST_PARAMETERS
     "{'name':'status','in':'query','schema':{'type':'string','enum':['ready','held',"
     "'empty','applied','rejected']}},{'name':'decision','in':'query','schema':{'type':'string','maxLength':64}}],"
     "'answer':{'200':{'$ref':'#/components/schemas/Plans'}}}"},
    {"GET", "/api/plans/{id}", EBB_ROLE_VIEW, plan_get, "A plan with its record, and what was said to it",
     "{'answer':{'200':{'$ref':'#/components/schemas/Plan'}}}"},
    {"GET", "/api/plans/{id}/candidates", EBB_ROLE_VIEW, candidates_get, "The files that the plan names, one a line",
     "{'responses':{'200':{'description':'JSON lines as in the plan "
     "file','content':{'application/x-ndjson':{'schema':"
     "{'type':'string'}}}}},'errors':[422]}"},
    {"POST", "/api/plans/{id}/approve", EBB_ROLE_OPERATE, plan_approve, "Say that a plan may be applied",
     "{'description':'Nothing is applied by it. A held plan needs its fuses named.'," EBB__API_OPTIONAL_BODY(
         OVERRIDES
         ",'reason':{'type':'string','maxLength':1000}") "'answer':{'200':{'$ref':'#/components/schemas/Plan'}},"
                                                         "'errors':[409,422]}"},
    {"POST", "/api/plans/{id}/reject", EBB_ROLE_OPERATE, plan_reject, "Say that a plan is never to be applied",
     "{" EBB__API_OPTIONAL_BODY(
         "'reason':{'type':'string','maxLength':1000}") "'answer':{'200':{'$ref':"
                                                        "'#/components/schemas/Plan'}},'errors':[409,422]}"},
    {"POST", "/api/plans/{id}/apply", EBB_ROLE_OPERATE, plan_apply, "Apply a plan: a job that does it",
     "{'description':'The same checks as on the command line. delete wants the role admin. Without overrides those "
     "of "
     "an "
     "approval count.'," EBB__API_ONCE EBB__API_OPTIONAL_BODY(
         OVERRIDES ",'delete':{'type':'boolean','description':'for good, instead of "
                   "into quarantine'},'verify':{'type':'string','enum':['full','sample','none']}") EBB__API_QUEUED
     ",'errors':[409,422]}"},
    {NULL, NULL, EBB_ROLE_NONE, NULL, NULL, NULL},
};
