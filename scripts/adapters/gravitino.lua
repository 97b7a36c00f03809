-- SPDX-License-Identifier: Apache-2.0
-- The same job as ebb's own, run by a Gravitino server from the template that ebb registered there. A placeholder that is
-- left out would stay as it is: each has a value, if only "".
local _, import = ...
local native = import "adapters.remove_orphan_files"
local statement = import "std.statement"

local adapter = {}

function adapter.spec(context, ebb)
  statement.refuse_options("gravitino", context.options)
  statement.check_cutoff(context)
  local spec = native.spec(context, ebb)
  spec.template = context.template
  spec.config.location = spec.config.location or ""
  spec.options = nil
  return spec
end

return adapter
