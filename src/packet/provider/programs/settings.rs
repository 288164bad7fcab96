//! The block `runvil` (spec P141).

use serde_yaml::{Mapping, Value};

use crate::harness::Limits;
use crate::packet::contract::data::plain;
use crate::packet::error::PacketError;
use crate::packet::keys::{Keys, scalar};
use crate::packet::scalar::natural;

const KEYS: &[&str] = &["program", "args", "input", "store", "limits"];

/// The limits that may be set.
const LIMITS: &[&str] = &[
    "concurrency",
    "memory",
    "log_events",
    "response_cap",
    "receive_timeout",
    "max_rounds",
];

/// What the program's store is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StoreKind {
    /// The target repository.
    #[default]
    Target,
    /// One of its own.
    Memory,
}

/// The text that a program's input file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// This.
    Text(String),
    /// That of a file, `PATH` or `REPO:PATH`.
    File(String),
}

/// The block as read.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// `PATH` or `REPO:PATH`; `None` for the prompt's body.
    pub(super) program: Option<String>,
    pub(super) args: String,
    pub(super) input: Option<Input>,
    pub(super) store: StoreKind,
    limits: Vec<(&'static str, u64)>,
}

impl Settings {
    /// Reads the block; what is wrong with it otherwise.
    pub(super) fn read(block: &Mapping) -> Result<Self, String> {
        strange(block, KEYS, "runvil")?;
        let keys = Keys::new(block, Some("runvil"));
        let said = |error: PacketError| error.to_string();
        let words = [("target", StoreKind::Target), ("memory", StoreKind::Memory)];
        Ok(Self {
            program: keys.text("program").map_err(said)?,
            args: keys.text("args").map_err(said)?.unwrap_or_default(),
            input: keys.read("input", input).map_err(said)?,
            store: keys
                .word("store", &words)
                .map_err(said)?
                .unwrap_or_default(),
            limits: limits(keys)?,
        })
    }

    /// Sets the limits that are given over those of the host.
    pub(super) fn over(&self, limits: &mut Limits) {
        for (name, value) in &self.limits {
            let small = u32::try_from(*value).unwrap_or(u32::MAX);
            match *name {
                "concurrency" => limits.concurrency = small,
                "memory" => limits.memory = usize::try_from(*value).unwrap_or(usize::MAX),
                "log_events" => limits.log_events = small,
                "response_cap" => limits.response_cap = *value,
                "receive_timeout" => limits.receive_timeout = *value,
                _ => limits.max_rounds = small,
            }
        }
    }
}

/// Refuses a key that has no meaning.
fn strange(map: &Mapping, known: &[&str], name: &str) -> Result<(), String> {
    let mut keys = map.keys().map(|key| scalar(key).unwrap_or_default());
    match keys.find(|key| !known.contains(&&**key)) {
        Some(key) => Err(format!(
            "{name}: unknown key {key:?} (known: {})",
            known.join(", ")
        )),
        None => Ok(()),
    }
}

fn input(value: &Value) -> Option<Input> {
    match value {
        Value::Mapping(map) if map.len() == 1 => {
            Some(Input::File(map.get("file").and_then(scalar)?))
        }
        text => scalar(text).map(Input::Text),
    }
}

fn limits(keys: Keys<'_>) -> Result<Vec<(&'static str, u64)>, String> {
    let Some(map) = keys.map("limits").map_err(|error| error.to_string())? else {
        return Ok(Vec::new());
    };
    strange(map, LIMITS, "runvil.limits")?;
    let set = LIMITS
        .iter()
        .filter_map(|name| Some((*name, map.get(*name)?)));
    let read = set.map(|(name, value)| {
        let number = natural(&plain(value)).filter(|number| *number > 0 || name == "log_events");
        let number = number.ok_or_else(|| {
            let key = format!("limits.{name}");
            keys.invalid(&key, value).to_string()
        });
        Ok((name, number?))
    });
    read.collect()
}
