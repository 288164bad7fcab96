//! The parts of the section VM that are written in Lua, compiled once per process.

use std::sync::OnceLock;

use mlua::chunk::ChunkMode;
use mlua::{Function, Lua, LuaOptions, StdLib};

/// A Lua helper file. Each takes the natives it needs as arguments and touches no global.
#[derive(Clone, Copy)]
pub(super) enum Helper {
    Run,
    Errors,
    Iterate,
    Tables,
    Text,
    Meta,
    Suspend,
    Later,
    Require,
    Fanout,
    Messages,
    Tools,
    Loop,
    Prelude,
    Strings,
    Shift,
}

const SOURCES: [(&str, &str); 16] = [
    ("run", include_str!("helpers/run.lua")),
    ("errors", include_str!("helpers/errors.lua")),
    ("iterate", include_str!("helpers/iterate.lua")),
    ("tables", include_str!("helpers/tables.lua")),
    ("text", include_str!("helpers/text.lua")),
    ("meta", include_str!("helpers/meta.lua")),
    ("suspend", include_str!("helpers/suspend.lua")),
    ("later", include_str!("helpers/later.lua")),
    ("require", include_str!("helpers/require.lua")),
    ("fanout", include_str!("helpers/fanout.lua")),
    ("messages", include_str!("helpers/messages.lua")),
    ("tools", include_str!("helpers/tools.lua")),
    ("loop", include_str!("helpers/loop.lua")),
    ("prelude", include_str!("helpers/prelude.lua")),
    ("strings", include_str!("helpers/strings.lua")),
    ("shift", include_str!("helpers/shift.lua")),
];

/// How helper frames are named in tracebacks, before the file's name.
pub(super) const PLACE: &str = "runvil/";

static CODE: [OnceLock<Vec<u8>>; 16] = [const { OnceLock::new() }; 16];

/// Loads a helper into a VM. Called with its natives it gives what it defines.
pub(super) fn load(lua: &Lua, helper: Helper) -> mlua::Result<Function> {
    let (name, source) = SOURCES[helper as usize];
    let cell = &CODE[helper as usize];
    let code = match cell.get() {
        Some(code) => code,
        None => {
            let compiler = Lua::new_with(StdLib::NONE, LuaOptions::new())?;
            let function = compiler
                .load(source)
                .set_name(format!("={PLACE}{name}.lua"))
                .into_function()?;
            cell.get_or_init(|| function.dump(false))
        }
    };
    lua.load(&code[..])
        .set_mode(ChunkMode::Binary)
        .into_function()
}
