//! The command of a contract's entry as text (spec P66, P67).

use serde_yaml::Value;

use super::clause::Entry;
use super::keys::{items, scalar, shown};

/// A command of a contract, as written.
pub(super) enum Written<'a> {
    /// A program and its arguments.
    Structured { exec: &'a str, args: Vec<String> },
    /// Text for a shell.
    Legacy(&'a str),
    /// Neither.
    Nothing,
}

impl<'a> Written<'a> {
    /// The command of an entry of `commands`.
    pub(super) fn of(entry: Entry<'a>) -> Self {
        if let Value::String(text) = entry.value {
            return Self::Legacy(text);
        }
        if let Some(exec) = entry.text(&["exec", "program"]) {
            let args = entry.get(&["args", "argv"]).map_or(&[][..], items);
            let text = |value: &Value| scalar(value).unwrap_or_else(|| shown(value));
            return Self::Structured {
                exec,
                args: args.iter().map(text).collect(),
            };
        }
        match entry.text(&["run", "command"]) {
            Some(text) => Self::Legacy(text),
            None => Self::Nothing,
        }
    }

    /// The command as a person reads it.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Structured { exec, args } => {
                let words = std::iter::once(*exec).chain(args.iter().map(String::as_str));
                words.map(quoted).collect::<Vec<_>>().join(" ")
            }
            Self::Legacy(text) => (*text).to_owned(),
            Self::Nothing => String::new(),
        }
    }
}

/// A word as a shell takes it for that word.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
