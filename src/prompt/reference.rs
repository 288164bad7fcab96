//! Heading references: what `jump`, `call` and their kin name a section by (spec F72 to F77, K11 to
//! K17).

use super::tree::{Prompt, SectionId};
use std::collections::HashMap;
use std::fmt::{self, Write};

/// The code that a reference is resolved for: what it may see depends on it (spec F73).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The H1 body, which sees the top-level sections.
    H1,
    /// A section, which sees its siblings and its children.
    Section(SectionId),
}

/// Why a reference names no section. Displayed, it is the message of spec K12, checks 2 to 5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceError {
    /// It does not start with `#`.
    BareName {
        /// The reference, trimmed.
        text: String,
    },
    /// It is markers only.
    NoName {
        /// The reference, trimmed.
        text: String,
    },
    /// The name follows the markers at once.
    NoWhitespace {
        /// The reference, trimmed.
        text: String,
        /// Its markers.
        markers: String,
    },
    /// Nothing in the visible set matches.
    NotFound {
        /// The reference, trimmed.
        heading: String,
        /// The visible set, as the message lists it (spec K14).
        available: String,
    },
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BareName { text } => {
                write!(
                    f,
                    "section heading must include ### markers, got bare name: {text}"
                )
            }
            Self::NoName { text } => write!(f, "section heading has no name: {text}"),
            Self::NoWhitespace { text, markers } => write!(
                f,
                "section heading must have whitespace after the {markers} markers: {text}"
            ),
            Self::NotFound { heading, available } => write!(
                f,
                "section heading `{heading}` not found; available sections: {available}"
            ),
        }
    }
}

impl std::error::Error for ReferenceError {}

/// The sections of a prompt by parent and name. Siblings differ in name (spec F69), so a lookup
/// meets one section or none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Names {
    /// The top-level sections, then the children of each section in the order of the sections.
    children: Vec<HashMap<String, SectionId>>,
}

impl Names {
    fn place(parent: Option<SectionId>) -> usize {
        parent.map_or(0, |id| id.0 as usize + 1)
    }

    /// Adds a section, unless a sibling has its name: then that sibling is returned.
    pub fn insert(
        &mut self,
        parent: Option<SectionId>,
        name: &str,
        id: SectionId,
    ) -> Option<SectionId> {
        let place = Self::place(parent);
        if place >= self.children.len() {
            self.children.resize_with(place + 1, HashMap::new);
        }
        let siblings = &mut self.children[place];
        let known = siblings.get(name).copied();
        if known.is_none() {
            siblings.insert(name.to_owned(), id);
        }
        known
    }

    fn get(&self, parent: Option<SectionId>, name: &str) -> Option<SectionId> {
        self.children.get(Self::place(parent))?.get(name).copied()
    }
}

impl Prompt {
    /// The section that a reference names, seen from a scope. One lookup, whatever the number of
    /// sections; only a failure lists what is visible.
    ///
    /// # Errors
    ///
    /// The first of the checks 2 to 5 of spec K12 that the reference fails. Check 1, that it is a
    /// string, is the caller's.
    pub fn resolve(&self, from: Scope, reference: &str) -> Result<SectionId, ReferenceError> {
        let text = reference.trim();
        let rest = text.trim_start_matches('#');
        let markers = &text[..text.len() - rest.len()];
        if markers.is_empty() {
            return Err(ReferenceError::BareName {
                text: text.to_owned(),
            });
        }
        if rest.is_empty() {
            return Err(ReferenceError::NoName {
                text: text.to_owned(),
            });
        }
        let name = rest.trim_start();
        if name.len() == rest.len() {
            return Err(ReferenceError::NoWhitespace {
                text: text.to_owned(),
                markers: markers.to_owned(),
            });
        }
        self.visible(from, markers.len(), name)
            .ok_or_else(|| ReferenceError::NotFound {
                heading: text.to_owned(),
                available: self.available(from),
            })
    }

    /// The section of this level and name in the visible set of a scope.
    fn visible(&self, from: Scope, level: usize, name: &str) -> Option<SectionId> {
        let Scope::Section(id) = from else {
            return (level == 2).then(|| self.names.get(None, name)).flatten();
        };
        let own = usize::from(self.section(id).level);
        if level == own {
            self.names
                .get(self.section(id).parent, name)
                .filter(|found| *found != id)
        } else if level == own + 1 {
            self.names.get(Some(id), name)
        } else {
            None
        }
    }

    /// The visible set as messages list it: siblings, then children (spec K14).
    fn available(&self, from: Scope) -> String {
        let (own, siblings, children) = match from {
            Scope::H1 => (None, self.top.as_slice(), [].as_slice()),
            Scope::Section(id) => (
                Some(id),
                self.siblings(id),
                self.section(id).children.as_slice(),
            ),
        };
        let mut list = String::new();
        for id in siblings
            .iter()
            .chain(children)
            .filter(|id| Some(**id) != own)
        {
            let section = self.section(*id);
            let comma = if list.is_empty() { "" } else { ", " };
            let markers = "#".repeat(usize::from(section.level));
            // Writing to a string does not fail.
            let _ = write!(list, "{comma}{markers} {}", section.name);
        }
        list
    }
}
