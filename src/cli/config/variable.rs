//! The name of an environment variable.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// The name of an environment variable. What is none is not shown: it may be the very secret that
/// the variable is to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableName(String);

impl VariableName {
    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for VariableName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Reader)
    }
}

/// Judges the text where it stands, so that the error has its line.
struct Reader;

impl Visitor<'_> for Reader {
    type Value = VariableName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an environment variable")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<VariableName, E> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let begins_well = text.starts_with(|first: char| !first.is_ascii_digit());
        match begins_well && text.bytes().all(allowed) {
            true => Ok(VariableName(text.to_owned())),
            false => Err(E::custom(
                "this is no name of an environment variable, which is made of ASCII letters, \
                 digits and '_', no digit first",
            )),
        }
    }
}
