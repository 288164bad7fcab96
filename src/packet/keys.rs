//! Reads the keys of a map as what they should be. A key that is null counts as one that is not
//! there.

use serde_yaml::{Mapping, Value};

use super::error::PacketError;

/// The keys of a map, and the file they stand in.
#[derive(Clone, Copy)]
pub(super) struct Keys<'a> {
    map: &'a Mapping,
    /// What messages call the file; `None` for the manifest and for the command line.
    file: Option<&'a str>,
}

impl<'a> Keys<'a> {
    /// The keys of a map that stands in `file`.
    pub(super) fn new(map: &'a Mapping, file: Option<&'a str>) -> Self {
        Self { map, file }
    }

    /// A value that is not null.
    pub(super) fn get(self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// The error of a value that a key cannot have.
    pub(super) fn invalid(self, key: &str, value: &Value) -> PacketError {
        self.unlike(key, value, None)
    }

    /// The same, with what is wanted instead.
    fn unlike(self, key: &str, value: &Value, wanted: Option<&'static str>) -> PacketError {
        PacketError::Invalid {
            file: self.file.map(str::to_owned),
            key: key.to_owned(),
            value: shown(value),
            wanted,
        }
    }

    /// A value as `read` takes it.
    pub(super) fn read<T>(
        self,
        key: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, PacketError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        read(value)
            .map(Some)
            .ok_or_else(|| self.invalid(key, value))
    }

    /// Text; a number or a boolean counts as the text it is written as.
    pub(super) fn text(self, key: &str) -> Result<Option<String>, PacketError> {
        self.read(key, scalar)
    }

    /// A map.
    pub(super) fn map(self, key: &str) -> Result<Option<&'a Mapping>, PacketError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let wanted = match (key, value) {
            // A program's own key of this name, in the place of the provider's settings.
            ("runvil", Value::Number(_)) => {
                "a map; a program's own `runvil:` stands in frontmatter of its own, which opens the \
                 body"
            }
            _ => "a map",
        };
        let map = value.as_mapping();
        map.map(Some)
            .ok_or_else(|| self.unlike(key, value, Some(wanted)))
    }

    /// A list of texts; one text is a list of it.
    pub(super) fn texts(self, key: &str) -> Result<Option<Vec<String>>, PacketError> {
        self.read(key, |value| items(value).iter().map(scalar).collect())
    }

    /// A whole number, or its digits.
    pub(super) fn integer(self, key: &str) -> Result<Option<i64>, PacketError> {
        self.read(key, integer)
    }

    /// A word of a set.
    pub(super) fn word<T: Copy>(
        self,
        key: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, PacketError> {
        self.read(key, |value| {
            let word = value.as_str()?;
            let found = words.iter().find(|(known, _)| *known == word);
            found.map(|(_, value)| *value)
        })
    }
}

/// A list's items; any other value is one.
pub(super) fn items(value: &Value) -> &[Value] {
    match value {
        Value::Null => &[],
        Value::Sequence(items) => items,
        one => std::slice::from_ref(one),
    }
}

/// A scalar as text.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Sequence(_) | Value::Mapping(_) | Value::Tagged(_) => None,
    }
}

/// A whole number, or its digits.
pub(super) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A value as messages show it: as JSON, cut where it is long.
pub(super) fn shown(value: &Value) -> String {
    const LONGEST: usize = 200;
    let json = serde_json::to_string(value).unwrap_or_else(|_| "(no JSON)".to_owned());
    match json.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", json.get(..at).unwrap_or_default()),
        None => json,
    }
}
