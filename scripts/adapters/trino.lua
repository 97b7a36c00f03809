-- SPDX-License-Identifier: Apache-2.0
-- Context -> ALTER TABLE … EXECUTE. Trino knows neither a dry run nor a location, compares names of files alone, and
-- takes an age, not an instant. Names with "$" mean its metadata tables; it folds the case of all names.
local _, import = ...
local fault = import "std.fault"
local statement = import "std.statement"

local adapter = {}

function adapter.spec(context, _)
  statement.refuse_options("trino", context.options)
  statement.check_cutoff(context)
  if context.dry_run then
    fault("unsupported", "engine trino: has no dry run; plan natively instead")
  elseif context.location then
    fault("unsupported", "engine trino: can't be limited to a location")
  end
  local parts = statement.parts(context)
  for _, part in ipairs(parts) do
    if part:find("$", 1, true) then
      fault("sql.invalid", "engine trino: a name with \"$\" means a metadata table: %s", part)
    elseif part:lower() ~= part then
      fault("sql.invalid", "engine trino: takes names in lower case only: %s", part)
    end
  end
  local retention = context.now - context.older_than
  return {
    template = "trino-statement", version = 1, dialect = "trino", column = "metric_name",
    statement = { procedure = "remove_orphan_files", table = parts, retention_threshold = retention },
  }
end

return adapter
