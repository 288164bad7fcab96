-- Message lists: plain tables whose metatable carries the builders (spec M33).
local setmetatable = ...

local builders = {}
local list = { __index = builders }

function builders:system(content) return builders.append(self, { role = 'system', content = content }) end

function builders:user(content) return builders.append(self, { role = 'user', content = content }) end

function builders:assistant(content, tool_calls)
  return builders.append(self, { role = 'assistant', content = content, tool_calls = tool_calls })
end

function builders:tool(content, tool_call_id)
  return builders.append(self, { role = 'tool', content = content, tool_call_id = tool_call_id })
end

function builders:append(record)
  self[#self + 1] = record
  return self
end

return { new = function() return setmetatable({}, list) end }
