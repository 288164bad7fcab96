//! What a configuration says of packs and of what they need (spec T155 to T160). Its shapes are
//! checked here, before anything runs.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use runvil::harness::unit::is_segment;
use runvil::harness::yaml::{Entries, Located};
use serde::Deserialize;

use super::variable::{SetName, VariableName};

/// A service: the variable that holds it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub struct Service {
    /// Its name.
    pub env: VariableName,
}

/// A pack: a process that speaks the Model Context Protocol.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub struct Pack {
    /// The program: a name that is looked for, or a path.
    pub command: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// What is set in its environment.
    #[serde(default)]
    pub env: Entries<SetName, String>,
    /// The folder it runs in; by default the configuration's.
    pub cwd: Option<String>,
    /// The services it needs.
    #[serde(default)]
    pub needs: Vec<Located<UnitId>>,
    /// The file of its prelude.
    pub prelude: Option<String>,
    /// Whether its tools are trusted.
    #[serde(default)]
    pub trust: Trust,
    /// Which of its tools there are.
    #[serde(default)]
    pub expose: Expose,
    /// What is said of single tools.
    #[serde(default)]
    pub tools: Entries<Segment, Tool>,
    /// The Plugins it cannot be activated beside.
    #[serde(default)]
    pub conflicts: Vec<Located<UnitId>>,
    /// How long its start may take.
    pub ready_timeout: Option<Located<Seconds>>,
    /// How long a call may take.
    pub call_timeout: Option<Located<Seconds>>,
}

/// What a pack says of one of its tools.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
pub struct Tool {
    /// The server's own name of it.
    pub from: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// Whether it is trusted.
    pub trust: Option<Trust>,
    /// Whether its output is a value.
    pub structured: bool,
}

/// Whether the output of a tool is passed on as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// It is.
    Trusted,
    /// It is put in an envelope.
    #[default]
    Untrusted,
}

/// Which tools of a server there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expose {
    /// All.
    #[default]
    All,
    /// Those that the configuration names.
    Listed,
}

/// A span of time above 0.
#[derive(Debug, Deserialize)]
#[serde(try_from = "f64")]
pub struct Seconds(pub Duration);

impl TryFrom<f64> for Seconds {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        let span = Duration::try_from_secs_f64(seconds).ok();
        let span = span.filter(|span| !span.is_zero());
        span.map(Self).ok_or("expected a number of seconds above 0")
    }
}

/// A part of an id (spec T1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment(pub String);

impl FromStr for Segment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match is_segment(text) {
            true => Ok(Self(text.to_owned())),
            false => Err(format!(
                "`{text}` is no name: it is made of lowercase ASCII letters, digits, '-', '_', '.'"
            )),
        }
    }
}

/// An id of two segments: of a service, or of a unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct UnitId(pub Segment, pub Segment);

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0.0, self.1.0)
    }
}

impl FromStr for UnitId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((vendor, name)) = text.split_once('/') else {
            return Err(format!("`{text}` is no id: an id is `vendor/name`"));
        };
        Ok(Self(vendor.parse()?, name.parse()?))
    }
}

impl TryFrom<String> for UnitId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// The id of a pack, whose vendor is not one of the built-in packs'.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackId(pub UnitId);

impl FromStr for PackId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let id: UnitId = text.parse()?;
        let vendor = id.0.0.as_str();
        match matches!(vendor, "runvil" | "promptforge") {
            true => Err(format!("the vendor `{vendor}` is for built-in packs")),
            false => Ok(Self(id)),
        }
    }
}
