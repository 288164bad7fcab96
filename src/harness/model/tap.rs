//! Listens in on a round for the debug events of its Host (spec K188a).

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::conceal::Secret;

/// Keeps what a round says and is told, until the run's own thread gives it to the Host. A broker
/// tells it; one that does not has rounds without debug events. Clones share one state.
#[derive(Clone, Default)]
pub struct Tap(Arc<Mutex<Heard>>);

/// What was heard and is not given to the Host yet.
#[derive(Default)]
pub(in crate::harness) struct Heard {
    /// The request's body.
    pub(in crate::harness) request: Option<Vec<u8>>,
    /// What has come of the reply's body.
    pub(in crate::harness) body: Vec<u8>,
    pub(in crate::harness) finish_reason: Option<String>,
    pub(in crate::harness) reasoning: String,
    /// What the Host is not to see.
    secret: Option<Secret>,
}

impl Tap {
    /// The round goes out with this body. It never holds a credential. Told from
    /// [`Broker::take`](super::Broker::take), the Host has it before anything else of the run goes
    /// on.
    pub fn request(&self, body: impl Into<Vec<u8>>) {
        self.heard().request = Some(body.into());
    }

    /// More of the reply's body has come. A reply of which nothing came is none.
    pub fn came(&self, bytes: &[u8]) {
        self.heard().body.extend_from_slice(bytes);
    }

    /// The reply gives this reason for its end; the last one counts.
    pub fn finish_reason(&self, reason: &str) {
        self.heard().finish_reason = Some(reason.to_owned());
    }

    /// More of the reply's reasoning was decoded.
    pub fn reasoning(&self, piece: &str) {
        self.heard().reasoning += piece;
    }

    /// The round is asked with this key, which the Host is not to see: where it stands in the reply,
    /// `[key]` takes its place, also where it is escaped as JSON, in pieces of a stream's text, or its
    /// start at the end. One of less than 8 bytes is left, since it may be any word.
    pub fn conceal(&self, key: &str) {
        self.heard().secret = Secret::new(key);
    }

    /// Takes the request's body, where it was not taken before.
    pub(in crate::harness) fn take_request(&self) -> Option<Vec<u8>> {
        self.heard().request.take()
    }

    /// Takes all there is.
    pub(in crate::harness) fn take(&self) -> Heard {
        std::mem::take(&mut self.heard())
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Heard {
    /// A text of the reply without the key.
    pub(in crate::harness) fn without_key(&self, text: String) -> String {
        match &self.secret {
            Some(secret) => secret.conceal(text),
            None => text,
        }
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}
