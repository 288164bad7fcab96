-- Runs a block inside a handler that sees an error where it was raised, its stack still standing;
-- and a string.format that fetches the real one when it is first called.
local xpcall, seen, fetch = ...

local format

return function(block) return xpcall(block, seen) end, function(...)
  if format == nil then format = fetch() end
  return format(...)
end
