-- SPDX-License-Identifier: Apache-2.0
-- Removal of orphan files by ebb itself: the same job as any other, done in the process.
local _, import = ...

return import "adapters.remove_orphan_files"
