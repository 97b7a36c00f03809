-- expect: ok=skip
-- row 53: control characters for the terminal
return policy {
  api = 1, name = "r53-note-controls", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    note("\27[2J\27]0;gone\7\r\n\0\127\194\155 31m")
    note("a\u{202e}b", "\xff\xfe", t.name)
    local v = all { check("\27[31m red", "\27]0;x\7", "==", "\n") }
    return skip(v)
  end,
}
