//! The section VM: the only place that knows Lua.
