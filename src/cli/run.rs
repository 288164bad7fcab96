//! `runvil run` (spec C2 to C5).

use std::cell::LazyCell;
use std::env;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runvil::engine::{Event, EventKind, Outcome, ToolResult};
use runvil::harness::model::DebugEvents;
use runvil::harness::{Harness, Launch, Report, Store};
use runvil::prompt::{Dialect, Prompt};

use super::args::{ReportArgs, RunArgs};
use super::failure::{self, Subject};
use super::help::Backing;
use super::json::RunObject;
use super::live::Live;
use super::operator::Answering;
use super::provider::{Provider, configuration};
use super::record::RecordFile;
use super::source::{self, PROMPT_CAP, TEXT_CAP};
use super::status::{SetupError, Status, Unready};
use super::style::Style;
use super::{console, interrupt, output, units};

/// The task that the run's own chain is (spec K183).
const ROOT: &str = "0";

/// Runs one prompt and says how it went.
pub fn run(args: &RunArgs) -> Status {
    let style = console::error_style(args.look.color);
    let live = Live::new(!args.show.quiet && !args.show.events);
    let (asked, host, launch) = match set_up(args, &live) {
        Ok(ready) => ready,
        Err(error) => return error.report(args.show.json, style),
    };
    // The host's units end when it goes, once the result is out.
    let (report, seen) = perform(args, &asked.source, launch, &host, &live);
    if let Some(error) = setup_error(&report) {
        if let Some(record) = asked.record {
            record.discard();
        }
        return error.report(args.show.json, style);
    }
    let ending = Ending {
        show: &args.show,
        output: args.output.as_deref(),
        file: args.file.to_string_lossy().into_owned(),
        source: &asked.source,
        dialect: args.look.dialect.into(),
        backing: asked.backing,
    };
    conclude(&ending, &report, &seen, style)
}

/// What was asked for.
struct Asked {
    /// The prompt file's text.
    source: String,
    /// What its rounds are asked of.
    backing: Backing,
    /// Where its record goes.
    record: Option<RecordFile>,
}

/// What is needed to hand out what a run left.
pub struct Ending<'a> {
    pub show: &'a ReportArgs,
    pub output: Option<&'a Path>,
    /// What the prompt file is called.
    pub file: String,
    pub source: &'a str,
    /// Its dialect, where it has no version key.
    pub dialect: Dialect,
    pub backing: Backing,
}

/// What was seen of a run.
#[derive(Default)]
pub struct Seen {
    /// The section that the run's own chain reached last, or the title; `None` where no run began.
    pub reached: Option<Arc<str>>,
    /// What a tool said last to the run's own chain.
    pub answered: Option<Box<ToolResult>>,
}

impl Seen {
    /// Follows an event, and shows it.
    pub fn event(&mut self, event: &Event, prints: bool, live: &Live, operator: &Answering) {
        if prints {
            console::log_json(event);
        }
        let reached = &mut self.reached;
        if let EventKind::ToolResult(result) = &event.kind
            && &*event.task == ROOT
        {
            self.answered = Some(result.clone());
        }
        match event.kind.name() {
            "run_started" => *reached = Some(event.section.clone()),
            "run_failed" => {}
            _ if reached.is_some() && &*event.task == ROOT => {
                *reached = Some(event.section.clone())
            }
            _ => {}
        }
        live.observe(event);
        operator.observe(event);
    }
}

/// What serves the run.
struct Serving {
    harness: Harness,
    operator: Answering,
}

/// Reads what the words name, so that nothing runs unless all of it is there.
fn set_up(args: &RunArgs, live: &Live) -> Result<(Asked, Serving, Launch), Unready> {
    let argument_file = args
        .args
        .as_deref()
        .map(Path::new)
        .filter(|text| source::is_stdin(text));
    let read = [
        Some(args.file.as_path()),
        args.input.as_deref(),
        argument_file,
        args.host.config.as_deref(),
        args.host.script.as_deref(),
    ];
    source::claim_stdin(read.into_iter().flatten())?;
    let reads_stdin = read.into_iter().flatten().any(source::is_stdin);
    let operator = Answering::new(&args.answers, reads_stdin, live);
    let dialect = Dialect::from(args.look.dialect);
    let source = source::read(&args.file, PROMPT_CAP)?;
    let prompt = LazyCell::new(|| Prompt::parse(&source, dialect).ok());
    if let Some(output) = &args.output {
        check_output(output, prompt.as_ref())?;
    }
    let config = configuration(args.host.config.as_deref())?;
    let limits = args.limits.over(config.limits.limits());
    let spoken = || prompt.as_ref().map_or(dialect, |prompt| prompt.dialect);
    let provider = Provider::new(&args.host, &config, spoken)?;
    let has_roles = || {
        let contract = prompt.as_ref().map(|prompt| &prompt.contract);
        contract.is_some_and(|contract| !contract.models.is_empty())
    };
    // What is read is read before Ctrl-C is listened for: standard input may never end.
    let text = match argument_file {
        Some(stdin) => source::read(stdin, TEXT_CAP)?,
        None => args.args.clone().unwrap_or_else(|| args.text.join(" ")),
    };
    let input = args
        .input
        .as_ref()
        .map(|input| source::read(input, TEXT_CAP))
        .transpose()?;
    let cancel = interrupt::listen()?;
    let model = provider.current(limits, &cancel, has_roles)?;
    let backing = match model {
        Some(_) => provider.backing(),
        None => Backing::Nothing,
    };
    let mut launch = Launch {
        args: text,
        input,
        seed: args.seed,
        started_at: args.started_at,
        name: args.name.clone(),
        dialect,
        limits,
        model,
        broker: provider.broker(live),
        show: live.show(),
        debug: debug_events(&args.show),
        store: args
            .store
            .as_ref()
            .map(|folder| open_store(folder))
            .transpose()?,
        cancel,
        stop: interrupt::listen_for_stop()?,
        operator: operator.operator(),
        ..Launch::default()
    };
    drop(prompt);
    let named = [
        Some(&args.file),
        args.input.as_ref(),
        args.output.as_ref(),
        args.host.script.as_ref(),
    ];
    let taken: Vec<PathBuf> = named.into_iter().flatten().cloned().collect();
    let taken = [taken, config.files()].concat();
    let record = RecordFile::open(&args.record, &taken, args.store.as_deref())?;
    let (record, recorder) = record.unzip();
    launch.record = recorder;
    let log = live.host_log();
    let harness = units::harness(&config, log.clone(), &log, |name| env::var_os(name));
    let host = Serving { harness, operator };
    let asked = Asked {
        source,
        backing,
        record,
    };
    Ok((asked, host, launch))
}

/// What prints debug events, where they are wanted.
pub fn debug_events(args: &ReportArgs) -> Option<DebugEvents> {
    args.debug
        .then(|| DebugEvents::new(|event| console::log_json(&event)))
}

/// Refuses an `--output` that could never be written. A prompt that does not parse is left to the
/// run, which reports it.
pub fn check_output(output: &Path, prompt: Option<&Prompt>) -> Result<(), SetupError> {
    if source::is_stdin(output) {
        let message = "`--output` names a file: standard output holds the result";
        return Err(SetupError(message.to_owned()));
    }
    if let Some(why) = output::obstacle(output) {
        let message = format!("cannot write `{}`: {why}", output.display());
        return Err(SetupError(message));
    }
    match prompt {
        Some(prompt) if prompt.contract.output.is_none() => Err(SetupError(format!(
            "`--output {}` is given, but the prompt declares no `output:` file",
            output.display()
        ))),
        _ => Ok(()),
    }
}

/// The folder as the run's store.
pub fn open_store(folder: &Path) -> Result<Store, SetupError> {
    Store::directory(folder).map_err(|error| {
        SetupError(match error.kind() {
            ErrorKind::NotFound => format!(
                "cannot open the store `{}`: there is no such folder; create it first",
                folder.display()
            ),
            _ => error.to_string(),
        })
    })
}

/// Runs the prompt, showing its events as they come.
fn perform(
    args: &RunArgs,
    source: &str,
    launch: Launch,
    host: &Serving,
    live: &Live,
) -> (Report, Seen) {
    let mut seen = Seen::default();
    let painter = live.start();
    let report = host.harness.run(source, launch, &mut |event| {
        seen.event(event, args.show.events, live, &host.operator);
    });
    drop(painter);
    (report, seen)
}

/// A PromptForge run whose input text and declaration do not fit has not begun (spec C10).
fn setup_error(report: &Report) -> Option<SetupError> {
    match &report.outcome {
        Outcome::Failed(error) if report.is_setup_error() => {
            Some(SetupError(error.message.clone()))
        }
        _ => None,
    }
}

/// Hands out what a run left: its output file, its result, its failure.
pub fn conclude(ending: &Ending<'_>, report: &Report, seen: &Seen, style: Style) -> Status {
    let collected = collect(ending.output, report);
    let printed = if ending.show.json {
        console::print_json(&RunObject::new(report))
    } else {
        match &report.outcome {
            Outcome::Completed(result) => console::print_result(result),
            Outcome::Failed(error) => {
                let subject = Subject {
                    file: &ending.file,
                    source: ending.source,
                    dialect: ending.dialect,
                    reached: seen.reached.as_deref(),
                    answered: seen.answered.as_deref(),
                    backing: ending.backing.clone(),
                };
                console::log_raw(&failure::explain(error, &subject).render(ending.source, style));
                Ok(())
            }
            Outcome::Cancelled => {
                console::log("cancelled");
                Ok(())
            }
        }
    };
    let status = match report.outcome {
        Outcome::Completed(_) => Status::Success,
        Outcome::Cancelled => Status::Cancelled,
        Outcome::Failed(_) => Status::Failed,
    };
    let status = console::status_of(printed, status, style);
    match collected {
        Ok(()) => status,
        Err(message) => {
            console::log_error(&message, style);
            Status::Failed
        }
    }
}

/// Writes the declared output file of a completed run where `--output` wants it (spec C2).
fn collect(output: Option<&Path>, report: &Report) -> Result<(), String> {
    let Some(file) = output else {
        return Ok(());
    };
    let declared = report
        .prompt
        .as_ref()
        .and_then(|prompt| prompt.contract.output.as_ref());
    let (Outcome::Completed(_), Some(declared)) = (&report.outcome, declared) else {
        return Ok(());
    };
    let declared = &declared.path;
    let blame = |why: String| format!("cannot write `{}`: {why}", file.display());
    if matches!(report.store.kind(declared), Ok(None)) {
        let why = format!("the prompt did not write its output file `{declared}`");
        return Err(blame(why));
    }
    let bytes = report
        .store
        .read(declared)
        .map_err(|error| blame(error.to_string()))?;
    output::write(file, &bytes).map_err(|error| blame(error.to_string()))
}
