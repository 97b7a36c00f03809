-- expect: check-fails=*
-- row 51: recursion at the top of the file
local function f() return 1 + f() end
return f()
