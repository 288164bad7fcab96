//! The command of a contract's entry as it is written (spec P59, P66, P67).

use serde_yaml::Value;

use super::contract::data::plain;
use super::contract::entry::{Entry, list};
use super::keys::scalar;

/// A command of a contract, as written.
pub(super) enum Written {
    /// A program and its arguments.
    Structured(Vec<String>),
    /// Text for a shell.
    Legacy(String),
}

impl Written {
    /// The command of an entry of `commands`; `None` where it names no program.
    pub(super) fn of(entry: Entry<'_>) -> Option<Self> {
        let named = entry.get(&["exec", "program"]).and_then(Value::as_str);
        if let Some(program) = named.filter(|program| !program.is_empty()) {
            let arguments = list(entry.get(&["args", "argv"])).iter().map(word);
            let words = std::iter::once(program.to_owned()).chain(arguments);
            return Some(Self::Structured(words.collect()));
        }
        let text = entry.whole().or_else(|| entry.text(&["run", "command"]));
        let text = text.filter(|text| !text.trim().is_empty());
        text.map(Self::Legacy)
    }

    /// The command as a person reads it.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Structured(words) => line(words),
            Self::Legacy(text) => text.clone(),
        }
    }
}

/// A value of any type as text; null is none.
pub(super) fn word(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        value => scalar(value).unwrap_or_else(|| plain(value).to_string()),
    }
}

/// Words as a shell takes them for these words.
pub(super) fn line(words: &[String]) -> String {
    let words = words.iter().map(|word| quoted(word));
    words.collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it for that word.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
