//! A session of a program: one process, and one more for each resume.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::confirmation::confirm;
use super::outcome::{Heard, outcome};
use super::ready::{Ready, too_long};
use super::rules::{Meant, Rule};
use super::settings::{Delivery, Form, Settings};
use super::tail::Tail;
use super::template::Template;
use super::values::Filling;
use super::{LONGEST_ARGUMENT, cannot_run, find};
use crate::harness::regular;
use crate::packet::failure::{Failure, FailureClass};
use crate::packet::process::{From, Limits, stream};
use crate::packet::provider::{CONTINUE, Ended, Event, Job, Session, Sink};
use crate::packet::source::cause;

/// A session of a program.
pub(super) struct Running<'a> {
    job: &'a Job<'a>,
    settings: Settings,
    /// The agent's own id of the session.
    session_id: Option<String>,
    /// The model that it named.
    model: Option<String>,
}

/// The program as it is to be started.
struct Start {
    file: PathBuf,
    command: Command,
    input: Vec<u8>,
}

impl<'a> Running<'a> {
    pub(super) fn new(job: &'a Job<'a>, ready: Ready) -> Self {
        Self {
            job,
            settings: ready.settings,
            session_id: None,
            model: None,
        }
    }

    /// Gets the program ready that is to be told a text, which is kept in a file of that ending
    /// where it is told so.
    fn prepare(&self, argv: &Template, text: &str, ending: &str) -> Result<Start, Box<Failure>> {
        let Self { job, settings, .. } = self;
        let setting = job.setting;
        let refuse = |class, message: String| Box::new(Failure::new(class, message));
        let invalid = |message| refuse(FailureClass::PROGRAM_INVALID, message);
        let unavailable = |message| refuse(FailureClass::PROVIDER_UNAVAILABLE, message);
        if settings.delivery == Delivery::Arg && text.len() > LONGEST_ARGUMENT {
            return Err(invalid(too_long(text.len())));
        }
        let mut prompt_file = job.files.clone().into_os_string();
        prompt_file.push(ending);
        let prompt_file = PathBuf::from(prompt_file);
        if settings.delivery == Delivery::File {
            keep(&prompt_file, text).map_err(unavailable)?;
        }
        let filling = Filling {
            setting,
            repo_args: &settings.repo_args,
            prompt: (settings.delivery == Delivery::Arg).then_some(text),
            prompt_file: (settings.delivery == Delivery::File).then_some(&prompt_file),
            session_id: self.session_id.as_deref(),
            attempt: job.attempt,
            mode: job.mode.name(),
        };
        let words = argv.fill(&filling).map_err(unavailable)?;
        let (word, rest) = words
            .split_first()
            .ok_or_else(|| unavailable("command: argv is empty".to_owned()))?;
        let file = find(word, setting).map_err(unavailable)?;
        let cwd = setting.cwd();
        if !cwd.is_dir() {
            let message = format!("working folder not found: {}", cwd.display());
            return Err(unavailable(message));
        }
        let mut command = Command::new(&file);
        for name in &settings.unset {
            command.env_remove(name);
        }
        command
            .args(rest)
            .current_dir(cwd)
            .envs(settings.env.iter().map(|(name, value)| (name, value)))
            .env("RUNVIL_PACKET_ROOT", &setting.packet.root)
            .env("RUNVIL_PROMPT_ID", setting.prompt.id.as_str())
            .env("RUNVIL_ATTEMPT", job.attempt.to_string())
            .env("RUNVIL_MODE", job.mode.name());
        let input = match settings.delivery {
            Delivery::Stdin => text.as_bytes().to_vec(),
            Delivery::File | Delivery::Arg => Vec::new(),
        };
        Ok(Start {
            file,
            command,
            input,
        })
    }

    /// Runs a program to its end.
    fn play(&mut self, start: Result<Start, Box<Failure>>, sink: &mut dyn Sink) -> Ended {
        let start = match start {
            Ok(start) => start,
            Err(failure) => return Ended::NotStarted(*failure),
        };
        let job = self.job;
        sink.event(Event::RunStarted {
            model: job.setting.options.model.clone(),
            label: None,
        });
        let limits = Limits {
            timeout: job.deadline.left(),
            idle: self.settings.idle.unwrap_or(Duration::MAX),
            most: self.settings.most_output,
            stop: Some(&job.interrupt.stop),
            kill: &job.interrupt.kill,
        };
        let mut ear = Ear::new(&self.settings);
        let streamed = stream(start.command, start.input, &limits, &mut |from, line| {
            ear.hear(from, line, sink);
        });
        let Ear {
            heard,
            session_id,
            model,
            reason,
            stdout,
            stderr,
            ..
        } = ear;
        self.session_id = session_id.or(self.session_id.take());
        self.model = model.or(self.model.take());
        let ended = match streamed {
            Err(error) => {
                let message = cannot_run(&start.file, &error);
                Ended::NotStarted(Failure::new(FailureClass::PROVIDER_UNAVAILABLE, message))
            }
            Ok(streamed) => {
                let heard = Heard {
                    stderr: stderr.text(),
                    stdout: stdout.text(),
                    ..heard
                };
                outcome(&self.settings, &job.deadline, streamed, heard)
            }
        };
        let ended = self.confirmed(ended, sink);
        sink.event(match &ended {
            Ended::Succeeded => Event::RunCompleted {
                stop_reason: reason,
            },
            Ended::Failed(failure) | Ended::NotStarted(failure) => Event::RunFailed {
                message: failure.message.clone(),
            },
            Ended::Interrupted => Event::RunCancelled,
        });
        ended
    }

    /// How a session ends whose model is looked at, if it ended well otherwise.
    fn confirmed(&self, ended: Ended, sink: &mut dyn Sink) -> Ended {
        if ended != Ended::Succeeded {
            return ended;
        }
        let options = self.job.setting.options;
        let (configured, confirmed) = (options.model.as_deref(), self.model.as_deref());
        match confirm(options.cli_confirmation, configured, confirmed, sink) {
            Ok(()) => Ended::Succeeded,
            Err(failure) => Ended::Failed(*failure),
        }
    }
}

impl Session for Running<'_> {
    fn start(&mut self, sink: &mut dyn Sink) -> Ended {
        let start = self.prepare(&self.settings.argv, self.job.text, ".prompt.md");
        self.play(start, sink)
    }

    fn can_resume(&self) -> bool {
        let argv = self.settings.resume_argv.as_ref();
        argv.is_some_and(|argv| self.session_id.is_some() || !argv.has("session_id"))
    }

    fn resume(&mut self, number: u64, sink: &mut dyn Sink) -> Ended {
        let argv = self.settings.resume_argv.as_ref();
        let argv = argv.unwrap_or(&self.settings.argv);
        let start = self.prepare(argv, CONTINUE, &format!(".resume-{number}.md"));
        self.play(start, sink)
    }
}

/// Writes a text to a file of its own.
fn keep(file: &Path, text: &str) -> Result<(), String> {
    let folder = file.parent().unwrap_or(file);
    let written = fs::create_dir_all(folder)
        .and_then(|()| regular::create(file))
        .and_then(|mut opened| opened.write_all(text.as_bytes()));
    written.map_err(|error| format!("cannot write {}: {}", file.display(), cause(&error)))
}

/// Makes out what a program says.
struct Ear<'s> {
    settings: &'s Settings,
    heard: Heard,
    session_id: Option<String>,
    model: Option<String>,
    reason: Option<String>,
    stdout: Tail,
    stderr: Tail,
}

impl<'s> Ear<'s> {
    fn new(settings: &'s Settings) -> Self {
        Self {
            settings,
            heard: Heard {
                error: None,
                is_done: false,
                stderr: None,
                stdout: None,
            },
            session_id: None,
            model: None,
            reason: None,
            stdout: Tail::default(),
            stderr: Tail::default(),
        }
    }

    fn hear(&mut self, from: From, line: &str, sink: &mut dyn Sink) {
        match (from, self.settings.form) {
            (From::Stderr, _) => {
                self.stderr.take(line);
                sink.log(&format!("[stderr] {line}"));
            }
            (From::Stdout, Form::Text) => {
                self.stdout.take(line);
                sink.event(Event::MessageStreamed {
                    text: line.to_owned(),
                });
            }
            (From::Stdout, Form::JsonLines) => {
                self.stdout.take(line);
                let event = serde_json::from_str(line).ok().filter(Value::is_object);
                let meant = event
                    .as_ref()
                    .and_then(|it| Rule::meant(&self.settings.rules, it));
                match (event, meant) {
                    (Some(event), Some(meant)) => self.understand(&event, &meant, line, sink),
                    _ => sink.log(line),
                }
            }
        }
    }

    fn understand(&mut self, event: &Value, meant: &Meant, line: &str, sink: &mut dyn Sink) {
        let text = |field: &str| meant.text(field).unwrap_or_default();
        let count = |field: &str| meant.get(field).and_then(Value::as_u64);
        sink.event(match meant.meaning {
            "message" => Event::MessageStreamed { text: text("text") },
            "tool_start" => Event::ToolCallStarted {
                name: text("name"),
                input: None,
            },
            "tool_end" => Event::ToolCallCompleted {
                name: text("name"),
                output: text("output"),
            },
            "tool_failed" => Event::ToolCallFailed {
                name: text("name"),
                output: text("output"),
            },
            "usage" => Event::TokenUsageUpdated {
                input: count("input"),
                output: count("output"),
                cost_usd: meant.get("cost_usd").and_then(Value::as_f64),
            },
            "session" => {
                if let Some(id) = meant.text("id").filter(|id| !id.is_empty()) {
                    sink.session_id(&id);
                    self.session_id = Some(id);
                }
                self.model = meant.text("model").or(self.model.take());
                return sink.log(line);
            }
            "error" => {
                let failure = self.failure(event, meant);
                self.heard.error.get_or_insert(failure);
                return sink.log(line);
            }
            _ => {
                self.heard.is_done = true;
                self.reason = meant.text("reason").or(self.reason.take());
                return sink.log(line);
            }
        });
    }

    /// The failure that an event reports (spec P136): by its `recovery`, else by the block's own
    /// table of kinds, else as P76 and P77 have it.
    fn failure(&self, event: &Value, meant: &Meant) -> Failure {
        let kind = meant.told("kind");
        let message = meant.told("message").or_else(|| kind.clone());
        let message = message.unwrap_or_else(|| "provider reported an error".to_owned());
        let recovery = meant.get("recovery").and_then(Value::as_object);
        let mapped = kind.as_ref().and_then(|kind| self.settings.kinds.get(kind));
        let failure = match (recovery.filter(|it| !it.is_empty()), mapped) {
            (Some(recovery), _) => Failure::claimed(recovery, message),
            (None, Some(class)) => Failure::new(class.clone(), message),
            (None, None) => Failure::inferred(kind.as_deref(), message),
        };
        Failure {
            provider_code: failure.provider_code.or(kind),
            raw: Some(json!({"event": event})),
            ..failure
        }
    }
}
