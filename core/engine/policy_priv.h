/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of a loaded policy, shared by loader, settings and evaluator.
 */
#ifndef EBB_ENGINE_POLICY_PRIV_H
#define EBB_ENGINE_POLICY_PRIV_H

#include "engine/bundle_priv.h"
#include "engine/changes_priv.h"
#include "engine/policy.h"
#include "engine/schema_priv.h"
#include "engine/view_priv.h"

#define EBB__TARGETS_MAX 256

struct ebb_policy {
    char *file;
    char *source;
    size_t source_bytes;
    struct ebb__bundle bundle;
    char hash[80];
    struct ebb_value *manifest;
    char *manifest_json;
    struct ebb__field params[EBB_POLICY_PARAMS_MAX]; /* names point into the manifest */
    struct ebb__shape params_shape;
    int trigger_lines[EBB_POLICY_TRIGGERS_MAX];
    struct ebb__movers movers; /* of the source */
};

/* Load from a source, which is taken, with these libraries, which are taken too; libs NULL: those beside the file. */
int ebb__policy_load(const char *file, char *source, size_t n, struct ebb__bundle *libs, struct ebb_policy **out,
                     struct ebb_diagnostics *diags, struct ebb_err *err);
/* Take the names of the parameters from the manifest. */
void ebb__policy_note_params(struct ebb_policy *policy);
/* Check the raw data of the header phase (policy_rules.c). */
void ebb__policy_check(struct ebb__checker *c, const struct ebb_value *raw);
/* Parts of it. */
void ebb__triggers_check(struct ebb__checker *c, const struct ebb_value *triggers);
void ebb__guard_check(struct ebb__checker *c, const struct ebb_value *guard);
void ebb__params_check(struct ebb__checker *c, const struct ebb_value *params);
/* The manifest of the raw data. EBB_ENOMEM. */
int ebb__manifest_make(const struct ebb_value *raw, struct ebb_value **out, struct ebb_err *err);

/* Put a parameter's value, given as written (from_property: always text, plain digits are ms or bytes), into a map in
 * its typed form. type is one of EBB__PARAM_TYPES. EBB_ECONFIG with only the reason. */
#define EBB__PARAM_TYPES "duration|bytes|integer|number|boolean|string|timezone|location"
int ebb__param_parse(const char *type, const struct ebb_value *written, bool from_property, struct ebb_value *out,
                     const char *key, struct ebb_err *err);
/* Check a typed value against min and max of its definition. */
int ebb__param_bounds(const struct ebb_value *definition, const struct ebb_value *typed, struct ebb_err *err);

/* Days as "Mon..Fri", "Sat,Sun": bits, 0 = Sunday. False: not understood. */
bool ebb__days_parse(const char *text, unsigned *out);
/* "HH:MM", 00:00 to 24:00. */
bool ebb__minute_parse(const char *text, int *out);

#endif
