//! How a section was reached, as far as the order of a prompt's sections tells.

use crate::prompt::{Prompt, SectionId};

/// How a section was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It is the Lua under the title.
    Title,
    /// The chain began with it, or fell through to it.
    Walk,
    /// A jump.
    Jump,
    /// From within the section above: by `call`, or on the walk of a chain that was called.
    Within,
}

/// Whether a walk that has ended a section falls through to another one. Names alone are recorded,
/// so that of sections with one name any will do.
pub(super) fn falls_through(prompt: &Prompt, from: &str, to: &str) -> bool {
    named(prompt, from).any(|id| {
        let mut at = Some(id);
        while let Some(id) = at {
            if let Some(next) = next_sibling(prompt, id) {
                return prompt.section(next).name == to;
            }
            at = prompt.section(id).parent;
        }
        false
    })
}

/// Whether a run's walk begins with a section, unless the Lua under the title jumps.
pub(super) fn is_first(prompt: &Prompt, name: &str) -> bool {
    let first = prompt.top.first();
    first.is_none_or(|first| prompt.section(*first).name == name)
}

fn named<'a>(prompt: &'a Prompt, name: &'a str) -> impl Iterator<Item = SectionId> + 'a {
    let ids = (0..).map(SectionId).zip(&prompt.sections);
    ids.filter(move |(_, section)| section.name == name)
        .map(|(id, _)| id)
}

fn next_sibling(prompt: &Prompt, id: SectionId) -> Option<SectionId> {
    let next = prompt.section(id).position as usize + 1;
    prompt.siblings(id).get(next).copied()
}
