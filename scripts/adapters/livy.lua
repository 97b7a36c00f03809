-- SPDX-License-Identifier: Apache-2.0
-- The same statement as for spark, run by the job script that Livy starts.
local _, import = ...
local spark = import "adapters.spark"

local adapter = {}

function adapter.spec(context, ebb)
  local spec = spark.spec(context, ebb)
  spec.template = "livy-batch"
  return spec
end

return adapter
