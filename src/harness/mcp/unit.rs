//! A server as a unit.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::build::BuildError;
use super::config::McpConfig;
use super::output::output;
use super::seconds;
use super::session::{CANCELLED, Lost, Session};
use crate::engine::tool::{ToolClass, ToolFailure, UnitTool};
use crate::harness::unit::{Activation, ActiveUnit, Call, Unit, service_id};
use crate::harness::{CancelToken, Log};
use crate::lua::{Compiler, Data};
use crate::prompt::{Dialect, LuaBlock};

/// How often one who waits for the last process to end looks whether he should go on.
const TICK: Duration = Duration::from_millis(10);

/// A unit that is a stdio server of the Model Context Protocol (spec section 16 of part 06).
///
/// Its process is started when a run first waits for it, and kept: further runs use the same one,
/// at once too. There is never more than one. When the unit is dropped or [closed](Self::close),
/// the process and all that it started have ended.
#[derive(Debug)]
pub struct McpUnit {
    config: Arc<McpConfig>,
    log: Log,
    /// The process that runs, or the last one that did.
    session: Mutex<Option<Arc<Session>>>,
}

impl McpUnit {
    /// A unit, whose process is not started yet. What its server says on the side goes to `log`,
    /// each line with the unit's id before it.
    ///
    /// # Errors
    /// [`BuildError::BadPrelude`], where the prelude does not compile.
    pub fn new(config: McpConfig, log: Log) -> Result<Self, BuildError> {
        if let Some(prelude) = &config.prelude {
            compile(prelude).map_err(BuildError::BadPrelude)?;
        }
        Ok(Self {
            config: Arc::new(config),
            log,
            session: Mutex::default(),
        })
    }

    /// Ends the process and all that it started, and waits for that: closes its input, asks it to
    /// end after two seconds, and kills it after two more (spec T167). Calls that are in flight
    /// fail. A run that waits for the unit later starts it again.
    pub fn close(&self) {
        // It stays where it is until it has ended, so that no other is started beside it.
        let session = self.session().clone();
        if let Some(session) = session {
            session.end();
        }
    }

    /// The session that serves or is about to; a new one where there is none. `None` while
    /// something of the last one is left.
    fn current(&self) -> Result<Option<Arc<Session>>, String> {
        let mut current = self.session();
        match &*current {
            Some(session) if session.is_alive() => Ok(Some(session.clone())),
            Some(session) if !session.is_gone() => Ok(None),
            _ => {
                let session = Session::start(&self.config, &self.log)?;
                *current = Some(session.clone());
                Ok(Some(session))
            }
        }
    }

    /// The same, once nothing is left of the last one.
    fn running(&self, cancel: &CancelToken) -> Result<Arc<Session>, String> {
        loop {
            if let Some(session) = self.current()? {
                return Ok(session);
            }
            if cancel.is_cancelled() {
                return Err(CANCELLED.to_owned());
            }
            thread::sleep(TICK);
        }
    }

    fn session(&self) -> MutexGuard<'_, Option<Arc<Session>>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for McpUnit {
    fn drop(&mut self) {
        self.close();
    }
}

impl Unit for McpUnit {
    fn vendor(&self, _dialect: Dialect) -> &str {
        &self.config.vendor
    }

    fn name(&self) -> &str {
        &self.config.name
    }

    /// Built-in services are named as the dialect does (spec T158).
    fn needs(&self, dialect: Dialect) -> Vec<String> {
        let needs = self.config.needs.iter();
        needs.map(|need| service_id(need, dialect)).collect()
    }

    fn conflicts(&self) -> &[String] {
        &self.config.conflicts
    }

    fn start(&self) {
        // What goes wrong is met again by who waits.
        let _ = self.current();
    }

    /// Starts the process where none runs, and waits until it has told its tools (spec T162). The
    /// errors are those of T163, and a service that is not there.
    fn activate(&self, activation: &Activation<'_>) -> Result<Arc<dyn ActiveUnit>, String> {
        let lacking = activation.lacking(self.needs(activation.dialect));
        if !lacking.is_empty() {
            return Err(format!("it needs {}", lacking.join(", ")));
        }
        let session = self.running(activation.cancel)?;
        session.ready(activation.cancel)?;
        Ok(Arc::new(Serving {
            config: self.config.clone(),
            session,
        }))
    }
}

/// The unit as a run has it: with the process that it began with, and no other (spec T170).
#[derive(Debug)]
struct Serving {
    config: Arc<McpConfig>,
    session: Arc<Session>,
}

impl ActiveUnit for Serving {
    fn prelude(&self) -> Option<&str> {
        self.config.prelude.as_deref()
    }

    fn tools(&self) -> Vec<UnitTool> {
        let catalog = self.session.catalog();
        catalog.map_or_else(Vec::new, |catalog| catalog.tools().to_vec())
    }

    fn call(&self, call: &Call) -> Result<String, ToolFailure> {
        let shown = call.shown();
        let failure = |class, what: &str| ToolFailure::new(class, format!("{shown}: {what}"));
        let arguments = object(call.arguments())
            .ok_or_else(|| failure(ToolClass::InvalidArguments, "the arguments are no object"))?;
        let target = self
            .session
            .catalog()
            .and_then(|catalog| catalog.target(&call.tool));
        let target =
            target.ok_or_else(|| failure(ToolClass::Backend, "the server has no such tool"))?;
        let transport = |what: &str| Err(failure(ToolClass::Transport, what));
        match self.session.call(&target.name, &arguments, &call.abort) {
            Ok(outcome) => output(shown, target.structured, outcome),
            Err(Lost::Over) => transport("the server process ended"),
            Err(Lost::Late) => {
                let span = seconds(self.config.call_timeout);
                transport(&format!("no reply within {span} seconds"))
            }
            Err(Lost::Aborted) => transport("interrupted"),
        }
    }
}

/// Arguments as a server gets them, always an object (spec T166).
fn object(arguments: &Data) -> Option<Cow<'_, Data>> {
    match arguments {
        Data::Map(_) => Some(Cow::Borrowed(arguments)),
        Data::Null => Some(Cow::Owned(Data::empty())),
        Data::List(items) if items.is_empty() => Some(Cow::Owned(Data::empty())),
        _ => None,
    }
}

/// Whether a prelude compiles; the compiler's message where it does not.
fn compile(prelude: &str) -> Result<(), String> {
    let block = LuaBlock {
        source: prelude.to_owned(),
        line: 1,
        label: "prelude".to_owned(),
    };
    Compiler::new(Dialect::Runvil)?.compile(&block).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(config: impl FnOnce(&mut McpConfig)) -> Result<McpUnit, BuildError> {
        let mut built = McpConfig::new("acme", "kiln", "kiln-mcp".into());
        config(&mut built);
        McpUnit::new(built, Log::default())
    }

    #[test]
    fn a_prelude_must_compile() {
        // spec T159
        assert!(unit(|config| config.prelude = Some("kiln = { a = 1 }".to_owned())).is_ok());
        let error = unit(|config| config.prelude = Some("a = 1\nkiln = {".to_owned()));
        assert_eq!(
            error.expect_err("no Lua").to_string(),
            "the prelude does not compile: prelude:2: unexpected symbol near <eof>"
        );
    }

    #[test]
    fn arguments_are_an_object() {
        // spec T166
        let object = |json: &str| {
            let data = Data::from_json(json).expect("JSON");
            object(&data).map(|data| data.to_json())
        };
        assert_eq!(object("{\"a\":1}").as_deref(), Some("{\"a\":1}"));
        assert_eq!(object("[]").as_deref(), Some("{}"));
        assert_eq!(object("null").as_deref(), Some("{}"));
        for other in ["[1]", "5", "\"{}\""] {
            assert_eq!(object(other), None, "{other}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let unit = unit(|config| {
            config.args = vec!["s3cret".into()];
            config.env = vec![("TOKEN".into(), "s3cret".into())];
        });
        let shown = format!("{:?}", unit.expect("built"));
        assert!(
            shown.contains("TOKEN") && !shown.contains("s3cret"),
            "{shown}"
        );
    }
}
