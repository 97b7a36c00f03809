-- SPDX-License-Identifier: Apache-2.0
-- Raise an error that the host knows by its code: fault("config.invalid", "content.%s: …", key).
return function(code, format, ...)
  error({ code = code, message = string.format(format, ...) }, 0)
end
