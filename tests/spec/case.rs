//! A case as its file writes it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_yaml::{Mapping, Value};

use crate::dialect::{self, DialectName};
use crate::models::{Metadata, ModelSetup, RoundPattern, ShownPiece, UnmetPattern};
use crate::pattern::{BlockPattern, EventPattern, LocationPattern, SectionPattern};
use crate::signal::Moment;
use crate::units::{ActivatedPattern, AnswerSetup, CallPattern, Gaps, UnitSetup};

/// One text or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Texts {
    One(String),
    Many(Vec<String>),
}

impl Texts {
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts.as_slice(),
        }
        .iter()
        .map(String::as_str)
    }
}

/// What stands in the store before the run, and what kind of store it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSetup {
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    #[serde(default)]
    pub bytes: BTreeMap<String, String>,
    #[serde(default)]
    pub read_only: bool,
    #[serde(default)]
    pub none: bool,
}

/// The limits a case changes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsSetup {
    pub concurrency: Option<u32>,
    pub memory: Option<usize>,
    pub log_events: Option<u32>,
    pub response_cap: Option<u64>,
    pub receive_timeout: Option<u64>,
    pub max_rounds: Option<u32>,
}

/// A run seed: a small number, or its 64 hex digits.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum SeedSetup {
    Number(u64),
    Hex(String),
}

/// One case in one dialect, variants already merged in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub id: String,
    pub about: String,
    /// The rules the case shows, for its reader.
    #[serde(default, rename = "rules")]
    pub _rules: Vec<String>,
    pub dialect: DialectName,
    pub pending: Option<String>,
    pub elsewhere: Option<String>,

    pub prompt: Option<String>,
    pub body: Option<String>,
    pub lua: Option<String>,
    /// The units that the prompt declares, and their tools.
    #[serde(default)]
    pub declares: Vec<String>,
    pub frontmatter: Option<String>,
    pub prose: Option<String>,
    pub more: Option<String>,
    /// The block under the title.
    pub opening: Option<String>,
    #[serde(default)]
    pub with: BTreeMap<String, String>,

    #[serde(default)]
    pub args: String,
    pub input: Option<String>,
    pub name: Option<String>,
    pub seed: Option<SeedSetup>,
    pub started_at: Option<String>,
    pub ui: Option<serde_json::Value>,
    #[serde(default)]
    pub limits: LimitsSetup,
    pub store: Option<StoreSetup>,
    pub model: Option<ModelSetup>,
    /// The rules of a scripted model (spec C8).
    pub script: Option<Value>,
    #[serde(default)]
    pub metadata: Metadata,
    #[serde(default)]
    pub held_ms: u64,
    /// Whether the Host wants debug events.
    #[serde(default)]
    pub debug: bool,
    #[serde(default)]
    pub units: Vec<UnitSetup>,
    #[serde(default)]
    pub services: Vec<String>,
    /// The operator's answers; no operator where there are none.
    pub answers: Option<Vec<AnswerSetup>>,
    pub cancel: Option<Moment>,
    pub stop: Option<Moment>,

    pub result: Option<String>,
    pub result_starts: Option<String>,
    pub result_ends: Option<String>,
    pub result_contains: Option<Texts>,
    pub failed: Option<String>,
    pub parse: Option<String>,
    pub message: Option<String>,
    pub message_starts: Option<String>,
    pub message_ends: Option<String>,
    pub message_contains: Option<Texts>,
    pub message_lacks: Option<Texts>,
    pub first_line: Option<String>,
    pub location: Option<LocationPattern>,
    #[serde(default)]
    pub cancelled: bool,
    pub log: Option<Vec<String>>,
    pub events: Option<Vec<EventPattern>>,
    pub events_contain: Option<Vec<EventPattern>>,
    pub events_end: Option<Vec<EventPattern>>,
    pub events_lack: Option<Vec<EventPattern>>,
    pub event_count: Option<BTreeMap<String, usize>>,
    #[serde(default)]
    pub files: BTreeMap<String, Option<String>>,
    pub run_name: Option<String>,
    pub run_seed: Option<String>,
    pub sent: Option<Vec<RoundPattern>>,
    pub rounds: Option<usize>,
    pub shown: Option<Vec<ShownPiece>>,
    pub unmet_roles: Option<Vec<UnmetPattern>>,
    pub gaps: Option<Gaps>,
    pub called: Option<Vec<CallPattern>>,
    pub activated: Option<Vec<ActivatedPattern>>,
    /// The tasks that asked the operator.
    pub asked: Option<Vec<String>>,
    pub host_log: Option<Vec<String>>,

    #[serde(default)]
    pub parses: bool,
    pub title: Option<String>,
    pub description_text: Option<String>,
    pub h1: Option<Vec<BlockPattern>>,
    pub sections: Option<Vec<SectionPattern>>,
}

impl Case {
    /// Whether the case looks at the parsed file.
    pub fn looks_at_tree(&self) -> bool {
        self.parses
            || self.title.is_some()
            || self.description_text.is_some()
            || self.h1.is_some()
            || self.sections.is_some()
    }

    /// Whether the case says how a run ends or what it leaves.
    pub fn looks_at_run(&self) -> bool {
        self.ends_named() > 0
            || self.log.is_some()
            || self.events.is_some()
            || self.events_contain.is_some()
            || self.events_end.is_some()
            || self.events_lack.is_some()
            || self.event_count.is_some()
            || !self.files.is_empty()
            || self.run_name.is_some()
            || self.run_seed.is_some()
            || self.sent.is_some()
            || self.rounds.is_some()
            || self.shown.is_some()
            || self.unmet_roles.is_some()
            || self.gaps.is_some()
            || self.called.is_some()
            || self.activated.is_some()
            || self.asked.is_some()
            || self.host_log.is_some()
    }

    /// Whether the case says something of the result text.
    pub fn names_result(&self) -> bool {
        self.result.is_some()
            || self.result_starts.is_some()
            || self.result_ends.is_some()
            || self.result_contains.is_some()
    }

    /// Whether the case says something of a failure's message.
    fn names_message(&self) -> bool {
        self.message.is_some()
            || self.message_starts.is_some()
            || self.message_ends.is_some()
            || self.message_contains.is_some()
            || self.message_lacks.is_some()
            || self.first_line.is_some()
            || self.location.is_some()
    }

    fn ends_named(&self) -> usize {
        usize::from(self.names_result())
            + usize::from(self.failed.is_some())
            + usize::from(self.parse.is_some())
            + usize::from(self.cancelled)
    }

    /// Refuses a case that says too little or contradicts itself.
    fn validate(&self) -> Result<(), String> {
        let sources = [&self.prompt, &self.body, &self.lua]
            .iter()
            .filter(|s| s.is_some())
            .count();
        if self.elsewhere.is_some() {
            return if sources == 0 && !self.looks_at_run() && !self.looks_at_tree() {
                Ok(())
            } else {
                Err("a case held `elsewhere` has neither source nor expectation".to_owned())
            };
        }
        if sources != 1 {
            return Err("needs exactly one of `prompt`, `body` and `lua`".to_owned());
        }
        if self.prompt.is_some() && (self.frontmatter.is_some() || !self.declares.is_empty()) {
            return Err("`prompt` holds its own frontmatter".to_owned());
        }
        let around = [&self.prose, &self.more, &self.opening];
        if self.lua.is_none() && around.iter().any(|text| text.is_some()) {
            return Err("`prose`, `more` and `opening` go with `lua`".to_owned());
        }
        if !self.looks_at_run() && !self.looks_at_tree() {
            return Err("expects nothing".to_owned());
        }
        if self.script.is_none() && (self.sent.is_some() || self.rounds.is_some_and(|n| n > 0)) {
            return Err("`sent` and `rounds` go with `script`".to_owned());
        }
        if self.answers.is_none() && self.asked.as_ref().is_some_and(|asked| !asked.is_empty()) {
            return Err("`asked` goes with `answers`".to_owned());
        }
        if self.ends_named() > 1 {
            return Err("names more than one way to end".to_owned());
        }
        if self.names_message() && self.failed.is_none() && self.parse.is_none() {
            return Err("a message needs `failed` or `parse`".to_owned());
        }
        Ok(())
    }
}

/// Reads the cases of one file, each of its variants, in each dialect, as a case of its own.
pub fn load(path: &Path) -> Result<Vec<Case>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut entries: Vec<Mapping> =
        serde_yaml::from_str(&text).map_err(|error| error.to_string())?;
    let defaults = defaults(&mut entries)?;
    let mut cases = Vec::new();
    for entry in entries {
        let id = entry
            .get("id")
            .and_then(Value::as_str)
            .unwrap_or("a case without an id")
            .to_owned();
        let entry = laid_over(&defaults, entry);
        let named = |error: String| format!("{id}: {error}");
        for merged in expand(entry).map_err(named)? {
            for own in dialect::each(merged).map_err(named)? {
                let case: Case = serde_yaml::from_value(Value::Mapping(own))
                    .map_err(|error| named(error.to_string()))?;
                case.validate()
                    .map_err(|error| format!("{}: {error}", case.id))?;
                cases.push(case);
            }
        }
    }
    Ok(cases)
}

/// Takes the entry that holds what the other cases of its file share.
fn defaults(entries: &mut Vec<Mapping>) -> Result<Mapping, String> {
    let shared = |entry: &Mapping| entry.len() == 1 && entry.contains_key("defaults");
    if !entries.first().is_some_and(shared) {
        return Ok(Mapping::new());
    }
    let defaults = entries.remove(0).remove("defaults").unwrap_or_default();
    serde_yaml::from_value(defaults).map_err(|error| format!("defaults: {error}"))
}

/// A map over another: its keys win, and a null takes a key away.
fn laid_over(base: &Mapping, over: Mapping) -> Mapping {
    let mut map = base.clone();
    for (key, value) in over {
        if value.is_null() {
            map.remove(&key);
        } else {
            map.insert(key, value);
        }
    }
    map
}

/// Takes `variants` out of a case and lays each over the rest.
fn expand(mut base: Mapping) -> Result<Vec<Mapping>, String> {
    let Some(variants) = base.remove("variants") else {
        return Ok(vec![base]);
    };
    let variants: Vec<Mapping> =
        serde_yaml::from_value(variants).map_err(|error| format!("variants: {error}"))?;
    let id = base
        .get("id")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let numbered = variants.into_iter().enumerate().map(|(index, variant)| {
        let mut case = laid_over(&base, variant);
        case.insert("id".into(), format!("{id}#{}", index + 1).into());
        case
    });
    Ok(numbered.collect())
}
