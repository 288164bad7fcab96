//! The tree that `runvil check -v` shows (spec C7).

use runvil::prompt::{Block, Prompt, Section};

use super::escape::escape;

/// One line for the title and one for each section, in file order, with what they hold.
pub fn render(prompt: &Prompt) -> String {
    let mut out = String::new();
    let mut title = contents(&prompt.h1);
    if let Some(library) = &prompt.library {
        title.insert(0, format!("shared lua at line {}", library.line));
    }
    push_line(&mut out, 1, &prompt.title, &title);
    for section in &prompt.sections {
        push_line(
            &mut out,
            section.level,
            &section.name,
            &section_contents(section),
        );
    }
    out
}

/// The number of blocks in all sections and the H1 body (spec C7, F90).
pub fn block_count(prompt: &Prompt) -> usize {
    prompt.h1.len()
        + prompt
            .sections
            .iter()
            .map(|section| section.blocks.len())
            .sum::<usize>()
}

fn push_line(out: &mut String, level: u8, name: &str, contents: &[String]) {
    let level = usize::from(level);
    out.push_str(&format!(
        "{}{} {}",
        "  ".repeat(level),
        "#".repeat(level),
        escape(name)
    ));
    if !contents.is_empty() {
        out.push_str(&format!(": {}", contents.join(", ")));
    }
    out.push('\n');
}

fn section_contents(section: &Section) -> Vec<String> {
    match &section.items {
        Some(items) if items.len() == 1 => vec!["1 item".to_owned()],
        Some(items) => vec![format!("{} items", items.len())],
        None => contents(&section.blocks),
    }
}

/// The blocks, without the empty prose that only parts two fences.
fn contents(blocks: &[Block]) -> Vec<String> {
    blocks
        .iter()
        .filter_map(|block| match block {
            Block::Prose(text) if text.is_empty() => None,
            Block::Prose(_) => Some("prose".to_owned()),
            Block::Lua(lua) => Some(format!("lua at line {}", lua.line)),
        })
        .collect()
}
