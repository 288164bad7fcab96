//! The first line of a record: all that a run takes from outside before it starts (spec R14, R22).

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::json::word;
use crate::engine::Setup;
use crate::engine::model::{Model, Thinking};
use crate::engine::packs::{PackEntry, Packs};
use crate::engine::store::{Policy, PolicyRule};
use crate::engine::tool::UnitTool;
use crate::harness::{CancelToken, Limits, Seed, StartedAt, Store};
use crate::lua::Data;
use crate::prompt::Dialect;

/// What a run was started with, and what prepare found for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The run's name.
    pub run: String,
    /// 32 hex digits that no other run has.
    pub run_id: String,
    /// The prompt's name; `None` where the frontmatter does not give it.
    pub name: Option<String>,
    /// The hash of the source, as [`prompt_hash`] gives it.
    pub prompt_hash: String,
    /// The seed.
    pub seed: Seed,
    /// The start instant.
    pub started_at: StartedAt,
    /// The prompt's dialect.
    pub dialect: Dialect,
    /// The argument string.
    pub args: Arc<str>,
    /// The input text.
    pub input: Option<String>,
    /// The run's limits.
    pub limits: Limits,
    /// The handle on the Host's store; `None` for a fresh store in memory.
    pub store: Option<StoreHead>,
    /// The Host's current model.
    pub model: Option<Model>,
    /// The units of the run; `None` where prepare ended before it had them.
    pub packs: Option<Packs>,
    /// The Host-state snapshot.
    pub ui: Option<Data>,
    /// The prompt file.
    pub source: String,
    /// The version of the engine.
    pub engine: String,
}

/// What a run is told of its Host's store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreHead {
    /// The handle's policy.
    pub policy: Policy,
    /// Whether there is a store behind the handle (spec S50).
    pub is_declared: bool,
    /// Whether its backend checks when it is opened (spec S58).
    pub checks_open: bool,
}

impl From<&Store> for StoreHead {
    fn from(store: &Store) -> Self {
        Self {
            policy: store.policy().clone(),
            is_declared: store.is_declared(),
            checks_open: store.checks_open(),
        }
    }
}

impl Head {
    /// Adds what only a record needs: the file, its hash, and an id that no other run has.
    ///
    /// # Errors
    /// The system gives no random bytes for the id.
    pub(in crate::harness) fn identify(&mut self, source: &str) -> Result<(), String> {
        source.clone_into(&mut self.source);
        self.prompt_hash = prompt_hash(source);
        let mut id = [0; 16];
        let drawn = getrandom::fill(&mut id);
        self.run_id = id.iter().map(|byte| format!("{byte:02x}")).collect();
        drawn.map_err(|error| format!("the run's id could not be drawn: {error}"))
    }

    /// What the engine is told of it.
    pub(in crate::harness) fn setup(&self, cancel: &CancelToken) -> Setup {
        let (store, checks_open) = match &self.store {
            Some(store) => (
                store.is_declared.then(|| store.policy.clone()),
                store.checks_open,
            ),
            None => (Some(Policy::default()), false),
        };
        Setup {
            execution: self.run.as_str().into(),
            seed: self.seed.0,
            when: self.started_at.to_string().into(),
            args: self.args.clone(),
            memory: self.limits.memory,
            concurrency: self.limits.concurrency,
            log_events: self.limits.log_events,
            model: self.model.clone(),
            packs: self.packs.clone().unwrap_or_default(),
            max_rounds: self.limits.max_rounds,
            ui: self.ui.clone(),
            opens_store: checks_open,
            store,
            cancel: cancel.inner(),
        }
    }
}

/// The version of this engine, as records name it.
pub const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// `sha256:` and the hex digits of the hash of a prompt file.
pub fn prompt_hash(source: &str) -> String {
    let digest = Sha256::digest(source.as_bytes());
    let digits = digest.iter().map(|byte| format!("{byte:02x}"));
    std::iter::once("sha256:".to_owned())
        .chain(digits)
        .collect()
}

/// The line as it is written, its keys in their order.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form<'a> {
    v: u64,
    t: Cow<'a, str>,
    run: Cow<'a, str>,
    run_id: Cow<'a, str>,
    name: Option<Cow<'a, str>>,
    prompt_hash: Cow<'a, str>,
    seed: Cow<'a, str>,
    started_at: Cow<'a, str>,
    dialect: Cow<'a, str>,
    args: Cow<'a, str>,
    input: Option<Cow<'a, str>>,
    limits: LimitsForm,
    store: Option<StoreForm<'a>>,
    model: Option<ModelForm<'a>>,
    packs: Option<PacksForm<'a>>,
    ui: Option<Cow<'a, Data>>,
    source: Cow<'a, str>,
    engine: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsForm {
    concurrency: u32,
    memory: usize,
    log_events: u32,
    response_cap: u64,
    receive_timeout: u64,
    max_rounds: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreForm<'a> {
    read_only: bool,
    policy: Cow<'a, [PolicyRule]>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    absent: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    checks: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelForm<'a> {
    id: Cow<'a, str>,
    context: u32,
    thinking: Thinking,
    description: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PacksForm<'a> {
    services: Cow<'a, [String]>,
    units: Vec<UnitForm<'a>>,
    gaps: Cow<'a, [String]>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitForm<'a> {
    id: String,
    declared: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prelude: Option<Cow<'a, str>>,
    tools: Vec<ToolForm<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolForm<'a> {
    id: String,
    description: Cow<'a, str>,
    parameters: Cow<'a, Data>,
    trusted: bool,
    structured: bool,
}

impl<'a> From<&'a Head> for Form<'a> {
    fn from(head: &'a Head) -> Self {
        let Limits {
            concurrency,
            memory,
            log_events,
            response_cap,
            receive_timeout,
            max_rounds,
        } = head.limits;
        let packs = head.packs.as_ref();
        Self {
            v: super::VERSION,
            t: "run".into(),
            run: (&head.run).into(),
            run_id: (&head.run_id).into(),
            name: head.name.as_ref().map(Cow::from),
            prompt_hash: (&head.prompt_hash).into(),
            seed: head.seed.to_string().into(),
            started_at: head.started_at.to_string().into(),
            dialect: head.dialect.key().into(),
            args: (&*head.args).into(),
            input: head.input.as_ref().map(Cow::from),
            limits: LimitsForm {
                concurrency,
                memory,
                log_events,
                response_cap,
                receive_timeout,
                max_rounds,
            },
            store: head.store.as_ref().map(|store| StoreForm {
                read_only: store.policy.read_only,
                policy: (&store.policy.rules).into(),
                absent: !store.is_declared,
                checks: store.checks_open,
            }),
            model: head.model.as_ref().map(|model| ModelForm {
                id: (&*model.id).into(),
                context: model.context,
                thinking: model.thinking,
                description: (&*model.description).into(),
            }),
            packs: packs.map(|packs| PacksForm::new(packs, head.dialect)),
            ui: head.ui.as_ref().map(Cow::Borrowed),
            source: (&head.source).into(),
            engine: (&head.engine).into(),
        }
    }
}

impl TryFrom<Form<'_>> for Head {
    type Error = serde_json::Error;

    fn try_from(form: Form<'_>) -> Result<Self, serde_json::Error> {
        let dialect = word("dialect", form.dialect, Dialect::from_key)?;
        let run_id = word("id of a run", form.run_id, |id| {
            let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            (id.len() == 32 && id.bytes().all(is_digit)).then(|| id.to_owned())
        })?;
        if !matches!(form.ui.as_deref(), None | Some(Data::Map(_))) {
            return Err(serde_json::Error::custom("`ui` is no object"));
        }
        let limits = form.limits;
        Ok(Self {
            run: form.run.into(),
            run_id,
            name: form.name.map(Cow::into_owned),
            prompt_hash: form.prompt_hash.into(),
            seed: word("seed", form.seed, |text| text.parse().ok())?,
            started_at: word("instant", form.started_at, |text| text.parse().ok())?,
            dialect,
            args: form.args.into(),
            input: form.input.map(Cow::into_owned),
            limits: Limits {
                concurrency: limits.concurrency,
                memory: limits.memory,
                log_events: limits.log_events,
                response_cap: limits.response_cap,
                receive_timeout: limits.receive_timeout,
                max_rounds: limits.max_rounds,
            },
            store: form.store.map(|store| StoreHead {
                policy: Policy {
                    read_only: store.read_only,
                    rules: store.policy.into_owned(),
                },
                is_declared: !store.absent,
                checks_open: store.checks,
            }),
            model: form.model.map(|model| Model {
                id: model.id.into(),
                context: model.context,
                thinking: model.thinking,
                description: model.description.into(),
            }),
            packs: form.packs.map(|packs| packs.packs(dialect)).transpose()?,
            ui: form.ui.map(Cow::into_owned),
            source: form.source.into(),
            engine: form.engine.into(),
        })
    }
}

impl<'a> PacksForm<'a> {
    fn new(packs: &'a Packs, dialect: Dialect) -> Self {
        let units = packs.units.iter().map(|unit| UnitForm {
            id: unit.id(),
            declared: unit.declared,
            reason: unit.reason.as_ref().map(Cow::from),
            prelude: unit.prelude.as_deref().map(Cow::from),
            tools: unit
                .tools
                .iter()
                .map(|tool| ToolForm {
                    id: unit.tool_id(&tool.name, dialect),
                    description: (&*tool.description).into(),
                    parameters: Cow::Borrowed(&tool.parameters),
                    trusted: tool.trusted,
                    structured: tool.structured,
                })
                .collect(),
        });
        Self {
            services: (&packs.services).into(),
            units: units.collect(),
            gaps: (&packs.gaps).into(),
        }
    }

    fn packs(self, dialect: Dialect) -> Result<Packs, serde_json::Error> {
        let units = self.units.into_iter().map(|unit| unit.entry(dialect));
        Ok(Packs {
            units: units.collect::<Result<_, _>>()?,
            services: self.services.into_owned(),
            gaps: self.gaps.into_owned(),
        })
    }
}

impl UnitForm<'_> {
    fn entry(self, dialect: Dialect) -> Result<PackEntry, serde_json::Error> {
        let foreign = |what: &str, id: &str| {
            serde_json::Error::custom(format_args!("{id:?} is no id of a {what}"))
        };
        let (vendor, name) = self
            .id
            .split_once('/')
            .ok_or_else(|| foreign("unit", &self.id))?;
        let mut entry = PackEntry {
            vendor: vendor.into(),
            name: name.into(),
            declared: self.declared,
            reason: self.reason.map(Cow::into_owned),
            prelude: self.prelude.map(|prelude| prelude.into()),
            tools: Vec::new(),
        };
        let is_unready = entry.reason.is_some();
        if is_unready && (entry.prelude.is_some() || !self.tools.is_empty()) {
            let text = "a unit with a `reason` has neither prelude nor tools";
            return Err(serde_json::Error::custom(text));
        }
        for tool in self.tools {
            let name = tool.id.rsplit('/').next().unwrap_or_default();
            if entry.tool_id(name, dialect) != tool.id {
                return Err(foreign("tool of its unit", &tool.id));
            }
            entry.tools.push(UnitTool {
                name: name.into(),
                description: tool.description.into(),
                parameters: tool.parameters.into_owned(),
                trusted: tool.trusted,
                structured: tool.structured,
            });
        }
        Ok(entry)
    }
}
