-- Runs a library section's blocks in the caller's own coroutine; the first value that is not nil is
-- the library.
local setmetatable, begin, enter, leave = ...

local closing = { __close = function(_, e) leave(e == nil) end }

return function(...)
  local loaded, blocks, value = begin(...)
  if loaded then return value end
  local guard <close> = setmetatable({}, closing)
  for i = 1, #blocks do
    enter(i)
    local block = blocks[i]
    value = block()
    if value ~= nil then break end
  end
  enter(0, value)
  return value
end
