//! What lint finds (spec P107).

use serde::{Serialize, Serializer};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It always fails.
    Error,
    /// It fails a strict lint only.
    Warning,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl Serialize for Severity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A hazard: something that loads and runs but means something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its kind, a row of spec P107.
    pub kind: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The prompt; `None` for the packet, and for a prompt that does not load.
    pub prompt_id: Option<String>,
    /// The file, from the packet's folder; `None` where it is in no one file.
    pub file: Option<String>,
    /// What is the matter, and what to do.
    pub message: String,
    /// The key it is about, for kinds that are about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}
