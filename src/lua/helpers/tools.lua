-- Calls of tools: a local tool's handler runs here, in the calling coroutine, so that it may wait
-- and a cancel reaches it (spec T111 to T119).
local setmetatable, rawset, error, register, route, dispatch, serve, finish, leave, count, own = ...

local tools = { global = {} }

local handlers = {}

-- How many handlers run. One that raises is unwound by that number, since what it is called with may
-- not even fit in memory.
local depth = 0

local ending = setmetatable({}, {
  __close = function(_, raised)
    depth = depth - 1
    if raised ~= nil then leave(depth) end
  end,
})

-- What `tools.calls` is once a tool was called: a view that holds nothing itself (spec T107).
local calls = setmetatable({}, {
  __index = count,
  __newindex = function() error('tools.calls is read-only', 2) end,
  __metatable = false,
})
local shown = false

-- Runs the handler of the local tool that is looked up. Gives nil where it is another tool, whose
-- call is then served: false says that it is a unit's, and counted.
local function run(look_up, ...)
  local _ <close> = ending
  depth = depth + 1
  local alias, arguments = look_up(...)
  if alias == nil then return nil end
  if not shown then
    shown = true
    rawset(tools.global, 'calls', calls)
  end
  if not alias then return nil end
  return finish(handlers[alias](arguments))
end

function tools.add(alias, description, params, handler, ...)
  register(alias, description, params, handler, ...)
  handlers[alias] = handler
end

-- A script's call.
function tools.call(...)
  local text = run(route, ...)
  if text ~= nil then return text end
  return serve()
end

-- A model's call, by its batch and its place there: the text of its tool record.
function tools.perform(...)
  local text = run(dispatch, ...)
  if text ~= nil then return text end
  return serve(...)
end

-- `tools.call` for the prelude of a unit, which reaches the unit's own tools by their paths.
function tools.of(unit)
  return function(...)
    own(unit)
    return tools.call(...)
  end
end

return tools
