-- pairs and next in the fixed order: array part, booleans, numbers, strings, the rest.
local type, select, rawget, rawlen, next, getmetatable, error, metafield, sort, following, touch = ...

local function named(...)
  if select('#', ...) == 0 then return 'no value' end
  return type((...))
end

local function in_array(k, n) return type(k) == 'number' and k >= 1 and k <= n and k % 1 == 0 end

local new = {}

function new.pairs(...)
  local t = ...
  if type(t) ~= 'table' then
    error("bad argument #1 to 'pairs' (table expected, got " .. named(...) .. ')', 2)
  end
  if getmetatable(t) ~= nil then
    local own = metafield(t, '__pairs')
    if type(own) == 'function' then return own(t) end
    if own ~= nil then
      error('attempt to call a ' .. type(own) .. " value (metamethod '__pairs')", 2)
    end
  end
  touch(t)
  local n = rawlen(t)
  local keys, count = {}, 0
  for k in next, t do
    if not in_array(k, n) then
      count = count + 1
      keys[count] = k
    end
  end
  if count > 1 then sort(keys) end
  local i, at = 0, 0
  return function()
    while i < n do
      i = i + 1
      local v = rawget(t, i)
      if v ~= nil then return i, v end
    end
    while at < count do
      at = at + 1
      local k = keys[at]
      local v = rawget(t, k)
      if v ~= nil then return k, v end
    end
    return nil, nil
  end, t, nil
end

function new.next(...)
  local t, k = ...
  if type(t) ~= 'table' then
    error("bad argument #1 to 'next' (table expected, got " .. named(...) .. ')', 2)
  end
  touch(t)
  local n = rawlen(t)
  local from
  if k == nil then
    from = 0
  elseif type(k) == 'number' and k % 1 == 0 and (in_array(k, n) or rawget(t, k) == nil) then
    -- A cleared integer counts as an index of the array part.
    from = k
  end
  if from then
    if from < 0 then from = 0 end
    while from < n do
      from = from + 1
      local v = rawget(t, from)
      if v ~= nil then return from, v end
    end
    k = nil
  end
  k = following(t, n, k)
  if k == nil then return nil, nil end
  return k, rawget(t, k)
end

return new
