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

/* Handlers, by noun. */
ebb_api_handler ebb__gravitino_version, ebb__gravitino_health;

#endif
