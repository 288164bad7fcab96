//! A unit `acme/kiln` whose server is the stub, and what is left of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use runvil::engine::tool::ToolClass;
use runvil::harness::mcp::{McpConfig, McpUnit};
use runvil::harness::model::Abort;
use runvil::harness::unit::ActiveUnit;
use runvil::harness::{CancelToken, Log};
use runvil::lua::Data;
use rustix::process::{Pid, test_kill_process, test_kill_process_group};

use crate::active::{activate, call};
use crate::stub::ROLE;

/// A unit, and what it has said to the host log.
pub struct Kiln {
    unit: Option<Arc<McpUnit>>,
    /// As the last run has it that got it.
    active: Mutex<Option<Arc<dyn ActiveUnit>>>,
    notes: Arc<Mutex<Vec<String>>>,
}

/// What failed, and how.
pub type Failed = (ToolClass, String);

/// The configuration of a stub in a role.
pub fn config(role: &str) -> McpConfig {
    let program = std::env::current_exe().unwrap();
    let mut config = McpConfig::new("acme", "kiln", program);
    config.command = "kiln-mcp".to_owned();
    config.args = ["the_stub_server", "--exact", "--nocapture"]
        .map(Into::into)
        .to_vec();
    config.env = vec![
        (ROLE.into(), role.into()),
        ("PATH".into(), std::env::var_os("PATH").unwrap()),
    ];
    config.cwd = PathBuf::from("/");
    config
}

impl Kiln {
    /// A unit whose server is a stub in a role.
    pub fn new(role: &str) -> Self {
        Self::with(role, |_| {})
    }

    /// The same, configured further.
    pub fn with(role: &str, configure: impl FnOnce(&mut McpConfig)) -> Self {
        let mut config = config(role);
        configure(&mut config);
        let notes = Arc::<Mutex<Vec<String>>>::default();
        let noting = notes.clone();
        let log = Log::new(move |line| noting.lock().unwrap().push(line.to_owned()));
        let unit = McpUnit::new(config, log).unwrap();
        Self {
            unit: Some(Arc::new(unit)),
            active: Mutex::default(),
            notes,
        }
    }

    /// A unit that is ready.
    pub fn ready(role: &str) -> Self {
        let kiln = Self::new(role);
        kiln.start().unwrap();
        kiln
    }

    pub fn unit(&self) -> &Arc<McpUnit> {
        self.unit.as_ref().unwrap()
    }

    /// Gives the unit away.
    pub fn take(&mut self) -> Arc<McpUnit> {
        self.unit.take().unwrap()
    }

    pub fn start(&self) -> Result<(), String> {
        self.start_until(&CancelToken::default())
    }

    pub fn start_until(&self, cancel: &CancelToken) -> Result<(), String> {
        let active = activate(&**self.unit(), cancel)?;
        *self.active.lock().unwrap() = Some(active);
        Ok(())
    }

    pub fn active(&self) -> Arc<dyn ActiveUnit> {
        self.active.lock().unwrap().clone().unwrap()
    }

    /// Calls a tool with a text.
    pub fn call(&self, tool: &str, text: &str) -> Result<String, Failed> {
        self.call_until(&Abort::default(), tool, text)
    }

    pub fn call_until(&self, abort: &Abort, tool: &str, text: &str) -> Result<String, Failed> {
        let arguments = Data::object([("text", Data::text(text))]);
        let call = call(tool, &format!("kiln/{tool}"), arguments, abort);
        let called = self.active().call(&call);
        called.map_err(|failure| (failure.class, failure.message))
    }

    /// What was said to the log so far.
    pub fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap().clone()
    }

    /// Waits until a line is in the log.
    #[track_caller]
    pub fn wait_for_note(&self, line: &str) {
        let begun = Instant::now();
        while !self.notes().iter().any(|note| note == line) {
            let notes = self.notes();
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "no {line:?} in {notes:#?}"
            );
            sleep(Duration::from_millis(5));
        }
    }

    /// The processes that were started.
    pub fn started(&self) -> Vec<Pid> {
        let notes = self.notes();
        let pids = notes
            .iter()
            .filter_map(|note| note.strip_prefix("acme/kiln: pid "));
        pids.map(pid_of).collect()
    }

    /// Drops the unit, and gives back the log. No process may be left, nor anything one started.
    #[track_caller]
    pub fn end(mut self) -> Vec<String> {
        let unit = Arc::into_inner(self.take());
        drop(unit.expect("nobody else has it"));
        self.assert_nothing_is_left();
        self.notes()
    }

    /// No process that was started may be left, not even one that was not reaped.
    #[track_caller]
    pub fn assert_nothing_is_left(&self) {
        for pid in self.started() {
            assert!(test_kill_process(pid).is_err(), "{pid:?} is left");
            assert_group_ends(pid);
        }
    }
}

pub fn pid_of(text: &str) -> Pid {
    Pid::from_raw(text.parse().unwrap()).unwrap()
}

/// A group that was killed is empty once the system has reaped it.
#[track_caller]
pub fn assert_group_ends(group: Pid) {
    let begun = Instant::now();
    while test_kill_process_group(group).is_ok() {
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "something of {group:?} is left"
        );
        sleep(Duration::from_millis(2));
    }
}

/// A failure to reach a tool.
pub fn transport(what: &str) -> Result<String, Failed> {
    Err((ToolClass::Transport, what.to_owned()))
}
