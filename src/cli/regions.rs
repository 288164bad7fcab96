//! Finds the places that Lua's messages name, and shows them as places of the file (spec L87 to
//! L92).

use runvil::prompt::{Block, LuaBlock, Prompt};

/// The label of the shared library.
const LIBRARY: &str = "prompt shared library";

/// The Lua regions of a file, by how messages name them.
pub struct Regions<'a>(Vec<Region<'a>>);

/// One Lua region.
pub struct Region<'a> {
    pub block: &'a LuaBlock,
    /// How Lua names it in its own messages.
    marker: String,
    /// The part of the file it stands in.
    part: String,
}

/// What a message says first.
pub struct Found<'a> {
    /// The line of the file.
    pub line: u32,
    /// What it says about that line.
    pub rest: &'a str,
}

impl<'a> Regions<'a> {
    /// The regions of a parsed file.
    pub fn of(prompt: &'a Prompt) -> Self {
        let library = prompt.library.iter();
        let library = library.map(|block| (block, "the shared library".to_owned()));
        let gate = lua(&prompt.h1).map(|block| (block, part(None)));
        let sections = prompt.sections.iter().flat_map(|section| {
            lua(&section.blocks).map(|block| (block, part(Some(&section.name))))
        });
        let regions = library.chain(gate).chain(sections);
        Self(
            regions
                .map(|(block, part)| Region {
                    block,
                    marker: block.marker(prompt.dialect),
                    part,
                })
                .collect(),
        )
    }

    /// The region that a compile failure is about, and the line and diagnostic of the Lua compiler:
    /// the message of spec F95 counts lines inside the region.
    pub fn syntax<'m>(&self, message: &'m str) -> Option<(&Region<'a>, Found<'m>)> {
        let said = message.strip_prefix("lua compilation error at ")?;
        self.0.iter().find_map(|region| {
            let LuaBlock { label, line, .. } = region.block;
            let said = said
                .strip_prefix(label.as_str())?
                .strip_prefix(&format!(" (line {line}): "))?;
            let found = numbered(said, &region.marker)?;
            let line = line.saturating_add(found.line).saturating_sub(1);
            Some((region, Found { line, ..found }))
        })
    }

    /// The innermost place that the message of a run's failure names before it says what happened:
    /// the tag in front of it (spec L90), or the place that Lua itself has put behind that tag.
    pub fn runtime<'m>(&self, message: &'m str) -> Option<Found<'m>> {
        // The shared library fails where a section enters it, and says in front which.
        let mut entered = self.0.iter().filter_map(|region| {
            let text = message.strip_prefix(&region.part)?.strip_prefix(": ")?;
            text.starts_with(LIBRARY).then_some(text)
        });
        let message = entered.next().unwrap_or(message);
        let tag = self.find(message, |region| &region.block.label)?;
        let text = tag.rest.strip_prefix("runtime error: ").unwrap_or(tag.rest);
        let inner = self.find(text, |region| &region.marker);
        Some(inner.unwrap_or(Found { rest: text, ..tag }))
    }

    /// A frame of a traceback with the place in `file` that it names; `None` for a frame that is
    /// not the author's.
    pub fn frame(&self, frame: &str, file: &str) -> Option<String> {
        self.0.iter().find_map(|region| {
            let Found { line, rest } = region.find(frame, &region.marker)?;
            let what = if rest == "in main chunk" {
                format!("in {}", region.part)
            } else {
                rest.replace(&format!("<{}:", region.marker), &format!("<{file}:"))
            };
            Some(format!("{file}:{line}: {what}"))
        })
    }

    fn find<'s, 'm>(
        &'s self,
        text: &'m str,
        name: fn(&'s Region<'a>) -> &'s str,
    ) -> Option<Found<'m>> {
        self.0
            .iter()
            .find_map(|region| region.find(text, name(region)))
    }
}

impl Region<'_> {
    /// What a text says about a line of this region, which it calls `name`.
    fn find<'m>(&self, text: &'m str, name: &str) -> Option<Found<'m>> {
        let found = numbered(text, name)?;
        let lines = self.block.source.split('\n').count();
        let after = found.line.checked_sub(self.block.line)?;
        usize::try_from(after)
            .is_ok_and(|after| after < lines)
            .then_some(found)
    }

    /// The first line, up to a line of the file, that looks as if the fence should have been closed
    /// before it: a heading, or another fence.
    pub fn swallowed(&self, until: u32) -> Option<(u32, &'static str)> {
        let mut lines = (self.block.line..=until).zip(self.block.source.lines());
        lines.find_map(|(line, text)| {
            let name = text.trim_start_matches('#');
            let level = text.len() - name.len();
            if (1..=6).contains(&level) && name.starts_with(' ') && !name.trim().is_empty() {
                Some((line, "heading"))
            } else {
                text.starts_with("```").then_some((line, "fence"))
            }
        })
    }
}

/// How a part of the file is called to a person: a section by its name, else the Lua of the title.
pub fn part(section: Option<&str>) -> String {
    section.map_or_else(
        || "the Lua under the title".to_owned(),
        |name| format!("section `{name}`"),
    )
}

fn lua(blocks: &[Block]) -> impl Iterator<Item = &LuaBlock> {
    blocks.iter().filter_map(|block| match block {
        Block::Lua(lua) => Some(lua),
        Block::Prose(_) => None,
    })
}

/// Reads `NAME:LINE: TEXT`.
fn numbered<'m>(text: &'m str, name: &str) -> Option<Found<'m>> {
    let (line, rest) = text
        .strip_prefix(name)?
        .strip_prefix(':')?
        .split_once(": ")?;
    Some(Found {
        line: line.parse().ok()?,
        rest,
    })
}

#[cfg(test)]
mod tests {
    use runvil::prompt::Dialect;

    use super::*;

    const SOURCE: &str = "---\nname: t\ndescription: d\nrunvil: 0\n---\n# T\n\n## A\n\n\
                          ```lua\nlocal a\n## B\n```\n";

    fn prompt(source: &str) -> Prompt {
        Prompt::parse(source, Dialect::Runvil).unwrap()
    }

    #[test]
    fn the_innermost_place_wins_and_must_be_in_its_region() {
        let prompt = prompt(SOURCE);
        let regions = Regions::of(&prompt);
        let found = |text| regions.runtime(text).map(|found| (found.line, found.rest));
        let text = "section `A` prologue:11: runtime error: section `A` prologue:12: x: y";
        assert_eq!(found(text), Some((12, "x: y")));
        let text = "section `A` prologue:11: runtime error: section `A` prologue:9: x";
        assert_eq!(found(text), Some((11, "section `A` prologue:9: x")));
        assert_eq!(found("section `A` prologue:14: x"), None);
        assert_eq!(found("section `A` prologue:x: y"), None);
        assert_eq!(found("section `B` prologue:11: x"), None);
    }

    #[test]
    fn frames_are_the_authors_alone() {
        let prompt = prompt(SOURCE);
        let regions = Regions::of(&prompt);
        let frame = |text| regions.frame(text, "f.md");
        assert_eq!(frame("[C]: in upvalue 'error'"), None);
        assert_eq!(frame("runvil/errors.lua:24: in upvalue 'throw'"), None);
        let shown = frame("section `A` prologue:12: in main chunk");
        assert_eq!(shown.as_deref(), Some("f.md:12: in section `A`"));
        let shown = frame("section `A` prologue:12: in function <section `A` prologue:11>");
        assert_eq!(shown.as_deref(), Some("f.md:12: in function <f.md:11>"));
    }

    #[test]
    fn long_labels_are_known_by_what_lua_leaves_of_them() {
        let name = format!("x{}", "é".repeat(40));
        let source = SOURCE.replace("## A", &format!("## {name}"));
        for (key, marker) in [
            ("runvil", format!("section `x{}\u{fffd}", "é".repeat(24))),
            (
                "promptforge",
                format!("[string \"section `x{}\u{fffd}...\"]", "é".repeat(17)),
            ),
        ] {
            let prompt = prompt(&source.replace("runvil", key));
            let regions = Regions::of(&prompt);
            let text = format!("section `{name}` prologue:11: {marker}:12: x");
            let found = regions.runtime(&text).map(|found| (found.line, found.rest));
            assert_eq!(found, Some((12, "x")), "{key}");
        }
    }

    #[test]
    fn a_swallowed_line_is_a_heading_or_a_fence() {
        let prompt = prompt(SOURCE);
        let regions = Regions::of(&prompt);
        let message = "lua compilation error at section `A` prologue (line 11): \
                       section `A` prologue:2: unexpected symbol near '#'";
        let (region, found) = regions.syntax(message).unwrap();
        assert_eq!((found.line, found.rest), (12, "unexpected symbol near '#'"));
        assert_eq!(region.swallowed(12), Some((12, "heading")));
        assert_eq!(region.swallowed(11), None);
    }
}
