//! Replay: a recorded run, run again from nothing but its record (spec R15).

mod difference;
mod rebuilt;
mod replayer;
mod same;
mod track;

pub use difference::{Difference, Instead, ReplayError};

use std::io::BufRead;

use super::CancelToken;
use super::record::{Head, RecordError, write};
use crate::engine::{Event, Outcome};
use rebuilt::{Rebuilt, Start, may_end, rebuild};
use replayer::{Cut, End, Follow, Halt, Replayer};

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
    let mut replayer = Replayer::new(record);
    // Nobody else has the token, so the record alone cancels the run.
    let token = CancelToken::default();
    let (run, outcome) = match whole(&mut replayer, &token, &mut Observed(observe)) {
        Ok((run, End::Outcome(outcome))) => (run, Some(outcome)),
        Ok((run, End::Cut(_))) => (run, None),
        Err(Halt::Error(error)) => return Err(error),
        Err(Halt::Refused { line, why }) => return Err(refused(line, why)),
        Err(Halt::Cancelled) => {
            let why = "the run was cancelled".to_owned();
            return Err(refused(replayer.followed() + 1, why));
        }
    };
    Ok(Replayed {
        run,
        outcome,
        lines: replayer.followed(),
        is_torn: replayer.torn().is_some(),
    })
}

fn refused(line: u64, reason: String) -> ReplayError {
    RecordError::Line { line, reason }.into()
}

/// Only the events are wanted.
struct Observed<'a>(&'a mut dyn FnMut(&Event));

impl Follow for Observed<'_> {
    fn event(&mut self, event: &Event) {
        (self.0)(event);
    }
}

/// Replays a record from its first line. Gives the run's name beside how far it came.
fn whole<R: BufRead>(
    replayer: &mut Replayer<R>,
    token: &CancelToken,
    follow: &mut dyn Follow,
) -> Result<(String, End), Halt> {
    let Rebuilt {
        head,
        events,
        start,
        ..
    } = rebuild(replayer.head()?, token);
    let name = head.run.clone();
    let end = begin(replayer, &head, &events, follow)?;
    let end = match (end, start) {
        (Some(cut), _) => End::Cut(cut),
        (None, Start::Run(mut run)) => replayer.follow(&mut run, follow)?,
        (None, Start::Ended(outcome)) => replayer.outcome(outcome)?,
        (None, Start::Unknown(prompt)) => {
            let outcome = match replayer.recorded_outcome()? {
                None => return Ok((name, End::Cut(Cut::default()))),
                Some(outcome) => outcome?,
            };
            if outcome == Outcome::Cancelled {
                replayer.written(|text| write::cancel(text, 0, None))?;
            } else if let Err(instead) = may_end(&head, &prompt, &outcome) {
                return Err(replayer.next_differs(instead));
            }
            replayer.outcome(outcome)?
        }
    };
    Ok((name, end))
}

/// Compares the first line and the parse events. Gives where the record ends among them, if it does.
fn begin<R: BufRead>(
    replayer: &mut Replayer<R>,
    head: &Head,
    events: &[Event],
    follow: &mut dyn Follow,
) -> Result<Option<Cut>, Halt> {
    let rest = replayer.written(|text| {
        write::head(text, head)?;
        events
            .iter()
            .try_for_each(|event| write::event(text, event))
    })?;
    events.iter().for_each(|event| follow.event(event));
    Ok((!rest.is_empty()).then(|| Cut {
        more: true,
        rest,
        outcome: None,
    }))
}
