-- A fanout: the collection's members in order, an arm each, and the results as read-only proxies
-- that show nothing but their four fields.
local ask, collect, setmetatable, error = ...

local weak = { __mode = 'k' }
local texts, members, exhausted =
  setmetatable({}, weak), setmetatable({}, weak), setmetatable({}, weak)

local function text_of(result) return texts[result] end

local guard = {
  __index = function(result, key)
    if key == 'text' then return texts[result] end
    if key == 'item' then return members[result] end
    if key == 'ok' then return not exhausted[result] end
    if key == 'exhausted' then return exhausted[result] or false end
    return nil
  end,
  __newindex = function() error('fanout results are read-only', 2) end,
  __tostring = text_of,
  __metatable = { __tostring = text_of },
}

return function(worker, collection)
  local list = collect(collection)
  local answers, marks = ask(worker, list)
  local results = {}
  for i = 1, #list do
    local result = setmetatable({}, guard)
    texts[result] = answers[i]
    members[result] = list[i]
    if marks[i] then exhausted[result] = true end
    results[i] = result
  end
  return results
end
