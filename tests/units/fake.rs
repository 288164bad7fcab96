//! A unit that is what a test wants it to be, and hosts that have such units.

use std::fmt;
use std::sync::{Arc, Mutex};

use runvil::engine::tool::{ToolFailure, UnitTool};
use runvil::engine::{Outcome, RunErrorKind};
use runvil::harness::unit::{Activation, ActiveUnit, Call, Unit};
use runvil::harness::{Harness, Launch, Log, Report};
use runvil::lua::Data;
use runvil::prompt::Dialect;

/// What is done for a call.
type Serve = dyn Fn(&Call) -> Result<String, ToolFailure> + Send + Sync;

/// What is done when a run waits.
type Ready = dyn Fn(&Activation<'_>) -> Result<(), String> + Send + Sync;

/// A unit.
#[derive(Clone)]
pub struct Fake {
    vendor: Option<&'static str>,
    name: &'static str,
    needs: Vec<&'static str>,
    conflicts: Vec<String>,
    ready: Arc<Ready>,
    tools: Vec<&'static str>,
    serve: Arc<Serve>,
    /// How often a run began to wait for it, and what was called.
    pub seen: Arc<Mutex<Vec<String>>>,
}

/// A unit `vendor/name` with one tool, `t`; `own/name` is one of the dialect's own vendor.
pub fn fake(id: &'static str) -> Fake {
    let (vendor, name) = id.split_once('/').unwrap();
    Fake {
        vendor: (vendor != "own").then_some(vendor),
        name,
        needs: Vec::new(),
        conflicts: Vec::new(),
        ready: Arc::new(|_| Ok(())),
        tools: vec!["t"],
        serve: Arc::new(|call| Ok(format!("{} {}", call.shown(), call.arguments().to_json()))),
        seen: Arc::default(),
    }
}

impl Fake {
    pub fn needing(mut self, services: &[&'static str]) -> Self {
        self.needs = services.to_vec();
        self
    }

    pub fn conflicting(mut self, plugin: &str) -> Self {
        self.conflicts.push(plugin.to_owned());
        self
    }

    pub fn unready(self, reason: &'static str) -> Self {
        self.waiting(move |_| Err(reason.to_owned()))
    }

    pub fn waiting(
        mut self,
        ready: impl Fn(&Activation<'_>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.ready = Arc::new(ready);
        self
    }

    pub fn with_tools(mut self, tools: &[&'static str]) -> Self {
        self.tools = tools.to_vec();
        self
    }

    pub fn serving(
        mut self,
        serve: impl Fn(&Call) -> Result<String, ToolFailure> + Send + Sync + 'static,
    ) -> Self {
        self.serve = Arc::new(serve);
        self
    }

    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    fn note(&self, what: impl Into<String>) {
        self.seen.lock().unwrap().push(what.into());
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Unit for Fake {
    fn vendor(&self, dialect: Dialect) -> &str {
        self.vendor.unwrap_or(dialect.key())
    }

    fn name(&self) -> &str {
        self.name
    }

    fn needs(&self, _: Dialect) -> Vec<String> {
        self.needs.iter().map(|need| (*need).to_owned()).collect()
    }

    fn conflicts(&self) -> &[String] {
        &self.conflicts
    }

    fn start(&self) {
        self.note("start");
    }

    fn activate(&self, activation: &Activation<'_>) -> Result<Arc<dyn ActiveUnit>, String> {
        self.note("activate");
        (self.ready)(activation)?;
        Ok(Arc::new(self.clone()))
    }
}

impl ActiveUnit for Fake {
    fn tools(&self) -> Vec<UnitTool> {
        let tool = |name: &&str| UnitTool {
            name: (*name).into(),
            description: "d".into(),
            parameters: Data::object([("type", Data::text("object"))]),
            trusted: true,
            structured: false,
        };
        self.tools.iter().map(tool).collect()
    }

    fn call(&self, call: &Call) -> Result<String, ToolFailure> {
        self.note(format!("call {}", call.tool));
        (self.serve)(call)
    }
}

/// What a host has said to its log.
pub type Notes = Arc<Mutex<Vec<String>>>;

/// A host that has these units.
pub fn host(units: impl IntoIterator<Item = Fake>) -> (Harness, Notes) {
    let notes = Notes::default();
    let noting = notes.clone();
    let log = Log::new(move |line| noting.lock().unwrap().push(line.to_owned()));
    let host = Harness::default().with_log(log);
    let host = units.into_iter().fold(host, Harness::with_unit);
    (host, notes)
}

/// A prompt of a dialect whose one section is a Lua block.
pub fn prompt(dialect: Dialect, frontmatter: &str, lua: &str) -> String {
    let key = dialect.key();
    format!(
        "---\nname: p\ndescription: d\n{key}: 0\n{frontmatter}\n---\n# P\n\n## A\n\n```lua\n{lua}\n```\n"
    )
}

/// Runs a prompt.
pub fn run(host: &Harness, source: &str) -> Report {
    run_with(host, source, Launch::default())
}

pub fn run_with(host: &Harness, source: &str, launch: Launch) -> Report {
    host.run(source, launch, &mut |_| {})
}

/// The result of a run that completed.
#[track_caller]
pub fn result(report: Report) -> String {
    match report.outcome {
        Outcome::Completed(text) => text,
        other => panic!("{other:?}"),
    }
}

/// The lines of the notice by which a prompt is refused, without the first; none where it is not.
#[track_caller]
pub fn gaps(host: &Harness, dialect: Dialect, frontmatter: &str) -> Vec<String> {
    let report = run(host, &prompt(dialect, frontmatter, "return 'ran'"));
    match report.outcome {
        Outcome::Completed(text) => {
            assert_eq!(text, "ran");
            assert!(report.requirements.is_satisfied());
            Vec::new()
        }
        Outcome::Failed(error) => {
            assert_eq!(error.kind, RunErrorKind::RequirementsUnmet, "{error:?}");
            assert!(!report.requirements.is_satisfied());
            let mut lines = error.message.split('\n').map(str::to_owned);
            let head = lines.next().unwrap();
            assert_eq!(head, "the environment cannot satisfy this prompt:");
            lines.collect()
        }
        Outcome::Cancelled => panic!("it was cancelled"),
    }
}
