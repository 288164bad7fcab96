-- pcall and xpcall hand back error values; error and assert mark what the author raised, which
-- alone tells a string of the author's from one of Lua's own.
local pcall, xpcall, error, type, select, caught, mark = ...

local function settle(ok, ...)
  if ok then return true, ... end
  return false, caught((...))
end

-- Raises for the caller's caller; level 1 names the place that called error or assert.
local function throw(message, level)
  if message == nil then
    mark('<no error object>')
  elseif type(message) == 'string' then
    if type(level) == 'number' and level > 0 then
      local _, placed = pcall(error, message, level + 3)
      message = placed
    end
    mark(message)
  end
  error(message, 0)
end

local new = {}

function new.pcall(...) return settle(pcall(...)) end

function new.xpcall(f, handler, ...)
  if type(handler) ~= 'function' then return xpcall(f, handler, ...) end
  return xpcall(f, function(e) return handler(caught(e)) end, ...)
end

function new.error(message, level)
  if level == nil then level = 1 end
  if type(level) ~= 'number' then error(message, level) end
  throw(message, level)
end

function new.assert(...)
  if (...) then return ... end
  local count = select('#', ...)
  if count == 0 then error("bad argument #1 to 'assert' (value expected)", 2) end
  local message = 'assertion failed!'
  if count > 1 then message = (select(2, ...)) end
  throw(message, 1)
end

return new
