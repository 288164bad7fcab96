//! Compiling Lua regions: once each, when the file is parsed (spec L1, L87 to L89).

use std::sync::Arc;

use mlua::chunk::ChunkMode;
use mlua::{Lua, LuaOptions, StdLib};

use super::rebase::rebase;
use crate::prompt::{Dialect, LuaBlock};

/// All compiled regions of a file, one after the other: a file of many sections leaves no holes in
/// the heap then, which every section VM would land in.
#[derive(Debug, Default)]
pub struct Regions {
    code: Vec<u8>,
    text: String,
}

/// A compiled region's places in its [`Regions`].
#[derive(Clone, Copy, Debug)]
pub struct Region {
    code: (u32, u32),
    label: (u32, u32),
    marker: (u32, u32),
}

/// A compiled Lua region. Loading it into a section VM parses nothing.
#[derive(Clone, Debug)]
pub struct Compiled {
    regions: Arc<Regions>,
    region: Region,
}

impl Compiled {
    /// One region of a file.
    pub fn new(regions: Arc<Regions>, region: Region) -> Self {
        Self { regions, region }
    }

    /// The bytecode, its line numbers those of the file.
    pub(super) fn code(&self) -> &[u8] {
        let (start, end) = self.region.code;
        self.regions
            .code
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    /// The location label (spec F93).
    pub fn label(&self) -> &str {
        self.text(self.region.label)
    }

    /// How Lua names the region in messages: the label, cut and dressed as the dialect has it
    /// (spec L88).
    pub(super) fn marker(&self) -> &str {
        self.text(self.region.marker)
    }

    fn text(&self, (start, end): (u32, u32)) -> &str {
        self.regions
            .text
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }
}

/// One Lua state that compiles every region of a file: a state for each would cost ten times what
/// the compilation does.
pub struct Compiler {
    lua: Lua,
    dialect: Dialect,
    regions: Regions,
}

impl Compiler {
    /// A compiler for files of a dialect.
    ///
    /// # Errors
    /// The Lua library's own text, where no state could be made.
    pub fn new(dialect: Dialect) -> Result<Self, String> {
        let lua = Lua::new_with(StdLib::NONE, LuaOptions::new()).map_err(|e| e.to_string())?;
        Ok(Self {
            lua,
            dialect,
            regions: Regions::default(),
        })
    }

    /// Compiles one region.
    ///
    /// # Errors
    /// The Lua compiler's diagnostic, unchanged; its line counts inside the region (spec L87).
    pub fn compile(&mut self, block: &LuaBlock) -> Result<Region, String> {
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
        let based = rebase(&code, block.line.saturating_sub(1));
        let Regions { code: all, text } = &mut self.regions;
        let starts = (all.len(), text.len());
        all.extend_from_slice(based.as_ref().unwrap_or(&code));
        text.push_str(label);
        let marked = text.len();
        text.push_str(&block.marker(self.dialect));
        Ok(Region {
            code: places(starts.0, all.len())?,
            label: places(starts.1, marked)?,
            marker: places(marked, text.len())?,
        })
    }

    /// Hands over what was compiled.
    pub fn finish(mut self) -> Arc<Regions> {
        self.regions.code.shrink_to_fit();
        self.regions.text.shrink_to_fit();
        Arc::new(self.regions)
    }
}

fn places(start: usize, end: usize) -> Result<(u32, u32), String> {
    match (u32::try_from(start), u32::try_from(end)) {
        (Ok(start), Ok(end)) => Ok((start, end)),
        _ => Err("the file holds too much Lua".to_owned()),
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

    fn compiled(dialect: Dialect, source: &str, line: u32) -> Result<Compiled, String> {
        let mut compiler = Compiler::new(dialect)?;
        let region = compiler.compile(&block(source, line))?;
        Ok(Compiled::new(compiler.finish(), region))
    }

    fn error_of(dialect: Dialect, source: &str, line: u32) -> String {
        let lua = Lua::new();
        lua.load(compiled(dialect, source, line).expect("compiles").code())
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
                let block = LuaBlock {
                    source: String::new(),
                    line: 1,
                    label,
                };
                assert_eq!(info.short_src, Some(block.marker(dialect)));
            }
        }
    }

    #[test]
    fn a_diagnostic_counts_inside_the_region() {
        // case 02/CL20
        let compiled = compiled(Dialect::PromptForge, "local a\na = = 1\n", 11);
        assert_eq!(
            compiled.expect_err("does not compile"),
            "[string \"section `A` prologue\"]:2: unexpected symbol near '='"
        );
    }
}
