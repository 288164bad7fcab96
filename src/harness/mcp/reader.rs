//! What a server says, taken off its streams on threads of their own.

use std::io::{BufRead, BufReader, Read};

use serde_json::value::RawValue;

use super::handshake::Handshake;
use super::lines::{LINE_CAP, Lines};
use super::message::{Message, answer};
use super::session::Session;
use crate::harness::shown::{CUT, line_of, one_line};
use crate::lua::Data;

/// Reads messages until the stream ends or is not worth going on with. The reason is that of a
/// start that failed, where it was one.
pub(super) fn read(session: &Session, stdout: impl Read, handshake: Handshake) -> Option<String> {
    let mut lines = Lines::new(stdout, LINE_CAP);
    let mut handshake = Some(handshake);
    loop {
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => return None,
            Err(error) => {
                session.note(&error.to_string());
                return None;
            }
        };
        for message in Message::read(line) {
            if let Err(reason) = take(session, message, line, &mut handshake) {
                return Some(reason);
            }
        }
    }
}

/// Takes a message. The error is why the start failed.
fn take(
    session: &Session,
    message: Message,
    line: &[u8],
    handshake: &mut Option<Handshake>,
) -> Result<(), String> {
    match message {
        Message::Reply { id, outcome } => {
            let Some(starting) = handshake else {
                session.reply(id, outcome);
                return Ok(());
            };
            // What was not asked for is dropped.
            let step = starting.reply(id, outcome).unwrap_or_default();
            let next_id = starting.next_id();
            session.send(&step.send);
            if let Some(end) = step.end {
                *handshake = None;
                session.serve(end?, next_id);
            }
        }
        // spec T164
        Message::Request { id, method } => session.send_answer(&answer(&id, &method)),
        Message::Notification { method, params } => {
            if let ("notifications/message", Some(params)) = (method.as_str(), params) {
                session.note(&said(&params));
            }
        }
        Message::Stray => session.note(&format!("not JSON-RPC: {}", line_of(line))),
    }
    Ok(())
}

/// A log message of a server.
fn said(params: &RawValue) -> String {
    let params = Data::from_json(params.get()).unwrap_or_default();
    let part = |key| one_line(&params.get(key).map(Data::render).unwrap_or_default());
    format!("{}: {}", part("level"), part("data"))
}

/// Notes the lines of a server's standard error, those that are long in pieces.
pub(super) fn listen(stderr: impl Read, note: impl Fn(&str)) {
    let mut stream = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match stream
            .by_ref()
            .take(CUT as u64)
            .read_until(b'\n', &mut line)
        {
            Ok(0) | Err(_) => return,
            Ok(_) => note(&line_of(&line)),
        }
    }
}
