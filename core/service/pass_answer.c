/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "service/pass_question_priv.h"

#define SCOPE "answer"
#define KEPT_MAX_BYTES ((size_t)1 << 20)

static void key_of(const char *policy, const char *uuid, char out[160])
{
    snprintf(out, 160, "%s %s", policy, uuid);
}

int ebb__answer_load(struct ebb_store *store, const char *policy, const char *uuid, struct ebb__answer *out,
                     struct ebb_err *err)
{
    struct ebb_buf json;
    char key[160];
    const char *id;
    bool has = false;
    int rc;

    memset(out, 0, sizeof *out);
    key_of(policy, uuid, key);
    ebb_buf_init(&json, KEPT_MAX_BYTES);
    rc = ebb_store_get_value(store, SCOPE, key, &json, &has, err);
    if (!rc && has)
        ebb_value_of_json("kept answer", json.data, json.len, NULL, &out->kept, NULL); /* damaged: it is asked again */
    id = ebb_value_text_of(out->kept, "decision");
    snprintf(out->decision, sizeof out->decision, "%s", id ? id : "");
    ebb_buf_fini(&json);
    return rc;
}

void ebb__answer_fini(struct ebb__answer *answer)
{
    ebb_value_free(answer->kept);
    answer->kept = NULL;
}

int ebb__answer_holds(const struct ebb__answer *answer, struct ebb__question *q, bool *out, struct ebb_err *err)
{
    const struct ebb_value *kept = answer->kept;
    const char *digest = ebb_value_text_of(kept, "digest");
    int64_t now = q->input.now_ms;
    char now_digest[80];
    int rc;

    *out = false;
    if (!digest || !digest[0] || now < ebb_value_int_of(kept, "at", INT64_MAX) ||
        now >= ebb_value_int_of(kept, "holds_until", 0))
        return 0;
    rc = ebb__question_read(q, (unsigned)ebb_value_int_of(kept, "manifests", 0) & EBB_FACTS_MANIFESTS, err);
    if (!rc)
        rc = ebb_decide_digest(q->policy, &q->input, ebb_value_get(kept, "reads"), now_digest, err);
    *out = !rc && !strcmp(digest, now_digest);
    return rc;
}

static int put(struct ebb_store *store, const char *key, const struct ebb_value *kept, struct ebb_err *err)
{
    struct ebb_buf json;
    int rc;

    ebb_buf_init(&json, KEPT_MAX_BYTES);
    rc = ebb_value_to_json(kept, &json, err);
    if (rc == -(int)EBB_ELIMIT) /* too much was read to be kept */
        rc = ebb_store_put_value(store, SCOPE, key, NULL, err);
    else if (!rc)
        rc = ebb_store_put_value(store, SCOPE, key, ebb_buf_cstr(&json), err);
    ebb_buf_fini(&json);
    return rc;
}

static bool can_hold(const struct ebb__question *q, const struct ebb_decision *decision)
{
    return ebb_decision_get_verdict(decision) == EBB_VERDICT_SKIP && !strcmp(ebb_decision_get_by(decision), "policy") &&
           ebb_decision_get_record(decision) && ebb_decision_get_holds_until_ms(decision) > q->input.now_ms &&
           ebb_decision_get_digest(decision)[0];
}

int ebb__answer_save(struct ebb_store *store, const struct ebb__question *q, const char *uuid,
                     const struct ebb__answer *before, const struct ebb_decision *decision, struct ebb_err *err)
{
    struct ebb_value *record = NULL, *kept;
    const char *json;
    char key[160];
    int rc;

    key_of(ebb_policy_get_name(q->policy), uuid, key);
    if (!can_hold(q, decision))
        return before->kept ? ebb_store_put_value(store, SCOPE, key, NULL, err) : 0;
    json = ebb_decision_get_record(decision);
    rc = ebb_value_of_json("decision", json, strlen(json), NULL, &record, err);
    if (rc)
        return rc;
    kept = ebb_value_new_map(NULL);
    ebb_value_put_str(kept, "decision", q->input.id);
    ebb_value_put_str(kept, "digest", ebb_decision_get_digest(decision));
    ebb_value_put_int(kept, "at", q->input.now_ms);
    ebb_value_put_int(kept, "holds_until", ebb_decision_get_holds_until_ms(decision));
    ebb_value_put_int(kept, "manifests", q->manifests);
    ebb_value_put_copy(kept, "reads", ebb_value_get(record, "reads"));
    rc = ebb_value_check(kept, "answer", err);
    if (!rc)
        rc = put(store, key, kept, err);
    ebb_value_free(kept);
    ebb_value_free(record);
    return rc;
}
