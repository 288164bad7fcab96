//! What a recorded run did, and when: the model behind `runvil show` (spec C16).

mod builder;
mod clip;
mod effects;
mod events;
mod item;
mod order;
mod talk;
mod totals;
mod track;

use std::io::BufRead;

pub use clip::Clip;
pub use item::{Call, Item, Section, Served, State, Wait, What, Write};
pub use order::Entry;
pub use talk::{AskedCall, Failure, Reply, Round, Said};
pub use totals::Totals;
pub use track::Track;

use super::{Head, OutcomeLine, Reader, RecordError};

/// A recorded run: its chains as tracks, with what happened on each in order.
///
/// Moments are milliseconds since the record's first line. Only effects and answers have one of
/// their own; whatever else happened is placed at the last moment before it that a line gives,
/// which is when the step that it is part of began, or later.
///
/// ```
/// use runvil::harness::record::Reader;
/// use runvil::harness::record::timeline::{Detail, Timeline};
///
/// # fn shown(record: &[u8]) -> Result<(), runvil::harness::record::RecordError> {
/// let timeline = Timeline::read(&mut Reader::new(record), Detail::OUTLINE)?;
/// for track in &timeline.tracks {
///     println!("{} {}: {} rounds", track.task, track.name, track.totals.rounds);
/// }
/// # Ok(())
/// # }
/// # assert!(shown(b"").is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// What the run was started with.
    pub head: Box<Head>,
    /// The run's own chain, then the tasks in the order they were started in.
    pub tracks: Vec<Track>,
    /// What happened to the run as a whole: cancels and stops, with their moments.
    pub marks: Vec<(u64, Mark)>,
    /// All of it, counted.
    pub totals: Totals,
    /// How it ended; `None` where the record ends before.
    pub outcome: Option<OutcomeLine>,
    /// The last moment that the record has.
    pub end: u64,
    /// How many whole lines the record has.
    pub lines: u64,
    /// The number of a last line that was not written whole.
    pub torn: Option<u64>,
}

/// Something that was done to the run from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It was cancelled.
    Cancel,
    /// What it waited for was stopped: so many effects.
    Stop(usize),
}

/// How much of a record is kept, for the size of a timeline not to follow the record's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// How many items are kept; the sections and tracks they belong to count those left out.
    pub items: usize,
    /// How many bytes are kept of each text.
    pub text: usize,
    /// Whether the messages of rounds are kept.
    pub messages: bool,
}

impl Detail {
    /// The starts of texts, no messages, and the first 100,000 items.
    pub const OUTLINE: Self = Self {
        items: 100_000,
        text: 160,
        messages: false,
    };
}

impl Timeline {
    /// Reads a record from its beginning. One without an outcome and a torn last line are what a
    /// crash leaves, and no errors.
    ///
    /// # Errors
    /// The reader's, and that of lines which do not begin with the `run` line of a record.
    pub fn read(reader: &mut Reader<impl BufRead>, detail: Detail) -> Result<Self, RecordError> {
        builder::read(reader, detail)
    }
}
