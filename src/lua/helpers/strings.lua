-- The string functions that could run for long without executing an instruction. Where text and
-- pattern are such that they cannot, Lua's own are called; where they could, the matching is done by
-- functions that look at the cancel flag.
local find, match, gmatch, gsub, rep, sub, type, error, concat, longest, read, search, scan, substitute,
  captures_in_pieces, pieces, room = ...

-- The longest text against which a pattern is matched by Lua's own functions.
local limits, known = {}, 0

local function learn(pattern)
  if known == 256 then limits, known = {}, 0 end
  local limit = longest(pattern)
  limits[pattern] = limit
  known = known + 1
  return limit
end

local function is_integer(v)
  return type(v) == 'number' and v % 1 == 0 and v > -0x1p53 and v < 0x1p53
end

-- Whether Lua's own functions may match; the arguments are right then.
local function is_short(s, p, init)
  if type(s) ~= 'string' or type(p) ~= 'string' then return false end
  if init ~= nil and not is_integer(init) then return false end
  return #s <= (limits[p] or learn(p))
end

local function finish(ok, ...)
  if not ok then error((...)) end
  return ...
end

local new = {}

-- Each first asks in the quickest way there is: a limit is known for strings alone.

function new.find(...args)
  local s, p = args[1], args[2]
  if args.n == 2 then
    local limit = limits[p]
    if limit and type(s) == 'string' and #s <= limit then return find(s, p) end
  end
  local init, plain = args[3], args[4]
  if plain then
    if type(s) == 'string' and type(p) == 'string' and (init == nil or is_integer(init)) then
      if #s * (#p + 8) < 8000000 then return find(s, p, init, plain) end
    end
  elseif is_short(s, p, init) then
    return find(s, p, init)
  end
  return finish(search(true, ...))
end

function new.match(...args)
  local s, p = args[1], args[2]
  if args.n == 2 then
    local limit = limits[p]
    if limit and type(s) == 'string' and #s <= limit then return match(s, p) end
  end
  local init = args[3]
  if is_short(s, p, init) then return match(s, p, init) end
  return finish(search(false, ...))
end

-- The matches from a place on, some at a time. `each` gets the list of their places, where one of
-- them begins in it, and the next place of the list.
local function batches(s, p, at, anchors, all)
  local ended, count = -1, 1
  local list, size, step, index
  local is_over = false
  return function()
    while list == nil or index > size do
      if is_over then return nil end
      local ok
      ok, list, size, step, at, ended, is_over = scan(s, p, at, ended, count, anchors, all)
      if not ok then error(list) end
      index = 1
      if count < 256 then count = count * 2 end
    end
    local from = index
    index = index + step
    return list, from, step
  end
end

-- The values of the captures from an index on.
local function values(s, list, at, last)
  if at > last then return end
  local from, to = list[at], list[at + 1]
  if to < 0 then
    if at + 1 == last then return from end
    return from, values(s, list, at + 2, last)
  end
  if at + 1 == last then return sub(s, from, to) end
  return sub(s, from, to), values(s, list, at + 2, last)
end

-- The matches one by one, of a text and a pattern that need looks at the cancel flag.
local function in_batches(s, p, init)
  local next_match = batches(s, p, init, false, true)
  return function()
    local list, from, step = next_match()
    if list == nil then return nil end
    if step == 2 then return sub(s, list[from], list[from + 1]) end
    if step == 6 then
      local first, second = list[from + 3], list[from + 5]
      if first >= 0 and second >= 0 then
        return sub(s, list[from + 2], first), sub(s, list[from + 4], second)
      end
    end
    return values(s, list, from + 2, from + step - 1)
  end
end

-- The matches in pieces of the text that no match can cross, each so short that Lua's own function may
-- match it; from a place on where there are none, in batches.
local function in_pieces(s, p, init, count)
  local ends, index = pieces(s, p, init), 0
  local each
  -- Goes on to the next piece; whether there is one.
  local function go_on()
    index = index + 1
    local last = ends[index]
    if last == nil then
      if init > #s then return false end
      ends, index = pieces(s, p, init), 1
      last = ends[1]
      if last == nil then
        each, init = in_batches(s, p, init), #s + 1
        return true
      end
    end
    each = gmatch(sub(s, init, last), p)
    init = last + 1
    return true
  end
  if not go_on() then return function() end end
  if count <= 1 then
    return function()
      local a = each()
      while a == nil and go_on() do a = each() end
      return a
    end
  elseif count == 2 then
    return function()
      local a, b = each()
      while a == nil do
        if not go_on() then return nil end
        a, b = each()
      end
      return a, b
    end
  end
  local function given(a, ...)
    if a ~= nil then return a, ... end
    if not go_on() then return nil end
    return given(each())
  end
  return function() return given(each()) end
end

function new.gmatch(...)
  if is_short(...) then return gmatch(...) end
  local s, p, init = finish(read('gmatch', ...))
  local count = captures_in_pieces(p)
  if count then return in_pieces(s, p, init, count) end
  return in_batches(s, p, init)
end

-- Replaces by a function or from a table. What they do cannot wait, as they run within a function of
-- Lua's own.
local function replace(s, p, by, most)
  local out, size, copied, count, changed = {}, 0, 1, 0, false
  local whole = {}
  local function put(text)
    size = size + 1
    out[size] = text
    if size == 512 then
      whole[#whole + 1] = concat(out)
      out, size = {}, 0
    end
  end
  local is_function = type(by) == 'function'
  gsub('x', 'x', function()
    local next_match = batches(s, p, 1, true, is_function)
    while count < most do
      local list, from, step = next_match()
      if list == nil then break end
      count = count + 1
      local first, last = list[from], list[from + 1]
      local value
      if is_function then
        if step == 2 then
          value = by(sub(s, first, last))
        else
          value = by(values(s, list, from + 2, from + step - 1))
        end
      elseif step == 2 then
        value = by[sub(s, first, last)]
      else
        value = by[(values(s, list, from + 2, from + 3))]
      end
      if value then
        local kind = type(value)
        if kind ~= 'string' and kind ~= 'number' then
          error('invalid replacement value (a ' .. kind .. ')')
        end
        put(sub(s, copied, first - 1))
        put(value)
        copied, changed = last + 1, true
      end
    end
  end)
  if not changed then return s, count end
  put(sub(s, copied))
  whole[#whole + 1] = concat(out, '', 1, size)
  return concat(whole), count
end

function new.gsub(...)
  local s, p, by, most = ...
  if is_short(s, p, most) then
    local kind = type(by)
    if kind == 'string' or kind == 'function' or kind == 'table' then
      if most == nil then return gsub(s, p, by) end
      return gsub(s, p, by, most)
    end
  end
  s, p, by, most = finish(read('gsub', ...))
  if type(by) == 'string' then return finish(substitute(s, p, by, most)) end
  return replace(s, p, by, most)
end

-- Lua's own function makes the string in one go, text by text: of many short ones it is given few
-- long ones, which are copied as quickly as can be. It does not collect garbage for want of memory.
local function repeated(s, count, sep)
  local unit = #s + #sep
  if unit == 0 then return '' end
  if not is_integer(count) or 1.0 * unit * count >= 0x1p62 then return rep(s, count, sep) end
  room(unit * count)
  if count < 100000 then return rep(s, count, sep) end
  -- So many texts in each, and fewer in what stands between them, that it comes out even.
  local times = count ^ 0.5 // 1 | 0
  local each = (count + times - 1) // times
  local between = each * times - count
  local joint = sep
  if between > 0 then joint = sep .. rep(s, between, sep) .. sep end
  return rep(rep(s, each - between, sep), times, joint)
end

function new.rep(...)
  local s, count, sep = ...
  if is_integer(count) and type(s) == 'string' and (sep == nil or type(sep) == 'string') then
    if count < 100000 and count * (#s + (sep and #sep or 0)) < 1000000 then
      return rep(s, count, sep)
    end
  end
  return repeated(finish(read('rep', ...)))
end

return new
