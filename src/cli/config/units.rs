//! What a configuration says of packs and of what they need (spec T155 to T160). Its shapes are
//! checked here, before anything runs.

#![expect(dead_code, reason = "checked; what reads it comes with packs")]

use std::num::NonZeroU32;
use std::str::FromStr;

use runvil::harness::yaml::{Entries, Located};
use serde::Deserialize;

/// The provider of the web search.
#[derive(Debug, Deserialize)]
#[serde(try_from = "SearchEntry")]
pub struct Search(SearchEntry);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map")]
struct SearchEntry {
    provider: Provider,
    url: Option<String>,
    token_env: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Provider {
    Searxng,
    Brave,
    Http,
}

impl TryFrom<SearchEntry> for Search {
    type Error = &'static str;

    fn try_from(entry: SearchEntry) -> Result<Self, Self::Error> {
        match entry.provider {
            Provider::Searxng | Provider::Http if entry.url.is_none() => {
                Err("this provider needs a `url`")
            }
            Provider::Brave if entry.token_env.is_none() => {
                Err("this provider needs a `token_env`")
            }
            _ => Ok(Self(entry)),
        }
    }
}

/// The policy of the web fetch.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
pub struct Fetch {
    allow_private: bool,
    max_chars: Option<NonZeroU32>,
}

/// A service: the variable that holds it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub struct Service {
    env: String,
}

/// A pack: a process that speaks the Model Context Protocol.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub struct Pack {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Entries<String, String>,
    cwd: Option<String>,
    #[serde(default)]
    needs: Vec<Located<UnitId>>,
    prelude: Option<String>,
    #[serde(default)]
    trust: Trust,
    #[serde(default)]
    expose: Expose,
    #[serde(default)]
    tools: Entries<Segment, Tool>,
    #[serde(default)]
    conflicts: Vec<Located<UnitId>>,
    ready_timeout: Option<Located<Seconds>>,
    call_timeout: Option<Located<Seconds>>,
}

/// What a pack says of one of its tools.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
struct Tool {
    from: Option<String>,
    description: Option<String>,
    trust: Option<Trust>,
    structured: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Trust {
    Trusted,
    #[default]
    Untrusted,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expose {
    #[default]
    All,
    Listed,
}

/// A span of time above 0.
#[derive(Debug, Deserialize)]
#[serde(try_from = "f64")]
struct Seconds(f64);

impl TryFrom<f64> for Seconds {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        match seconds.is_finite() && seconds > 0.0 {
            true => Ok(Self(seconds)),
            false => Err("expected a number of seconds above 0"),
        }
    }
}

/// A part of an id (spec T1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Segment(String);

impl FromStr for Segment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let allowed = |char| matches!(char, 'a'..='z' | '0'..='9' | '-' | '_' | '.');
        match !text.is_empty() && text.chars().all(allowed) {
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
pub struct UnitId(Segment, Segment);

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
pub struct PackId(UnitId);

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
