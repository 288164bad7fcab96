-- getmetatable and setmetatable: the engine's guard of _G stays out of sight. No finalizer is ever
-- armed and no table made weak, since what they show is the collector's choice of a moment.
local natives, globals, keep, find, assign = ...
local getmetatable, setmetatable, rawequal = natives.getmetatable, natives.setmetatable, natives.rawequal
local rawget, rawset, pcall = natives.rawget, natives.rawset, natives.pcall
local error, type = natives.error, natives.type

local own -- the metatable that the prompt set on _G

local KEPT = { __index = true, __newindex = true, __metatable = true, __gc = true, __mode = true }
local INERT = { '__gc', '__mode' }

local function index(t, key)
  local found, value = find(key)
  if found then return value end
  if found == nil then error(value, 0) end
  local handler
  if own ~= nil then handler = rawget(own, '__index') end
  if handler == nil then return nil end
  if type(handler) == 'function' then return (handler(t, key)) end
  return handler[key]
end

local function newindex(t, key, value)
  if assign(key, value) then return end
  local handler
  if own ~= nil then handler = rawget(own, '__newindex') end
  if handler == nil then
    rawset(t, key, value)
  elseif type(handler) == 'function' then
    handler(t, key, value)
  else
    handler[key] = value
  end
end

local new = {}

-- A global as the engine reads it: whether that went well, and its value or what was raised.
function new.lookup(name)
  local value = rawget(globals, name)
  if value ~= nil then return true, value end
  return pcall(index, globals, name)
end

function new.getmetatable(...)
  if not rawequal((...), globals) then return getmetatable(...) end
  if own == nil then return nil end
  local shield = rawget(own, '__metatable')
  if shield ~= nil then return shield end
  return own
end

function new.setmetatable(...)
  local t, mt = ...
  if rawequal(t, globals) then
    if mt ~= nil and type(mt) ~= 'table' then
      error("bad argument #2 to 'setmetatable' (nil or table expected, got " .. type(mt) .. ')', 2)
    end
    if own ~= nil and rawget(own, '__metatable') ~= nil then
      error('cannot change a protected metatable', 2)
    end
    own = mt
    keep(mt, KEPT, index, newindex)
    return globals
  end
  if type(t) ~= 'table' or type(mt) ~= 'table' then return setmetatable(...) end
  local taken
  for i = 1, 2 do
    local field = rawget(mt, INERT[i])
    if field ~= nil then
      taken = taken or {}
      taken[INERT[i]] = field
      rawset(mt, INERT[i], nil)
    end
  end
  if taken == nil then return setmetatable(...) end
  local ok, result = pcall(setmetatable, t, mt)
  for i = 1, 2 do
    -- A __mode that came back would make the table weak after all.
    if INERT[i] == '__gc' then rawset(mt, '__gc', taken.__gc) end
  end
  if not ok then error(result, 0) end
  return result
end

return new
