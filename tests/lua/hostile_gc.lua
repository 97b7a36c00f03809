-- SPDX-License-Identifier: Apache-2.0
-- A collector that never rests: what a binding holds without an owner is gone at its next allocation.
collectgarbage("incremental", 0, 1000, 0)
