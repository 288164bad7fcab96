//! One request and its reply.

use std::error::Error as _;
use std::io::Read;

use ureq::http::{Response, header};
use ureq::{Body, BodyReader, Error};

use super::links::{Link, Links};
use crate::engine::model::{FailureClass, ModelFailure};
use crate::harness::http::{Fault, Patience, Reach};
use crate::harness::model::{Abort, Tap, Terms};

/// How much of a reply is taken at a time.
const PIECE: usize = 64 << 10;

/// A reply whose headers have come.
pub(super) struct Exchange<'a> {
    links: &'a Links,
    abort: Abort,
    tap: Option<Tap>,
    cap: u64,
    taken: u64,
    status: u16,
    is_json: bool,
    declared: Option<u64>,
    /// Whether the reply has said all.
    ended: bool,
    /// Gone once the exchange is dropped.
    open: Option<(Link, BodyReader<'static>)>,
}

/// Why a reply's body could not be taken.
pub(super) enum Untaken {
    /// It has more bytes than the cap.
    TooLarge,
    /// Something else.
    Failed(ModelFailure),
}

impl<'a> Exchange<'a> {
    pub(super) fn new(
        links: &'a Links,
        mut link: Link,
        response: Response<Body>,
        terms: &Terms,
    ) -> Self {
        link.reach()
            .set_patience(Patience::Piece(terms.receive_timeout));
        if link.buffer.is_empty() {
            // Zeroed by the allocator, which leaves pages alone that are fresh.
            link.buffer = vec![0; PIECE];
        }
        let kind = response.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let body = response.body();
        Self {
            links,
            abort: terms.abort.clone(),
            tap: terms.tap.clone(),
            cap: terms.response_cap,
            taken: 0,
            ended: false,
            status: response.status().as_u16(),
            is_json: kind.eq_ignore_ascii_case("application/json"),
            declared: body.content_length(),
            open: Some((link, response.into_body().into_reader())),
        }
    }

    pub(super) fn status(&self) -> u16 {
        self.status
    }

    /// Whether the body says that it is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.is_json
    }

    /// The body's length, where it was declared.
    pub(super) fn declared(&self) -> Option<u64> {
        self.declared
    }

    /// The next bytes of the body; none at its end.
    ///
    /// Of a body that has more bytes than the cap, those within are given.
    pub(super) fn next(&mut self) -> Result<&[u8], Untaken> {
        let Some((link, body)) = &mut self.open else {
            return Ok(&[]);
        };
        if self.taken > self.cap {
            return Err(Untaken::TooLarge);
        }
        if !link.reach().wants_piece() {
            return Err(Untaken::Failed(aborted()));
        }
        let count = match body.read(&mut link.buffer) {
            // A connection that breaks may look like the end of a body.
            Ok(0) if link.reach().fault().is_some() => {
                return Err(Untaken::Failed(failure(
                    link.reach(),
                    &Error::ConnectionFailed,
                )));
            }
            Ok(count) => count,
            Err(error) => return Err(Untaken::Failed(failure(link.reach(), &error.into()))),
        };
        let within = self.cap.saturating_sub(self.taken);
        self.taken = self.taken.saturating_add(count as u64);
        let within = usize::try_from(within).unwrap_or(usize::MAX);
        if within == 0 && count > 0 {
            return Err(Untaken::TooLarge);
        }
        let bytes = &link.buffer[..count.min(within)];
        if let Some(tap) = &self.tap {
            tap.came(bytes);
        }
        Ok(bytes)
    }

    /// Says that the reply has said all: then its connection can be used again. One that has not
    /// is closed, so that the gateway stops.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// The whole body.
    pub(super) fn whole(&mut self) -> Result<Vec<u8>, Untaken> {
        let mut whole = Vec::new();
        loop {
            let piece = self.next()?;
            if piece.is_empty() {
                self.end();
                return Ok(whole);
            }
            whole.extend_from_slice(piece);
        }
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        if let Some((mut link, body)) = self.open.take() {
            // The abort still closes the connection while it is read.
            let is_left = self.ended && link.leave(body);
            let is_sound = link.reach().end();
            if is_left && is_sound {
                self.links.keep(link);
            }
        }
        self.abort.clear();
    }
}

/// A round that is not wanted any more; nobody looks at it.
pub(super) fn aborted() -> ModelFailure {
    ModelFailure::new(FailureClass::Connection, None)
}

/// What a failed exchange is. Its cause is what the operating system or the TLS library said, and
/// nothing that the gateway did (spec M68).
pub(super) fn failure(reach: &Reach, error: &Error) -> ModelFailure {
    match reach.fault() {
        Some(Fault::TimedOut) => ModelFailure::new(FailureClass::Timeout, None),
        Some(Fault::Unresolved(words) | Fault::System(words)) => ModelFailure::connection(words),
        Some(Fault::NoAddress) => ModelFailure::connection("the host has no address"),
        Some(Fault::Aborted) => aborted(),
        Some(Fault::Excess) => ModelFailure::new(FailureClass::Connection, None),
        None => match tls_words(error) {
            Some(words) => ModelFailure::connection(words),
            None => ModelFailure::new(FailureClass::Connection, None),
        },
    }
}

/// What the TLS library says of a failure, where it was one of TLS.
fn tls_words(error: &Error) -> Option<String> {
    let error = match error {
        Error::Rustls(error) => error,
        Error::Io(error) => error.get_ref()?.downcast_ref::<rustls::Error>()?,
        error => error.source()?.downcast_ref::<rustls::Error>()?,
    };
    Some(quoting_nothing(error).to_string())
}

/// The error without what it quotes of the other end's certificate.
fn quoting_nothing(error: &rustls::Error) -> rustls::Error {
    use rustls::CertificateError::*;
    let rustls::Error::InvalidCertificate(reason) = error else {
        return error.clone();
    };
    rustls::Error::InvalidCertificate(match reason {
        ExpiredContext { .. } => Expired,
        NotValidYetContext { .. } => NotValidYet,
        NotValidForNameContext { .. } => NotValidForName,
        InvalidPurposeContext { .. } => InvalidPurpose,
        reason => reason.clone(),
    })
}
