//! A prompt with its Lua compiled: what a run runs (spec F5, F130 to F132).

use std::sync::Arc;

use crate::lua::{Compiled, Compiler, Region, Regions};
use crate::prompt::{
    Block, Dialect, Location, LuaBlock, ParseError, ParseErrorKind, Prompt, SectionId,
};

/// A parsed and compiled prompt. Clones share it.
#[derive(Clone, Debug)]
pub struct Program {
    prompt: Arc<Prompt>,
    /// The title, as events name it.
    pub(super) title: Arc<str>,
    /// Each section's name, as events name it.
    pub(super) names: Arc<[Arc<str>]>,
    regions: Arc<Regions>,
    library: Option<Region>,
    /// The Lua blocks of the H1 body, then those of each section in file order.
    parts: Arc<[Part]>,
    /// Where the blocks of the H1 body end, and after them those of each section.
    ends: Arc<[u32]>,
}

/// A Lua block of a section, and where its pending prose stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    region: Region,
    /// The index of the prose block right before it, if there is one.
    pub(super) prose: Option<u32>,
}

/// A parse event: its kind, and the section it is reported under (spec F132).
pub type ParseEvent = (&'static str, Arc<str>);

/// A loaded file, or why it does not load, with what parsing it reported.
pub struct Loaded {
    /// The program, or the first failure.
    pub program: Result<Program, ParseError>,
    /// The prompt's name, where the frontmatter gives it.
    pub name: Option<String>,
    /// The parse events, in order.
    pub events: Vec<ParseEvent>,
}

impl Program {
    /// Parses a file and compiles all its Lua; nothing runs. `default` is the dialect of a file
    /// without a version key.
    pub fn load(source: &str, default: Dialect) -> Loaded {
        let whole: Arc<str> = Arc::from("Prompt");
        let mut events = vec![("parse_started", whole.clone())];
        let prompt = Prompt::parse(source, default);
        let name = match &prompt {
            Ok(prompt) => Some(prompt.name.clone()),
            Err(error) if error.kind == ParseErrorKind::Frontmatter => None,
            Err(error) => error.location.path.clone(),
        };
        let program = prompt.and_then(|p| compile(p, |kind, section| events.push((kind, section))));
        let end = if program.is_ok() {
            "parse_succeeded"
        } else {
            "parse_failed"
        };
        events.push((end, whole));
        Loaded {
            program,
            name,
            events,
        }
    }

    /// The parsed prompt.
    pub fn prompt(&self) -> &Arc<Prompt> {
        &self.prompt
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.prompt.dialect
    }

    pub(super) fn name(&self, section: Option<SectionId>) -> &Arc<str> {
        section
            .and_then(|id| self.names.get(id.0 as usize))
            .unwrap_or(&self.title)
    }

    /// The Lua blocks of a section, or of the H1 body.
    pub(super) fn parts(&self, section: Option<SectionId>) -> &[Part] {
        let at = section.map_or(0, |id| id.0 as usize + 1);
        let end = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        let start = at.checked_sub(1).map_or(0, end);
        self.parts.get(start..end(at)).unwrap_or_default()
    }

    /// A block's compiled form.
    pub(super) fn code(&self, part: &Part) -> Compiled {
        Compiled::new(self.regions.clone(), part.region)
    }

    /// The shared library's compiled form.
    pub(super) fn library(&self) -> Option<Compiled> {
        self.library
            .map(|region| Compiled::new(self.regions.clone(), region))
    }

    /// The prose of one block of a section, or of the H1 body.
    pub(super) fn prose(&self, section: Option<SectionId>, block: u32) -> &str {
        let blocks = match section {
            None => &self.prompt.h1,
            Some(id) => &self.prompt.section(id).blocks,
        };
        match blocks.get(block as usize) {
            Some(Block::Prose(text)) => text,
            _ => "",
        }
    }
}

fn compile(
    prompt: Prompt,
    mut report: impl FnMut(&'static str, Arc<str>),
) -> Result<Program, ParseError> {
    let failed = |message: String| ParseError {
        kind: ParseErrorKind::Lua,
        message,
        location: Location::default(),
    };
    let mut compiler = Compiler::new(prompt.dialect).map_err(failed)?;
    let title: Arc<str> = Arc::from(prompt.title.as_str());
    let names: Arc<[Arc<str>]> = prompt
        .sections
        .iter()
        .map(|section| Arc::from(section.name.as_str()))
        .collect();
    let mut region = |block: &LuaBlock, name: &Arc<str>| {
        report("lua_compilation_started", name.clone());
        let compiled = compiler.compile(block);
        let succeeded = compiled.is_ok();
        let end = match succeeded {
            true => "lua_compilation_succeeded",
            false => "lua_compilation_failed",
        };
        report(end, name.clone());
        compiled.map_err(|diagnostic| {
            let LuaBlock { label, line, .. } = block;
            failed(format!(
                "lua compilation error at {label} (line {line}): {diagnostic}"
            ))
        })
    };
    let library = prompt
        .library
        .as_ref()
        .map(|block| region(block, &title))
        .transpose()?;
    let sections = prompt.sections.iter().map(|section| &section.blocks);
    let bodies = std::iter::once(&prompt.h1).chain(sections);
    let mut parts = Vec::new();
    let mut ends = Vec::with_capacity(names.len() + 1);
    for (blocks, name) in bodies.zip(std::iter::once(&title).chain(names.iter())) {
        for (at, block) in blocks.iter().enumerate() {
            let Block::Lua(block) = block else { continue };
            let before = at.checked_sub(1).and_then(|at| Some((at, blocks.get(at)?)));
            let prose = match before {
                Some((at, Block::Prose(_))) => u32::try_from(at).ok(),
                _ => None,
            };
            parts.push(Part {
                region: region(block, name)?,
                prose,
            });
        }
        ends.push(u32::try_from(parts.len()).unwrap_or(u32::MAX));
    }
    Ok(Program {
        title,
        names,
        regions: compiler.finish(),
        library,
        parts: parts.into(),
        ends: ends.into(),
        prompt: Arc::new(prompt),
    })
}
