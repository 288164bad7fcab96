//! What a case says of an event, a place or a section: each part it names must match.

use std::collections::BTreeMap;

use runvil::prompt::{Block, Location, Section};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// An event: its kind's name alone, or a map of what it must carry.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum EventPattern {
    Kind(String),
    Map(EventMap),
}

/// An event's parts. `task` and `seq` are its coordinates, `fields` the kind's own fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventMap {
    kind: Option<String>,
    execution: Option<String>,
    section: Option<String>,
    task: Option<String>,
    seq: Option<u64>,
    #[serde(default)]
    fields: BTreeMap<String, Value>,
}

impl EventPattern {
    /// Whether an event, as it is written for a Host (spec K182), matches.
    pub fn matches(&self, event: &Value) -> bool {
        match self {
            Self::Kind(kind) => event["kind"] == kind.as_str(),
            Self::Map(map) => {
                let same = |wanted: &Option<String>, found: &Value| {
                    wanted
                        .as_ref()
                        .is_none_or(|wanted| found == wanted.as_str())
                };
                same(&map.kind, &event["kind"])
                    && same(&map.execution, &event["execution"])
                    && same(&map.section, &event["section"])
                    && same(&map.task, &event["provenance"]["task"])
                    && map.seq.is_none_or(|seq| event["provenance"]["seq"] == seq)
                    && map
                        .fields
                        .iter()
                        .all(|(key, value)| event[key.as_str()] == *value)
            }
        }
    }
}

/// A place: the parts that are named are compared, a null says that the part is unknown.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocationPattern {
    #[serde(default, deserialize_with = "named")]
    path: Option<Option<String>>,
    #[serde(default, deserialize_with = "named")]
    line: Option<Option<u32>>,
    #[serde(default, deserialize_with = "named")]
    column: Option<Option<u32>>,
    /// The bytes the span covers, as text of the file.
    #[serde(default, deserialize_with = "named")]
    span: Option<Option<String>>,
}

/// Keeps a key that is absent apart from one that is null.
pub fn named<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

impl LocationPattern {
    /// Whether a failure's place matches; no place at all knows nothing.
    pub fn matches(&self, location: Option<&Location>, source: &str) -> bool {
        let unknown = Location::default();
        let found = location.unwrap_or(&unknown);
        let span = found
            .span
            .clone()
            .map(|span| source.get(span).unwrap_or_default().to_owned());
        agrees(&self.path, &found.path)
            && agrees(&self.line, &found.line)
            && agrees(&self.column, &found.column)
            && agrees(&self.span, &span)
    }
}

/// Whether a value is as wanted, where something is.
pub fn agrees<T: PartialEq>(wanted: &Option<T>, found: &T) -> bool {
    wanted.as_ref().is_none_or(|wanted| wanted == found)
}

/// A block: prose with its text, or a Lua block with what is named of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockPattern {
    prose: Option<String>,
    lua: Option<String>,
    label: Option<String>,
    line: Option<u32>,
}

impl BlockPattern {
    fn matches(&self, block: &Block) -> bool {
        match block {
            Block::Prose(text) => self.prose.as_ref() == Some(text),
            Block::Lua(lua) => {
                self.prose.is_none()
                    && agrees(&self.lua, &lua.source)
                    && agrees(&self.label, &lua.label)
                    && agrees(&self.line, &lua.line)
            }
        }
    }

    /// Whether these are all the blocks, in order.
    pub fn all_match(patterns: &[Self], blocks: &[Block]) -> bool {
        patterns.len() == blocks.len()
            && patterns
                .iter()
                .zip(blocks)
                .all(|(pattern, block)| pattern.matches(block))
    }
}

/// A section: its name alone, or a map of what is said of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum SectionPattern {
    Name(String),
    Map(SectionMap),
}

/// A section's parts. `items: []` says that it is no list section.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionMap {
    name: String,
    level: Option<u8>,
    line: Option<u32>,
    blocks: Option<Vec<BlockPattern>>,
    items: Option<Vec<String>>,
}

impl SectionPattern {
    /// Whether a section of the file matches.
    pub fn matches(&self, section: &Section) -> bool {
        match self {
            Self::Name(name) => section.name == *name,
            Self::Map(map) => {
                section.name == map.name
                    && agrees(&map.level, &section.level)
                    && agrees(&map.line, &section.line)
                    && map
                        .blocks
                        .as_ref()
                        .is_none_or(|blocks| BlockPattern::all_match(blocks, &section.blocks))
                    && map.items.as_ref().is_none_or(|items| {
                        items.as_slice() == section.items.as_deref().unwrap_or_default()
                    })
            }
        }
    }
}
