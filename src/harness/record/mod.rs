//! Records: a run's events, effects and answers as lines of JSON, from which it can be audited, run
//! again byte for byte, and gone on with after a crash (spec R13 to R17, R21, R22).

mod answer;
mod clock;
mod effect;
mod ended;
mod events;
mod head;
mod journal;
mod json;
mod line;
mod lines;
mod lock;
mod out;
mod place;
mod quick;
mod reader;
mod recorder;
mod rest;
#[cfg(test)]
mod tests;
mod text;
pub mod timeline;
pub(super) mod write;

pub use answer::Answered;
pub use ended::has_ended;
pub use head::{ENGINE, Head, StoreHead, prompt_hash};
pub use line::{AnswerLine, CancelLine, EffectLine, EventLine, Line, OutcomeLine, StopLine};
pub use reader::{LINE_CAP, Reader, RecordError, Torn};
pub use recorder::Recorder;

pub(super) use journal::Journal;
pub(super) use json::{read as read_json, read_distinct};
pub(super) use line::{Kind, START};
pub(super) use lines::Lines;
pub(super) use lock::lock;
pub(super) use place::ANSWER;
pub(super) use quick::{Quick, answer as quick_answer};
pub(super) use reader::misread;
pub(super) use rest::Rest;

/// The version of the form of lines.
pub const VERSION: u64 = 1;
