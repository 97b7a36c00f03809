-- SPDX-License-Identifier: Apache-2.0
-- Context -> configuration of the job builtin-iceberg-remove-orphan-files: texts only. The location is proved again here.
local _, import = ...
local table_facts = import "std.table_facts"

local adapter = {}

function adapter.spec(context, ebb)
  local config = {
    catalog_name = context.catalog,
    table_identifier = context.namespace .. "." .. context.name,
    older_than = ebb.time.format(context.older_than, "sql"),
    location = table_facts.location_inside(context.table_location, context.location, ebb),
    dry_run = tostring(context.dry_run == true),
  }
  return { template = "builtin-iceberg-remove-orphan-files", version = 1, config = config, options = context.options }
end

return adapter
