//! How another thread reaches the connection that a request waits on, and what went wrong with it.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;

use crate::harness::model::Abort;

/// How long a wait for the other end may take.
#[derive(Clone, Copy, Debug)]
pub(in crate::harness) enum Patience {
    /// Until then.
    Until(Instant),
    /// So long for each piece that arrives.
    Each(Duration),
    /// Only what is there already is taken.
    None,
}

/// What went wrong with a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::harness) enum Fault {
    /// Nothing came in time.
    TimedOut,
    /// The look-up of the host failed; what the operating system said.
    Unresolved(String),
    /// The look-up of the host gave no address that may be used.
    NoAddress,
    /// What the operating system said of anything else.
    System(String),
    /// The answer is not wanted any more.
    Aborted,
}

/// What a dial brings.
pub(in crate::harness) type Dialled = Result<TcpStream, Fault>;

/// What a connection and its user share with whoever aborts the use.
#[derive(Debug, Default)]
pub(in crate::harness) struct Reach(Mutex<State>);

#[derive(Debug)]
struct State {
    /// Counts the uses, so that a late abort of one ends no other.
    usage: u64,
    aborted: bool,
    /// Until when a connection must be made.
    connect_by: Instant,
    /// Until when the headers of the reply must have come.
    reply_by: Instant,
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
            connect_by: Instant::now(),
            reply_by: Instant::now(),
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

    /// Begins a use, which `abort` then ends from outside. Where it has to connect, that must be
    /// done by the one instant; all up to the headers of the reply by the other.
    pub(in crate::harness) fn begin(
        self: &Arc<Self>,
        connect_by: Instant,
        reply_by: Instant,
        abort: &Abort,
    ) {
        let usage = {
            let mut state = self.state();
            state.usage += 1;
            state.aborted = false;
            state.connect_by = connect_by;
            state.reply_by = reply_by;
            state.patience = Patience::Until(reply_by);
            state.dialled = false;
            state.received = false;
            state.fault = None;
            state.usage
        };
        let reach = self.clone();
        abort.on_abort(move || reach.abort(usage));
    }

    /// Ends the use. Whether the connection may be used again.
    pub(in crate::harness) fn end(&self) -> bool {
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

    pub(in crate::harness) fn is_aborted(&self) -> bool {
        self.state().aborted
    }

    pub(in crate::harness) fn patience(&self) -> Patience {
        self.state().patience
    }

    pub(in crate::harness) fn set_patience(&self, patience: Patience) {
        self.state().patience = patience;
    }

    /// Whether the use met a connection that was kept from an earlier one and has heard nothing on
    /// it: then the other end closed it, and the request was not answered.
    pub(in crate::harness) fn met_a_stale_one(&self) -> bool {
        let state = self.state();
        !state.dialled && !state.received && !state.aborted && state.fault != Some(Fault::TimedOut)
    }

    /// Says that a dial is under way, which `wake` ends when the use is aborted. Until when it may
    /// take.
    pub(in crate::harness) fn dialling(&self, wake: Sender<Dialled>) -> Result<Instant, Fault> {
        let mut state = self.state();
        state.dialled = true;
        state.dialling = Some(wake);
        state.patience = Patience::Until(state.connect_by);
        match state.aborted {
            true => Err(Fault::Aborted),
            false => Ok(state.connect_by),
        }
    }

    /// Says that the connection is made, TLS and all.
    pub(in crate::harness) fn connected(&self) {
        let mut state = self.state();
        state.patience = Patience::Until(state.reply_by);
    }

    /// Says how the dial went.
    pub(in crate::harness) fn dialled(&self, stream: &Arc<TcpStream>) -> Result<(), Fault> {
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

    pub(in crate::harness) fn has_received(&self) {
        self.state().received = true;
    }

    /// Keeps what went wrong first.
    pub(in crate::harness) fn failed(&self, fault: Fault) {
        self.state().fault.get_or_insert(fault);
    }

    pub(in crate::harness) fn fault(&self) -> Option<Fault> {
        self.state().fault.clone()
    }
}
