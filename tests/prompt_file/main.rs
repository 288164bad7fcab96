//! The prompt file: the cases of spec part 01 that need no run, and its rules on failures.

mod blocks;
mod delimiters;
mod fences;
mod frontmatter;
mod lists;
mod references;
mod size;
mod structure;

use runvil::Prompt;
use runvil::prompt::{
    ArgDefault, ArgType, Block, Dialect, Keyword, LuaBlock, PackReference, ParseError,
    ParseErrorKind, Scope, Section,
};

const BOTH: [Dialect; 2] = [Dialect::Runvil, Dialect::PromptForge];

/// Backticks are written as `B` runs in the cases; `⏎` is a line end.
fn text(case: &str) -> String {
    case.replace('⏎', "\n")
        .replace("BBBB", "````")
        .replace("BBB", "```")
}

/// A file with the usual header of five lines.
fn file(dialect: Dialect, body: &str) -> String {
    format!(
        "---\nname: t\ndescription: d\n{}: 0\n---\n{}",
        dialect.key(),
        text(body)
    )
}

/// A file with lines put before the closing delimiter.
fn file_with(dialect: Dialect, lines: &str) -> String {
    format!(
        "---\nname: t\ndescription: d\n{}: 0\n{lines}\n---\n# T\n",
        dialect.key()
    )
}

fn parse(source: &str) -> Result<Prompt, ParseError> {
    Prompt::parse(source, Dialect::Runvil)
}

#[track_caller]
fn good(source: &str) -> Prompt {
    match parse(source) {
        Ok(prompt) => prompt,
        Err(error) => panic!("{error:?}\n{source}"),
    }
}

#[track_caller]
fn bad(source: &str) -> ParseError {
    match parse(source) {
        Ok(prompt) => panic!("{prompt:?}\n{source}"),
        Err(error) => error,
    }
}

/// Checks a frontmatter failure: its detail, and where it is.
#[track_caller]
fn refuses(source: &str, detail: &str, place: Option<(u32, u32)>) {
    let error = bad(source);
    assert_eq!(error.kind, ParseErrorKind::Frontmatter);
    assert_eq!(error.message, format!("invalid frontmatter: {detail}"));
    assert_eq!(error.location.path.as_deref(), Some("<prompt>"));
    let location = error.location.line.zip(error.location.column);
    assert_eq!(location, place, "{}", error.message);
}

/// Checks a failure of the body in both dialects: its kind, its message, its line.
#[track_caller]
fn fails(body: &str, kind: ParseErrorKind, message: &str, line: Option<u32>) {
    for dialect in BOTH {
        fails_in(dialect, body, kind, message, line);
    }
}

#[track_caller]
fn fails_in(dialect: Dialect, body: &str, kind: ParseErrorKind, message: &str, line: Option<u32>) {
    let error = bad(&file(dialect, body));
    assert_eq!((error.kind, error.message.as_str()), (kind, message));
    assert_eq!(error.location.path.as_deref(), Some("t"));
    assert_eq!(error.location.line, line, "{message}");
    assert_eq!(error.location.span.is_some(), line.is_some());
}

fn section<'a>(prompt: &'a Prompt, name: &str) -> &'a Section {
    match prompt.sections.iter().find(|section| section.name == name) {
        Some(section) => section,
        None => panic!("no section {name}"),
    }
}

fn names(prompt: &Prompt) -> Vec<&str> {
    prompt
        .sections
        .iter()
        .map(|section| section.name.as_str())
        .collect()
}

/// Blocks in short: `prose` in quotes, Lua as its source.
fn shape(blocks: &[Block]) -> Vec<String> {
    let short = |block: &Block| match block {
        Block::Prose(text) => format!("{text:?}"),
        Block::Lua(lua) => lua.source.clone(),
    };
    blocks.iter().map(short).collect()
}

fn lua(blocks: &[Block]) -> Vec<&LuaBlock> {
    let lua = blocks.iter().filter_map(|block| match block {
        Block::Lua(lua) => Some(lua),
        Block::Prose(_) => None,
    });
    lua.collect()
}

/// The prose before the last Lua block of the section `A`.
fn prose_before_last_fence(source: &str) -> String {
    match good(source).sections[0].blocks.as_slice() {
        [.., Block::Prose(prose), Block::Lua(_)] => prose.clone(),
        blocks => panic!("{blocks:?}"),
    }
}
