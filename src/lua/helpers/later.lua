-- A function of the engine's that is written in Lua: what it stands for is loaded when it is first
-- called, since a table of functions is mostly used for one of them.
local fetch = ...

local made

return function(...)
  if made == nil then made = fetch() end
  return made(...)
end
