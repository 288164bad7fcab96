//! Keeps the author's frame under a call of the engine.
//!
//! In Lua a function that is called in a `return` takes the place of its caller, unless it is one of
//! the library's own. The engine's functions are written in Lua where they must suspend or raise,
//! so `return error('no')` would lose the very line that it is about. Such calls, known by their
//! names, are compiled as calls that return what they gave; all others stay proper tail calls.

/// What a name in a prompt's code stands for, as long as nothing shadows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// A function of the engine, or one of Lua's that it replaces.
    Function,
    /// A table of such functions.
    Table,
    /// A method of strings that the engine replaces.
    Method,
    Other,
}

const FUNCTIONS: [&str; 13] = [
    "assert",
    "call",
    "error",
    "fanout",
    "getmetatable",
    "jump",
    "next",
    "pairs",
    "pcall",
    "require",
    "setmetatable",
    "tostring",
    "xpcall",
];
const TABLES: [&str; 7] = [
    "input", "models", "store", "string", "table", "tasks", "tools",
];

const METHODS: [&str; 6] = ["find", "format", "gmatch", "gsub", "match", "rep"];

impl Name {
    pub(super) fn of(name: &[u8]) -> Self {
        if FUNCTIONS.iter().any(|known| known.as_bytes() == name) {
            Self::Function
        } else if TABLES.iter().any(|known| known.as_bytes() == name) {
            Self::Table
        } else if METHODS.iter().any(|known| known.as_bytes() == name) {
            Self::Method
        } else {
            Self::Other
        }
    }
}

const MOVE: u32 = 0;
const GETUPVAL: u32 = 9;
const GETTABUP: u32 = 11;
const GETFIELD: u32 = 14;
const SELF: u32 = 20;
const CALL: u32 = 68;
const TAILCALL: u32 = 69;

/// One instruction: 7 bits of operation, 8 of A, 1 of k, 8 of B, 8 of C.
#[derive(Clone, Copy)]
struct Instruction(u32);

impl Instruction {
    fn operation(self) -> u32 {
        self.0 & 0x7f
    }

    fn a(self) -> u32 {
        self.0 >> 7 & 0xff
    }

    fn b(self) -> u32 {
        self.0 >> 16 & 0xff
    }

    fn c(self) -> usize {
        (self.0 >> 24) as usize
    }

    /// The same call, but one that comes back with all its results.
    fn into_call(self) -> u32 {
        self.0 & 0x00ff_7f80 | CALL
    }
}

/// Turns the tail calls of the engine's functions in a function's code into calls. `names` tells
/// what each of its constants names.
pub(super) fn keep_callers(code: &mut [u8], names: &[Name]) {
    let instruction = |code: &[u8], at: usize| {
        let bytes = code.get(4 * at..4 * at + 4)?;
        Some(Instruction(u32::from_ne_bytes(bytes.try_into().ok()?)))
    };
    let name = |instruction: Instruction| names.get(instruction.c()).copied();
    for at in 0..code.len() / 4 {
        let Some(call) = instruction(code, at).filter(|i| i.operation() == TAILCALL) else {
            continue;
        };
        // The arguments are computed above the called function's register, so the last that wrote
        // there is what fetched it.
        let loads = |i: Instruction| {
            let operation = i.operation();
            i.a() == call.a()
                && matches!(
                    operation,
                    MOVE | GETUPVAL | GETTABUP | GETFIELD | SELF | CALL
                )
        };
        let load = (0..at)
            .rev()
            .find_map(|at| Some((at, instruction(code, at).filter(|i| loads(*i))?)));
        let engine = match load {
            Some((_, load)) if load.operation() == GETTABUP => name(load) == Some(Name::Function),
            Some((_, load)) if load.operation() == SELF => name(load) == Some(Name::Method),
            Some((at, load)) if load.operation() == GETFIELD => at
                .checked_sub(1)
                .and_then(|before| instruction(code, before))
                .is_some_and(|table| {
                    table.operation() == GETTABUP
                        && table.a() == load.b()
                        && name(table) == Some(Name::Table)
                }),
            _ => false,
        };
        if engine && let Some(bytes) = code.get_mut(4 * at..4 * at + 4) {
            bytes.copy_from_slice(&call.into_call().to_ne_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Compiled, Compiler};
    use crate::prompt::{Dialect, LuaBlock};
    use mlua::Lua;
    use mlua::chunk::ChunkMode;

    /// The code after its way through the compiler, run with a caller-blind `error`.
    fn run(source: &str) -> Result<i64, String> {
        let mut compiler = Compiler::new(Dialect::Runvil).expect("a compiler");
        let label = "block".to_owned();
        let block = LuaBlock {
            source: source.into(),
            line: 1,
            label,
        };
        let region = compiler.compile(&block).expect("compiles");
        let compiled = Compiled::new(compiler.finish(), region);
        let lua = Lua::new();
        let helper = "local e = error; error = function(m) e(m, 2) end \
                      tasks = { spawn = error } store = { read = function(...) return ... end, \
                      raise = function(_, m) e(m, 2) end }";
        lua.load(helper).exec().expect("runs");
        lua.load(compiled.code())
            .set_mode(ChunkMode::Binary)
            .call::<i64>(())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_call_of_the_engine_keeps_its_caller() {
        for source in [
            "return error('no')",
            "local x <const> = 1 local function f() return error('no', x) end f()",
            "return tasks.spawn('no')",
            "return error((function() return 'no' end)())",
            "local s = { rep = store.raise } return s:rep('no')",
        ] {
            let text = run(&format!("\n\n{source}")).expect_err("raises");
            assert!(text.contains("block:3: no"), "{text}");
        }
    }

    #[test]
    fn results_pass_and_other_tail_calls_stay() {
        assert_eq!(run("return store.read(7)"), Ok(7));
        let vararg = "local function f(...) return store.read(...) end return (f(1, 2, 3))";
        assert_eq!(run(vararg), Ok(1));
        let closing =
            "local function f() local x <close> = nil return store.read(4) end return f()";
        assert_eq!(run(closing), Ok(4));
        let deep =
            "local function f(n) if n == 0 then return 9 end return f(n - 1) end return f(1000000)";
        assert_eq!(run(deep), Ok(9));
    }
}
