//! Prepare: what happens between a launch and the first step (spec R2).

use std::sync::Arc;

use serde::Deserialize;

use super::launch::{Launch, Report};
use super::{Seed, StartedAt, Store};
use crate::engine::model::{UnmetRole, unmet_roles};
use crate::engine::packs::Packs;
use crate::engine::store::StoreFailure;
use crate::engine::{
    Event, Item, Outcome, Program, Run, RunError, RunErrorKind, Seeded, Setup, announce,
};
use crate::lua::Data;
use crate::prompt::{Dialect, Prompt};

/// A run that is ready, or that ends here.
pub(super) struct Prepared {
    /// The report so far; its outcome holds where the run is refused.
    pub(super) report: Report,
    pub(super) run: Result<Run, Refused>,
    pub(super) parse_events: Vec<Event>,
}

/// The run ends in prepare, as the report says.
pub(super) struct Refused;

/// Draws seed and start instant, parses, stages the input file and checks the requirements, in this
/// order.
pub(super) fn prepare(source: &str, launch: Launch) -> Prepared {
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
            unmet_roles: Vec::new(),
            store: store.clone(),
        },
        run: Err(Refused),
        parse_events: Vec::new(),
    };
    let failed = |prepared: &mut Prepared, error: RunError| {
        prepared.report.outcome = Outcome::Failed(error);
    };
    let program = match loaded.program {
        Ok(program) => program,
        Err(error) => {
            prepared.parse_events = announce(&execution, &loaded.events);
            failed(&mut prepared, error.into());
            return prepared;
        }
    };
    prepared.report.prompt = Some(program.prompt().clone());
    if let Some(model) = &model {
        prepared.report.unmet_roles = unmet_roles(program.prompt(), model);
    }
    let unready = drawn
        .map_err(|error| RunError::new(RunErrorKind::Internal, error))
        .and_then(|_| stage(program.prompt(), &store, input.as_deref()))
        .err()
        .or_else(|| {
            (!cancel.is_cancelled())
                .then(|| unmet(program.prompt(), &prepared.report.unmet_roles))
                .flatten()
        });
    if unready.is_some() || cancel.is_cancelled() {
        prepared.parse_events = announce(&execution, &loaded.events);
        if let Some(error) = unready {
            failed(&mut prepared, error);
        }
        return prepared;
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
            packs: Packs::default(),
            max_rounds: limits.max_rounds,
            ui: ui.and_then(|ui| Data::deserialize(ui).ok()),
            opens_store: store.checks_open(),
            store: store.is_declared().then(|| store.policy().clone()),
            cancel: cancel.flag(),
        },
    );
    prepared.parse_events = run
        .parsed(&loaded.events)
        .into_iter()
        .filter_map(|item| match item {
            Item::Event(event) => Some(event),
            Item::Effect(_) => None,
        })
        .collect();
    prepared.run = Ok(run);
    prepared
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

/// The requirements notice, where the prompt declares what this Harness does not have: it provides
/// no Pack or Plugin yet, and only the model it was given (spec T42 to T48, M10 to M12).
fn unmet(prompt: &Prompt, roles: &[UnmetRole]) -> Option<RunError> {
    let mut missing: Vec<String> = Vec::new();
    let mut unavailable: Vec<String> = Vec::new();
    let note = |list: &mut Vec<String>, line: String| {
        if !list.contains(&line) {
            list.push(line);
        }
    };
    match prompt.dialect {
        Dialect::Runvil => {
            for pack in &prompt.contract.uses {
                let (vendor, name) = (&pack.vendor, &pack.name);
                if vendor == "runvil" {
                    note(&mut missing, format!("- missing required Pack: {name}"));
                } else {
                    let line = format!("- {name} is unavailable: {vendor}/{name} is not installed");
                    note(&mut unavailable, line);
                }
            }
        }
        Dialect::PromptForge => {
            let mut slots: Vec<_> = prompt.contract.tools.iter().collect();
            slots.sort();
            let plugins = &prompt.contract.plugins;
            let named = slots
                .iter()
                .filter_map(|(_, path)| Some(path.rsplit_once('/')?.0));
            let required = plugins.iter().filter(|plugin| !plugin.optional);
            for id in named.chain(required.map(|plugin| plugin.id.as_str())) {
                note(&mut missing, format!("- missing required Plugin: {id}"));
            }
        }
    }
    missing.append(&mut unavailable);
    missing.extend(roles.iter().map(UnmetRole::to_string));
    (!missing.is_empty()).then(|| {
        let lines = missing.join("\n");
        let notice = format!("the environment cannot satisfy this prompt:\n{lines}");
        RunError::new(RunErrorKind::RequirementsUnmet, notice)
    })
}
