//! The names of environment variables: of those to read, and of those to set.

use std::fmt;
use std::str::FromStr;

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

/// The name of a variable that is set in a server's environment: any that the system can set, since
/// it is the server that gives it its meaning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetName(pub String);

impl FromStr for SetName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.is_empty() || text.contains(['=', '\0']) {
            true => Err("a variable that is set has a name, without '=' and NUL"),
            false => Ok(Self(text.to_owned())),
        }
    }
}
