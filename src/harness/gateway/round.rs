//! A round as a deed: request, reply, judgement (spec M63 to M73).

use std::time::{Duration, Instant};

use ureq::http::{HeaderValue, Method, Request, Uri, header};

use super::chunk::Form;
use super::completion::{Completion, Decoded};
use super::exchange::{Exchange, Untaken};
use super::{Gateway, request};
use crate::engine::model::{Client, ModelFailure, Round};
use crate::harness::model::{Answered, Piece, Show, Tap, Terms, classify};

/// How many characters of a failed reply are kept as detail.
const DETAIL: usize = 2000;

impl Gateway {
    /// The body of a round's request.
    pub(super) fn body(&self, round: &Round) -> Result<Vec<u8>, ModelFailure> {
        let name = self.wire_names.get(&round.model);
        let name = name.map_or(&*round.model, String::as_str);
        request::body(round, name, &self.offered).map_err(ModelFailure::connection)
    }

    /// Asks for a round with this body and takes the reply, on this thread.
    pub(super) fn perform(&self, round: u64, body: Vec<u8>, terms: &Terms) -> Answered {
        let mut pieces = Pieces::new(round, terms);
        let request = self.request(Method::POST, self.connection.completions(), body);
        let mut exchange = self.links.send(&request, terms)?;
        if !(200..300).contains(&exchange.status()) {
            let detail = |text: &str| {
                if let Some(detail) = &self.detail {
                    detail(round, text);
                }
            };
            return Err(refused(&mut exchange, terms.response_cap, detail));
        }
        let form = match exchange.is_json() {
            true => Form::Plain,
            false => Form::Stream,
        };
        let mut completion = Completion::new(form);
        let mut decoded = |piece: Decoded<'_>| pieces.take(piece);
        while !completion.is_ended() {
            let bytes = exchange.next().map_err(|untaken| match untaken {
                Untaken::Failed(failure) => failure,
                Untaken::TooLarge => ModelFailure::malformed(format_args!(
                    "response stream exceeds the {}-byte limit",
                    terms.response_cap
                )),
            })?;
            if bytes.is_empty() {
                break;
            }
            completion.feed(bytes, &mut decoded)?;
        }
        exchange.end();
        let mut reply = completion.finish(&mut decoded)?;
        reply.metrics.client = Some(pieces.times(form));
        Ok(reply)
    }

    /// A request with the headers that all have.
    pub(super) fn request(&self, method: Method, uri: &Uri, body: Vec<u8>) -> Request<Vec<u8>> {
        let json = (!body.is_empty()).then(|| HeaderValue::from_static("application/json"));
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri.clone();
        let headers = [
            (header::CONTENT_TYPE, json),
            (
                header::AUTHORIZATION,
                self.connection.authorization().cloned(),
            ),
        ];
        for (name, value) in headers {
            if let Some(value) = value {
                request.headers_mut().insert(name, value);
            }
        }
        request
    }
}

/// The failure that a reply outside 2xx is; `detail` sees the beginning of its body (spec M73).
pub(super) fn refused(
    exchange: &mut Exchange<'_>,
    cap: u64,
    detail: impl FnOnce(&str),
) -> ModelFailure {
    let over = |length: &str| {
        let what = format!("response body{length} exceeds the {cap}-byte limit");
        ModelFailure::malformed(what)
    };
    if let Some(length) = exchange.declared().filter(|length| *length > cap) {
        return over(&format!(" of {length} bytes"));
    }
    match exchange.whole() {
        Ok(body) => {
            detail(&beginning(&body));
            classify(exchange.status(), body)
        }
        Err(Untaken::TooLarge) => over(""),
        Err(Untaken::Failed(failure)) => failure,
    }
}

/// The first characters of a body, its control characters escaped.
fn beginning(body: &[u8]) -> String {
    if body.is_empty() {
        return "(empty body)".to_owned();
    }
    // No character takes more bytes than this.
    let some = &body[..body.len().min(DETAIL * 4)];
    let mut out = String::new();
    for character in String::from_utf8_lossy(some).chars().take(DETAIL) {
        match character.is_control() {
            true => out.extend(character.escape_default()),
            false => out.push(character),
        }
    }
    out
}

/// Shows the pieces of a reply, tells the tap of them, and takes their times.
struct Pieces<'a> {
    round: u64,
    show: Option<Show>,
    tap: Option<&'a Tap>,
    began: Instant,
    first: Option<Instant>,
    last: Instant,
    count: u32,
}

impl<'a> Pieces<'a> {
    fn new(round: u64, terms: &'a Terms) -> Self {
        let began = Instant::now();
        Self {
            round,
            show: terms.show.clone(),
            tap: terms.tap.as_ref(),
            began,
            first: None,
            last: began,
            count: 0,
        }
    }

    fn take(&mut self, piece: Decoded<'_>) {
        if let Some(tap) = self.tap {
            match piece {
                Decoded::Reasoning(text) => tap.reasoning(text),
                Decoded::FinishReason(reason) => tap.finish_reason(reason),
                Decoded::Text(_) | Decoded::Call => {}
            }
        }
        if let Decoded::FinishReason(_) = piece {
            return;
        }
        self.last = Instant::now();
        self.first.get_or_insert(self.last);
        self.count = self.count.saturating_add(1);
        let (reasoning, text) = match piece {
            Decoded::Text(text) => (false, text),
            Decoded::Reasoning(text) => (true, text),
            Decoded::Call | Decoded::FinishReason(_) => return,
        };
        let piece = Piece {
            round: self.round,
            reasoning,
            text,
        };
        if self.show.as_ref().is_some_and(|show| !show.piece(piece)) {
            self.show = None;
        }
    }

    /// The times of a reply that has ended; those of its pieces only where they came one by one.
    fn times(&self, form: Form) -> Client {
        let first = self.first.filter(|_| form == Form::Stream);
        let gaps = self.count.saturating_sub(1);
        let mean = |first| self.last.duration_since(first).checked_div(gaps);
        Client {
            e2e_ms: milliseconds(self.began.elapsed()),
            ttft_ms: first.map(|first| milliseconds(first.duration_since(self.began))),
            mean_itl_ms: first.and_then(mean).map(milliseconds),
        }
    }
}

/// A span in milliseconds, rounded to microseconds.
fn milliseconds(span: Duration) -> f64 {
    let micros = span.saturating_add(Duration::from_nanos(500)).as_micros();
    micros as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_to_microseconds() {
        // spec M72
        assert_eq!(milliseconds(Duration::from_nanos(1_234_499)), 1.234);
        assert_eq!(milliseconds(Duration::from_nanos(1_234_500)), 1.235);
    }

    #[test]
    fn the_detail_is_the_beginning_without_control_characters() {
        // spec M73
        assert_eq!(beginning(b""), "(empty body)");
        assert_eq!(beginning(b"a\n\x1b[1m\xff\"'"), "a\\n\\u{1b}[1m\u{fffd}\"'");
        let long = "é".repeat(DETAIL + 5);
        assert_eq!(beginning(long.as_bytes()), "é".repeat(DETAIL));
    }
}
