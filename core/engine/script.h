/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine state: trusted Lua under scripts/ that turns a decision into a job. Strategies and adapters are pure
 * functions on plain data; a value passes by deep copy. One engine per thread.
 */
#ifndef EBB_ENGINE_SCRIPT_H
#define EBB_ENGINE_SCRIPT_H

#include "engine/value.h"

struct ebb_engine;
/* scripts_dir: folder with strategies/ and adapters/; NULL = the installed one (<datadir>/scripts). EBB_ECONFIG when a
 * script is missing or wrong. */
int ebb_engine_new(const char *scripts_dir, struct ebb_engine **out, struct ebb_err *err);
void ebb_engine_free(struct ebb_engine *engine);

/* Decision to job: the strategy that belongs to the action's type turns it into a context, its adapter turns that into
 * the job's configuration. decision_action: ebb_decision_get_action; facts: as given to ebb_decide, plus "now" (ms).
 * *job_config: map with "template" and "config" (map of strings, the keys of the job). EBB_EUNSUPPORTED: no strategy
 * for that action; EBB_EOUTSIDE, EBB_ECUTOFF_FUTURE; EBB_ECONFIG: content or context is not as it must be. */
int ebb_engine_chain(struct ebb_engine *engine, const struct ebb_value *decision_action, const struct ebb_value *facts,
                     struct ebb_value **job_config, struct ebb_err *err);

/* Context of a job to what an engine of this name ("spark", …) is told: a map with template and, where it takes
 * statements, dialect, statement (procedure and arguments as data) and column. EBB_EUNSUPPORTED: no such adapter, or
 * the engine can't do it; EBB_EOUTSIDE, EBB_ECUTOFF_FLOOR, EBB_ECUTOFF_FUTURE, EBB_ESQL. */
int ebb_engine_spec(struct ebb_engine *engine, const char *name, const struct ebb_value *context,
                    struct ebb_value **out, struct ebb_err *err);

/* Check the content of a policy object (as created over REST) against its strategy; strategy:
 * "iceberg-orphan-file-removal". The content with its defaults goes to *out. EBB_ECONFIG names the key;
 * EBB_EUNSUPPORTED: unknown strategy. */
int ebb_engine_validate(struct ebb_engine *engine, const char *strategy, const struct ebb_value *content,
                        struct ebb_value **out, struct ebb_err *err);
/* Evaluate a strategy directly for a policy object. input: map with content, facts, trigger ({kind, events,
 * new_snapshots, last_run}), now. *out: map with due (boolean), why, score and, when due, context. */
int ebb_engine_evaluate(struct ebb_engine *engine, const char *strategy, const struct ebb_value *input,
                        struct ebb_value **out, struct ebb_err *err);

#endif
