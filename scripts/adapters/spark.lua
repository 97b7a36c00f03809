-- SPDX-License-Identifier: Apache-2.0
-- Context -> the procedure of Iceberg in Spark. Named arguments and constants only: what all its versions take.
local _, import = ...
local statement = import "std.statement"

local adapter = {}

function adapter.spec(context, ebb)
  statement.refuse_options("spark", context.options)
  statement.check_cutoff(context)
  return {
    template = "spark-sql", version = 1, dialect = "spark", column = "orphan_file_location",
    statement = {
      procedure = "remove_orphan_files", catalog = context.catalog, table = statement.parts(context),
      older_than = context.older_than, location = statement.location(context, ebb), dry_run = context.dry_run == true,
      -- through the catalog's own storage, where Spark has no file system of that name
      prefix_listing = context.prefix_listing or nil,
    },
  }
end

return adapter
