---@meta
-- SPDX-License-Identifier: Apache-2.0
-- Made by ebb from its table of the policy API: what a policy can use, for lua-language-server.

---@alias ebb.instant integer milliseconds since 1970, UTC
---@alias ebb.duration integer milliseconds
---@alias ebb.bytes integer
---@alias ebb.id integer 64 bits: never divide it with /
---@alias ebb.since "last_run"|"last_success"|string|integer an instant, or a duration back from now
---@alias ebb.op "=="|"~="|"<"|"<="|">"|">="|"in"|"matches"|"exists"|"unknown"
---@alias ebb.projection string|fun(item: any): any the name of a field, or a function

---@class ebb.action an action, frozen
---@class ebb.result what decide returns
---@class ebb.param a parameter that stands for its value
---@class ebb.trigger_rule a trigger

---@class ebb.action.expire_snapshots
---@field clean_expired_metadata boolean? Remove specs and schemas that nothing uses any more.
---@field older_than ebb.instant? Snapshots older than this.
---@field retain_last integer? Keep at least so many.
---@field snapshot_ids ebb.id[]? These snapshots.

---@class ebb.action.remove_orphan_files
---@field dry_run boolean? Plan only, whatever the mode of the binding.
---@field equal_authorities table<string, string>? Authorities that mean the same.
---@field equal_schemes table<string, string>? Schemes that mean the same, as { s3a = "s3" }.
---@field keep string|string[]|nil Globs over names below the location: what one takes is never a candidate.
---@field location string? A folder inside the table's location; by default all of it.
---@field older_than ebb.instant Required: only files older than this are candidates.
---@field prefix_mismatch "error"|"ignore"|"delete"|nil What to do about a file that differs from a referenced one in scheme or authority only.

---@class ebb.action.rewrite_data_files
---@field delete_ratio number? Rewrite a file when this share of its rows is deleted.
---@field partial_progress table? As { commits = 10 }.
---@field partitions string[]? Keys of the partitions; by default all.
---@field sort_order string? For the strategy sort.
---@field strategy "binpack"|"sort"|nil How.
---@field target_file_size ebb.bytes? Size that the files should have.

---@class ebb.action.rewrite_manifests
---@field spec_id integer? Manifests of this partition spec.

---@class ebb.check The result of a check or combination.
---@field name string Its name.
---@field ok boolean Whether it is true; unknown is not.
---@field result string true, false or unknown.

---@class ebb.context All that is no fact of the table.
---@field events ebb.events Events of this table.
---@field fleet table<string, any> Slots and budgets as seen at this instant.
---@field now ebb.instant The instant of the decision; it does not move.
---@field params table<string, any> The policy's parameters: durations in ms, sizes in bytes.
---@field runs ebb.runs History of this policy on this table.
---@field trigger ebb.trigger Why the policy decides now.

---@class ebb.events Events of this table.
---@field count fun(options: { [1]: string, since?: ebb.since, where?: fun(e: ebb.event): boolean? }): integer? How many; nil when nothing tells of such events.
---@field list fun(options: { [1]: string, since?: ebb.since, where?: fun(e: ebb.event): boolean? }): ebb.event[] The events of a type, oldest first.

---@class ebb.runs History of this policy on this table.
---@field conflicts fun(options?: { since?: ebb.since, within?: ebb.since }): integer? How many commit conflicts the runs met.
---@field count fun(options?: { since?: ebb.since, within?: ebb.since, outcome?: string }): integer? How many runs there were.
---@field failed_in_a_row integer? Failures since the last good run; nil where the history is not known.
---@field last ebb.run? The last run that started.
---@field last_success ebb.run? The last good one.
---@field since_partition fun(key: string): ebb.duration? Time since a run took the partition; since 1970 when none did.

---@class ebb.trigger Why the policy decides now.
---@field events ebb.event[]? The events of this occurrence.
---@field kind string time, event, count, manual, catch_up or deferred.
---@field missed integer? How many earlier occurrences this one stands for.
---@field scheduled_for ebb.instant? The nominal time.

---@class ebb.event An event of the table; types may have more fields.
---@field at ebb.instant When it happened.
---@field id string? Its id.
---@field received ebb.instant? When it was told; nil for commits that are read off the table.
---@field source string? Who told.
---@field type string Its type, as snapshot.committed.
---@field [string] any

---@class ebb.on.count
---@field [1] string The event type, as snapshot.committed.
---@field late_by string|ebb.param|nil How late it may still start; by default until the next one.
---@field n integer|ebb.param Required: how many.
---@field since "last_run"|"last_success"|nil Counted from here on.

---@class ebb.on.event
---@field [1] string The event type.
---@field debounce string|ebb.param|nil Wait until there was none for so long.
---@field late_by string|ebb.param|nil How late it may still start; by default until the next one.
---@field max_hold string|ebb.param|nil But no longer than this after the first.
---@field where (fun(e: ebb.event): boolean?)? Takes an event or not; by default every one.

---@class ebb.partition Statistics of a partition.
---@field avg_file ebb.bytes Mean size of a data file.
---@field bytes ebb.bytes Bytes of its data files.
---@field delete_files integer Delete files.
---@field delete_records integer Rows in delete files.
---@field files integer Data files.
---@field key string Its values, as name=value/….
---@field last_write ebb.instant? When it was last written.
---@field max_file ebb.bytes Size of the largest data file.
---@field records integer Rows.
---@field spec_id integer The partition spec it is of.

---@class ebb.policy
---@field api 1 Required: version of this interface.
---@field decide fun(t: ebb.table, ctx: ebb.context): ebb.result Required: the decision.
---@field doc string? For people, at most 1 KiB.
---@field guard ebb.policy.guard? Limits that the engine enforces whatever decide returns.
---@field name string Required: [a-z][a-z0-9-]*, at most 63 bytes; schedules are kept by it.
---@field owner string? For people, at most 1 KiB.
---@field params table<string, ebb.policy.params>? Parameters by name, at most 64.
---@field target ebb.policy.target? Which tables; without it the policy runs only where a binding names tables.
---@field triggers ebb.trigger_rule[]? When to decide, at most 32.
---@field was string? Former name, so that schedules go on after a renaming.

---@class ebb.policy.guard
---@field backoff ebb.policy.guard.backoff? Wait longer after each failure.
---@field deletes ebb.policy.guard.deletes? Limits on what one run has removed.
---@field fleet ebb.policy.guard.fleet? A slot shared with other policies.
---@field ignore_own boolean? Commits of maintenance do not count as events; by default true.
---@field min_interval string|ebb.param|nil Not sooner after the end of the last run.
---@field overlap "skip"|"queue_one"|"cancel_running"|nil While a run is under way.
---@field pause_after integer|ebb.param|nil Pause after so many failures in a row.
---@field quiet ebb.policy.guard.quiet[]? Windows of local time without runs, at most 16.
---@field rewrites ebb.policy.guard.rewrites? Limits on what one run has rewritten.
---@field stop_in_quiet boolean? Stop a run when quiet hours begin.
---@field timeout string|ebb.param|nil A run that takes longer stops at the next safe point.

---@class ebb.policy.guard.backoff
---@field after_failures integer? From so many failures in a row on.
---@field factor number? Each next wait is so many times longer, 1 to 10.
---@field first string|ebb.param Required: the first wait.
---@field max string|ebb.param|nil The longest wait.

---@class ebb.policy.guard.deletes
---@field max_bytes string|integer|ebb.param|nil At most so many bytes.
---@field max_files integer|ebb.param|nil At most so many files.
---@field max_share number|ebb.param|nil At most this share of the table's files, above 0 and at most 1.
---@field on_exceed "hold"|"trim"|nil Hold the plan, or cut it.

---@class ebb.policy.guard.fleet
---@field max_running integer|ebb.param Required: how many may run at once.
---@field slot string Required: its name.

---@class ebb.policy.guard.quiet
---@field days string? "Mon..Fri", "Sat,Sun": the days on which it begins; by default all.
---@field from string Required: "HH:MM".
---@field only_if string? A site flag: the window counts only while it is set.
---@field to string Required: "HH:MM", the first minute that is free again; 00:00 to 00:00 is the whole day.
---@field tz string|ebb.param|nil By default UTC.

---@class ebb.policy.guard.rewrites
---@field max_bytes string|integer|ebb.param|nil At most so many bytes.
---@field max_files integer|ebb.param|nil At most so many files.
---@field on_exceed "hold"|"trim"|nil Hold the plan, or cut it.

---@class ebb.policy.params
---@field default any Its value when neither binding nor property gives one.
---@field doc string? For people.
---@field max any The greatest value.
---@field min any The least value.
---@field property string? The table property that gives it; out of bounds is an error.
---@field type string Required: duration, bytes, integer, number, boolean, string, timezone or location.

---@class ebb.policy.target
---@field exclude string|string[]|nil Patterns of tables left out.
---@field tables string|string[] Required: patterns of catalog.namespace.table; * within one part, ** over any number.
---@field where ebb.policy.target.where? A condition on a table property: one of is, is_not, matches, exists.

---@class ebb.policy.target.where
---@field exists boolean? It is set, or is not.
---@field is string? It has this value.
---@field is_not string? It has another value, or is not set.
---@field matches string? Its value fits this glob.
---@field property string Required: the property's name.

---@class ebb.ranked What rank chose.
---@field best number The best score.
---@field bytes number What they cost together.
---@field count integer How many.
---@field items any[] The items themselves.
---@field keys string[] Keys of what was taken, best first.

---@class ebb.run A run; outcomes may have more fields.
---@field ended ebb.instant? When it ended.
---@field id string? Its id.
---@field outcome string? done, partial, failed, observed, ….
---@field started ebb.instant? When it began.
---@field trigger string? The kind of its trigger.
---@field [string] any

---@class ebb.snapshot A snapshot of the table.
---@field at ebb.instant When it was committed.
---@field id ebb.id Its id.
---@field operation string? append, replace, overwrite or delete.
---@field parent_id ebb.id? The id of the one before.
---@field sequence integer? Its sequence number.
---@field summary table<string, string> Its summary.

---@class ebb.table The table that is decided on: facts, frozen; what is not known is nil.
---@field catalog string? Name of its catalog.
---@field current_snapshot ebb.snapshot? The current snapshot; nil of an empty table.
---@field format_version integer? 1, 2 or 3.
---@field location string? URI of its folder.
---@field location_overlaps integer? Number of other known tables whose location lies at, in or around this one.
---@field name string? Its name.
---@field namespace string? Its namespace, levels joined by '.'.
---@field partitions fun(options?: { min_files?: integer, newer_than?: ebb.since, limit?: integer }): ebb.partition[]? The partitions, by key.
---@field properties table<string, string> Table properties by name.
---@field refs table<string, table> Branches and tags: snapshot_id, type.
---@field schema table? The current schema as the metadata has it.
---@field snapshots fun(options?: { limit?: integer, since?: ebb.since }): ebb.snapshot[]? The snapshots, oldest first; limit takes the newest.
---@field sort_order table? The default sort order as the metadata has it.
---@field spec table? The default partition spec as the metadata has it.
---@field stats ebb.stats Counts, as of the last time they were taken.
---@field uuid string? Its uuid.

---@class ebb.stats Counts, as of the last time they were taken.
---@field as_of ebb.instant? When the counts were taken.
---@field bytes ebb.bytes? Bytes of the data files.
---@field custom table<string, any> Statistics that were put over the Gravitino interface, by name.
---@field data_files integer? Data files of the current snapshot.
---@field delete_files integer? Delete files.
---@field delete_records integer? Rows in delete files.
---@field longest_write ebb.duration? Longest write of the last 30 days: commit time less the age of the oldest file it added.
---@field longest_write_source string? Where longest_write comes from.
---@field manifests integer? Manifests of the current snapshot.
---@field orphans ebb.orphans What the last listing found.
---@field small_files integer? Data files far below the target size.
---@field snapshot_id ebb.id? The snapshot that they are of.
---@field snapshots integer? Snapshots in the metadata.

---@class ebb.orphans What the last listing found.
---@field age ebb.duration? How long ago that was.
---@field bytes ebb.bytes? Their bytes.
---@field files integer? Candidates of the last plan.

---@class ebb.time.calendar
---@field [1] string [weekdays] [[year-]month-day] [hour:minute].
---@field catch_up "one"|"none"|"all"|nil What becomes of missed times; by default one late run.
---@field late_by string|ebb.param|nil How late it may still start; by default until the next one.
---@field max integer? With catch_up = "all": at most so many.
---@field spread string|ebb.param|nil Delays each table by a fixed part of this.
---@field tz string|ebb.param|nil Zone of the local time; by default UTC.

---@class ebb.time.cron
---@field [1] string minute hour day month weekday.
---@field catch_up "one"|"none"|"all"|nil What becomes of missed times; by default one late run.
---@field late_by string|ebb.param|nil How late it may still start; by default until the next one.
---@field max integer? With catch_up = "all": at most so many.
---@field spread string|ebb.param|nil Delays each table by a fixed part of this.
---@field tz string|ebb.param|nil Zone of the local time; by default UTC.

---@class ebb.time.every
---@field [1] string|ebb.param The step, at least a minute.
---@field anchor "start_of_day"|"epoch"|"last_start"|"last_end" Required: where the steps begin.
---@field catch_up "one"|"none"|"all"|nil What becomes of missed times; by default one late run.
---@field late_by string|ebb.param|nil How late it may still start; by default until the next one.
---@field max integer? With catch_up = "all": at most so many.
---@field spread string|ebb.param|nil Delays each table by a fixed part of this.
---@field tz string|ebb.param|nil Zone of the local time; by default UTC.

---Constructors of actions.
action = {}

---Expires snapshots.
---@param arguments ebb.action.expire_snapshots
---@return ebb.action
function action.expire_snapshots(arguments) end

---Removes files that no snapshot references.
---@param arguments ebb.action.remove_orphan_files
---@return ebb.action
function action.remove_orphan_files(arguments) end

---Compacts data files.
---@param arguments ebb.action.rewrite_data_files
---@return ebb.action
function action.rewrite_data_files(arguments) end

---Rewrites manifests.
---@param arguments ebb.action.rewrite_manifests
---@return ebb.action
function action.rewrite_manifests(arguments) end

---False if any part is false, else unknown if any is unknown, else true.
---@param parts ebb.check[]
---@return ebb.check
function all(parts) end

---True if any part is true, else unknown if any is unknown, else false.
---@param parts ebb.check[]
---@return ebb.check
function any(parts) end

---Raises an error when value is false or nil.
---@param value any
---@param message? any
---@return any
function assert(value, message) end

---A size for people: 1.5 GiB.
---@param n number?
---@return string
function bytes_h(n) end

---Compares, records, and gives a check; with nil it is unknown.
---@param name string
---@param actual any
---@param op ebb.op
---@param limit? any
---@return ebb.check
function check(name, actual, op, limit) end

---The same for one of many; explain groups them by name.
---@param name string
---@param key string|integer
---@param actual any
---@param op ebb.op
---@param limit? any
---@return boolean
function check_each(name, key, actual, op, limit) end

---x within low and high.
---@param x number?
---@param low number
---@param high number
---@return number?
function clamp(x, low, high) end

---Decides to look again at an instant, at most a year ahead.
---@param checks ebb.check
---@param instant ebb.instant
---@param why? string
---@return ebb.result
function defer(checks, instant, why) end

---Raises an error: the policy has failed, and that is never a run.
---@param message any
---@param level? integer
function error(message, level) end

---Formats %s %d %f %g %x and %%.
---@param format string
---@param ... any
---@return string
function fmt(format, ...) end

---Whether a text fits: * is any run of characters, ? one byte.
---@param pattern string
---@param s string
---@return boolean
function glob(pattern, s) end

---Lists of items by f, in their order.
---@param list any[]
---@param f ebb.projection
---@return table<any, any[]>
function group_by(list, f) end

---A fixed number from 0 to n - 1: the only kind of chance there is.
---@param key string|integer
---@param n integer
---@return integer
function hash(key, n) end

---Iterates a list.
---@param list any[]
---@return function
---@return any[]
---@return integer
function ipairs(list) end

---An instant as 2026-06-01T00:00:00Z.
---@param instant ebb.instant?
---@return string
function iso(instant) end

---As in Lua, without random.
math = {}

---Absolute value.
---@param x number
---@return number
function math.abs(x) end

---Arc cosine.
---@param x number
---@return number
function math.acos(x) end

---Arc sine.
---@param x number
---@return number
function math.asin(x) end

---Arc tangent.
---@param y number
---@param x? number
---@return number
function math.atan(y, x) end

---Rounded up.
---@param x number
---@return integer
function math.ceil(x) end

---Cosine.
---@param x number
---@return number
function math.cos(x) end

---Radians as degrees.
---@param x number
---@return number
function math.deg(x) end

---Power of e.
---@param x number
---@return number
function math.exp(x) end

---Rounded down.
---@param x number
---@return integer
function math.floor(x) end

---Remainder, rounded to zero.
---@param x number
---@param y number
---@return number
function math.fmod(x, y) end

---Infinity.
---@type number
math.huge = nil

---Logarithm.
---@param x number
---@param base? number
---@return number
function math.log(x, base) end

---The greatest.
---@param x number
---@param ... number
---@return number
function math.max(x, ...) end

---The greatest integer.
---@type integer
math.maxinteger = nil

---The least.
---@param x number
---@param ... number
---@return number
function math.min(x, ...) end

---The least integer.
---@type integer
math.mininteger = nil

---Whole and fractional part.
---@param x number
---@return number
---@return number
function math.modf(x) end

---3.14159…
---@type number
math.pi = nil

---Degrees as radians.
---@param x number
---@return number
function math.rad(x) end

---Sine.
---@param x number
---@return number
function math.sin(x) end

---Square root.
---@param x number
---@return number
function math.sqrt(x) end

---Tangent.
---@param x number
---@return number
function math.tan(x) end

---As an integer when it is whole.
---@param x any
---@return integer?
function math.tointeger(x) end

---integer, float or nil.
---@param x any
---@return string?
function math.type(x) end

---Unsigned comparison.
---@param a integer
---@param b integer
---@return boolean
function math.ult(a, b) end

---The item with the greatest f, and that value.
---@param list any[]
---@param f ebb.projection
---@return any
---@return any
function max_by(list, f) end

---The item with the least f, and that value; the first of equals.
---@param list any[]
---@param f ebb.projection
---@return any
---@return any
function min_by(list, f) end

---The opposite of any.
---@param parts ebb.check[]
---@return ebb.check
function none(parts) end

---Adds a line to the explanation: at most 64, 4 KiB in all.
---@param ... any
function note(...) end

---Event triggers.
on = {}

---Fires after so many commits, counted in the snapshot log. For the data part.
---@param arguments ebb.on.count
---@return ebb.trigger_rule
function on.count(arguments) end

---Fires on an event of a type. For the data part.
---@param arguments ebb.on.event
---@return ebb.trigger_rule
function on.event(arguments) end

---Iterates in order: integers ascending, then strings bytewise.
---@param map table
---@return function
---@return table
---@return any
function pairs(map) end

---A parameter as a value of triggers and guards. For the data part.
---@param name string
---@return ebb.param
function param(name) end

---Calls and tells of an error; gas and memory can't be caught.
---@param f function
---@param ... any
---@return boolean
---@return any
function pcall(f, ...) end

---Nearest rank, p from 0 to 100.
---@param list any[]
---@param p number
---@param f? ebb.projection
---@return number?
function percentile(list, p, f) end

---Makes the policy: the file returns it. For the data part.
---@param definition ebb.policy
---@return ebb.policy
function policy(definition) end

---The best items within a budget, by score (per weight); ties go by key.
---@param options { over: any[]?, keep?: fun(item: any): boolean?, score: fun(item: any): number, table?, per?: fun(item: any): number, min?: number, budget?: { bytes?: number, count?: integer } }
---@return ebb.ranked
function rank(options) end

---a / b; 0 for a zero divisor, nil when either is nil.
---@param a number?
---@param b number?
---@return number?
function ratio(a, b) end

---Decides to run: the checks must be true.
---@param checks ebb.check
---@param action ebb.action
---@param options? { override_quiet?: boolean, note?: string }
---@return ebb.result
function run(checks, action, options) end

---Arguments from the n-th on, or their number.
---@param n integer|"#"
---@param ... any
---@return any
function select(n, ...) end

---Decides not to run.
---@param checks ebb.check
---@param why? string
---@return ebb.result
function skip(checks, why) end

---A sorted copy; equals keep their order.
---@param list any[]
---@param f? ebb.projection
---@param order? "desc"
---@return any[]
function sort_by(list, f, order) end

---Plain text, no patterns; also methods of strings.
str = {}

---Whether it holds a text.
---@param s string
---@param what string
---@return boolean
function str.contains(s, what) end

---Whether it ends so.
---@param s string
---@param what string
---@return boolean
function str.ends(s, what) end

---First and last index of a text.
---@param s string
---@param what string
---@param from? integer
---@return integer?
---@return integer?
function str.find(s, what, from) end

---Bytes.
---@param s string
---@return integer
function str.len(s) end

---Small letters (ASCII).
---@param s string
---@return string
function str.lower(s) end

---Repeated n times.
---@param s string
---@param n integer
---@param separator? string
---@return string
function str.rep(s, n, separator) end

---Every occurrence replaced, and how many.
---@param s string
---@param what string
---@param by string
---@return string
---@return integer
function str.replace(s, what, by) end

---The pieces between separators.
---@param s string
---@param separator string
---@return string[]
function str.split(s, separator) end

---Whether it begins so.
---@param s string
---@param what string
---@return boolean
function str.starts(s, what) end

---A part.
---@param s string
---@param from integer
---@param to? integer
---@return string
function str.sub(s, from, to) end

---Without white space at both ends.
---@param s string
---@return string
function str.trim(s) end

---Capital letters (ASCII).
---@param s string
---@return string
function str.upper(s) end

---The sum of the items, or of f of each.
---@param list any[]
---@param f? ebb.projection
---@return number
function sum(list, f) end

---Functions on lists of your own.
table = {}

---Joins texts.
---@param list any[]
---@param separator? string
---@param from? integer
---@param to? integer
---@return string
function table.concat(list, separator, from, to) end

---Puts an item in.
---@param list any[]
---@param position_or_value any
---@param value? any
function table.insert(list, position_or_value, value) end

---Takes an item out.
---@param list any[]
---@param position? integer
---@return any
function table.remove(list, position) end

---Sorts in place; equals keep their order.
---@param list any[]
---@param less? fun(a: any, b: any): boolean
function table.sort(list, less) end

---The items as values, at most 200.
---@param list any[]
---@param from? integer
---@param to? integer
---@return any ...
function table.unpack(list, from, to) end

---Calendar arithmetic and time triggers; no clock.
time = {}

---Fires at local times: "Sun 02:00", "*-*-last 03:30". For the data part.
---@param arguments string|ebb.time.calendar
---@return ebb.trigger_rule
function time.calendar(arguments) end

---Parts of the local time: year month day hour minute second ms weekday (1 is Monday) offset.
---@param instant ebb.instant
---@param tz? string
---@return table
function time.civil(instant, tz) end

---Fires at local times, five fields as in cron. For the data part.
---@param arguments string|ebb.time.cron
---@return ebb.trigger_rule
function time.cron(arguments) end

---Fires in steps of elapsed time. For the data part.
---@param arguments ebb.time.every
---@return ebb.trigger_rule
function time.every(arguments) end

---The first instant of the local unit.
---@param unit "hour"|"day"|"week"|"month"|"year"
---@param instant ebb.instant
---@param tz? string
---@return ebb.instant
function time.start_of(unit, instant, tz) end

---As a number.
---@param value any
---@param base? integer
---@return number?
function tonumber(value, base) end

---The n greatest, greatest first.
---@param list any[]
---@param n integer
---@param f? ebb.projection
---@return any[]
function top(list, n, f) end

---As text; a table is the word table.
---@param value any
---@return string
function tostring(value) end

---Type of a value; facts are tables.
---@param value any
---@return string
function type(value) end

---What lib/NAME.lua of the policy's folder returns. For the data part.
---@param name string
---@return any
function use(name) end
