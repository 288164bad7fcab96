//! Compiling Lua regions: once each, when the file is parsed (spec L1, L87 to L89).

use std::sync::Arc;

use mlua::chunk::ChunkMode;
use mlua::{Lua, LuaOptions, StdLib};

use super::rebase::rebase;
use crate::prompt::{Dialect, LuaBlock};

/// A compiled Lua region. Loading it into a section VM parses nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The bytecode, its line numbers those of the file.
    pub(super) code: Arc<[u8]>,
    /// The location label (spec F93).
    pub label: Arc<str>,
    /// How Lua names the region in messages: the label, cut and dressed as the dialect has it
    /// (spec L88).
    pub(super) marker: Arc<str>,
}

/// One Lua state that compiles every region of a file: a state for each would cost ten times what
/// the compilation does.
pub struct Compiler {
    lua: Lua,
    dialect: Dialect,
}

impl Compiler {
    /// A compiler for files of a dialect.
    ///
    /// # Errors
    /// The Lua library's own text, where no state could be made.
    pub fn new(dialect: Dialect) -> Result<Self, String> {
        let lua = Lua::new_with(StdLib::NONE, LuaOptions::new()).map_err(|e| e.to_string())?;
        Ok(Self { lua, dialect })
    }

    /// Compiles one region.
    ///
    /// # Errors
    /// The Lua compiler's diagnostic, unchanged; its line counts inside the region (spec L87).
    pub fn compile(&self, block: &LuaBlock) -> Result<Compiled, String> {
        // Markdown reads a NUL as U+FFFD, so none stands in a chunk's name.
        let label = &block.label;
        let name = match self.dialect {
            Dialect::PromptForge => label.clone(),
            Dialect::Runvil => format!("={label}"),
        };
        let function = self
            .lua
            .load(block.source.as_bytes())
            .set_name(name)
            .set_mode(ChunkMode::Text)
            .into_function()
            .map_err(diagnostic)?;
        let code = function.dump(false);
        let code = rebase(&code, block.line.saturating_sub(1)).unwrap_or(code);
        Ok(Compiled {
            code: code.into(),
            label: label.as_str().into(),
            marker: marker(self.dialect, label).into(),
        })
    }
}

/// How Lua shortens a chunk's name to the 60 bytes that its messages have for one.
fn marker(dialect: Dialect, label: &str) -> String {
    let cut = |limit: usize| {
        String::from_utf8_lossy(label.as_bytes().get(..limit).unwrap_or(label.as_bytes()))
    };
    match dialect {
        Dialect::Runvil => cut(59).into_owned(),
        Dialect::PromptForge if label.len() < 45 => format!("[string \"{label}\"]"),
        Dialect::PromptForge => format!("[string \"{}...\"]", cut(45)),
    }
}

fn diagnostic(error: mlua::Error) -> String {
    match error {
        mlua::Error::SyntaxError { message, .. } | mlua::Error::RuntimeError(message) => message,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(source: &str, line: u32) -> LuaBlock {
        LuaBlock {
            source: source.into(),
            line,
            label: "section `A` prologue".into(),
        }
    }

    fn error_of(dialect: Dialect, source: &str, line: u32) -> String {
        let compiled = Compiler::new(dialect).and_then(|c| c.compile(&block(source, line)));
        let lua = Lua::new();
        lua.load(&*compiled.expect("compiles").code)
            .set_mode(ChunkMode::Binary)
            .exec()
            .expect_err("raises")
            .to_string()
    }

    #[test]
    fn lines_are_those_of_the_file() {
        // spec L89
        let long = format!("{}error('x')", "a = 1\n".repeat(500));
        assert!(error_of(Dialect::Runvil, &long, 11).contains("section `A` prologue:511: x"));
        let nested = "local function f()\n\n  return g.h\nend\n\nf()";
        let text = error_of(Dialect::PromptForge, nested, 1_000_000);
        assert!(
            text.contains("[string \"section `A` prologue\"]:1000002: attempt"),
            "{text}"
        );
        assert!(text.contains("]:1000005: in main chunk"), "{text}");
    }

    #[test]
    fn markers_are_what_lua_makes_of_the_label() {
        // spec L88
        for (dialect, sign) in [(Dialect::Runvil, "="), (Dialect::PromptForge, "")] {
            for label in [
                "é".repeat(20),
                "é".repeat(40),
                "x".repeat(44),
                "x".repeat(45),
                "x".repeat(90),
            ] {
                let lua = Lua::new();
                let chunk = lua.load("return 1").set_name(format!("{sign}{label}"));
                let info = chunk.into_function().expect("compiles").info();
                assert_eq!(info.short_src.as_deref(), Some(&*marker(dialect, &label)));
            }
        }
    }

    #[test]
    fn a_diagnostic_counts_inside_the_region() {
        // case 02/CL20
        let compiled = Compiler::new(Dialect::PromptForge)
            .and_then(|c| c.compile(&block("local a\na = = 1\n", 11)));
        assert_eq!(
            compiled.expect_err("does not compile"),
            "[string \"section `A` prologue\"]:2: unexpected symbol near '='"
        );
    }
}
