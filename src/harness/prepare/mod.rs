//! Prepare: what happens between a launch and the first step (spec R2).

mod packs;
mod plugins;
mod roster;

use std::sync::Arc;

use serde::Deserialize;

use super::host::Host;
use super::launch::{Launch, Report};
use super::record::{ENGINE, Head, StoreHead};
use super::requirements::Requirements;
use super::tools::Tools;
use super::unit::Operator;
use super::{CancelToken, Seed, StartedAt, Store};
use crate::engine::model::unmet_roles;
use crate::engine::packs::{PackEntry, Packs};
use crate::engine::store::StoreFailure;
use crate::engine::{
    Event, Item, Outcome, ParseEvent, Program, Run, RunError, RunErrorKind, Seeded, announce,
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
    /// What the run is started with, as its record has it.
    pub(super) head: Head,
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
        store: given,
        model,
        operator,
        cancel,
        record,
        // What rounds are performed with, once the run is there.
        broker: _,
        show: _,
        debug: _,
        stop: _,
    } = launch;
    let drawn = seed.map_or_else(Seed::draw, Ok);
    let seed = *drawn.as_ref().unwrap_or(&Seed([0; 32]));
    let started_at = started_at.unwrap_or_else(StartedAt::now);
    let store = given.clone().unwrap_or_else(Store::memory);
    let loaded = Program::load(source, dialect);
    let name = name.unwrap_or_else(|| {
        let prompt = loaded.name.as_deref().unwrap_or("prompt");
        format!("{prompt}-{}", Seeded::new(seed.0).short_id())
    });
    let mut head = Head {
        run: name.clone(),
        run_id: String::new(),
        name: loaded.name.clone(),
        prompt_hash: String::new(),
        seed,
        started_at,
        dialect,
        args: args.into(),
        input,
        limits,
        store: given.as_ref().map(StoreHead::from),
        model,
        packs: None,
        ui: ui.and_then(|ui| Data::deserialize(ui).ok()),
        source: String::new(),
        engine: ENGINE.to_owned(),
    };
    let identified = match record {
        Some(_) => head.identify(source),
        None => Ok(()),
    };
    let execution: Arc<str> = Arc::from(name.as_str());
    let mut report = Report {
        outcome: Outcome::Cancelled,
        run: name,
        seed,
        started_at,
        prompt: None,
        requirements: Requirements::default(),
        store: store.clone(),
    };
    let ended = |mut report: Report, head, outcome| {
        report.outcome = outcome;
        Prepared {
            report,
            run: None,
            head,
            parse_events: announce(&execution, &loaded.events),
        }
    };
    let program = match loaded.program {
        Ok(program) => program,
        Err(error) => return ended(report, head, Outcome::Failed(error.into())),
    };
    let prompt = program.prompt().clone();
    head.dialect = prompt.dialect;
    report.prompt = Some(prompt.clone());
    let staged = drawn
        .and(identified)
        .map_err(|error| RunError::internal(error))
        .and_then(|()| stage(&prompt, &store, head.input.as_deref()));
    if let Err(error) = staged {
        return ended(report, head, Outcome::Failed(error));
    }
    let environment = host.environment(prompt.dialect, operator);
    let mut roster = Roster::new(&prompt.contract, &environment, &cancel);
    if let Some(model) = &head.model {
        roster.requirements.unmet_roles = unmet_roles(&prompt, model);
    }
    let Roster {
        requirements,
        units,
        tools,
        ..
    } = roster;
    report.requirements = requirements;
    // Units that were not waited for to the end are no snapshot.
    if cancel.is_cancelled() {
        return ended(report, head, Outcome::Cancelled);
    }
    head.packs = Some(Packs {
        services: environment.services.into_iter().collect(),
        units,
        gaps: report.requirements.unit_lines(prompt.dialect),
    });
    if !report.requirements.is_satisfied() {
        let notice = report.requirements.notice(prompt.dialect);
        let error = RunError::new(RunErrorKind::RequirementsUnmet, notice);
        return ended(report, head, Outcome::Failed(error));
    }
    let mut run = Run::new(program, head.setup(&cancel));
    for tool in run.unofferable() {
        let line = format!(
            "{tool} is not offered to models: its name is taken, or its schema is no object"
        );
        host.log.line(&line);
    }
    let parse_events = parse_events(&mut run, &loaded.events);
    Prepared {
        report,
        run: Some((run, tools)),
        head,
        parse_events,
    }
}

/// The events of parsing the file, numbered by the run.
pub(super) fn parse_events(run: &mut Run, events: &[ParseEvent]) -> Vec<Event> {
    let items = run.parsed(events).into_iter();
    items
        .filter_map(|item| match item {
            Item::Event(event) => Some(event),
            Item::Effect(_) => None,
        })
        .collect()
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

/// The units of a run that goes on, as they are now, and what serves its tools (spec R16).
pub(super) fn again(
    host: &Host,
    prompt: &Prompt,
    operator: Option<Arc<dyn Operator>>,
    cancel: &CancelToken,
) -> (Vec<PackEntry>, Tools) {
    let environment = host.environment(prompt.dialect, operator);
    let Roster { units, tools, .. } = Roster::new(&prompt.contract, &environment, cancel);
    (units, tools)
}

/// Puts the launch's input text at the declared path (spec F56, S54 to S56).
pub(super) fn stage(prompt: &Prompt, store: &Store, input: Option<&str>) -> Result<(), RunError> {
    let vfs = |failure: StoreFailure| RunError::new(RunErrorKind::Vfs, failure.message);
    match (input, &prompt.contract.input) {
        (None, None) => Ok(()),
        (Some(text), Some(declared)) => store.write(&declared.path, text.as_bytes()).map_err(vfs),
        (Some(_), None) => Err(undeclared_input()),
        (None, Some(declared)) => {
            let found = store.kind(&declared.path).map_err(vfs)?;
            if found == Some(super::EntryKind::File) {
                return Ok(());
            }
            Err(missing_input(&declared.path))
        }
    }
}

/// There is an input text, and nothing declares where it goes (spec S55).
pub(super) fn undeclared_input() -> RunError {
    RunError::new(
        RunErrorKind::Input,
        "the launch supplied input text, but the prompt declares no `input:` file",
    )
}

/// The declared input file is not there (spec S55).
pub(super) fn missing_input(path: &str) -> RunError {
    RunError::new(
        RunErrorKind::Input,
        format!(
            "the prompt declares the input file `{path}`, but the launch supplied no input text \
             and the store has no such file"
        ),
    )
}
