//! How another thread reaches the connection that a request waits on, and what went wrong with it.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;

use super::dial::after;
use crate::harness::model::Abort;

/// How much may come until the headers have, whatever it is: TLS, a proxy's answer, interim replies.
const BEFORE: usize = 256 << 10;
/// How much may come without a byte of the body among it.
const FRAMING: usize = 64 << 10;

/// How long a wait for the other end may take.
#[derive(Clone, Copy, Debug)]
pub(in crate::harness) enum Patience {
    /// Until then: for a request, and the headers of its reply.
    Until(Instant),
    /// So long for each piece of the body, with all that frames it.
    Piece(Duration),
    /// Only what is there already is taken, until then.
    AtHand(Instant),
    /// Nothing is waited for.
    None,
}

/// What went wrong with a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::harness) enum Fault {
    /// Nothing came in time.
    TimedOut,
    /// More came than may before the headers, or between two pieces of the body.
    Excess,
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
    /// When the piece of the body that is waited for must be here.
    piece_due: Option<Instant>,
    /// The bytes that arrived since the use began, or since the last piece of the body.
    heard: usize,
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
            piece_due: None,
            heard: 0,
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
            state.heard = 0;
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

    pub(in crate::harness) fn patience(&self) -> Patience {
        self.state().patience
    }

    /// Says what is read next, and that what came before has been taken.
    pub(in crate::harness) fn set_patience(&self, patience: Patience) {
        let mut state = self.state();
        state.patience = patience;
        state.piece_due = None;
        state.heard = 0;
    }

    /// Says that the next piece of the body is wanted. Whether the round is.
    pub(in crate::harness) fn wants_piece(&self) -> bool {
        let mut state = self.state();
        state.piece_due = None;
        state.heard = 0;
        !state.aborted
    }

    /// How long the next wait may take.
    pub(in crate::harness) fn left(&self) -> Result<Duration, Fault> {
        let mut state = self.state();
        let most = match state.patience {
            Patience::Until(_) => BEFORE,
            _ => FRAMING,
        };
        if state.heard >= most {
            return Err(Fault::Excess);
        }
        let until = |due: Instant| due.saturating_duration_since(Instant::now());
        let left = match (state.patience, state.piece_due) {
            (Patience::Until(due) | Patience::AtHand(due), _) => until(due),
            (Patience::Piece(_), Some(due)) => until(due),
            (Patience::Piece(limit), None) => {
                state.piece_due = Some(after(limit));
                limit
            }
            (Patience::None, _) => Duration::ZERO,
        };
        match left.is_zero() {
            true => Err(Fault::TimedOut),
            false => Ok(left),
        }
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

    /// Says how many bytes have arrived.
    pub(in crate::harness) fn has_received(&self, count: usize) {
        let mut state = self.state();
        state.received |= count > 0;
        state.heard = state.heard.saturating_add(count);
    }

    /// Keeps what went wrong first.
    pub(in crate::harness) fn failed(&self, fault: Fault) {
        self.state().fault.get_or_insert(fault);
    }

    pub(in crate::harness) fn fault(&self) -> Option<Fault> {
        self.state().fault.clone()
    }
}
