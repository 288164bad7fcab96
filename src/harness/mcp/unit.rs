//! A server as a unit.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::build::BuildError;
use super::config::McpConfig;
use super::log::Log;
use super::output::output;
use super::seconds;
use super::session::{CANCELLED, Lost, Session};
use crate::engine::tool::{ToolClass, ToolFailure, UnitTool};
use crate::harness::CancelToken;
use crate::harness::model::Abort;
use crate::harness::unit::Unit;
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

    /// The session that serves or is about to; a new one where there is none, once nothing is left
    /// of the last one.
    fn running(&self, cancel: &CancelToken) -> Result<Arc<Session>, String> {
        loop {
            let mut current = self.session();
            match &*current {
                Some(session) if session.is_alive() => return Ok(session.clone()),
                Some(session) if !session.is_gone() => {}
                _ => {
                    let session = Session::start(&self.config, &self.log)?;
                    *current = Some(session.clone());
                    return Ok(session);
                }
            }
            drop(current);
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
        needs.map(|need| service(need, dialect)).collect()
    }

    fn conflicts(&self) -> &[String] {
        &self.config.conflicts
    }

    fn prelude(&self, _dialect: Dialect) -> Option<&str> {
        self.config.prelude.as_deref()
    }

    /// Starts the process where none runs, and waits until it has told its tools (spec T162). The
    /// errors are those of T163.
    fn ready(&self, cancel: &CancelToken) -> Result<(), String> {
        self.running(cancel)?.ready(cancel)
    }

    fn tools(&self, _dialect: Dialect) -> Vec<UnitTool> {
        let session = self.session().clone();
        let catalog = session.as_ref().and_then(|session| session.catalog());
        catalog.map_or_else(Vec::new, |catalog| catalog.tools().to_vec())
    }

    fn call(
        &self,
        tool: &str,
        shown: &str,
        arguments: &Data,
        abort: &Abort,
    ) -> Result<String, ToolFailure> {
        let failure = |class, what: &str| ToolFailure::new(class, format!("{shown}: {what}"));
        let arguments = object(arguments)
            .ok_or_else(|| failure(ToolClass::InvalidArguments, "the arguments are no object"))?;
        let session = self.session().clone();
        let found = session.as_ref().and_then(|session| {
            let target = session.catalog()?.target(tool)?;
            Some((session, target))
        });
        let outcome = match found {
            Some((session, target)) => session
                .call(&target.name, &arguments, abort)
                .map(|outcome| (target.structured, outcome)),
            // The process that had the tool has ended.
            None => Err(Lost::Over),
        };
        let transport = |what: &str| Err(failure(ToolClass::Transport, what));
        match outcome {
            Ok((structured, outcome)) => output(shown, structured, outcome),
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

/// A service's id as a dialect names it: those that hosts have built in are named by both.
fn service(id: &str, dialect: Dialect) -> String {
    let built_in = [Dialect::Runvil, Dialect::PromptForge]
        .into_iter()
        .find_map(|vendor| id.strip_prefix(vendor.key())?.strip_prefix('/'));
    match built_in {
        Some(name @ ("input-broker" | "search-provider")) => format!("{}/{name}", dialect.key()),
        _ => id.to_owned(),
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
    fn built_in_services_have_a_name_in_each_dialect() {
        // spec T158
        let needs = [
            "promptforge/search-provider",
            "runvil/input-broker",
            "acme/input-broker",
            "runvil/x",
        ];
        let unit = unit(|config| config.needs = needs.map(str::to_owned).to_vec()).expect("built");
        assert_eq!(
            unit.needs(Dialect::Runvil),
            [
                "runvil/search-provider",
                "runvil/input-broker",
                "acme/input-broker",
                "runvil/x"
            ]
        );
        assert_eq!(
            unit.needs(Dialect::PromptForge),
            [
                "promptforge/search-provider",
                "promptforge/input-broker",
                "acme/input-broker",
                "runvil/x"
            ]
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
