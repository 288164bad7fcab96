//! How another thread reaches the connection that a round waits on, and what went wrong with it.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;

use crate::harness::model::Abort;

/// How long a wait for the other end may take.
#[derive(Clone, Copy, Debug)]
pub(super) enum Patience {
    /// Until then.
    Until(Instant),
    /// So long for each piece that arrives.
    Each(Duration),
    /// Only what is there already is taken.
    None,
}

/// What went wrong with a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing came in time.
    TimedOut,
    /// What the operating system said.
    System(String),
    /// The round is not wanted any more.
    Aborted,
}

/// What a dial brings.
pub(super) type Dialled = Result<TcpStream, Fault>;

/// What one link's connection and its user share with whoever aborts the round.
#[derive(Debug, Default)]
pub(super) struct Reach(Mutex<State>);

#[derive(Debug)]
struct State {
    /// Counts the uses, so that a late abort of one ends no other.
    usage: u64,
    aborted: bool,
    patience: Patience,
    /// Whether this use had to dial.
    dialled: bool,
    /// Whether anything arrived in this use.
    received: bool,
    fault: Option<Fault>,
    /// Wakes the use that waits for a dial.
    dialling: Option<Sender<Dialled>>,
    stream: Option<Arc<TcpStream>>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            usage: 0,
            aborted: false,
            patience: Patience::None,
            dialled: false,
            received: false,
            fault: None,
            dialling: None,
            stream: None,
        }
    }
}

impl Reach {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a use, which `abort` then ends from outside.
    pub(super) fn begin(self: &Arc<Self>, deadline: Instant, abort: &Abort) {
        let usage = {
            let mut state = self.state();
            state.usage += 1;
            state.aborted = false;
            state.patience = Patience::Until(deadline);
            state.dialled = false;
            state.received = false;
            state.fault = None;
            state.usage
        };
        let reach = self.clone();
        abort.on_abort(move || reach.abort(usage));
    }

    /// Ends the use. Whether the connection may be used again.
    pub(super) fn end(&self) -> bool {
        let mut state = self.state();
        state.usage += 1;
        state.patience = Patience::None;
        !state.aborted && state.fault.is_none()
    }

    fn abort(&self, usage: u64) {
        let mut state = self.state();
        if state.usage != usage {
            return;
        }
        state.aborted = true;
        if let Some(stream) = &state.stream {
            // One that is closed already needs no closing.
            let _ = stream.shutdown(Shutdown::Both);
        }
        if let Some(dialling) = &state.dialling {
            // Where the dial was quicker, its answer is there.
            let _ = dialling.try_send(Err(Fault::Aborted));
        }
    }

    pub(super) fn is_aborted(&self) -> bool {
        self.state().aborted
    }

    pub(super) fn patience(&self) -> Patience {
        self.state().patience
    }

    pub(super) fn set_patience(&self, patience: Patience) {
        self.state().patience = patience;
    }

    /// Whether the use met a connection that was kept from an earlier one and has heard nothing on
    /// it: then the other end closed it, and the request was not answered.
    pub(super) fn met_a_stale_one(&self) -> bool {
        let state = self.state();
        !state.dialled && !state.received && !state.aborted && state.fault != Some(Fault::TimedOut)
    }

    /// Says that a dial is under way, which `wake` ends when the round is aborted.
    pub(super) fn dialling(&self, wake: Sender<Dialled>) -> Result<(), Fault> {
        let mut state = self.state();
        state.dialled = true;
        state.dialling = Some(wake);
        match state.aborted {
            true => Err(Fault::Aborted),
            false => Ok(()),
        }
    }

    /// Says how the dial went.
    pub(super) fn dialled(&self, stream: &Arc<TcpStream>) -> Result<(), Fault> {
        let mut state = self.state();
        state.dialling = None;
        match state.aborted {
            true => Err(Fault::Aborted),
            false => {
                state.stream = Some(stream.clone());
                Ok(())
            }
        }
    }

    pub(super) fn has_received(&self) {
        self.state().received = true;
    }

    /// Keeps what went wrong first.
    pub(super) fn failed(&self, fault: Fault) {
        self.state().fault.get_or_insert(fault);
    }

    pub(super) fn fault(&self) -> Option<Fault> {
        self.state().fault.clone()
    }
}
