//! The transcript and the events of a session (spec P90, P116).

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::clock::{Instant, now};
use super::folder::StateFolder;
use crate::harness::regular;
use crate::packet::provider::Event;
use crate::packet::words::EventsMode;

/// What a transcript begins with.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// The prompt's id.
    pub id: &'a str,
    /// Its file.
    pub file: &'a str,
    /// The provider.
    pub provider: &'a str,
    /// The model, if one is configured.
    pub model: Option<&'a str>,
    /// The working folder.
    pub cwd: &'a Path,
    /// The attempt, as it is called.
    pub attempt: &'a str,
}

/// Two files of one session. A log that cannot be written is reported once and ends no run: what
/// counts is in the state.
#[derive(Debug)]
pub struct SessionLog {
    transcript: Option<File>,
    events: Option<File>,
    mode: EventsMode,
    provider: String,
    session_id: Option<String>,
    run_id: Option<String>,
    failed: Option<String>,
}

impl SessionLog {
    /// Opens the logs of a session that starts at a moment, both to be appended to.
    pub fn open(
        folder: &StateFolder,
        started: Instant,
        header: Header<'_>,
        mode: EventsMode,
        run_id: Option<&str>,
    ) -> Self {
        let mut log = Self {
            transcript: None,
            events: None,
            mode,
            provider: header.provider.to_owned(),
            session_id: None,
            run_id: run_id.map(str::to_owned),
            failed: None,
        };
        let logs = folder.logs();
        let name = format!("prompt-{}-{}", header.id, started.stamp());
        let transcript = logs.join(format!("{name}.log"));
        let events = logs.join(format!("{name}.events.jsonl"));
        if let Err(error) = fs::create_dir_all(&logs) {
            log.fail(&logs, &error);
            return log;
        }
        log.transcript = log.append_to(&transcript);
        if mode != EventsMode::Off {
            log.events = log.append_to(&events);
        }
        log.line(format_args!(
            "Session: provider={} model={} cwd={}",
            header.provider,
            header.model.unwrap_or("-"),
            header.cwd.display()
        ));
        log.line(format_args!("Prompt: {} ({})", header.file, header.attempt));
        log
    }

    fn append_to(&mut self, path: &Path) -> Option<File> {
        regular::append(path)
            .map_err(|error| self.fail(path, &error))
            .ok()
    }

    fn fail(&mut self, path: &Path, error: &io::Error) {
        self.failed
            .get_or_insert_with(|| format!("cannot write {}: {error}", path.display()));
    }

    /// Why a log is not whole, if it is not.
    pub fn failure(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// Adds a line to the transcript.
    pub fn line(&mut self, line: impl Display) {
        let Some(file) = &mut self.transcript else {
            return;
        };
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            self.transcript = None;
            self.fail(&PathBuf::from("the session's log"), &error);
        }
    }

    /// Notes what recovers the session: `SESSION_RECOVERY action=…` (spec P90).
    pub fn recovery(&mut self, action: &str, rest: impl Display) {
        let provider = self.provider.clone();
        let rest = rest.to_string();
        let space = if rest.is_empty() { "" } else { " " };
        self.line(format_args!(
            "SESSION_RECOVERY action={action} provider={provider}{space}{rest}"
        ));
    }

    /// Notes the provider's own id of the session.
    pub fn session_id(&mut self, id: &str) {
        if self.session_id.as_deref() != Some(id) {
            self.session_id = Some(id.to_owned());
            self.recovery("checkpoint", format_args!("provider_session_id={id}"));
        }
    }

    /// Adds an event to both files.
    pub fn event(&mut self, event: &Event) {
        if let Some(text) = rendered(event) {
            self.line(text);
        }
        let Some(file) = &mut self.events else {
            return;
        };
        let at = now();
        let line = match self.mode {
            EventsMode::Off => None,
            EventsMode::Compact => event.compact(at.0),
            EventsMode::Full => Some(event.full(
                &at.to_string(),
                self.session_id.as_deref(),
                self.run_id.as_deref(),
            )),
        };
        let Some(line) = line else { return };
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            self.events = None;
            self.fail(&PathBuf::from("the session's events"), &error);
        }
    }
}

/// An event as the transcript has it.
fn rendered(event: &Event) -> Option<String> {
    Some(match event {
        Event::RunStarted { model, label } => {
            let part = |name: &str, value: &Option<String>| match value {
                Some(value) => format!(" {name}={value}"),
                None => String::new(),
            };
            format!("[started]{}{}", part("model", model), part("label", label))
        }
        Event::MessageStreamed { text } | Event::MessageReceived { text } => text.clone(),
        Event::ToolCallStarted { name, input } => match input {
            Some(input) => format!("[tool] {name} {input}"),
            None => format!("[tool] {name}"),
        },
        Event::ToolCallCompleted { name, output } => format!("[tool done] {name}\n{output}"),
        Event::ToolCallFailed { name, output } => format!("[tool failed] {name}\n{output}"),
        Event::TokenUsageUpdated {
            input,
            output,
            cost_usd,
        } => {
            let number = |value: &Option<u64>| value.map_or("?".to_owned(), |it| it.to_string());
            let cost = cost_usd.map_or_else(String::new, |cost| format!(" cost=${cost}"));
            format!("[tokens] in={} out={}{cost}", number(input), number(output))
        }
        Event::RunCompleted { stop_reason } => {
            format!("[completed] {}", stop_reason.as_deref().unwrap_or_default())
        }
        Event::RunFailed { message } | Event::ErrorOccurred { message } => {
            format!("[failed] {message}")
        }
        Event::RunCancelled => "[cancelled]".to_owned(),
        Event::Other { .. } => return None,
    })
}
