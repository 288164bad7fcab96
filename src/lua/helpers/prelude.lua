-- The environment of a unit's prelude: what it defines stays here until it is checked, and its
-- `tools.call` reaches the unit's own tools (spec T54, T58).
local setmetatable, globals, call_of, fail = ...

return function(unit)
  local tools
  return setmetatable({}, {
    __index = function(own, key)
      if key == '_G' then return own end
      -- Raises an error of kind `lua`, as a function of the engine does.
      if key == 'fail' then return fail end
      if key ~= 'tools' then return globals[key] end
      tools = tools or setmetatable({ call = call_of(unit) }, {
        __index = function(_, name) return globals.tools[name] end,
      })
      return tools
    end,
  })
end
