//! `runvil resume` (spec R16, C4).

use std::fs::File;
use std::path::Path;

use runvil::harness::record::Head;
use runvil::harness::{Harness, ReplayError, Report, Resume, ResumeError};
use runvil::prompt::Prompt;
use std::env;

use super::args::{HostArgs, ResumeArgs};
use super::help::Backing;
use super::live::Live;
use super::operator::Answering;
use super::provider::{Provider, configuration};
use super::record::{cannot_resume, head, open_to_go_on, unreadable};
use super::replay::shown;
use super::run::{Ending, Seen, check_output, conclude, debug_events, open_store};
use super::status::{SetupError, Status, cancelled};
use super::{console, interrupt, units};

/// Goes on with the run of a record and says how it went.
pub fn resume(args: &ResumeArgs) -> Status {
    let style = console::error_style(args.color);
    let live = Live::new(!args.show.quiet && !args.show.events);
    let ready = match set_up(args, &live) {
        Ok(ready) => ready,
        Err(error) => return error.report(args.show.json, style),
    };
    let Ready {
        record,
        harness,
        operator,
        resume,
        head,
        backing,
    } = ready;
    let (resumed, seen) = go_on(args, record, &harness, &operator, resume, &live);
    let report = match resumed {
        Ok(report) => report,
        Err(ResumeError::Cancelled) => {
            let text = "cancelled before the run went on";
            return cancelled(text, Some(&head.run), args.show.json, style);
        }
        Err(error) => return refused(&args.record, &error).report(args.show.json, style),
    };
    // The file's own name is not in the record.
    let name = head.name.as_deref().unwrap_or("the prompt");
    let ending = Ending {
        show: &args.show,
        output: args.output.as_deref(),
        file: format!("{name} (recorded in {})", args.record.display()),
        source: &head.source,
        dialect: head.dialect,
        backing,
    };
    conclude(&ending, &report, &seen, style)
}

/// All that a resumed run takes.
struct Ready {
    record: File,
    harness: Harness,
    operator: Answering,
    resume: Resume,
    head: Head,
    backing: Backing,
}

/// Reads what the words and the record name.
fn set_up(args: &ResumeArgs, live: &Live) -> Result<Ready, SetupError> {
    let record = open_to_go_on(&args.record)?;
    let head = head(&args.record, &record)?;
    let operator = Answering::new(&args.answers, false, live);
    if let Some(output) = &args.output {
        let prompt = Prompt::parse(&head.source, head.dialect).ok();
        check_output(output, prompt.as_ref())?;
    }
    let config = configuration(args.config.as_deref())?;
    let host = HostArgs {
        config: None,
        model: None,
        script: args.script.clone(),
    };
    let provider = Provider::new(&host, &config, || head.dialect)?;
    if let Some(model) = &head.model {
        provider.check_serves(&model.id)?;
    }
    let backing = match head.model {
        Some(_) => provider.backing(),
        None => Backing::Nothing,
    };
    let resume = Resume {
        store: args.store.as_deref().map(open_store).transpose()?,
        broker: provider.broker(live),
        operator: operator.operator(),
        show: live.show(),
        debug: debug_events(&args.show),
        is_durable: args.durable,
        cancel: interrupt::listen()?,
        ..Resume::default()
    };
    let log = live.host_log();
    let harness = units::harness(&config, log.clone(), &log, |name| env::var_os(name));
    Ok(Ready {
        record,
        harness,
        operator,
        resume,
        head,
        backing,
    })
}

fn go_on(
    args: &ResumeArgs,
    record: File,
    harness: &Harness,
    operator: &Answering,
    resume: Resume,
    live: &Live,
) -> (Result<Report, ResumeError>, Seen) {
    let mut seen = Seen::default();
    let painter = live.start();
    let resumed = harness.resume(record, resume, &mut |event| {
        seen.event(event, args.show.events, live, operator);
    });
    drop(painter);
    (resumed, seen)
}

/// Why a run is not resumed, as the command line says it.
fn refused(record: &Path, error: &ResumeError) -> SetupError {
    let why = match error {
        ResumeError::Record(ReplayError::Unreadable(error)) => return unreadable(record, error),
        ResumeError::Record(ReplayError::Differs(difference)) => {
            let lines = shown(&difference.recorded, &difference.new.to_string());
            format!("line {} differs\n{}", difference.line, lines.trim_end())
        }
        ResumeError::NoStore => format!("{error}: `--store DIR`"),
        ResumeError::UnwantedStore => "the run had its store in memory; leave `--store` out".into(),
        other => other.to_string(),
    };
    cannot_resume(record, why)
}
