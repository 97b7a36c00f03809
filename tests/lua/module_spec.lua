-- SPDX-License-Identifier: Apache-2.0
local ebb = require "ebb"

describe("ebb", function()
  it("tells its version", function()
    assert.equal("0.1.0", ebb.version())
  end)

  it("has errors that read well", function()
    local got, err = ebb.location.normalise("data/f.parquet")
    assert.is_nil(got)
    assert.equal("location.invalid", err.code)
    assert.is_false(err.retryable)
    assert.equal("location.invalid: " .. err.message, tostring(err))
    assert.truthy(err.message:find("data/f.parquet", 1, true))
    err.code, err.message = nil, nil
    assert.equal("nil: nil", tostring(err))
  end)

  it("frees what it boxed", function()
    collectgarbage()
    local before = collectgarbage("count")
    for _ = 1, 2000 do
      ebb.location.normalise("s3://lake/" .. ("x/"):rep(100))
      ebb.location.relation("/a", "/b", { equal_schemes = { gs = "s3" }, equal_authorities = { ["a,b"] = "c" } })
      pcall(ebb.location.relation, "/a", "/b", { equal_schemes = { gs = "s3", [1] = 2 } })
      ebb.schedule.next("time.calendar { '02:00' }", 0, 2)
    end
    collectgarbage()
    collectgarbage()
    assert.is_true(collectgarbage("count") - before < 64)
  end)
end)
