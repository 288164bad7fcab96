//! What happens on a track.

use std::sync::Arc;

use super::{Clip, Entry, Failure, Round};

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The number of the record's line that it begins with.
    pub line: u64,
    /// How many sections it is in.
    pub depth: usize,
    /// When it began.
    pub at: u64,
    /// When it ended; `None` where the record ends before. What takes no time ends as it begins.
    pub end: Option<u64>,
    /// How it ended.
    pub state: State,
    /// What it is.
    pub what: What,
}

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not before the record ends.
    Open,
    /// As it should.
    Done,
    /// It failed.
    Failed,
    /// A stop or a cancel ended it.
    Stopped,
    /// Nobody waited for it any more.
    Dropped,
    /// A task that its owner cancelled.
    Cancelled,
    /// A task whose owner ended first.
    Abandoned,
}

impl State {
    /// A word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Dropped => "dropped",
            Self::Cancelled => "cancelled",
            Self::Abandoned => "abandoned",
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A section was entered, or the Lua under the title.
    Section(Section),
    /// A section was loaded as a library: its heading.
    Require(String),
    /// A model was asked.
    Round(Box<Round>),
    /// A tool was called.
    Call(Box<Call>),
    /// The store was changed.
    Write(Box<Write>),
    /// A timer ran.
    Wait(Wait),
    /// A checkpoint: its message.
    Checkpoint(Clip),
    /// A task was started: its track.
    Task(usize),
    /// A model was told of the end of a task.
    Notice(Clip),
}

/// A section that was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its heading.
    pub name: String,
    /// How it was reached.
    pub entry: Entry,
    /// How many store operations looked at something, in it alone.
    pub reads: u64,
    /// How many items are left out, in it alone.
    pub left_out: u64,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The tool; empty where the record does not say.
    pub tool: Arc<str>,
    /// What served it.
    pub served: Served,
    /// Whether a model called it, or a script.
    pub by_model: bool,
    /// The arguments, as JSON; empty where the record does not say.
    pub arguments: Clip,
    /// What it gave.
    pub output: Option<Clip>,
    /// Why it failed.
    pub failure: Option<Failure>,
}

/// What serves a call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// A unit of the Host.
    Unit,
    /// The operator, whom it asks.
    Operator,
    /// The run itself: a local tool or a built-in one. It takes no time of its own here.
    Run,
}

/// A change of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// `write`, `append`, `replace` or `delete`.
    pub op: &'static str,
    /// The file.
    pub path: String,
    /// The text that it writes, appends or puts in; empty for `delete`.
    pub contents: Clip,
    /// Why it failed.
    pub failure: Option<Failure>,
}

/// A timer.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// The id that it takes.
    pub timer: Arc<str>,
    /// How long it was to run, in seconds.
    pub seconds: f64,
}
