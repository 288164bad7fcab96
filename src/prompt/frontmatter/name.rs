//! Names that a prompt gives: their grammar, the reserved ones, and the maps they are keys of (spec
//! F37 to F45).

use super::reading::{Key, Reading, Shape};
use crate::prompt::tree::Dialect;
use indexmap::IndexMap;
use nom::bytes::complete::take_while_m_n;
use nom::character::complete::satisfy;
use nom::combinator::all_consuming;
use nom::{IResult, Parser};
use serde::de::MapAccess;

/// What a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    ToolAlias,
    RoleLabel,
    Arg,
}

impl NameKind {
    fn noun(self) -> &'static str {
        match self {
            Self::ToolAlias => "tool alias",
            Self::RoleLabel => "model role label",
            Self::Arg => "arg name",
        }
    }

    /// The key of the map such names are keys of.
    fn map(self) -> &'static str {
        match self {
            Self::ToolAlias => "tools",
            Self::RoleLabel => "models",
            Self::Arg => "args",
        }
    }

    /// Whether it becomes a global, so that it must not take a reserved name.
    fn is_global(self) -> bool {
        self != Self::Arg
    }
}

/// Whether a text is a name: a letter, then up to 63 letters, digits, `_` and `-` (spec F37).
pub fn is_name(text: &str) -> bool {
    fn name(input: &str) -> IResult<&str, ()> {
        let first = satisfy(|c| c.is_ascii_alphabetic());
        let rest = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        all_consuming((first, take_while_m_n(0, 63, rest)))
            .map(|_| ())
            .parse(input)
    }
    name(text).is_ok()
}

/// The globals that the Engine sets in both dialects.
const ENGINE: [&str; 17] = [
    "args",
    "argv",
    "call",
    "compactors",
    "item",
    "jump",
    "log",
    "messages",
    "models",
    "prose",
    "store",
    "sys",
    "tasks",
    "tools",
    "ui",
    "untrusted",
    "var",
];

/// Those it sets in one dialect only.
fn engine_of(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::PromptForge => &["fanout", "list_from_section"],
        Dialect::Runvil => &["json", "packs", "prompt", "require"],
    }
}

/// What Lua itself gives to a section (spec L2).
pub(crate) const LUA_GLOBALS: [&str; 18] = [
    "_G",
    "_VERSION",
    "assert",
    "error",
    "getmetatable",
    "ipairs",
    "math",
    "next",
    "pairs",
    "pcall",
    "select",
    "setmetatable",
    "string",
    "table",
    "tonumber",
    "tostring",
    "type",
    "xpcall",
];

/// The keywords of Lua 5.5.
const KEYWORDS: [&str; 23] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "global", "goto",
    "if", "in", "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
];

/// Why a name is reserved, if it is (spec F42).
pub fn reserved(name: &str, dialect: Dialect) -> Option<&'static str> {
    if ENGINE.contains(&name) || engine_of(dialect).contains(&name) {
        Some("an Engine global")
    } else if LUA_GLOBALS.contains(&name) {
        Some("a Lua standard-library global")
    } else if KEYWORDS.contains(&name) {
        Some("a Lua keyword")
    } else {
        None
    }
}

/// A map from names to declarations.
pub(super) struct Declarations<S> {
    pub kind: NameKind,
    pub dialect: Dialect,
    pub each: S,
}

impl<S> Declarations<S> {
    /// Checks a key: grammar, reserved names, uniqueness (spec F38).
    fn check(&self, key: &str, taken: bool) -> Result<String, String> {
        let noun = self.kind.noun();
        if !is_name(key) {
            return Err(format!(
                "invalid {noun} `{key}`: expected [A-Za-z][A-Za-z0-9_-]{{0,63}}"
            ));
        }
        let reserved = self
            .kind
            .is_global()
            .then(|| reserved(key, self.dialect))
            .flatten();
        if let Some(category) = reserved {
            let map = self.kind.map();
            return Err(format!(
                "{noun} `{key}` in `{map}` is reserved ({category}): tool aliases and model role \
                 labels install as section VM globals, so none may take a reserved name"
            ));
        }
        if taken {
            return Err(format!(
                "duplicate {noun} `{key}`: contract map keys must be unique"
            ));
        }
        Ok(key.to_owned())
    }
}

impl<'de, S: Shape<'de> + Copy> Shape<'de> for Declarations<S> {
    type Value = IndexMap<String, S::Value>;

    fn expected(&self) -> String {
        format!("a map of {} keys to declarations", self.kind.noun())
    }

    fn map<A: MapAccess<'de>>(
        self,
        reading: &Reading,
        mut map: A,
    ) -> Result<Self::Value, A::Error> {
        let mut values = IndexMap::new();
        loop {
            let key = Key::new(reading, |key: &str| {
                self.check(key, values.contains_key(key))
            });
            let Some(name) = map.next_key_seed(key)? else {
                return Ok(values);
            };
            let value = reading.value(&mut map, self.each)?;
            values.insert(name, value);
        }
    }
}
