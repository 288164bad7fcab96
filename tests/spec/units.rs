//! The Host's units in a case, its operator, and how the run called them.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use runvil::engine::ToolRequest;
use runvil::engine::tool::{ToolClass, ToolFailure, UnitTool};
use runvil::harness::Requirements;
use runvil::harness::model::Abort;
use runvil::harness::unit::{
    Activation, ActiveUnit, Call, Deed, Operator, Question, Unit, service_id,
};
use runvil::lua::Data;
use runvil::prompt::Dialect;
use serde::Deserialize;
use serde_json::Value;

use crate::pattern::{agrees, named};
use crate::signal::Signals;

/// The vendor that stands for the dialect's own.
pub const OWN: &str = "own";

/// How often a unit that is not ready yet looks whether the run is cancelled.
const GLANCE: Duration = Duration::from_millis(2);

/// A unit as a case has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitSetup {
    /// `vendor/name`.
    id: String,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    conflicts: Vec<String>,
    prelude: Option<String>,
    /// Why it will not be ready.
    ready: Option<String>,
    /// How long it takes to be so.
    #[serde(default)]
    ready_ms: u64,
    /// Why it could not be built.
    broken: Option<String>,
    #[serde(default)]
    tools: Vec<ToolSetup>,
}

/// A tool of a unit: its name alone, or a map.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum ToolSetup {
    Name(String),
    Map(ToolMap),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolMap {
    name: String,
    description: Option<String>,
    parameters: Option<Value>,
    #[serde(default = "yes")]
    trusted: bool,
    #[serde(default)]
    structured: bool,
    #[serde(default)]
    answers: Vec<AnswerSetup>,
}

fn yes() -> bool {
    true
}

/// An answer: its text alone, or a map.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum AnswerSetup {
    Output(String),
    Map(AnswerMap),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerMap {
    #[serde(default)]
    output: String,
    failure: Option<FailureSetup>,
    #[serde(default)]
    delay_ms: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FailureSetup {
    #[serde(default)]
    class: ClassName,
    message: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
enum ClassName {
    InvalidArguments,
    Transport,
    #[default]
    Backend,
}

impl ToolSetup {
    fn map(&self) -> ToolMap {
        match self {
            Self::Map(map) => map.clone(),
            Self::Name(name) => ToolMap {
                name: name.clone(),
                description: None,
                parameters: None,
                trusted: true,
                structured: false,
                answers: Vec::new(),
            },
        }
    }
}

/// Answers that are given in order, the last of them again and again. The next one stands at the
/// end.
#[derive(Debug)]
struct Answering {
    left: Mutex<Vec<AnswerMap>>,
}

impl Answering {
    fn new(setups: &[AnswerSetup]) -> Self {
        let maps = setups.iter().rev().map(|setup| match setup {
            AnswerSetup::Map(map) => map.clone(),
            AnswerSetup::Output(text) => AnswerMap::text(text),
        });
        Self {
            left: Mutex::new(maps.collect()),
        }
    }

    /// The next answer; `default` where there never was any.
    fn next(&self, default: &str) -> AnswerMap {
        let mut left = kept(&self.left);
        match left.as_slice() {
            [] => AnswerMap::text(default),
            [last] => last.clone(),
            [.., next] => {
                let next = next.clone();
                left.pop();
                next
            }
        }
    }
}

impl AnswerMap {
    /// A text, at once.
    fn text(text: &str) -> Self {
        Self {
            output: text.to_owned(),
            failure: None,
            delay_ms: 0,
        }
    }

    /// Waits as long as the answer takes, or is wanted.
    fn wait(&self, abort: &Abort) {
        if self.delay_ms == 0 {
            return;
        }
        let (end, ended) = mpsc::channel::<()>();
        abort.on_abort(move || drop(end));
        // Either the time is over, or nobody waits any more.
        let _ = ended.recv_timeout(Duration::from_millis(self.delay_ms));
        abort.clear();
    }

    fn answer(self) -> Result<String, ToolFailure> {
        match self.failure {
            None => Ok(self.output),
            Some(FailureSetup { class, message }) => Err(ToolFailure::new(
                match class {
                    ClassName::InvalidArguments => ToolClass::InvalidArguments,
                    ClassName::Transport => ToolClass::Transport,
                    ClassName::Backend => ToolClass::Backend,
                },
                message,
            )),
        }
    }
}

/// What a run did with the units of its case and with its operator, in order.
pub struct Witness {
    signals: Arc<Signals>,
    calls: Mutex<Vec<Arc<ToolRequest>>>,
    activated: Mutex<Vec<(String, Value)>>,
    asked: Mutex<Vec<String>>,
}

impl Witness {
    pub fn new(signals: Arc<Signals>) -> Arc<Self> {
        Arc::new(Self {
            signals,
            calls: Mutex::default(),
            activated: Mutex::default(),
            asked: Mutex::default(),
        })
    }

    /// The calls of units' tools.
    pub fn calls(&self) -> Vec<Arc<ToolRequest>> {
        kept(&self.calls).clone()
    }

    /// The units that were activated, each with the configuration that it got.
    pub fn activated(&self) -> Vec<(String, Value)> {
        kept(&self.activated).clone()
    }

    /// The tasks that asked the operator.
    pub fn asked(&self) -> Vec<String> {
        kept(&self.asked).clone()
    }

    fn call(&self, request: Arc<ToolRequest>) {
        let mut calls = kept(&self.calls);
        calls.push(request);
        self.signals.call(calls.len());
    }

    fn question(&self, task: &str) {
        let mut asked = kept(&self.asked);
        asked.push(task.to_owned());
        self.signals.question(asked.len());
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Witness")
    }
}

fn kept<T>(list: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A unit that answers as its case says, and keeps what is done with it.
pub struct Fake {
    setup: UnitSetup,
    vendor: String,
    name: String,
    witness: Arc<Witness>,
}

impl Fake {
    pub fn new(setup: &UnitSetup, witness: &Arc<Witness>) -> Result<Self, String> {
        let (vendor, name) = setup
            .id
            .split_once('/')
            .ok_or_else(|| format!("the unit `{}` has no vendor", setup.id))?;
        Ok(Self {
            vendor: vendor.to_owned(),
            name: name.to_owned(),
            setup: setup.clone(),
            witness: witness.clone(),
        })
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fake").field(&self.setup.id).finish()
    }
}

impl Unit for Fake {
    fn vendor(&self, dialect: Dialect) -> &str {
        match self.vendor.as_str() {
            OWN => dialect.key(),
            vendor => vendor,
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn needs(&self, dialect: Dialect) -> Vec<String> {
        let needs = self.setup.needs.iter();
        needs.map(|need| service_id(need, dialect)).collect()
    }

    fn conflicts(&self) -> &[String] {
        &self.setup.conflicts
    }

    fn fault(&self) -> Option<&str> {
        self.setup.broken.as_deref()
    }

    fn activate(&self, activation: &Activation<'_>) -> Result<Arc<dyn ActiveUnit>, String> {
        let config = serde_json::to_value(activation.config).unwrap_or_default();
        kept(&self.witness.activated).push((self.setup.id.clone(), config));
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(self.setup.ready_ms) {
            if activation.cancel.is_cancelled() {
                return Err("cancelled".to_owned());
            }
            thread::sleep(GLANCE);
        }
        if let Some(reason) = &self.setup.ready {
            return Err(reason.clone());
        }
        let maps = self.setup.tools.iter().map(ToolSetup::map);
        let tools = maps.map(|map| (Answering::new(&map.answers), map));
        Ok(Arc::new(Active {
            prelude: self.setup.prelude.clone(),
            tools: tools.collect(),
            witness: self.witness.clone(),
        }))
    }
}

struct Active {
    prelude: Option<String>,
    tools: Vec<(Answering, ToolMap)>,
    witness: Arc<Witness>,
}

impl fmt::Debug for Active {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Active").field(&self.tools).finish()
    }
}

impl ActiveUnit for Active {
    fn prelude(&self) -> Option<&str> {
        self.prelude.as_deref()
    }

    fn tools(&self) -> Vec<UnitTool> {
        let tools = self.tools.iter().map(|(_, map)| {
            let described = map.description.clone();
            let schema = map.parameters.clone();
            let schema = schema.unwrap_or_else(|| serde_json::json!({"type": "object"}));
            UnitTool {
                name: map.name.as_str().into(),
                description: described
                    .unwrap_or_else(|| format!("about {}", map.name))
                    .into(),
                parameters: Data::deserialize(schema).unwrap_or_default(),
                trusted: map.trusted,
                structured: map.structured,
            }
        });
        tools.collect()
    }

    fn call(&self, _: &Call) -> Result<String, ToolFailure> {
        Err(ToolFailure::new(
            ToolClass::Backend,
            "a call that was not taken in its turn",
        ))
    }

    fn take(self: Arc<Self>, call: Call) -> Deed {
        self.witness.call(call.request.clone());
        let tool = self.tools.iter().find(|(_, map)| map.name == *call.tool);
        let answer = tool.map(|(answers, map)| answers.next(&map.name));
        Box::new(move || {
            let answer = answer.ok_or_else(|| {
                let text = format!("the unit has no tool {}", call.tool);
                ToolFailure::new(ToolClass::Backend, text)
            })?;
            answer.wait(&call.abort);
            answer.answer()
        })
    }
}

/// An operator who answers as his case says.
#[derive(Debug)]
pub struct FakeOperator {
    answers: Answering,
    witness: Arc<Witness>,
}

impl FakeOperator {
    pub fn new(answers: &[AnswerSetup], witness: &Arc<Witness>) -> Self {
        Self {
            answers: Answering::new(answers),
            witness: witness.clone(),
        }
    }
}

impl Operator for FakeOperator {
    fn ask(&self, _: &Question) -> Result<String, String> {
        Err("a question that was not taken in its turn".to_owned())
    }

    fn take(
        self: Arc<Self>,
        question: Question,
    ) -> Box<dyn FnOnce() -> Result<String, String> + Send> {
        self.witness.question(&question.task);
        let answer = self.answers.next("");
        Box::new(move || {
            answer.wait(&question.abort);
            answer.answer().map_err(|failure| failure.message)
        })
    }
}

/// A call: its tool alone, as `vendor/unit/tool`, or a map of what is said of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum CallPattern {
    Tool(String),
    Map(CallMap),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallMap {
    tool: String,
    /// A null: the call is a script's.
    #[serde(default, deserialize_with = "named")]
    call_id: Option<Option<String>>,
    arguments: Option<Value>,
}

impl CallPattern {
    pub fn matches(&self, call: &ToolRequest, dialect: Dialect) -> bool {
        let names = |tool: &str| *call.tool == *whole(tool, dialect);
        match self {
            Self::Tool(tool) => names(tool),
            Self::Map(map) => {
                let id = call.call_id.as_ref().map(ToString::to_string);
                let arguments = serde_json::to_value(&call.arguments).unwrap_or_default();
                names(&map.tool) && agrees(&map.call_id, &id) && agrees(&map.arguments, &arguments)
            }
        }
    }
}

/// A unit that was activated: its id, as its case has it, or a map.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum ActivatedPattern {
    Unit(String),
    Map(ActivatedMap),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActivatedMap {
    unit: String,
    #[serde(default)]
    config: Value,
}

impl ActivatedPattern {
    pub fn matches(&self, (id, config): &(String, Value)) -> bool {
        match self {
            Self::Unit(unit) => unit == id && config.is_null(),
            Self::Map(map) => map.unit == *id && map.config == *config,
        }
    }
}

/// The whole name of a tool in a dialect (spec T2).
pub fn whole(tool: &str, dialect: Dialect) -> String {
    match (tool.split_once('/'), dialect) {
        (Some((_, id)), Dialect::Runvil) => id.to_owned(),
        (Some((OWN, id)), Dialect::PromptForge) => format!("{}/{id}", dialect.key()),
        _ => tool.to_owned(),
    }
}

/// The gaps that the requirements report has of units (spec T51).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gaps {
    missing: Vec<String>,
    /// Pairs of unit and service.
    services: Vec<[String; 2]>,
    conflicts: Vec<[String; 2]>,
    /// Pairs of Pack and reason.
    unavailable: Vec<[String; 2]>,
}

impl From<&Requirements> for Gaps {
    fn from(requirements: &Requirements) -> Self {
        let services = requirements.services.iter();
        let services = services.map(|gap| [gap.unit.clone(), gap.service.clone()]);
        let unavailable = requirements.unavailable.iter();
        let unavailable = unavailable.map(|gap| [gap.pack.clone(), gap.reason.clone()]);
        Self {
            missing: requirements.missing.clone(),
            services: services.collect(),
            conflicts: requirements.conflicts.clone(),
            unavailable: unavailable.collect(),
        }
    }
}
