//! The identity of a prompt within its packet (spec P12).

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A prompt's id in its normal form: decimal digits, at least two, no further leading zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct PromptId(String);

/// The most digits of an id, so that it fits names of files.
const MOST_DIGITS: usize = 18;

/// A text that is no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotANumber;

impl PromptId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PromptId {
    type Err = NotANumber;

    /// Normalizes digits: `7`, `07` and `007` are `07`.
    fn from_str(text: &str) -> Result<Self, NotANumber> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NotANumber);
        }
        let digits = text.trim_start_matches('0');
        match digits.len() <= MOST_DIGITS {
            true => Ok(Self(format!("{digits:0>2}"))),
            false => Err(NotANumber),
        }
    }
}

impl fmt::Display for PromptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<str> for PromptId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for PromptId {
    fn borrow(&self) -> &str {
        &self.0
    }
}
