-- getmetatable and setmetatable: the engine's guard of _G stays out of sight, and no finalizer is
-- ever armed, since when it runs would be the collector's choice.
local getmetatable, setmetatable, rawequal, rawget, rawset, pcall, error, type, globals, keep = ...

local own -- the metatable that the prompt set on _G

local KEPT = { __index = true, __newindex = true, __metatable = true, __gc = true }

local new = {}

function new.getmetatable(...)
  if not rawequal((...), globals) then return getmetatable(...) end
  if own == nil then return nil end
  local shield = rawget(own, '__metatable')
  if shield ~= nil then return shield end
  return own
end

local function set_guard(mt)
  if own ~= nil and rawget(own, '__metatable') ~= nil then
    error('cannot change a protected metatable', 3)
  end
  own = mt
  keep(mt, KEPT)
  return globals
end

function new.setmetatable(...)
  local t, mt = ...
  if rawequal(t, globals) then
    if mt ~= nil and type(mt) ~= 'table' then
      error("bad argument #2 to 'setmetatable' (nil or table expected, got " .. type(mt) .. ')', 2)
    end
    return set_guard(mt)
  end
  if type(t) == 'table' and type(mt) == 'table' then
    local finalizer = rawget(mt, '__gc')
    if finalizer ~= nil then
      rawset(mt, '__gc', nil)
      local ok, result = pcall(setmetatable, t, mt)
      rawset(mt, '__gc', finalizer)
      if not ok then error(result, 0) end
      return result
    end
  end
  return setmetatable(...)
end

return new
