//! Prepare: what happens between a launch and the first step (spec R2).

mod packs;
mod plugins;
mod roster;

use std::sync::Arc;

use serde::Deserialize;

use super::host::Host;
use super::launch::{Launch, Report};
use super::requirements::Requirements;
use super::tools::Tools;
use super::unit::Operator;
use super::{CancelToken, Seed, StartedAt, Store};
use crate::engine::model::unmet_roles;
use crate::engine::packs::{PackEntry, Packs};
use crate::engine::store::StoreFailure;
use crate::engine::{
    Event, Item, Outcome, Program, Run, RunError, RunErrorKind, Seeded, Setup, announce,
};
use crate::lua::Data;
use crate::prompt::{Dialect, Prompt};
use roster::Roster;

/// A run that is ready, or that ends here.
pub(super) struct Prepared {
    /// The report so far; its outcome holds where no run is ready.
    pub(super) report: Report,
    /// The run, and what serves its tools; `None` where it ends in prepare, as the report says.
    pub(super) run: Option<(Run, Tools)>,
    pub(super) parse_events: Vec<Event>,
}

/// Draws seed and start instant, parses, stages the input file, gets the run's units ready and
/// checks the requirements, in this order.
pub(super) fn prepare(source: &str, launch: Launch, host: &Host) -> Prepared {
    let Launch {
        args,
        input,
        seed,
        started_at,
        name,
        dialect,
        limits,
        ui,
        store,
        model,
        operator,
        cancel,
        // What rounds are performed with, once the run is there.
        broker: _,
        show: _,
        stop: _,
    } = launch;
    let drawn = seed.map_or_else(Seed::draw, Ok);
    let started_at = started_at.unwrap_or_else(StartedAt::now);
    let store = store.unwrap_or_else(Store::memory);
    let loaded = Program::load(source, dialect);
    let seeded = Seeded::new(drawn.as_ref().map_or([0; 32], |seed| seed.0));
    let name = name.unwrap_or_else(|| {
        format!(
            "{}-{}",
            loaded.name.as_deref().unwrap_or("prompt"),
            seeded.short_id()
        )
    });
    let execution: Arc<str> = Arc::from(name.as_str());
    let mut prepared = Prepared {
        report: Report {
            outcome: Outcome::Cancelled,
            run: name,
            seed: *drawn.as_ref().unwrap_or(&Seed([0; 32])),
            started_at,
            prompt: None,
            requirements: Requirements::default(),
            store: store.clone(),
        },
        run: None,
        parse_events: Vec::new(),
    };
    let ended = |mut prepared: Prepared, outcome| {
        prepared.parse_events = announce(&execution, &loaded.events);
        prepared.report.outcome = outcome;
        prepared
    };
    let program = match loaded.program {
        Ok(program) => program,
        Err(error) => return ended(prepared, Outcome::Failed(error.into())),
    };
    let prompt = program.prompt().clone();
    prepared.report.prompt = Some(prompt.clone());
    let staged = drawn
        .map_err(|error| RunError::new(RunErrorKind::Internal, error))
        .and_then(|_| stage(&prompt, &store, input.as_deref()));
    if let Err(error) = staged {
        return ended(prepared, Outcome::Failed(error));
    }
    let environment = host.environment(prompt.dialect, operator);
    let mut roster = Roster::new(&prompt.contract, &environment, &cancel);
    if let Some(model) = &model {
        roster.requirements.unmet_roles = unmet_roles(&prompt, model);
    }
    let Roster {
        requirements,
        units,
        tools,
        ..
    } = roster;
    prepared.report.requirements = requirements;
    let requirements = &prepared.report.requirements;
    if cancel.is_cancelled() {
        return ended(prepared, Outcome::Cancelled);
    }
    if !requirements.is_satisfied() {
        let notice = requirements.notice(prompt.dialect);
        let error = RunError::new(RunErrorKind::RequirementsUnmet, notice);
        return ended(prepared, Outcome::Failed(error));
    }
    let mut run = Run::new(
        program,
        Setup {
            execution,
            seed: prepared.report.seed.0,
            when: started_at.to_string().into(),
            args: args.into(),
            memory: limits.memory,
            concurrency: limits.concurrency,
            log_events: limits.log_events,
            model,
            packs: Packs {
                services: environment.services.into_iter().collect(),
                units,
                gaps: Vec::new(),
            },
            max_rounds: limits.max_rounds,
            ui: ui.and_then(|ui| Data::deserialize(ui).ok()),
            opens_store: store.checks_open(),
            store: store.is_declared().then(|| store.policy().clone()),
            cancel: cancel.into_inner(),
        },
    );
    for tool in run.unofferable() {
        let line = format!(
            "{tool} is not offered to models: its name is taken, or its schema is no object"
        );
        host.log.line(&line);
    }
    prepared.parse_events = run
        .parsed(&loaded.events)
        .into_iter()
        .filter_map(|item| match item {
            Item::Event(event) => Some(event),
            Item::Effect(_) => None,
        })
        .collect();
    prepared.run = Some((run, tools));
    prepared
}

/// The units of a Host, each as a run that declares it has it.
pub(super) fn survey(
    host: &Host,
    dialect: Dialect,
    operator: Option<Arc<dyn Operator>>,
    cancel: &CancelToken,
) -> Vec<PackEntry> {
    let environment = host.environment(dialect, operator);
    Roster::whole(&environment, cancel).units
}

/// Puts the launch's input text at the declared path (spec F56, S54 to S56).
fn stage(prompt: &Prompt, store: &Store, input: Option<&str>) -> Result<(), RunError> {
    let vfs = |failure: StoreFailure| RunError::new(RunErrorKind::Vfs, failure.message);
    match (input, &prompt.contract.input) {
        (None, None) => Ok(()),
        (Some(text), Some(declared)) => store.write(&declared.path, text.as_bytes()).map_err(vfs),
        (Some(_), None) => Err(RunError::new(
            RunErrorKind::Input,
            "the launch supplied input text, but the prompt declares no `input:` file",
        )),
        (None, Some(declared)) => {
            let found = store.kind(&declared.path).map_err(vfs)?;
            if found == Some(super::EntryKind::File) {
                return Ok(());
            }
            let path = &declared.path;
            Err(RunError::new(
                RunErrorKind::Input,
                format!(
                    "the prompt declares the input file `{path}`, but the launch supplied no input \
                     text and the store has no such file"
                ),
            ))
        }
    }
}
