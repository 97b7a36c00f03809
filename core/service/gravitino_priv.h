/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of the interface that is compatible with Gravitino 1.3: answers, faults and request bodies, shared by the
 * handlers of its nouns. A handler makes its whole answer; what it returns besides is an error of this process.
 */
#ifndef EBB_SERVICE_GRAVITINO_PRIV_H
#define EBB_SERVICE_GRAVITINO_PRIV_H

#include "format/json.h"
#include "io/store_jobs.h"
#include "io/store_objects.h"
#include "format/metadata.h"
#include "service/api.h"

#define EBB__GRAVITINO_VERSION "1.3.1" /* of the interface, not of ebb: clients refuse an older one than their own */
#define EBB__GRAVITINO_BODY_MAX ((size_t)64 * 1024 * 1024)

/* X(symbol, HTTP status, code, type). */
#define EBB__FAULTS(X)                                                                                                 \
    X(ARGUMENT, 400, 1001, "IllegalArgumentException")                                                                 \
    X(STATISTIC_NAME, 400, 1001, "IllegalStatisticNameException")                                                      \
    X(TEMPLATE_OPERATION, 400, 1001, "IllegalJobTemplateOperationException")                                           \
    X(RUNTIME, 500, 1002, "RuntimeException")                                                                          \
    X(NO_METALAKE, 404, 1003, "NoSuchMetalakeException")                                                               \
    X(NO_CATALOG, 404, 1003, "NoSuchCatalogException")                                                                 \
    X(NO_SCHEMA, 404, 1003, "NoSuchSchemaException")                                                                   \
    X(NO_TABLE, 404, 1003, "NoSuchTableException")                                                                     \
    X(NO_OBJECT, 404, 1003, "NoSuchMetadataObjectException")                                                           \
    X(NO_POLICY, 404, 1003, "NoSuchPolicyException")                                                                   \
    X(NO_TEMPLATE, 404, 1003, "NoSuchJobTemplateException")                                                            \
    X(NO_JOB, 404, 1003, "NoSuchJobException")                                                                         \
    X(POLICY_EXISTS, 409, 1004, "PolicyAlreadyExistsException")                                                        \
    X(POLICY_TIED, 409, 1004, "PolicyAlreadyAssociatedException")                                                      \
    X(TEMPLATE_EXISTS, 409, 1004, "JobTemplateAlreadyExistsException")                                                 \
    X(UNSUPPORTED, 405, 1006, "UnsupportedOperationException")                                                         \
    X(CONNECTION, 502, 1007, "ConnectionFailedException")                                                              \
    X(FORBIDDEN, 403, 1008, "ForbiddenException")                                                                      \
    X(IN_USE, 409, 1010, "InUseException")                                                                             \
    X(UNAUTHORIZED, 401, 1011, "UnauthorizedException")

enum ebb__fault {
#define X(symbol, status, code, type) EBB__FAULT_##symbol,
    EBB__FAULTS(X)
#undef X
};

/* The answer is made: unwinds like an error; ebb__gravitino_done makes 0 of it. */
#define EBB__ANSWERED 1

/* What an error message says of the request: "Failed to operate table(s) [orders] operation [LOAD] under schema
 * [shop], reason […]". Without under_noun nothing is said of where. */
struct ebb__subject {
    const char *noun, *name, *operation, *under_noun, *under;
};

/* Answer with a fault. subject NULL: the text alone. Always EBB__ANSWERED. */
int ebb__gravitino_fail(struct ebb_api_call *call, enum ebb__fault fault, const struct ebb__subject *subject,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));
/* 400 "Malformed json request"; the reason is only in the stack. */
int ebb__gravitino_malformed(struct ebb_api_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Without "stack", as some answers are. */
int ebb__gravitino_fail_bare(struct ebb_api_call *call, enum ebb__fault fault, const struct ebb__subject *subject,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));
/* An error of this process, told with the subject: 500, or what the error is over this interface. */
int ebb__gravitino_fail_err(struct ebb_api_call *call, const struct ebb__subject *subject, const struct ebb_err *err);

/* A good answer: {"code":0 … }; the caller writes further members in between. */
void ebb__gravitino_begin(struct ebb_api_call *call, struct ebb_jsonw *w);
int ebb__gravitino_end(struct ebb_api_call *call, struct ebb_jsonw *w, struct ebb_err *err);
/* {"code":0}, and {"code":0,"dropped":…}. */
int ebb__gravitino_ok(struct ebb_api_call *call, struct ebb_err *err);
int ebb__gravitino_dropped(struct ebb_api_call *call, bool dropped, struct ebb_err *err);
/* "names":[…]. */
void ebb__gravitino_names(struct ebb_jsonw *w, const struct ebb_strs *names);
/* What a handler returns. */
int ebb__gravitino_done(int rc);
/* "audit":{…}; modifier "" is left out. */
void ebb__gravitino_audit(struct ebb_jsonw *w, const char *creator, int64_t created_ms, const char *modifier,
                          int64_t modified_ms);

/* Since when what the configuration says is known: for the audit of what nobody made over the interface. */
int64_t ebb__gravitino_since(const struct ebb_api_call *call);
/* An identifier: {"namespace":[…],"name":…}; the namespace ends with NULL. */
void ebb__gravitino_identifier(struct ebb_jsonw *w, const char *const *namespace_, const char *name);

/* Part of the path by place, "" when there is none; the metalake is part 0. */
const char *ebb__gravitino_arg(const struct ebb_api_call *call, size_t index);
/* Whether the query says so ("details=true"). */
bool ebb__gravitino_asks(const struct ebb_api_call *call, const char *key);
/* The metalake of the path must be the one that is served. EBB__ANSWERED: it is not. */
int ebb__gravitino_metalake(struct ebb_api_call *call);

/* The body as a tree. EBB__ANSWERED: it is no JSON object, or has members besides these ("|a|b|"). Members that are
 * null are missing. */
int ebb__gravitino_body(struct ebb_api_call *call, const char *members, struct ebb_value **out, struct ebb_err *err);
/* Check the members of a map inside of the body, and kinds. EBB__ANSWERED. */
int ebb__gravitino_members(struct ebb_api_call *call, const struct ebb_value *map, const char *members);
/* *out gets the text under a key, NULL when it is missing; a list of texts is added to out; a map's values are texts.
 * EBB__ANSWERED: it is something else. */
int ebb__gravitino_text(struct ebb_api_call *call, const struct ebb_value *map, const char *key, const char **out);
int ebb__gravitino_texts(struct ebb_api_call *call, const struct ebb_value *map, const char *key, struct ebb_strs *out,
                         struct ebb_err *err);
int ebb__gravitino_text_map(struct ebb_api_call *call, const struct ebb_value *map, const char *key);
int ebb__gravitino_bool(struct ebb_api_call *call, const struct ebb_value *map, const char *key, bool otherwise,
                        bool *out);

/* ---- what the catalogs hold (gravitino_catalog.c) ---- */

/* "catalog", "schema", "table" in any case. */
enum ebb__place_kind { EBB__PLACE_CATALOG, EBB__PLACE_SCHEMA, EBB__PLACE_TABLE, EBB__PLACE_OTHER };
/* A place that objects can be tied to: kind and dotted name, with its parts. */
struct ebb__place {
    enum ebb__place_kind kind;
    char *full_name;                    /* "lake.shop.orders" */
    char *catalog, *namespace_, *table; /* NULL where the kind has none */
};
void ebb__place_fini(struct ebb__place *place);
const char *ebb__place_name(enum ebb__place_kind kind);
/* Read type and full name (parts 1 and 2 of the path) and look whether there is such a thing. EBB__ANSWERED: no such
 * type, no such name. operation: for messages. */
int ebb__gravitino_place(struct ebb_api_call *call, const char *noun, const char *operation, struct ebb__place *out,
                         struct ebb_err *err);
/* The catalog of a name, or NULL. */
struct ebb_catalog *ebb__gravitino_find_catalog(const struct ebb_api_call *call, const char *name);
/* Whether a schema (dotted) holds tables or other schemas. */
int ebb__gravitino_has_schema(const struct ebb_api_call *call, const char *catalog, const char *schema, bool *out,
                              struct ebb_err *err);
/* Part `index` of the path is a catalog, the one after it a schema. EBB__ANSWERED: there is none. */
int ebb__gravitino_need_catalog(struct ebb_api_call *call, struct ebb_catalog **out);
int ebb__gravitino_need_schema(struct ebb_api_call *call);

/* ---- columns (gravitino_type.c) ---- */

/* A type of the table format as it is written here. */
void ebb__gravitino_type(struct ebb_jsonw *w, const struct ebb_value *type, int depth);
/* Members "columns", "partitioning", "sortOrders" of a table. */
int ebb__gravitino_layout(struct ebb_jsonw *w, const struct ebb_metadata *metadata, struct ebb_err *err);

/* ---- policies ---- */

/* Check the content of a policy by its type (in any case) and give type and content as they are kept. All unknown
 * types are read as custom first. EBB__ANSWERED. (gravitino_content.c) */
int ebb__gravitino_content(struct ebb_api_call *call, const struct ebb__subject *subject, const char *type,
                           const struct ebb_value *content, const char **kept_type, struct ebb_value **out,
                           struct ebb_err *err);
/* A policy as an object; inherited: "null", "true", "false" (gravitino_policy.c). */
int ebb__gravitino_write_policy(struct ebb_jsonw *w, const struct ebb_object *object, const char *inherited,
                                struct ebb_err *err);

/* A copy of an object of the store; free with _fini. */
struct ebb__entity {
    struct ebb_object object; /* texts are owned */
    struct ebb_value *json;
};
int ebb__entity_of(const struct ebb_object *object, struct ebb__entity *out, struct ebb_err *err);
void ebb__entity_fini(struct ebb__entity *entity);
/* EBB_ENOT_FOUND when there is none. */
int ebb__entity_get(const struct ebb_api_call *call, enum ebb_object_kind kind, const char *name,
                    struct ebb__entity *out, struct ebb_err *err);
/* Store the document as it is now, under another name when new_name is not NULL, as changed by who asks. */
int ebb__entity_save(const struct ebb_api_call *call, const struct ebb__entity *entity, const struct ebb_value *json,
                     const char *new_name, struct ebb_err *err);
/* Store a new one, made by who asks. EBB_EEXIST. */
int ebb__entity_add(const struct ebb_api_call *call, enum ebb_object_kind kind, const char *name,
                    const struct ebb_value *json, struct ebb_err *err);
struct ebb_store *ebb__gravitino_store(const struct ebb_api_call *call);

/* PUT {"updates":[…]} of policies and job templates (gravitino_alter.c): rename and updateComment are the same for
 * both, the third update is the kind's own. What these return is as of handlers: EBB__ANSWERED unwinds. */
struct ebb__alter_kind {
    const char *third; /* its @type */
    int (*change)(struct ebb_api_call *call, const struct ebb__subject *subject, struct ebb_value *json,
                  const struct ebb_value *update, struct ebb_err *err);
    int (*find)(struct ebb_api_call *call, const struct ebb__subject *subject, struct ebb__entity *out,
                struct ebb_err *err);
    int (*check_name)(struct ebb_api_call *call, const struct ebb__subject *subject, const char *name);
    int (*taken)(struct ebb_api_call *call, const struct ebb__subject *subject, const char *name);
    int (*answer)(struct ebb_api_call *call, const struct ebb__entity *entity, struct ebb_err *err);
    bool is_policy; /* the daemon is told */
};
int ebb__alter(struct ebb_api_call *call, const struct ebb__alter_kind *kind, const struct ebb__subject *subject,
               struct ebb_err *err);
/* Whether a text names anything: not empty, no more than 256 bytes. EBB__ANSWERED. */
int ebb__gravitino_check_name(struct ebb_api_call *call, const struct ebb__subject *subject, const char *what,
                              const char *name);

/* Tell the daemon (nothing without one). */
void ebb__gravitino_tell(const struct ebb_api_call *call, enum ebb_note note, const char *text);

/* ---- job templates and runs ---- */

#define EBB__TEMPLATE_ORPHANS "builtin-iceberg-remove-orphan-files"
#define EBB__TEMPLATE_PREFIX "builtin-"
/* The template of a name, a built-in one too (number 0). EBB_ENOT_FOUND. */
int ebb__template_get(const struct ebb_api_call *call, const char *name, struct ebb__entity *out, struct ebb_err *err);
/* Put the values of a jobConf (map of texts) into a text with {{placeholders}}, in one pass, the way Gravitino does:
 * what has no value stays as it is, a backslash in a value makes the next character plain, a '$' begins a reference:
 * $0 is the placeholder, $1 its name. A bad reference is EBB_EUSAGE with Gravitino's text. (gravitino_fill.c) */
int ebb__template_fill(const char *text, const struct ebb_value *conf, struct ebb_buf *out, struct ebb_err *err);

/* Shared by the files of templates: members by type, reading them, and answers. */
struct ebb__template_member {
    const char *name, *update; /* in a template, in an update */
    enum ebb_value_kind kind;  /* a text, a list of texts, a map of texts */
    const char *type;          /* NULL: of all */
};
extern const struct ebb__template_member EBB__TEMPLATE_MEMBERS[]; /* name NULL ends; those of all types come first */
const char *ebb__template_type(const char *text); /* "shell", "spark" of a text in any case; NULL: neither */
struct ebb__subject ebb__template_subject(const struct ebb_api_call *call, const char *name, const char *operation);
/* Take a member that stands under a key into a document. EBB__ANSWERED. */
int ebb__template_take(struct ebb_api_call *call, const struct ebb_value *from, const char *key,
                       const struct ebb__template_member *member, struct ebb_value *to, struct ebb_err *err);
/* EBB__ANSWERED: the name is one of those that only ebb gives. */
int ebb__template_refuse_builtin(struct ebb_api_call *call, const struct ebb__subject *subject, const char *name);
/* EBB__ANSWERED: another one has the name. */
int ebb__template_is_taken(struct ebb_api_call *call, const struct ebb__subject *subject, const char *name);
/* As ebb__template_get, but what is not there, or another metalake, is answered. */
int ebb__template_find(struct ebb_api_call *call, const struct ebb__subject *subject, struct ebb__entity *out,
                       struct ebb_err *err);
int ebb__template_answer(struct ebb_api_call *call, const struct ebb__entity *template_, struct ebb_err *err);

/* What is asked for by POST …/runs. */
struct ebb__run_request {
    char *template_;
    struct ebb_value *conf; /* map of texts */
};
/* EBB__ANSWERED: the body is no such request. (gravitino_run_request.c) */
int ebb__run_request_read(struct ebb_api_call *call, struct ebb__run_request *out, struct ebb_err *err);
void ebb__run_request_fini(struct ebb__run_request *request);
int ebb__run_no_template(struct ebb_api_call *call, const char *name, const char *operation);
/* {"code":0,"job":{…}} under the name that its template has now. */
int ebb__run_answer(struct ebb_api_call *call, const struct ebb_job_record *job, const char *template_,
                    struct ebb_err *err);
/* The answer to what is wrong with a run that is asked for. */
int ebb__run_refuse(struct ebb_api_call *call, enum ebb__fault fault, const char *why);

/* Handlers, by noun. */
ebb_api_handler ebb__gravitino_version, ebb__gravitino_health;
ebb_api_handler ebb__gravitino_metalakes_list, ebb__gravitino_metalake_get;
ebb_api_handler ebb__gravitino_catalogs_list, ebb__gravitino_catalog_get;
ebb_api_handler ebb__gravitino_schemas_list, ebb__gravitino_schema_get;
ebb_api_handler ebb__gravitino_tables_list, ebb__gravitino_table_get, ebb__gravitino_partitions_get;
ebb_api_handler ebb__gravitino_policies_list, ebb__gravitino_policy_create, ebb__gravitino_policy_get;
ebb_api_handler ebb__gravitino_policy_alter, ebb__gravitino_policy_set, ebb__gravitino_policy_delete;
ebb_api_handler ebb__gravitino_policy_objects;
ebb_api_handler ebb__gravitino_statistics_list, ebb__gravitino_statistics_put, ebb__gravitino_statistics_drop;
ebb_api_handler ebb__gravitino_part_statistics_list, ebb__gravitino_part_statistics_put;
ebb_api_handler ebb__gravitino_part_statistics_drop;
ebb_api_handler ebb__gravitino_templates_list, ebb__gravitino_template_add, ebb__gravitino_template_get;
ebb_api_handler ebb__gravitino_template_alter, ebb__gravitino_template_delete;
ebb_api_handler ebb__gravitino_runs_list, ebb__gravitino_run_start, ebb__gravitino_run_get, ebb__gravitino_run_cancel;
ebb_api_handler ebb__gravitino_ties_list, ebb__gravitino_ties_change, ebb__gravitino_tie_get;

#endif
