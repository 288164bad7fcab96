-- Runs a block inside a handler that sees an error where it was raised, its stack still standing.
local xpcall, seen = ...

return function(block) return xpcall(block, seen) end
