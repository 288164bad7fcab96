//! One pass over the lines of a record.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::Arc;

use super::item::{Item, Section, State, What};
use super::talk::Before;
use super::{Detail, Entry, Mark, Timeline, Totals, Track};
use crate::engine::model::ToolCall;
use crate::engine::{EffectId, Outcome};
use crate::harness::record::{Head, Line, Reader, RecordError};
use crate::prompt::Prompt;

/// The task that a run's own chain is (spec K183).
const ROOT: &str = "0";

/// A timeline that grows line by line.
pub(super) struct Builder {
    pub(super) timeline: Timeline,
    pub(super) detail: Detail,
    /// The prompt, where its source parses.
    pub(super) prompt: Option<Prompt>,
    /// The tracks by their tasks.
    places: HashMap<String, usize>,
    /// What is going on on each track.
    pub(super) going: Vec<Going>,
    /// The effects that have no answer yet.
    pub(super) pending: HashMap<EffectId, Pending>,
    /// The line that is read.
    line: u64,
    /// The last moment that a line has given.
    pub(super) now: u64,
    /// How many items are kept.
    kept: usize,
}

/// What is going on on a track.
#[derive(Default)]
pub(super) struct Going {
    /// The sections that are open, the innermost last.
    pub(super) open: Vec<Open>,
    /// The section that was left last; whether it finished is said by the next event.
    pub(super) left: Option<usize>,
    /// The last section that the chain's own walk was in.
    pub(super) walked: Option<String>,
    /// Loads of libraries that are under way.
    pub(super) loads: Vec<Option<usize>>,
    /// Calls of units that were answered and not reported yet: the model's call, and whether it
    /// will have a result.
    pub(super) answered: Vec<(Option<Arc<str>>, bool)>,
    /// Calls that the last reply asked for.
    pub(super) asked: Vec<ToolCall>,
    /// The last round.
    pub(super) before: Option<Before>,
}

/// A section that is open.
pub(super) struct Open {
    /// Its item, if that is kept.
    pub(super) item: Option<usize>,
    pub(super) has_failed: bool,
    pub(super) is_title: bool,
}

/// An effect that has no answer yet.
pub(super) struct Pending {
    pub(super) track: usize,
    /// Its item, if that is kept.
    pub(super) item: Option<usize>,
    pub(super) kind: PendingKind,
}

#[derive(Clone)]
pub(super) enum PendingKind {
    Round,
    Call(Option<Arc<str>>),
    Other,
}

/// Reads a record.
///
/// # Errors
/// As [`Timeline::read`].
pub(super) fn read(
    reader: &mut Reader<impl BufRead>,
    detail: Detail,
) -> Result<Timeline, RecordError> {
    let head = match reader.next().transpose()? {
        Some((_, Line::Head(head))) => head,
        Some((line, _)) => return Err(misplaced(line, "a record begins with its `run` line")),
        None => return Err(RecordError::Empty),
    };
    let mut builder = Builder::new(head, detail);
    while let Some((number, line)) = reader.next().transpose()? {
        builder.line = number;
        match line {
            Line::Head(_) => return Err(misplaced(number, "a record has one `run` line")),
            Line::Event(line) => builder.event(line),
            Line::Effect(line) => {
                builder.moment(line.at);
                builder.effect(line);
            }
            Line::Answer(line) => {
                builder.moment(line.at);
                builder.answer(line);
            }
            Line::Cancel(line) => builder.mark(line.at, Mark::Cancel),
            Line::Stop(line) => builder.mark(line.at, Mark::Stop(line.ids.len())),
            Line::Outcome(line) => {
                builder.moment(line.at);
                let ending = match line.outcome {
                    Outcome::Completed(_) => State::Done,
                    Outcome::Cancelled => State::Cancelled,
                    Outcome::Failed(_) => State::Failed,
                };
                builder.end_track(0, ending);
                builder.timeline.outcome = Some(line);
            }
        }
    }
    let mut timeline = builder.timeline;
    timeline.lines = builder.line;
    timeline.end = builder.now;
    timeline.torn = reader.torn().map(|torn| torn.line);
    for track in &timeline.tracks {
        timeline.totals += track.totals;
    }
    Ok(timeline)
}

fn misplaced(line: u64, reason: &str) -> RecordError {
    RecordError::Line {
        line,
        reason: reason.to_owned(),
    }
}

impl Builder {
    fn new(head: Box<Head>, detail: Detail) -> Self {
        let prompt = Prompt::parse(&head.source, head.dialect).ok();
        let title = prompt.as_ref().map(|prompt| prompt.title.clone());
        let name = title.or_else(|| head.name.clone()).unwrap_or_default();
        let mut builder = Self {
            timeline: Timeline {
                head,
                tracks: Vec::new(),
                marks: Vec::new(),
                totals: Totals::default(),
                outcome: None,
                end: 0,
                lines: 1,
                torn: None,
            },
            detail,
            prompt,
            places: HashMap::new(),
            going: Vec::new(),
            pending: HashMap::new(),
            line: 1,
            now: 0,
            kept: 0,
        };
        builder.add_track(Track {
            task: ROOT.to_owned(),
            name,
            owner: None,
            origin: String::new(),
            index: None,
            item: None,
            input: None,
            at: 0,
            end: None,
            state: State::Open,
            items: Vec::new(),
            totals: Totals::default(),
            left_out: 0,
        });
        builder
    }

    /// A line gives a moment. The clock of a machine may be set back; time does not.
    fn moment(&mut self, at: u64) {
        self.now = self.now.max(at);
    }

    fn mark(&mut self, at: u64, mark: Mark) {
        self.moment(at);
        self.timeline.marks.push((self.now, mark));
    }

    /// Adds a track, and gives its place.
    pub(super) fn add_track(&mut self, track: Track) -> usize {
        let place = self.timeline.tracks.len();
        self.places.insert(track.task.clone(), place);
        self.timeline.tracks.push(track);
        self.going.push(Going::default());
        place
    }

    /// The track of a task; one that was not reported to start has one all the same.
    pub(super) fn place(&mut self, task: &str) -> usize {
        if let Some(place) = self.places.get(task) {
            return *place;
        }
        self.add_track(Track {
            task: task.to_owned(),
            name: String::new(),
            owner: None,
            origin: String::new(),
            index: None,
            item: None,
            input: None,
            at: self.now,
            end: None,
            state: State::Open,
            items: Vec::new(),
            totals: Totals::default(),
            left_out: 0,
        })
    }

    /// Adds an item that begins now, unless there are too many.
    pub(super) fn add(&mut self, track: usize, what: What) -> Option<usize> {
        let depth = self.going[track].open.len();
        if self.kept >= self.detail.items {
            self.timeline.tracks[track].left_out += 1;
            if let Some(section) = self.section(track) {
                section.left_out += 1;
            }
            return None;
        }
        self.kept += 1;
        let items = &mut self.timeline.tracks[track].items;
        items.push(Item {
            line: self.line,
            depth,
            at: self.now,
            end: None,
            state: State::Open,
            what,
        });
        Some(items.len() - 1)
    }

    /// Adds an item that takes no time.
    pub(super) fn add_instant(&mut self, track: usize, what: What, state: State) -> Option<usize> {
        let item = self.add(track, what);
        self.end(track, item, state);
        item
    }

    /// Ends an item now.
    pub(super) fn end(&mut self, track: usize, item: Option<usize>, state: State) {
        let now = self.now;
        if let Some(item) = self.item(track, item) {
            item.end = Some(now);
            item.state = state;
        }
    }

    pub(super) fn item(&mut self, track: usize, item: Option<usize>) -> Option<&mut Item> {
        self.timeline.tracks[track].items.get_mut(item?)
    }

    pub(super) fn totals(&mut self, track: usize) -> &mut Totals {
        &mut self.timeline.tracks[track].totals
    }

    /// The section that a track is in, if it is kept.
    pub(super) fn section(&mut self, track: usize) -> Option<&mut Section> {
        let open = self.going[track].open.last()?;
        let item = open.item?;
        match &mut self.timeline.tracks[track].items.get_mut(item)?.what {
            What::Section(section) => Some(section),
            _ => None,
        }
    }

    /// Enters a section.
    pub(super) fn enter(&mut self, track: usize, name: &str, entry: Entry) {
        let section = Section {
            name: name.to_owned(),
            entry,
            reads: 0,
            left_out: 0,
        };
        let item = self.add(track, What::Section(section));
        self.going[track].left = None;
        self.going[track].open.push(Open {
            item,
            has_failed: false,
            is_title: entry == Entry::Title,
        });
    }

    /// Ends a track, and what is still open on it.
    pub(super) fn end_track(&mut self, track: usize, state: State) {
        let going = std::mem::take(&mut self.going[track]);
        let open = going.open.iter().rev().map(|open| open.item);
        let items: Vec<_> = open.chain(going.loads).collect();
        for item in items {
            self.end(track, item, State::Stopped);
        }
        let now = self.now;
        let track = &mut self.timeline.tracks[track];
        track.end = Some(now);
        track.state = state;
    }
}
