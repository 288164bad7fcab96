-- table.concat passes elements with a __tostring through tostring; table.sort is Lua's own
-- algorithm, but for the pivots of unbalanced arrays, which a clock would pick there.
local concat, sort, type, error, tostring, metafield, is_integer = ...

local new = {}

-- Joins some elements at a time, so that a cancel need not wait for all of them.
local MOST = 10000

local function join(list, sep, i, j)
  if j - i < MOST then return concat(list, sep, i, j) end
  local parts, count = {}, 0
  for at = i, j, MOST do
    local last = at + MOST - 1
    if last > j then last = j end
    count = count + 1
    parts[count] = concat(list, sep, at, last)
  end
  return join(parts, sep, 1, count)
end

function new.concat(...)
  local list, sep, i, j = ...
  if type(list) ~= 'table' then return concat(...) end
  if i == nil then i = 1 end
  if j == nil then j = #list end
  if not is_integer(i) or not is_integer(j) then return concat(list, sep, i, j) end
  local copy
  local at = i
  while at <= j do
    local v = list[at]
    local kind = type(v)
    if kind ~= 'string' and kind ~= 'number' then
      if kind == 'nil' or metafield(v, '__tostring') == nil then
        error('invalid value (' .. kind .. ') at index ' .. at .. " in table for 'concat'", 2)
      end
      if not copy then
        copy = {}
        for k = i, at - 1 do copy[k - i + 1] = list[k] end
      end
      v = tostring(v)
    end
    if copy then copy[at - i + 1] = v end
    if at == j then break end
    at = at + 1
  end
  if copy then return join(copy, sep, 1, j - i + 1) end
  return join(list, sep, i, j)
end

local function partition(a, lo, up, pivot, less)
  local i, j = lo, up - 1
  while true do
    i = i + 1
    while less(a[i], pivot) do
      if i == up - 1 then error('invalid order function for sorting', 0) end
      i = i + 1
    end
    j = j - 1
    while less(pivot, a[j]) do
      if j < i then error('invalid order function for sorting', 0) end
      j = j - 1
    end
    if j < i then
      a[up - 1], a[i] = a[i], a[up - 1]
      return i
    end
    a[i], a[j] = a[j], a[i]
  end
end

local function quicksort(a, lo, up, less, mixed)
  while lo < up do
    if less(a[up], a[lo]) then a[lo], a[up] = a[up], a[lo] end
    if up - lo == 1 then return end
    local p = (lo + up) // 2
    if mixed and up - lo >= 100 then
      local quarter = (up - lo) // 4
      p = (0xffffffff ~ lo ~ up) % (quarter * 2) + lo + quarter
    end
    if less(a[p], a[lo]) then
      a[p], a[lo] = a[lo], a[p]
    elseif less(a[up], a[p]) then
      a[p], a[up] = a[up], a[p]
    end
    if up - lo == 2 then return end
    local pivot = a[p]
    a[p], a[up - 1] = a[up - 1], a[p]
    p = partition(a, lo, up, pivot, less)
    local smaller
    if p - lo < up - p then
      quicksort(a, lo, p - 1, less, mixed)
      smaller = p - lo
      lo = p + 1
    else
      quicksort(a, p + 1, up, less, mixed)
      smaller = up - p
      up = p - 1
    end
    -- A partition out of balance: choose pivots elsewhere from here on.
    if (up - lo) // 128 > smaller then mixed = true end
  end
end

local function ascending(a, b) return a < b end

function new.sort(...)
  local list, less = ...
  if type(list) ~= 'table' or (less ~= nil and type(less) ~= 'function') then return sort(...) end
  local n = #list
  if not is_integer(n) or n >= 2147483647 then return sort(...) end
  quicksort(list, 1, n, less or ascending, false)
end

return new
