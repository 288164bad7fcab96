//! What answers a run's model rounds: a broker that the Host gives it (spec M76).

mod abort;
mod classify;
mod conceal;
mod debug;
mod id;
mod tap;

pub use abort::Abort;
pub use classify::{classify, classify_in_stream};
pub use debug::{DebugEvent, DebugEvents, DebugKind};
pub use id::ModelId;
pub use tap::Tap;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::model::{ModelFailure, Origin, Reply, Round};

/// What a round came to.
pub type Answered = Result<Box<Reply>, ModelFailure>;

/// Answers model rounds. One broker may serve several runs at once.
pub trait Broker: fmt::Debug + Send + Sync {
    /// Takes a round of a run, in the order the run issues them and on the run's own thread, so it
    /// must not block: what takes time, and whatever reaches out of the process, is the deed it gives
    /// back. That is performed once the run's record has the round; an answer that is known may get
    /// there before it (spec R14).
    fn take(&self, round: Arc<Round>, terms: Terms) -> Taken;

    /// A round of a resumed run goes by, since its record has the answer. One that counts rounds
    /// counts it, so that it goes on where it stood (spec C8).
    fn skip(&self, round: &Round) {
        let _ = round;
    }
}

/// What a broker makes of a round.
pub enum Taken {
    /// The answer is known, and handed over after a while.
    Known(Duration, Answered),
    /// The answer has to be fetched, on a worker thread.
    Deed(Box<dyn FnOnce() -> Answered + Send>),
}

/// The terms under which a round is performed.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The most bytes of a reply's body (spec M71).
    pub response_cap: u64,
    /// How long the headers, and then each further piece, may take (spec M71).
    pub receive_timeout: Duration,
    /// Set off when the answer is not wanted any more.
    pub abort: Abort,
    /// Where pieces of the reply are shown as they arrive.
    pub show: Option<Show>,
    /// What listens in for debug events, where the Host wants them (spec K188a).
    pub tap: Option<Tap>,
}

/// A piece of a reply that has just arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The round (spec M76).
    pub round: u64,
    /// Whether it is reasoning.
    pub reasoning: bool,
    /// Its text.
    pub text: &'a str,
}

/// Shows pieces of `chat` rounds, on whatever thread receives them. One that panics is not called
/// again in that round, and the round goes on.
#[derive(Clone)]
pub struct Show(Arc<dyn Fn(Piece<'_>) + Send + Sync>);

impl Show {
    /// Shows pieces with a function.
    pub fn new(show: impl Fn(Piece<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(show))
    }

    /// Hands over a piece. Whether more are wanted.
    pub fn piece(&self, piece: Piece<'_>) -> bool {
        let show = std::panic::AssertUnwindSafe(|| (self.0)(piece));
        std::panic::catch_unwind(show).is_ok()
    }
}

impl fmt::Debug for Show {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Show")
    }
}

/// Whether a round's pieces are shown while they arrive (spec M76).
pub fn is_shown(round: &Round) -> bool {
    round.origin == Origin::Chat
}
