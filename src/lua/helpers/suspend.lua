-- A suspending call: its arguments are checked and become a request, the chain waits, and the
-- answer is returned or raised.
local yield, error = ...

local function finish(ok, ...)
  if ok then return ... end
  error((...), 0)
end

return function(ask)
  return function(...)
    ask(...)
    return finish(yield())
  end
end
