-- tostring and string.format without addresses: a value that Lua would show by its address is
-- shown by a number, counted from 1 in the order in which the VM first shows such values.
local tostring, format, type, select, sub, find, gmatch, ordinal = ...

local SHOWN = { table = true, ['function'] = true, thread = true, userdata = true }

local function show(v)
  local text = tostring(v)
  local address = format('%p', v)
  if sub(text, -#address) == address then
    return sub(text, 1, -#address - 1) .. ordinal(v)
  end
  return text
end

local new = {}

function new.tostring(...)
  local v = ...
  if SHOWN[type(v)] then return show(v) end
  return tostring(...)
end

function new.format(...)
  local pattern = ...
  if type(pattern) ~= 'string' then return format(...) end
  local count = select('#', ...)
  local plain = not find(pattern, 'p', 1, true)
  for i = 2, count do
    if not plain then break end
    plain = not SHOWN[type((select(i, ...)))]
  end
  if plain then return format(...) end
  local args = { ... }
  local rewritten, last = '', 1
  local at = 2
  for from, conversion, to in gmatch(pattern, '()%%[-+ #0]*%d*%.?%d*([%a%%])()') do
    if conversion ~= '%' then
      if conversion == 's' and SHOWN[type(args[at])] then
        args[at] = show(args[at])
      elseif conversion == 'p' then
        rewritten = rewritten .. sub(pattern, last, to - 2) .. 's'
        last = to
        local kind = type(args[at])
        if SHOWN[kind] or kind == 'string' then
          args[at] = ordinal(args[at])
        elseif at <= count then
          args[at] = '(null)'
        end
      end
      at = at + 1
    end
  end
  rewritten = rewritten .. sub(pattern, last)
  local function spread(i)
    if i > count then return end
    return args[i], spread(i + 1)
  end
  return format(rewritten, spread(2))
end

return new
