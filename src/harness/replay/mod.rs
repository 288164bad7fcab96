//! Replay: a recorded run, run again from nothing but its record (spec R15).

mod ahead;
mod difference;
mod rebuilt;
mod replayer;
mod same;
mod track;

pub use difference::{Difference, Instead, ReplayError};

use std::io::BufRead;

use super::CancelToken;
use super::record::{Head, RecordError, write};
use crate::engine::{Event, Outcome, Run};
pub(super) use rebuilt::{Rebuilt, rebuild};
use rebuilt::{Start, may_end};
use replayer::Cut;
pub(super) use replayer::{End, Follow, Halt, Reached, Replayer};

/// What a replay found: no difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The run's name.
    pub run: String,
    /// How the run ended; `None` where its record ends before.
    pub outcome: Option<Outcome>,
    /// How many lines the record has.
    pub lines: u64,
    /// Whether a last line beyond those was not written whole.
    pub is_torn: bool,
}

/// Runs a recorded run again and compares each line of its record with what it does. It needs
/// nothing but the record, and does nothing outside: what the run was told then it is told again.
/// `observe` sees its events. A record that ends before its outcome has no difference, as far as it
/// goes.
///
/// # Errors
/// The record cannot be read, or the run does something else; then the first such line.
///
/// ```
/// # use std::io::Write;
/// # use std::sync::{Arc, Mutex};
/// use runvil::harness::record::Recorder;
/// use runvil::harness::{Harness, Launch, replay};
///
/// # #[derive(Clone, Default)]
/// # struct Memory(Arc<Mutex<Vec<u8>>>);
/// # impl Write for Memory {
/// #     fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
/// #         self.0.lock().unwrap().write(bytes)
/// #     }
/// #     fn flush(&mut self) -> std::io::Result<()> { Ok(()) }
/// # }
/// let source = "---\nname: sum\ndescription: Adds.\nrunvil: 0\n---\n# Sum\n\n```lua\nreturn 2 + 3\n```\n";
/// let record = Memory::default(); // anything that takes bytes
/// let launch = Launch { record: Some(Recorder::new(record.clone())), ..Launch::default() };
/// let report = Harness::default().run(source, launch, &mut |_event| {});
///
/// let record = record.0.lock().unwrap();
/// let replayed = replay(&record[..], &mut |_event| {}).unwrap();
/// assert_eq!(replayed.outcome, Some(report.outcome));
/// ```
pub fn replay(
    record: impl BufRead,
    observe: &mut dyn FnMut(&Event),
) -> Result<Replayed, ReplayError> {
    replay_cancellable(record, &CancelToken::default(), observe)
}

/// [`replay`], for a record that comes from elsewhere: what is in it may run for as long as it likes,
/// so `cancel` ends it. The token is this replay's alone: the record of a run that was cancelled
/// raises it too.
///
/// # Errors
/// Those of [`replay`], and [`ReplayError::Cancelled`].
pub fn replay_cancellable(
    record: impl BufRead,
    cancel: &CancelToken,
    observe: &mut dyn FnMut(&Event),
) -> Result<Replayed, ReplayError> {
    let mut replayer = Replayer::new(record);
    let followed = again(&mut replayer, cancel, &mut Observed(observe));
    let (run, end) = followed.map_err(|halt| match halt {
        Halt::Error(error) => error,
        Halt::Refused { line, why } => refused(line, why),
        Halt::Cancelled => ReplayError::Cancelled,
    })?;
    let outcome = match end {
        End::Outcome(outcome) => Some(outcome),
        End::Cut(_) => None,
    };
    Ok(Replayed {
        run,
        outcome,
        lines: replayer.followed(),
        is_torn: replayer.torn().is_some(),
    })
}

/// Replays a record from its first line. Gives the run's name beside how far it came.
fn again<R: BufRead>(
    replayer: &mut Replayer<R>,
    cancel: &CancelToken,
    follow: &mut dyn Follow,
) -> Result<(String, End), Halt> {
    let rebuilt = rebuild(replayer.head()?, cancel);
    let Rebuilt {
        head,
        events,
        start,
        ..
    } = rebuilt;
    let (_, end) = whole(replayer, &head, &events, start, follow)?;
    Ok((head.run, end))
}

pub(super) fn refused(line: u64, reason: String) -> ReplayError {
    RecordError::Line { line, reason }.into()
}

/// Only the events are wanted.
struct Observed<'a>(&'a mut dyn FnMut(&Event));

impl Follow for Observed<'_> {
    fn event(&mut self, event: &Event) {
        (self.0)(event);
    }
}

/// Follows a record from its first line. Gives the run, where there is one, beside how far it came.
pub(super) fn whole<R: BufRead>(
    replayer: &mut Replayer<R>,
    head: &Head,
    events: &[Event],
    start: Start,
    follow: &mut dyn Follow,
) -> Result<(Option<Box<Run>>, End), Halt> {
    let rest = replayer.written(|text| {
        write::head(text, head)?;
        let mut events = events.iter();
        events.try_for_each(|event| write::event(text, event))
    })?;
    events.iter().for_each(|event| follow.event(event));
    let cut = |rest, outcome| {
        End::Cut(Cut {
            more: true,
            rest,
            outcome,
        })
    };
    Ok(match start {
        Start::Run(run) if !rest.is_empty() => (Some(run), cut(rest, None)),
        Start::Ended(outcome) if !rest.is_empty() => (None, cut(rest, Some(outcome))),
        Start::Unknown(_) if !rest.is_empty() => (None, cut(rest, None)),
        Start::Run(mut run) => {
            let end = replayer.follow(&mut run, follow)?;
            (Some(run), end)
        }
        Start::Ended(outcome) => (None, replayer.outcome(outcome)?),
        Start::Unknown(prompt) => {
            let Some(outcome) = replayer.recorded_outcome()? else {
                return Ok((None, cut(Vec::new(), None)));
            };
            let outcome = outcome?;
            if outcome == Outcome::Cancelled {
                replayer.written(|text| write::cancel(text, 0, None))?;
            } else if let Err(instead) = may_end(head, &prompt, &outcome) {
                return Err(replayer.next_differs(instead));
            }
            (None, replayer.outcome(outcome)?)
        }
    })
}
