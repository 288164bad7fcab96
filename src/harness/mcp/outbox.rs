//! What is sent to a server. A server that does not read keeps nobody waiting.

use std::io;
use std::mem;
use std::process::ChildStdin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use crate::harness::group;

/// How long the writing thread waits before it looks whether the pipe was closed.
const TICK: Duration = Duration::from_millis(100);
/// Above this many bytes that the server has not taken, its own requests get no answers.
const CROWDED: usize = 1 << 20;

/// A server's standard input. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Outbox(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    /// `None` once it is closed.
    pipe: Option<Arc<ChildStdin>>,
    /// What the pipe has not taken yet.
    rest: Vec<u8>,
    /// Whether a thread is writing the rest.
    is_writing: bool,
}

impl Outbox {
    pub(super) fn new(pipe: ChildStdin) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            pipe: Some(Arc::new(pipe)),
            rest: Vec::new(),
            is_writing: false,
        })))
    }

    /// Sends whole lines. What the pipe does not take at once is written by a thread that lives as
    /// long as there is a rest. Whether the pipe is open.
    pub(super) fn send(&self, lines: &[u8]) -> bool {
        let mut inner = self.lock();
        let Some(pipe) = inner.pipe.clone() else {
            return false;
        };
        if inner.is_writing {
            inner.rest.extend_from_slice(lines);
            return true;
        }
        let sent = group::write_some(&pipe, lines).and_then(|written| {
            let rest = lines.get(written..).unwrap_or_default();
            if !rest.is_empty() {
                inner.rest.extend_from_slice(rest);
                inner.is_writing = true;
                self.write_rest(pipe)?;
            }
            Ok(())
        });
        if sent.is_err() {
            inner.close();
        }
        sent.is_ok()
    }

    /// Sends the answer to a request of the server's own, unless it has let too much pile up.
    pub(super) fn send_answer(&self, line: &[u8]) -> bool {
        let is_crowded = self.lock().rest.len() > CROWDED;
        is_crowded || self.send(line)
    }

    /// Whether it is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().pipe.is_none()
    }

    /// Closes it. What the server has not taken is dropped.
    pub(super) fn close(&self) {
        self.lock().close();
    }

    fn write_rest(&self, pipe: Arc<ChildStdin>) -> io::Result<()> {
        let outbox = self.clone();
        let write = move || {
            while let Some(rest) = outbox.take_rest() {
                if !outbox.write_all(&pipe, &rest) {
                    return outbox.close();
                }
            }
        };
        Builder::new()
            .name("runvil-mcp-in".to_owned())
            .spawn(write)
            .map(drop)
    }

    /// What is to be written next; `None` where there is nothing, and then nobody is writing.
    fn take_rest(&self) -> Option<Vec<u8>> {
        let mut inner = self.lock();
        let rest = mem::take(&mut inner.rest);
        inner.is_writing = !rest.is_empty();
        inner.is_writing.then_some(rest)
    }

    /// Whether all was written before the pipe broke or was closed.
    fn write_all(&self, pipe: &ChildStdin, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if self.is_closed() {
                return false;
            }
            match group::write_some(pipe, bytes) {
                Ok(0) => group::wait_for_room(pipe, TICK),
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(_) => return false,
            }
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn close(&mut self) {
        self.pipe = None;
        self.rest = Vec::new();
    }
}
