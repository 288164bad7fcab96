//! The transcript and the events of a session (spec P90, P116).

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::Path;

use super::clock::{Instant, now};
use super::folder::StateFolder;
use super::log_file::{Added, CAP, LogFile};
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
    transcript: Option<LogFile>,
    events: Option<LogFile>,
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

    fn append_to(&mut self, path: &Path) -> Option<LogFile> {
        LogFile::open(path, CAP)
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

    /// Adds a line of the runner's own to the transcript.
    pub fn line(&mut self, line: impl Display) {
        let file = self.transcript.take();
        self.transcript = self.put(file, &line.to_string(), true);
    }

    /// Adds a line of the session to the transcript, while there is room.
    pub fn said(&mut self, line: &str) {
        let file = self.transcript.take();
        self.transcript = self.put(file, line, false);
    }

    /// Adds a line to a log; the log, unless it failed. A log that has no more room says so.
    fn put(&mut self, file: Option<LogFile>, line: &str, must: bool) -> Option<LogFile> {
        let mut file = file?;
        let added = match must {
            true => file.add(line).map(|()| Added::Whole),
            false => file.add_within(line),
        };
        match added {
            Ok(Added::Whole | Added::Not) => {}
            Ok(Added::Full) => {
                let full = io::Error::other(format!("it has {} MiB of this session", CAP >> 20));
                self.fail(file.path(), &full);
            }
            Err(error) => {
                self.fail(file.path(), &error);
                return None;
            }
        }
        Some(file)
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
            // An id is an agent's own word, and no line of the runner's.
            let shown = match id.contains(char::is_control) {
                true => id.escape_debug().to_string(),
                false => id.to_owned(),
            };
            self.recovery("checkpoint", format_args!("provider_session_id={shown}"));
        }
    }

    /// Adds an event to both files.
    pub fn event(&mut self, event: &Event) {
        // A log is not whole without its end, which is short.
        let must = matches!(
            event,
            Event::RunStarted { .. }
                | Event::RunCompleted { .. }
                | Event::RunFailed { .. }
                | Event::RunCancelled
        );
        if let Some(text) = rendered(event) {
            let file = self.transcript.take();
            self.transcript = self.put(file, &text, must);
        }
        if self.events.is_none() {
            return;
        }
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
        let file = self.events.take();
        self.events = self.put(file, &line.to_string(), must);
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
