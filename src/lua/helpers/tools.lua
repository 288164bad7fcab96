-- Calls of tools: a local tool's handler runs here, in the calling coroutine, so that it may wait
-- and a cancel reaches it (spec T111 to T119).
local setmetatable, register, route, dispatch, serve, finish, leave = ...

local handlers = {}

-- Closed when a handler ends, however it does.
local ending = setmetatable({}, { __close = function(_, raised) leave(raised ~= nil) end })

local function run(alias, arguments)
  local _ <close> = ending
  return finish(handlers[alias](arguments))
end

local tools = {}

function tools.add(alias, description, params, handler, ...)
  register(alias, description, params, handler, ...)
  handlers[alias] = handler
end

-- A script's call.
function tools.call(...)
  local alias, arguments = route(...)
  return run(alias, arguments)
end

-- A model's call, by its batch and its place there: the text of its tool record.
function tools.perform(calls, at)
  local alias, arguments = dispatch(calls, at)
  if alias then return run(alias, arguments) end
  return serve(calls, at)
end

return tools
