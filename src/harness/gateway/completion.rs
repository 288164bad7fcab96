//! A completion, decoded while its bytes arrive (spec M66, M67).

use std::sync::Arc;

use super::calls::Calls;
use super::chunk::{Form, Part, Unread, read_chunk};
use super::lines::Lines;
use super::metadata::Metadata;
use crate::engine::model::{Body, ModelFailure, Reply};
use crate::harness::model::classify_in_stream;

/// Decodes the body of a completion while it arrives; where its pieces end makes no difference.
#[derive(Debug)]
pub struct Completion {
    form: Form,
    lines: Lines,
    /// A plain completion's bytes so far, or the data lines of an event so far that do not make a
    /// chunk yet.
    pending: Vec<u8>,
    ended: bool,
    text: String,
    reasoning: String,
    calls: Calls,
    finish_reason: Option<String>,
    metadata: Metadata,
}

/// A piece of a reply that has been decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// Of its text.
    Text(&'a str),
    /// Of its reasoning.
    Reasoning(&'a str),
    /// Of a tool call.
    Call,
    /// Why it ends; the last one counts.
    FinishReason(&'a str),
}

impl Completion {
    /// Nothing yet of a completion.
    pub fn new(form: Form) -> Self {
        Self {
            form,
            lines: Lines::default(),
            pending: Vec::new(),
            ended: false,
            text: String::new(),
            reasoning: String::new(),
            calls: Calls::default(),
            finish_reason: None,
            metadata: Metadata::default(),
        }
    }

    /// Whether it has said its end, so that no more bytes are wanted.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Takes the next bytes; those after the end are ignored.
    ///
    /// # Errors
    /// A malformed chunk, and an error that the stream holds.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        decoded: &mut dyn FnMut(Decoded<'_>),
    ) -> Result<(), ModelFailure> {
        if self.form == Form::Plain {
            self.pending.extend_from_slice(bytes);
            return Ok(());
        }
        // The lines are lent out while the rest changes.
        let mut lines = std::mem::take(&mut self.lines);
        while !self.ended
            && let Some(line) = lines.next(&mut bytes)
        {
            self.line(line, decoded)?;
        }
        self.lines = lines;
        Ok(())
    }

    /// The reply, now that no more bytes come.
    ///
    /// # Errors
    /// As [`Completion::feed`], a completion that did not say its end, and calls that cannot be
    /// executed.
    pub fn finish(
        mut self,
        decoded: &mut dyn FnMut(Decoded<'_>),
    ) -> Result<Box<Reply>, ModelFailure> {
        match self.form {
            Form::Plain => {
                let whole = std::mem::take(&mut self.pending);
                self.chunk(&whole, decoded)?;
            }
            Form::Stream if self.ended => {}
            Form::Stream => {
                let mut lines = std::mem::take(&mut self.lines);
                if data(lines.last()) != Some(DONE) {
                    return Err(malformed(
                        "completion stream ended without the [DONE] sentinel",
                    ));
                }
                self.end(decoded)?;
            }
        }
        // What is left of the reply's own text makes room for what is made of it.
        drop(std::mem::take(&mut self.lines));
        let body = match self.calls.is_empty() {
            true => Body::Text(shared(self.text)),
            false => {
                let calls = self.calls.judge(self.finish_reason.as_deref());
                Body::Calls(calls.map_err(malformed)?)
            }
        };
        let (metrics, degraded) = self.metadata.read();
        Ok(Box::new(Reply {
            body,
            finish_reason: self.finish_reason,
            reasoning: shared(self.reasoning),
            model: self.metadata.model().into(),
            metrics,
            degraded,
        }))
    }

    /// A line of the stream. A data line that is a chunk is taken at once: only one that is none
    /// waits for the others of its event.
    fn line(
        &mut self,
        line: &[u8],
        decoded: &mut dyn FnMut(Decoded<'_>),
    ) -> Result<(), ModelFailure> {
        if line.is_empty() {
            return self.event(decoded);
        }
        let Some(payload) = data(line).filter(|payload| !payload.is_empty()) else {
            return Ok(());
        };
        if payload == DONE {
            return self.end(decoded);
        }
        if self.pending.is_empty() {
            match self.read(payload, decoded) {
                Err(Unread::NotJson) => {}
                read => return read.map_err(|unread| self.failure(unread)),
            }
        } else {
            self.pending.push(b'\n');
        }
        self.pending.extend_from_slice(payload);
        Ok(())
    }

    /// The end of an event: its data lines together are a chunk.
    fn event(&mut self, decoded: &mut dyn FnMut(Decoded<'_>)) -> Result<(), ModelFailure> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let joined = std::mem::take(&mut self.pending);
        self.chunk(&joined, decoded)
    }

    fn end(&mut self, decoded: &mut dyn FnMut(Decoded<'_>)) -> Result<(), ModelFailure> {
        self.event(decoded)?;
        self.ended = true;
        Ok(())
    }

    fn chunk(
        &mut self,
        payload: &[u8],
        decoded: &mut dyn FnMut(Decoded<'_>),
    ) -> Result<(), ModelFailure> {
        let read = self.read(payload, decoded);
        read.map_err(|unread| self.failure(unread))
    }

    fn read(&mut self, payload: &[u8], decoded: &mut dyn FnMut(Decoded<'_>)) -> Result<(), Unread> {
        read_chunk(payload, self.form, &mut |part| self.take(part, decoded))
    }

    fn failure(&self, unread: Unread) -> ModelFailure {
        match unread {
            Unread::NotJson => malformed(self.form.not_json()),
            Unread::Malformed(what) => malformed(what),
            Unread::Failed(message) => classify_in_stream(&message),
        }
    }

    fn take(&mut self, part: Part<'_>, decoded: &mut dyn FnMut(Decoded<'_>)) {
        match part {
            Part::Model(model) => self.metadata.name(&model),
            Part::Metadata(kind, raw) => self.metadata.keep(kind, raw),
            Part::FinishReason(reason) => {
                decoded(Decoded::FinishReason(&reason));
                self.finish_reason = Some(reason.into_owned());
            }
            Part::Reasoning(piece) if !piece.is_empty() => {
                self.reasoning += &piece;
                decoded(Decoded::Reasoning(&piece));
            }
            Part::Text(piece) if !piece.is_empty() => {
                self.text += &piece;
                decoded(Decoded::Text(&piece));
            }
            Part::Reasoning(_) | Part::Text(_) => {}
            Part::Call(index, fragment) => {
                self.calls.merge(index, &fragment);
                decoded(Decoded::Call);
            }
        }
    }
}

/// What ends a stream.
const DONE: &[u8] = b"[DONE]";

/// What a data line holds, without the blanks around it. A byte-order mark may stand before the
/// first.
fn data(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    line.strip_prefix(b"data:").map(<[u8]>::trim_ascii)
}

/// A text that has grown. Its spare room is given up before it is copied, so that both together take
/// no more than twice its length.
fn shared(mut text: String) -> Arc<str> {
    text.shrink_to_fit();
    text.into()
}

fn malformed(what: impl std::fmt::Display) -> ModelFailure {
    ModelFailure::malformed(what)
}
