/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/api.h"

#include <stdlib.h>

#include "engine/lint_priv.h"

/* clang-format off */
static const struct ebb_api_entry ENTRIES[] = {
    {"action", "library", "table", "both", "Constructors of actions."},
    {"action.expire_snapshots", "function", "(arguments: ebb.action.expire_snapshots): ebb.action", "both", "Expires snapshots."},
    {"action.expire_snapshots.clean_expired_metadata", "key", "boolean?", "both", "Remove specs and schemas that nothing uses any more."},
    {"action.expire_snapshots.older_than", "key", "ebb.instant?", "both", "Snapshots older than this."},
    {"action.expire_snapshots.retain_last", "key", "integer?", "both", "Keep at least so many."},
    {"action.expire_snapshots.snapshot_ids", "key", "ebb.id[]?", "both", "These snapshots."},
    {"action.remove_orphan_files", "function", "(arguments: ebb.action.remove_orphan_files): ebb.action", "both", "Removes files that no snapshot references."},
    {"action.remove_orphan_files.dry_run", "key", "boolean?", "both", "Plan only, whatever the mode of the binding."},
    {"action.remove_orphan_files.equal_authorities", "key", "table<string, string>?", "both", "Authorities that mean the same."},
    {"action.remove_orphan_files.equal_schemes", "key", "table<string, string>?", "both", "Schemes that mean the same, as { s3a = \"s3\" }."},
    {"action.remove_orphan_files.keep", "key", "string|string[]|nil", "both", "Globs over names below the location: what one takes is never a candidate."},
    {"action.remove_orphan_files.location", "key", "string?", "both", "A folder inside the table's location; by default all of it."},
    {"action.remove_orphan_files.older_than", "key", "ebb.instant", "both", "Required: only files older than this are candidates."},
    {"action.remove_orphan_files.prefix_mismatch", "key", "\"error\"|\"ignore\"|\"delete\"|nil", "both", "What to do about a file that differs from a referenced one in scheme or authority only."},
    {"action.rewrite_data_files", "function", "(arguments: ebb.action.rewrite_data_files): ebb.action", "both", "Compacts data files."},
    {"action.rewrite_data_files.delete_ratio", "key", "number?", "both", "Rewrite a file when this share of its rows is deleted."},
    {"action.rewrite_data_files.partial_progress", "key", "table?", "both", "As { commits = 10 }."},
    {"action.rewrite_data_files.partitions", "key", "string[]?", "both", "Keys of the partitions; by default all."},
    {"action.rewrite_data_files.sort_order", "key", "string?", "both", "For the strategy sort."},
    {"action.rewrite_data_files.strategy", "key", "\"binpack\"|\"sort\"|nil", "both", "How."},
    {"action.rewrite_data_files.target_file_size", "key", "ebb.bytes?", "both", "Size that the files should have."},
    {"action.rewrite_manifests", "function", "(arguments: ebb.action.rewrite_manifests): ebb.action", "both", "Rewrites manifests."},
    {"action.rewrite_manifests.spec_id", "key", "integer?", "both", "Manifests of this partition spec."},
    {"all", "function", "(parts: ebb.check[]): ebb.check", "decide", "False if any part is false, else unknown if any is unknown, else true."},
    {"any", "function", "(parts: ebb.check[]): ebb.check", "decide", "True if any part is true, else unknown if any is unknown, else false."},
    {"assert", "function", "(value: any, message?: any): any", "both", "Raises an error when value is false or nil."},
    {"bytes_h", "function", "(n: number?): string", "both", "A size for people: 1.5 GiB."},
    {"check", "class", "ebb.check", "decide", "The result of a check or combination."},
    {"check", "function", "(name: string, actual: any, op: ebb.op, limit?: any): ebb.check", "decide", "Compares, records, and gives a check; with nil it is unknown."},
    {"check.name", "field", "string", "decide", "Its name."},
    {"check.ok", "field", "boolean", "decide", "Whether it is true; unknown is not."},
    {"check.result", "field", "string", "decide", "true, false or unknown."},
    {"check_each", "function", "(name: string, key: string|integer, actual: any, op: ebb.op, limit?: any): boolean", "decide", "The same for one of many; explain groups them by name."},
    {"clamp", "function", "(x: number?, low: number, high: number): number?", "both", "x within low and high."},
    {"ctx", "class", "ebb.context", "decide", "All that is no fact of the table."},
    {"ctx.events", "field", "ebb.events", "decide", "Events of this table."},
    {"ctx.events.count", "method", "(options: { [1]: string, since?: ebb.since, where?: fun(e: ebb.event): boolean? }): integer?", "decide", "How many; nil when nothing tells of such events."},
    {"ctx.events.list", "method", "(options: { [1]: string, since?: ebb.since, where?: fun(e: ebb.event): boolean? }): ebb.event[]", "decide", "The events of a type, oldest first."},
    {"ctx.fleet", "field", "table<string, any>", "decide", "Slots and budgets as seen at this instant."},
    {"ctx.now", "field", "ebb.instant", "decide", "The instant of the decision; it does not move."},
    {"ctx.params", "field", "table<string, any>", "decide", "The policy's parameters: durations in ms, sizes in bytes."},
    {"ctx.runs", "field", "ebb.runs", "decide", "History of this policy on this table."},
    {"ctx.runs.conflicts", "method", "(options?: { since?: ebb.since, within?: ebb.since }): integer?", "decide", "How many commit conflicts the runs met."},
    {"ctx.runs.count", "method", "(options?: { since?: ebb.since, within?: ebb.since, outcome?: string }): integer?", "decide", "How many runs there were."},
    {"ctx.runs.failed_in_a_row", "field", "integer?", "decide", "Failures since the last good run; nil where the history is not known."},
    {"ctx.runs.last", "field", "ebb.run?", "decide", "The last run that started."},
    {"ctx.runs.last_success", "field", "ebb.run?", "decide", "The last good one."},
    {"ctx.runs.since_partition", "method", "(key: string): ebb.duration?", "decide", "Time since a run took the partition; since 1970 when none did."},
    {"ctx.trigger", "field", "ebb.trigger", "decide", "Why the policy decides now."},
    {"ctx.trigger.events", "field", "ebb.event[]?", "decide", "The events of this occurrence."},
    {"ctx.trigger.kind", "field", "string", "decide", "time, event, count, manual, catch_up or deferred."},
    {"ctx.trigger.missed", "field", "integer?", "decide", "How many earlier occurrences this one stands for."},
    {"ctx.trigger.scheduled_for", "field", "ebb.instant?", "decide", "The nominal time."},
    {"defer", "function", "(checks: ebb.check, instant: ebb.instant, why?: string): ebb.result", "decide", "Decides to look again at an instant, at most a year ahead."},
    {"error", "function", "(message: any, level?: integer)", "both", "Raises an error: the policy has failed, and that is never a run."},
    {"event", "open", "ebb.event", "decide", "An event of the table; types may have more fields."},
    {"event.at", "field", "ebb.instant", "decide", "When it happened."},
    {"event.id", "field", "string?", "decide", "Its id."},
    {"event.received", "field", "ebb.instant?", "decide", "When it was told; nil for commits that are read off the table."},
    {"event.source", "field", "string?", "decide", "Who told."},
    {"event.type", "field", "string", "decide", "Its type, as snapshot.committed."},
    {"fmt", "function", "(format: string, ...: any): string", "both", "Formats %s %d %f %g %x and %%."},
    {"glob", "function", "(pattern: string, s: string): boolean", "both", "Whether a text fits: * is any run of characters, ? one byte."},
    {"group_by", "function", "(list: any[], f: ebb.projection): table<any, any[]>", "both", "Lists of items by f, in their order."},
    {"hash", "function", "(key: string|integer, n: integer): integer", "both", "A fixed number from 0 to n - 1: the only kind of chance there is."},
    {"ipairs", "function", "(list: any[]): function, any[], integer", "both", "Iterates a list."},
    {"iso", "function", "(instant: ebb.instant?): string", "both", "An instant as 2026-06-01T00:00:00Z."},
    {"math", "library", "table", "both", "As in Lua, without random."},
    {"math.abs", "function", "(x: number): number", "both", "Absolute value."},
    {"math.acos", "function", "(x: number): number", "both", "Arc cosine."},
    {"math.asin", "function", "(x: number): number", "both", "Arc sine."},
    {"math.atan", "function", "(y: number, x?: number): number", "both", "Arc tangent."},
    {"math.ceil", "function", "(x: number): integer", "both", "Rounded up."},
    {"math.cos", "function", "(x: number): number", "both", "Cosine."},
    {"math.deg", "function", "(x: number): number", "both", "Radians as degrees."},
    {"math.exp", "function", "(x: number): number", "both", "Power of e."},
    {"math.floor", "function", "(x: number): integer", "both", "Rounded down."},
    {"math.fmod", "function", "(x: number, y: number): number", "both", "Remainder, rounded to zero."},
    {"math.huge", "field", "number", "both", "Infinity."},
    {"math.log", "function", "(x: number, base?: number): number", "both", "Logarithm."},
    {"math.max", "function", "(x: number, ...: number): number", "both", "The greatest."},
    {"math.maxinteger", "field", "integer", "both", "The greatest integer."},
    {"math.min", "function", "(x: number, ...: number): number", "both", "The least."},
    {"math.mininteger", "field", "integer", "both", "The least integer."},
    {"math.modf", "function", "(x: number): number, number", "both", "Whole and fractional part."},
    {"math.pi", "field", "number", "both", "3.14159…"},
    {"math.rad", "function", "(x: number): number", "both", "Degrees as radians."},
    {"math.sin", "function", "(x: number): number", "both", "Sine."},
    {"math.sqrt", "function", "(x: number): number", "both", "Square root."},
    {"math.tan", "function", "(x: number): number", "both", "Tangent."},
    {"math.tointeger", "function", "(x: any): integer?", "both", "As an integer when it is whole."},
    {"math.type", "function", "(x: any): string?", "both", "integer, float or nil."},
    {"math.ult", "function", "(a: integer, b: integer): boolean", "both", "Unsigned comparison."},
    {"max_by", "function", "(list: any[], f: ebb.projection): any, any", "both", "The item with the greatest f, and that value."},
    {"min_by", "function", "(list: any[], f: ebb.projection): any, any", "both", "The item with the least f, and that value; the first of equals."},
    {"none", "function", "(parts: ebb.check[]): ebb.check", "decide", "The opposite of any."},
    {"note", "function", "(...: any)", "decide", "Adds a line to the explanation: at most 64, 4 KiB in all."},
    {"on", "library", "table", "header", "Event triggers."},
    {"on.count", "function", "(arguments: ebb.on.count): ebb.trigger_rule", "header", "Fires after so many commits, counted in the snapshot log."},
    {"on.count.[1]", "key", "string", "header", "The event type, as snapshot.committed."},
    {"on.count.late_by", "key", "string|ebb.param|nil", "header", "How late it may still start; by default until the next one."},
    {"on.count.n", "key", "integer|ebb.param", "header", "Required: how many."},
    {"on.count.since", "key", "\"last_run\"|\"last_success\"|nil", "header", "Counted from here on."},
    {"on.event", "function", "(arguments: ebb.on.event): ebb.trigger_rule", "header", "Fires on an event of a type."},
    {"on.event.[1]", "key", "string", "header", "The event type."},
    {"on.event.debounce", "key", "string|ebb.param|nil", "header", "Wait until there was none for so long."},
    {"on.event.late_by", "key", "string|ebb.param|nil", "header", "How late it may still start; by default until the next one."},
    {"on.event.max_hold", "key", "string|ebb.param|nil", "header", "But no longer than this after the first."},
    {"on.event.where", "key", "(fun(e: ebb.event): boolean?)?", "header", "Takes an event or not; by default every one."},
    {"pairs", "function", "(map: table): function, table, any", "both", "Iterates in order: integers ascending, then strings bytewise."},
    {"param", "function", "(name: string): ebb.param", "header", "A parameter as a value of triggers and guards."},
    {"partition", "class", "ebb.partition", "decide", "Statistics of a partition."},
    {"partition.avg_file", "field", "ebb.bytes", "decide", "Mean size of a data file."},
    {"partition.bytes", "field", "ebb.bytes", "decide", "Bytes of its data files."},
    {"partition.delete_files", "field", "integer", "decide", "Delete files."},
    {"partition.delete_records", "field", "integer", "decide", "Rows in delete files."},
    {"partition.files", "field", "integer", "decide", "Data files."},
    {"partition.key", "field", "string", "decide", "Its values, as name=value/…."},
    {"partition.last_write", "field", "ebb.instant?", "decide", "When it was last written."},
    {"partition.max_file", "field", "ebb.bytes", "decide", "Size of the largest data file."},
    {"partition.records", "field", "integer", "decide", "Rows."},
    {"partition.spec_id", "field", "integer", "decide", "The partition spec it is of."},
    {"pcall", "function", "(f: function, ...: any): boolean, any", "both", "Calls and tells of an error; gas and memory can't be caught."},
    {"percentile", "function", "(list: any[], p: number, f?: ebb.projection): number?", "both", "Nearest rank, p from 0 to 100."},
    {"policy", "function", "(definition: ebb.policy): ebb.policy", "header", "Makes the policy: the file returns it."},
    {"policy.api", "key", "1", "header", "Required: version of this interface."},
    {"policy.decide", "key", "fun(t: ebb.table, ctx: ebb.context): ebb.result", "header", "Required: the decision."},
    {"policy.doc", "key", "string?", "header", "For people, at most 1 KiB."},
    {"policy.guard", "key", "ebb.policy.guard?", "header", "Limits that the engine enforces whatever decide returns."},
    {"policy.guard.backoff", "key", "ebb.policy.guard.backoff?", "header", "Wait longer after each failure."},
    {"policy.guard.backoff.after_failures", "key", "integer?", "header", "From so many failures in a row on."},
    {"policy.guard.backoff.factor", "key", "number?", "header", "Each next wait is so many times longer, 1 to 10."},
    {"policy.guard.backoff.first", "key", "string|ebb.param", "header", "Required: the first wait."},
    {"policy.guard.backoff.max", "key", "string|ebb.param|nil", "header", "The longest wait."},
    {"policy.guard.deletes", "key", "ebb.policy.guard.deletes?", "header", "Limits on what one run has removed."},
    {"policy.guard.deletes.max_bytes", "key", "string|integer|ebb.param|nil", "header", "At most so many bytes."},
    {"policy.guard.deletes.max_files", "key", "integer|ebb.param|nil", "header", "At most so many files."},
    {"policy.guard.deletes.max_share", "key", "number|ebb.param|nil", "header", "At most this share of the table's files, above 0 and at most 1."},
    {"policy.guard.deletes.on_exceed", "key", "\"hold\"|\"trim\"|nil", "header", "Hold the plan, or cut it."},
    {"policy.guard.fleet", "key", "ebb.policy.guard.fleet?", "header", "A slot shared with other policies."},
    {"policy.guard.fleet.max_running", "key", "integer|ebb.param", "header", "Required: how many may run at once."},
    {"policy.guard.fleet.slot", "key", "string", "header", "Required: its name."},
    {"policy.guard.ignore_own", "key", "boolean?", "header", "Commits of maintenance do not count as events; by default true."},
    {"policy.guard.min_interval", "key", "string|ebb.param|nil", "header", "Not sooner after the end of the last run."},
    {"policy.guard.overlap", "key", "\"skip\"|\"queue_one\"|\"cancel_running\"|nil", "header", "While a run is under way."},
    {"policy.guard.pause_after", "key", "integer|ebb.param|nil", "header", "Pause after so many failures in a row."},
    {"policy.guard.quiet", "key", "ebb.policy.guard.quiet[]?", "header", "Windows of local time without runs, at most 16."},
    {"policy.guard.quiet[].days", "key", "string?", "header", "\"Mon..Fri\", \"Sat,Sun\": the days on which it begins; by default all."},
    {"policy.guard.quiet[].from", "key", "string", "header", "Required: \"HH:MM\"."},
    {"policy.guard.quiet[].only_if", "key", "string?", "header", "A site flag: the window counts only while it is set."},
    {"policy.guard.quiet[].to", "key", "string", "header", "Required: \"HH:MM\", the first minute that is free again; 00:00 to 00:00 is the whole day."},
    {"policy.guard.quiet[].tz", "key", "string|ebb.param|nil", "header", "By default UTC."},
    {"policy.guard.rewrites", "key", "ebb.policy.guard.rewrites?", "header", "Limits on what one run has rewritten."},
    {"policy.guard.rewrites.max_bytes", "key", "string|integer|ebb.param|nil", "header", "At most so many bytes."},
    {"policy.guard.rewrites.max_files", "key", "integer|ebb.param|nil", "header", "At most so many files."},
    {"policy.guard.rewrites.on_exceed", "key", "\"hold\"|\"trim\"|nil", "header", "Hold the plan, or cut it."},
    {"policy.guard.stop_in_quiet", "key", "boolean?", "header", "Stop a run when quiet hours begin."},
    {"policy.guard.timeout", "key", "string|ebb.param|nil", "header", "A run that takes longer stops at the next safe point."},
    {"policy.name", "key", "string", "header", "Required: [a-z][a-z0-9-]*, at most 63 bytes; schedules are kept by it."},
    {"policy.owner", "key", "string?", "header", "For people, at most 1 KiB."},
    {"policy.params", "key", "table<string, ebb.policy.params>?", "header", "Parameters by name, at most 64."},
    {"policy.params.*.default", "key", "any", "header", "Its value when neither binding nor property gives one."},
    {"policy.params.*.doc", "key", "string?", "header", "For people."},
    {"policy.params.*.max", "key", "any", "header", "The greatest value."},
    {"policy.params.*.min", "key", "any", "header", "The least value."},
    {"policy.params.*.property", "key", "string?", "header", "The table property that gives it; out of bounds is an error."},
    {"policy.params.*.type", "key", "string", "header", "Required: duration, bytes, integer, number, boolean, string, timezone or location."},
    {"policy.target", "key", "ebb.policy.target?", "header", "Which tables; without it the policy runs only where a binding names tables."},
    {"policy.target.exclude", "key", "string|string[]|nil", "header", "Patterns of tables left out."},
    {"policy.target.tables", "key", "string|string[]", "header", "Required: patterns of catalog.namespace.table; * within one part, ** over any number."},
    {"policy.target.where", "key", "ebb.policy.target.where?", "header", "A condition on a table property: one of is, is_not, matches, exists."},
    {"policy.target.where.exists", "key", "boolean?", "header", "It is set, or is not."},
    {"policy.target.where.is", "key", "string?", "header", "It has this value."},
    {"policy.target.where.is_not", "key", "string?", "header", "It has another value, or is not set."},
    {"policy.target.where.matches", "key", "string?", "header", "Its value fits this glob."},
    {"policy.target.where.property", "key", "string", "header", "Required: the property's name."},
    {"policy.triggers", "key", "ebb.trigger_rule[]?", "header", "When to decide, at most 32."},
    {"policy.was", "key", "string?", "header", "Former name, so that schedules go on after a renaming."},
    {"rank", "function", "(options: { over: any[]?, keep?: fun(item: any): boolean?, score: fun(item: any): number, table?, per?: fun(item: any): number, min?: number, budget?: { bytes?: number, count?: integer } }): ebb.ranked", "decide", "The best items within a budget, by score (per weight); ties go by key."},
    {"ranked", "class", "ebb.ranked", "decide", "What rank chose."},
    {"ranked.best", "field", "number", "decide", "The best score."},
    {"ranked.bytes", "field", "number", "decide", "What they cost together."},
    {"ranked.count", "field", "integer", "decide", "How many."},
    {"ranked.items", "field", "any[]", "decide", "The items themselves."},
    {"ranked.keys", "field", "string[]", "decide", "Keys of what was taken, best first."},
    {"ratio", "function", "(a: number?, b: number?): number?", "both", "a / b; 0 for a zero divisor, nil when either is nil."},
    {"run", "function", "(checks: ebb.check, action: ebb.action, options?: { override_quiet?: boolean, note?: string }): ebb.result", "decide", "Decides to run: the checks must be true."},
    {"run", "open", "ebb.run", "decide", "A run; outcomes may have more fields."},
    {"run.ended", "field", "ebb.instant?", "decide", "When it ended."},
    {"run.id", "field", "string?", "decide", "Its id."},
    {"run.outcome", "field", "string?", "decide", "done, partial, failed, observed, …."},
    {"run.started", "field", "ebb.instant?", "decide", "When it began."},
    {"run.trigger", "field", "string?", "decide", "The kind of its trigger."},
    {"select", "function", "(n: integer|\"#\", ...: any): any", "both", "Arguments from the n-th on, or their number."},
    {"skip", "function", "(checks: ebb.check, why?: string): ebb.result", "decide", "Decides not to run."},
    {"snapshot", "class", "ebb.snapshot", "decide", "A snapshot of the table."},
    {"snapshot.at", "field", "ebb.instant", "decide", "When it was committed."},
    {"snapshot.id", "field", "ebb.id", "decide", "Its id."},
    {"snapshot.operation", "field", "string?", "decide", "append, replace, overwrite or delete."},
    {"snapshot.parent_id", "field", "ebb.id?", "decide", "The id of the one before."},
    {"snapshot.sequence", "field", "integer?", "decide", "Its sequence number."},
    {"snapshot.summary", "field", "table<string, string>", "decide", "Its summary."},
    {"sort_by", "function", "(list: any[], f?: ebb.projection, order?: \"desc\"): any[]", "both", "A sorted copy; equals keep their order."},
    {"str", "library", "table", "both", "Plain text, no patterns; also methods of strings."},
    {"str.contains", "function", "(s: string, what: string): boolean", "both", "Whether it holds a text."},
    {"str.ends", "function", "(s: string, what: string): boolean", "both", "Whether it ends so."},
    {"str.find", "function", "(s: string, what: string, from?: integer): integer?, integer?", "both", "First and last index of a text."},
    {"str.len", "function", "(s: string): integer", "both", "Bytes."},
    {"str.lower", "function", "(s: string): string", "both", "Small letters (ASCII)."},
    {"str.rep", "function", "(s: string, n: integer, separator?: string): string", "both", "Repeated n times."},
    {"str.replace", "function", "(s: string, what: string, by: string): string, integer", "both", "Every occurrence replaced, and how many."},
    {"str.split", "function", "(s: string, separator: string): string[]", "both", "The pieces between separators."},
    {"str.starts", "function", "(s: string, what: string): boolean", "both", "Whether it begins so."},
    {"str.sub", "function", "(s: string, from: integer, to?: integer): string", "both", "A part."},
    {"str.trim", "function", "(s: string): string", "both", "Without white space at both ends."},
    {"str.upper", "function", "(s: string): string", "both", "Capital letters (ASCII)."},
    {"sum", "function", "(list: any[], f?: ebb.projection): number", "both", "The sum of the items, or of f of each."},
    {"t", "class", "ebb.table", "decide", "The table that is decided on: facts, frozen; what is not known is nil."},
    {"t.catalog", "field", "string?", "decide", "Name of its catalog."},
    {"t.current_snapshot", "field", "ebb.snapshot?", "decide", "The current snapshot; nil of an empty table."},
    {"t.format_version", "field", "integer?", "decide", "1, 2 or 3."},
    {"t.location", "field", "string?", "decide", "URI of its folder."},
    {"t.location_overlaps", "field", "integer?", "decide", "Number of other known tables whose location lies at, in or around this one."},
    {"t.name", "field", "string?", "decide", "Its name."},
    {"t.namespace", "field", "string?", "decide", "Its namespace, levels joined by '.'."},
    {"t.partitions", "method", "(options?: { min_files?: integer, newer_than?: ebb.since, limit?: integer }): ebb.partition[]?", "decide", "The partitions, by key."},
    {"t.properties", "field", "table<string, string>", "decide", "Table properties by name."},
    {"t.refs", "field", "table<string, table>", "decide", "Branches and tags: snapshot_id, type."},
    {"t.schema", "field", "table?", "decide", "The current schema as the metadata has it."},
    {"t.snapshots", "method", "(options?: { limit?: integer, since?: ebb.since }): ebb.snapshot[]?", "decide", "The snapshots, oldest first; limit takes the newest."},
    {"t.sort_order", "field", "table?", "decide", "The default sort order as the metadata has it."},
    {"t.spec", "field", "table?", "decide", "The default partition spec as the metadata has it."},
    {"t.stats", "field", "ebb.stats", "decide", "Counts, as of the last time they were taken."},
    {"t.stats.as_of", "field", "ebb.instant?", "decide", "When the counts were taken."},
    {"t.stats.bytes", "field", "ebb.bytes?", "decide", "Bytes of the data files."},
    {"t.stats.custom", "field", "table<string, any>", "decide", "Statistics that were put over the Gravitino interface, by name."},
    {"t.stats.data_files", "field", "integer?", "decide", "Data files of the current snapshot."},
    {"t.stats.delete_files", "field", "integer?", "decide", "Delete files."},
    {"t.stats.delete_records", "field", "integer?", "decide", "Rows in delete files."},
    {"t.stats.longest_write", "field", "ebb.duration?", "decide", "Longest write of the last 30 days: commit time less the age of the oldest file it added."},
    {"t.stats.longest_write_source", "field", "string?", "decide", "Where longest_write comes from."},
    {"t.stats.manifests", "field", "integer?", "decide", "Manifests of the current snapshot."},
    {"t.stats.orphans", "field", "ebb.orphans", "decide", "What the last listing found."},
    {"t.stats.orphans.age", "field", "ebb.duration?", "decide", "How long ago that was."},
    {"t.stats.orphans.bytes", "field", "ebb.bytes?", "decide", "Their bytes."},
    {"t.stats.orphans.files", "field", "integer?", "decide", "Candidates of the last plan."},
    {"t.stats.small_files", "field", "integer?", "decide", "Data files far below the target size."},
    {"t.stats.snapshot_id", "field", "ebb.id?", "decide", "The snapshot that they are of."},
    {"t.stats.snapshots", "field", "integer?", "decide", "Snapshots in the metadata."},
    {"t.uuid", "field", "string?", "decide", "Its uuid."},
    {"table", "library", "table", "both", "Functions on lists of your own."},
    {"table.concat", "function", "(list: any[], separator?: string, from?: integer, to?: integer): string", "both", "Joins texts."},
    {"table.insert", "function", "(list: any[], position_or_value: any, value?: any)", "both", "Puts an item in."},
    {"table.remove", "function", "(list: any[], position?: integer): any", "both", "Takes an item out."},
    {"table.sort", "function", "(list: any[], less?: fun(a: any, b: any): boolean)", "both", "Sorts in place; equals keep their order."},
    {"table.unpack", "function", "(list: any[], from?: integer, to?: integer): any ...", "both", "The items as values, at most 200."},
    {"time", "library", "table", "both", "Calendar arithmetic and time triggers; no clock."},
    {"time.calendar", "function", "(arguments: string|ebb.time.calendar): ebb.trigger_rule", "header", "Fires at local times: \"Sun 02:00\", \"*-*-last 03:30\"."},
    {"time.calendar.[1]", "key", "string", "header", "[weekdays] [[year-]month-day] [hour:minute]."},
    {"time.calendar.catch_up", "key", "\"one\"|\"none\"|\"all\"|nil", "header", "What becomes of missed times; by default one late run."},
    {"time.calendar.late_by", "key", "string|ebb.param|nil", "header", "How late it may still start; by default until the next one."},
    {"time.calendar.max", "key", "integer?", "header", "With catch_up = \"all\": at most so many."},
    {"time.calendar.spread", "key", "string|ebb.param|nil", "header", "Delays each table by a fixed part of this."},
    {"time.calendar.tz", "key", "string|ebb.param|nil", "header", "Zone of the local time; by default UTC."},
    {"time.civil", "function", "(instant: ebb.instant, tz?: string): table", "both", "Parts of the local time: year month day hour minute second ms weekday (1 is Monday) offset."},
    {"time.cron", "function", "(arguments: string|ebb.time.cron): ebb.trigger_rule", "header", "Fires at local times, five fields as in cron."},
    {"time.cron.[1]", "key", "string", "header", "minute hour day month weekday."},
    {"time.cron.catch_up", "key", "\"one\"|\"none\"|\"all\"|nil", "header", "What becomes of missed times; by default one late run."},
    {"time.cron.late_by", "key", "string|ebb.param|nil", "header", "How late it may still start; by default until the next one."},
    {"time.cron.max", "key", "integer?", "header", "With catch_up = \"all\": at most so many."},
    {"time.cron.spread", "key", "string|ebb.param|nil", "header", "Delays each table by a fixed part of this."},
    {"time.cron.tz", "key", "string|ebb.param|nil", "header", "Zone of the local time; by default UTC."},
    {"time.every", "function", "(arguments: ebb.time.every): ebb.trigger_rule", "header", "Fires in steps of elapsed time."},
    {"time.every.[1]", "key", "string|ebb.param", "header", "The step, at least a minute."},
    {"time.every.anchor", "key", "\"start_of_day\"|\"epoch\"|\"last_start\"|\"last_end\"", "header", "Required: where the steps begin."},
    {"time.every.catch_up", "key", "\"one\"|\"none\"|\"all\"|nil", "header", "What becomes of missed times; by default one late run."},
    {"time.every.late_by", "key", "string|ebb.param|nil", "header", "How late it may still start; by default until the next one."},
    {"time.every.max", "key", "integer?", "header", "With catch_up = \"all\": at most so many."},
    {"time.every.spread", "key", "string|ebb.param|nil", "header", "Delays each table by a fixed part of this."},
    {"time.every.tz", "key", "string|ebb.param|nil", "header", "Zone of the local time; by default UTC."},
    {"time.start_of", "function", "(unit: \"hour\"|\"day\"|\"week\"|\"month\"|\"year\", instant: ebb.instant, tz?: string): ebb.instant", "both", "The first instant of the local unit."},
    {"tonumber", "function", "(value: any, base?: integer): number?", "both", "As a number."},
    {"top", "function", "(list: any[], n: integer, f?: ebb.projection): any[]", "both", "The n greatest, greatest first."},
    {"tostring", "function", "(value: any): string", "both", "As text; a table is the word table."},
    {"type", "function", "(value: any): string", "both", "Type of a value; facts are tables."},
    {"use", "function", "(name: string): any", "header", "What lib/NAME.lua of the policy's folder returns."},
};
/* clang-format on */

#define COUNT (sizeof ENTRIES / sizeof *ENTRIES)

const struct ebb_api_entry *ebb_api_get(size_t *count)
{
    *count = COUNT;
    return ENTRIES;
}

/* Whether a name is that of a direct member of a path, and not a class. */
static bool is_member(const struct ebb_api_entry *entry, const char *path, struct ebb_str *member)
{
    size_t n = strlen(path);

    if (n && (strncmp(entry->name, path, n) || entry->name[n] != '.'))
        return false;
    *member = ebb_str_of(entry->name + n + (n > 0));
    return strcmp(entry->kind, "class") && strcmp(entry->kind, "open") && !memchr(member->p, '.', member->n);
}

const struct ebb_api_entry *ebb__api_find(const char *path, struct ebb_str name)
{
    struct ebb_str member;

    for (size_t i = 0; i < COUNT; i++)
        if (is_member(&ENTRIES[i], path, &member) && ebb_str_is_equal(member, name))
            return &ENTRIES[i];
    return NULL;
}

bool ebb__api_has_members(const char *path)
{
    struct ebb_str member;

    for (size_t i = 0; i < COUNT; i++)
        if (is_member(&ENTRIES[i], path, &member) && strcmp(ENTRIES[i].kind, "key"))
            return true;
    return false;
}

const char *ebb__api_members(const struct ebb_api_entry *entry)
{
    size_t n = strcspn(entry->type, "?");

    if (ebb__api_has_members(entry->name) || !strcmp(entry->name, "ctx.params"))
        return entry->name;
    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(ENTRIES[i].kind, "class") && strlen(ENTRIES[i].type) == n &&
            !strncmp(ENTRIES[i].type, entry->type, n))
            return ENTRIES[i].name;
    return NULL;
}

const char *ebb__api_nearest(const char *path, struct ebb_str name)
{
    const char *names[COUNT];
    struct ebb_str member;
    char word[64];
    size_t count = 0;

    if (name.n >= sizeof word)
        return NULL;
    memcpy(word, name.p, name.n);
    word[name.n] = '\0';
    for (size_t i = 0; i < COUNT; i++)
        if (is_member(&ENTRIES[i], path, &member))
            names[count++] = member.p;
    return ebb_text_nearest(word, names, count);
}
