//! A connection's bytes, with a limit on every wait.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, LazyBuffers, NextTimeout, Transport,
};
use ureq::{Error, Timeout};

use super::dial::{after, system};
use super::reach::{Fault, Patience, Reach};

/// How much is held back until it is sent together.
const HELD: usize = 64 << 10;

/// A TCP connection as ureq uses it.
pub(super) struct Wire {
    stream: Arc<TcpStream>,
    reach: Arc<Reach>,
    buffers: LazyBuffers,
    /// What was written and not sent: a request's headers and its body go out together.
    unsent: Vec<u8>,
    /// The time limit that reads have now.
    read_limit: Option<Duration>,
}

impl Wire {
    pub(super) fn new(
        stream: Arc<TcpStream>,
        reach: Arc<Reach>,
        details: &ConnectionDetails,
    ) -> Self {
        let config = details.config;
        Self {
            stream,
            reach,
            buffers: LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size()),
            unsent: Vec::new(),
            read_limit: None,
        }
    }

    /// Sends what was held back, before the deadline.
    fn send(&mut self) -> Result<(), Fault> {
        let Patience::Until(deadline) = self.reach.patience() else {
            // Only a request is sent; TLS may answer its other end, which is not waited for.
            return self.send_within(Duration::from_secs(1));
        };
        self.send_within(deadline.saturating_duration_since(Instant::now()))
    }

    fn send_within(&mut self, limit: Duration) -> Result<(), Fault> {
        let deadline = after(limit);
        let mut rest = self.unsent.as_slice();
        while !rest.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Fault::TimedOut);
            }
            limited(self.stream.set_write_timeout(Some(left)))?;
            match (&*self.stream).write(rest) {
                Ok(0) => return Err(system(io::ErrorKind::WriteZero.into())),
                Ok(sent) => rest = &rest[sent..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(system(error)),
            }
        }
        self.unsent.clear();
        Ok(())
    }

    /// Waits for bytes; 0 at the connection's end.
    fn receive(&mut self) -> Result<usize, Fault> {
        loop {
            let left = self.reach.left()?;
            if self.read_limit != Some(left) {
                limited(self.stream.set_read_timeout(Some(left)))?;
                self.read_limit = Some(left);
            }
            match (&*self.stream).read(self.buffers.input_append_buf()) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(system(error)),
            }
        }
    }

    /// Does something that does not wait.
    fn at_once<T>(&mut self, act: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<T> {
        self.stream.set_nonblocking(true)?;
        let done = act(self);
        self.stream.set_nonblocking(false)?;
        done
    }

    fn received(&mut self, count: usize) -> bool {
        self.buffers.input_appended(count);
        self.reach.has_received(count);
        count > 0
    }

    /// Keeps a fault where the using thread finds it, and tells ureq that there is one.
    fn fail(&self, fault: Fault) -> Error {
        let error = match fault {
            Fault::TimedOut => Error::Timeout(Timeout::RecvResponse),
            _ => Error::ConnectionFailed,
        };
        self.reach.failed(fault);
        error
    }
}

/// Whether a time limit was set. Some systems refuse to where the other end has closed: then what
/// follows does not wait.
fn limited(set: io::Result<()>) -> Result<(), Fault> {
    match set {
        Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(system(error)),
        _ => Ok(()),
    }
}

impl Transport for Wire {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), Error> {
        self.unsent
            .extend_from_slice(&self.buffers.output()[..amount]);
        match self.unsent.len() < HELD {
            true => Ok(()),
            false => self.send().map_err(|fault| self.fail(fault)),
        }
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, Error> {
        if let Patience::AtHand(_) = self.reach.patience() {
            self.reach.left().map_err(|fault| self.fail(fault))?;
            let read = self.at_once(|wire| (&*wire.stream).read(wire.buffers.input_append_buf()));
            return Ok(read.map(|count| self.received(count))?);
        }
        let received = self.send().and_then(|()| self.receive());
        match received {
            Ok(count) => Ok(self.received(count)),
            Err(fault) => Err(self.fail(fault)),
        }
    }

    /// Whether the connection can take another request: the other end has not closed it, nor sent
    /// anything that nobody asked for.
    fn is_open(&mut self) -> bool {
        let peeked = self.at_once(|wire| wire.stream.peek(&mut [0]));
        peeked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").finish_non_exhaustive()
    }
}
