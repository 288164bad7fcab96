//! The top level of the frontmatter: its keys in order, and the checks across entries (spec F21 to
//! F30, F34, F35, F46).

use super::declaration::{ArgShape, FileShape, PackShape, PluginShape, RoleShape, ToolShape};
use super::id::plugin_of;
use super::name::{Declarations, NameKind};
use super::reading::{Detail, Failure, Reading, Scalar, Shape, Visit, fields, found, wrong};
use super::shape::{List, Nullable, Text, mismatch, type_error};
use crate::prompt::tree::{Args, Contract, Dialect};
use serde::de::MapAccess;
use std::collections::{HashMap, HashSet};

/// The frontmatter as decoded.
pub(super) struct Header {
    pub name: String,
    pub description: String,
    pub version: Option<Version>,
    pub contract: Contract,
}

/// The declared major version.
pub(super) enum Version {
    /// Its digits.
    Digits(String),
    /// A number too large for any machine integer, or none: what is written there decides.
    Unclear {
        at: Visit,
        /// The failure, if it is not whole.
        otherwise: String,
    },
}

/// The accepted keys, in the order messages list them (spec F26).
pub(super) fn keys(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::PromptForge => &[
            "name",
            "description",
            "promptforge",
            "max_tool_iterations",
            "input",
            "output",
            "plugins",
            "tools",
            "args",
            "models",
        ],
        Dialect::Runvil => &[
            "name",
            "description",
            "runvil",
            "max_tool_iterations",
            "input",
            "output",
            "uses",
            "args",
            "models",
        ],
    }
}

/// The whole document.
#[derive(Clone, Copy)]
pub(super) struct HeaderShape(pub Dialect);

impl<'de> Shape<'de> for HeaderShape {
    type Value = Header;

    fn expected(&self) -> String {
        "a map of frontmatter keys".to_owned()
    }

    fn map<A: MapAccess<'de>>(self, reading: &Reading, map: A) -> Result<Header, A::Error> {
        let dialect = self.0;
        let (mut name, mut description, mut version) = (None, None, None);
        let mut contract = Contract::default();
        fields(reading, keys(dialect), map, |key, map| {
            match key {
                "name" => name = Some(reading.value(map, Text)?),
                "description" => description = Some(reading.value(map, Text)?),
                "max_tool_iterations" => {
                    contract.max_tool_iterations = reading.value(map, Nullable(Rounds))?;
                }
                "input" => contract.input = reading.value(map, Nullable(FileShape))?,
                "output" => contract.output = reading.value(map, Nullable(FileShape))?,
                "uses" => contract.uses = reading.value(map, List("a list of Packs", PackShape))?,
                "plugins" => {
                    contract.plugins =
                        reading.value(map, List("a list of Plugins", PluginShape))?;
                }
                "tools" => {
                    let tools = Declarations {
                        kind: NameKind::ToolAlias,
                        dialect,
                        each: ToolShape,
                    };
                    contract.tools = reading.value(map, tools)?;
                }
                "args" => {
                    let args = Declarations {
                        kind: NameKind::Arg,
                        dialect,
                        each: ArgShape,
                    };
                    let declarations = reading.value(map, args)?;
                    contract.args = Args {
                        explicit: true,
                        declarations,
                    };
                }
                "models" => {
                    let roles = Declarations {
                        kind: NameKind::RoleLabel,
                        dialect,
                        each: RoleShape,
                    };
                    contract.models = reading.value(map, roles)?;
                }
                _ => version = reading.value(map, Nullable(VersionShape))?,
            }
            Ok(())
        })?;
        let name = name.ok_or_else(|| reading.missing("name"))?;
        let description = description.ok_or_else(|| reading.missing("description"))?;
        Ok(Header {
            name,
            description,
            version,
            contract,
        })
    }
}

/// `max_tool_iterations` (spec F29).
struct Rounds;

impl Shape<'_> for Rounds {
    type Value = u32;

    fn expected(&self) -> String {
        "a whole number from 1 to 1000".to_owned()
    }

    fn scalar(self, _: &Reading, scalar: Scalar<'_>) -> Result<u32, Failure> {
        let otherwise = match scalar {
            Scalar::Integer(value) => match u32::try_from(value) {
                Ok(rounds @ 1..=1000) => return Ok(rounds),
                _ => rounds_text(&value.to_string(), String::new()),
            },
            Scalar::Float(_) => type_error(&self, scalar),
            Scalar::Text(text) if is_beyond_floats(text) => type_error(&self, scalar),
            _ => return mismatch(&self, scalar),
        };
        Err(Failure {
            detail: Detail::Rounds { otherwise },
            at: None,
        })
    }
}

/// Whether YAML reads a text as a string only because, as a number, it is too large for a float.
/// Whether it is quoted must be looked at yet.
fn is_beyond_floats(text: &str) -> bool {
    text.len() > 300 && is_whole(text)
}

/// What is wrong with a number of rounds, as written. A number that is not whole is of the wrong
/// type.
pub(super) fn rounds_text(raw: &str, otherwise: String) -> String {
    if !is_whole(raw) {
        return otherwise;
    }
    let zero = raw
        .trim_start_matches(['+', '-', '0', 'x', 'o', 'b'])
        .is_empty();
    if zero || raw.starts_with('-') {
        format!("max_tool_iterations must be a positive integer (>= 1), got {raw}")
    } else {
        format!("max_tool_iterations must be <= 1000, got {raw}")
    }
}

/// Whether a YAML number is written as a whole one.
fn is_whole(raw: &str) -> bool {
    let digits = raw.trim_start_matches(['+', '-']);
    match digits.get(..2) {
        Some("0x" | "0o" | "0b") => true,
        _ => !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

/// The version key: any whole number that is not negative (spec F51).
struct VersionShape;

impl Shape<'_> for VersionShape {
    type Value = Version;

    fn expected(&self) -> String {
        "a non-negative integer".to_owned()
    }

    fn scalar(self, reading: &Reading, scalar: Scalar<'_>) -> Result<Version, Failure> {
        match scalar {
            Scalar::Integer(value) if value >= 0 => Ok(Version::Digits(value.to_string())),
            Scalar::Integer(_) => {
                let expected = self.expected();
                Err(wrong(format!(
                    "invalid value: {}, expected {expected}",
                    found(scalar)
                )))
            }
            // Only a number of some twenty digits or more can still be whole.
            Scalar::Float(value) if value >= 1e18 && value.is_finite() => {
                Ok(self.unclear(reading, scalar))
            }
            Scalar::Text(text) if is_beyond_floats(text) => Ok(self.unclear(reading, scalar)),
            _ => mismatch(&self, scalar),
        }
    }
}

impl VersionShape {
    fn unclear(&self, reading: &Reading, scalar: Scalar<'_>) -> Version {
        Version::Unclear {
            at: reading.current(),
            otherwise: type_error(self, scalar),
        }
    }
}

/// The checks across entries (spec F35, F46). They have no place.
pub(super) fn check_across(contract: &Contract) -> Result<(), String> {
    let both = contract
        .tools
        .keys()
        .filter(|name| contract.models.contains_key(*name))
        .min();
    if let Some(name) = both {
        return Err(format!(
            "`{name}` is both a tool alias in `tools` and a model role label in `models`; each \
             installs as a section VM global of its own name, so the two must differ"
        ));
    }
    let mut optional = HashMap::new();
    for plugin in &contract.plugins {
        if optional
            .insert(plugin.id.as_str(), plugin.optional)
            .is_some()
        {
            let id = &plugin.id;
            return Err(format!(
                "Plugin {id} is declared more than once under plugins"
            ));
        }
    }
    let mut packs = HashSet::new();
    for pack in &contract.uses {
        if !packs.insert(pack.name.as_str()) {
            return Err(format!(
                "Pack {} is declared more than once under uses",
                pack.name
            ));
        }
    }
    let gated = |path: &str| optional.get(plugin_of(path)) == Some(&true);
    let slots = contract.tools.iter().filter(|(_, path)| gated(path));
    match slots.min() {
        Some((alias, path)) => Err(format!(
            "tool alias '{alias}' names {path}, whose Plugin {} is declared optional; a tool slot \
             requires its Plugin",
            plugin_of(path)
        )),
        None => Ok(()),
    }
}
