-- table.insert, remove and move, which could move elements for long without executing an
-- instruction. Where there are few to move, Lua's own are called. Where there may be many they are
-- moved here, within a function of Lua's own, so that what is called meanwhile cannot wait.
local insert, remove, move, type, select, getmetatable, error, gsub, integer, metafield = ...

-- How many elements are left to Lua's own functions.
local MOST = 10000

-- Whether a list has few elements to be moved: it counts them itself only where no handler would.
local function is_short(list)
  if type(list) ~= 'table' then return true end
  return metafield(list, '__len') == nil and #list < MOST
end

local function length(list)
  local n = integer(#list)
  if n == nil then error('object length is not an integer') end
  return n
end

-- Whether a < b, both without a sign.
local function below(a, b)
  if (a < 0) == (b < 0) then return a < b end
  return b < 0
end

local new = {}

function new.insert(list, ...args)
  local count = args.n
  -- Nothing is moved.
  if count == 1 then return insert(list, (args[1])) end
  if is_short(list) then return insert(list, ...) end
  local pos, value = args[1], args[2]
  gsub('x', 'x', function()
    local last = length(list) + 1
    if count ~= 2 then error("wrong number of arguments to 'insert'") end
    local given = pos
    pos = integer(pos)
    -- It says what is wrong.
    if pos == nil then return insert({}, given, value) end
    if not below(pos - 1, last) then error("bad argument #2 to 'insert' (position out of bounds)") end
    for i = last, pos + 1, -1 do list[i] = list[i - 1] end
    list[pos] = value
  end)
end

function new.remove(list, ...)
  if getmetatable(list) == nil and ... == nil or is_short(list) then return remove(list, ...) end
  local pos = ...
  local value
  gsub('x', 'x', function()
    local last = length(list)
    local given = pos
    if pos == nil then pos = last else pos = integer(pos) end
    if pos == nil then return remove({}, given) end
    if pos ~= last and below(last, pos - 1) then
      error("bad argument #2 to 'remove' (position out of bounds)")
    end
    value = list[pos]
    for i = pos, last - 1 do list[i] = list[i + 1] end
    if pos < last then pos = last end
    list[pos] = nil
  end)
  return value
end

function new.move(...)
  local from, first, last, to, other = ...
  local f, e, t = integer(first), integer(last), integer(to)
  if other == nil then other = from end
  local is_long = f and e and t and e >= f and not below(e - f, MOST)
  if not is_long or type(from) ~= 'table' or type(other) ~= 'table' then return move(...) end
  if not (f > 0 or e < 0x7fffffffffffffff + f) then return move(...) end
  local n = e - f + 1
  if t > 0x7fffffffffffffff - n + 1 then return move(...) end
  gsub('x', 'x', function()
    if t > e or t <= f or other ~= from then
      for i = 0, n - 1 do other[t + i] = from[f + i] end
    else
      for i = n - 1, 0, -1 do other[t + i] = from[f + i] end
    end
  end)
  return other
end

return new
