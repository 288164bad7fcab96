-- pcall and xpcall hand back error values; error and assert mark what the author raised, which
-- alone tells a string of the author's from one of Lua's own. What the cancel poll raises passes
-- through both.
local pcall, xpcall, error, type, select, caught, mark = ...

-- How many protected calls stand in each other. Lua allows about 200 calls of C functions; the cancel
-- poll needs some of them, so protected calls alone may not use them up.
local depth, DEEPEST = 0, 150

local function enter()
  if depth == DEEPEST then error('C stack overflow', 3) end
  depth = depth + 1
end

local function settle(ok, ...)
  depth = depth - 1
  if ok then return true, ... end
  local e, stop = caught((...))
  if stop then error(e, 0) end
  return false, e
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

function new.pcall(...)
  if select('#', ...) == 0 then return pcall(...) end
  enter()
  return settle(pcall(...))
end

function new.xpcall(f, handler, ...)
  if type(handler) ~= 'function' then return xpcall(f, handler, ...) end
  local stopped
  local function finish(...)
    depth = depth - 1
    if stopped then error(stopped, 0) end
    return ...
  end
  enter()
  return finish(xpcall(f, function(e)
    local value, stop = caught(e)
    if stop then
      stopped = value
      return value
    end
    return handler(value)
  end, ...))
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
