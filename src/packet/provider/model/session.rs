//! One conversation as a session (spec P146, P149, P150).

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::asking::Asking;
use super::files::Files;
use super::toolbox::offered;
use crate::engine::model::{Body, Message, Model, Origin, Role, Round, Tool, ToolCall};
use crate::harness::model::Broker;
use crate::harness::{Limits, regular};
use crate::packet::failure::{Failure, FailureClass};
use crate::packet::provider::{CONTINUE, Ended, Event, Job, Session, Sink};
use crate::packet::words::PermissionMode;

/// The most rounds of a session that sets no other bound.
const ROUNDS: u64 = 50;

/// What the model is told of its task where the packet says nothing else.
const SYSTEM: &str = "You work on the repositories that are named below, with the tools that you are \
given. Do what the message asks for. When it is done, end with a short summary of what you changed.";

/// A conversation.
pub(super) struct Talk<'a> {
    job: &'a Job<'a>,
    asking: Asking,
    files: Files,
    tools: Arc<[Tool]>,
    messages: Vec<Message>,
    /// How many rounds there were.
    rounds: u64,
    /// Where the messages are kept; `None` once that failed.
    kept: Option<File>,
}

impl<'a> Talk<'a> {
    /// A conversation in which nothing was said; why there is none otherwise.
    pub(super) fn new(
        job: &'a Job<'a>,
        model: Model,
        broker: Arc<dyn Broker>,
        limits: Limits,
    ) -> Result<Self, String> {
        let options = job.setting.options;
        let is_plan = options.permission_mode == PermissionMode::Plan;
        Ok(Self {
            files: Files::of(job.setting, is_plan)?,
            tools: offered(options).into(),
            asking: Asking {
                model,
                broker,
                limits,
            },
            messages: Vec::new(),
            rounds: 0,
            kept: Some(keep(job)?),
            job,
        })
    }

    /// Adds a message, and keeps it in the file.
    fn say(&mut self, message: Message, sink: &mut dyn Sink) {
        if let Some(file) = &mut self.kept {
            let line = serde_json::to_string(&message).unwrap_or_default();
            if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
                sink.warn(&format!("cannot keep the conversation: {error}"));
                self.kept = None;
            }
        }
        self.messages.push(message);
    }

    /// The system text: what is to be done, and where.
    fn system(&self) -> String {
        let setting = self.job.setting;
        let mut text = setting
            .options
            .system_prompt
            .as_deref()
            .unwrap_or(SYSTEM)
            .to_owned();
        if let Some(more) = &setting.options.append_system_prompt {
            text += &format!("\n\n{more}");
        }
        text += "\n\nRepositories:";
        let targets = setting.packet.targets(setting.prompt);
        for repo in &targets {
            text += &format!("\n- {}", repo.name);
        }
        if targets.is_empty() {
            text += "\n- packet";
        }
        text
    }

    /// Goes on until the model answers without calling a tool.
    fn converse(&mut self, sink: &mut dyn Sink) -> Ended {
        let most = self.job.setting.options.max_turns.unwrap_or(ROUNDS);
        loop {
            if self.rounds == most {
                let message = format!("turn limit of {most} reached");
                return Ended::Failed(Failure::new(FailureClass::PROVIDER_RUNTIME_CLAIM, message));
            }
            let round = Round {
                round: self.rounds,
                origin: Origin::Chat,
                model: self.asking.model.id.clone(),
                messages: self.messages.clone().into(),
                tools: self.tools.clone(),
                temperature: None,
                max_tokens: None,
                thinking: None,
            };
            self.rounds += 1;
            let reply = match self.asking.ask(round, self.job) {
                Ok(reply) => reply,
                Err(ended) => return *ended,
            };
            if let Some(usage) = &reply.metrics.usage {
                sink.event(Event::TokenUsageUpdated {
                    input: Some(usage.prompt_tokens.into()),
                    output: Some(usage.completion_tokens.into()),
                    cost_usd: None,
                });
            }
            match reply.body {
                Body::Text(text) => {
                    sink.event(Event::MessageReceived {
                        text: text.to_string(),
                    });
                    self.say(Message::text(Role::Assistant, text), sink);
                    return Ended::Succeeded;
                }
                Body::Calls(calls) => {
                    let mut message = Message::text(Role::Assistant, "");
                    message.tool_calls.clone_from(&calls);
                    self.say(message, sink);
                    for call in &calls {
                        if self.job.interrupt.is_raised() {
                            return Ended::Interrupted;
                        }
                        self.answer(call, sink);
                    }
                }
            }
        }
    }

    /// Does what a call asks for, and tells the model what came of it.
    fn answer(&mut self, call: &ToolCall, sink: &mut dyn Sink) {
        let name = call.name.to_string();
        let arguments = serde_json::to_value(&call.arguments).unwrap_or(Value::Null);
        sink.event(Event::ToolCallStarted {
            name: name.clone(),
            input: Some(arguments.clone()),
        });
        let is_offered = self.tools.iter().any(|tool| tool.name == call.name);
        let told = match is_offered {
            true => self.files.call(&name, &arguments, self.job.interrupt),
            false => Err(format!("there is no tool {name:?}")),
        };
        let text = match &told {
            Ok(output) | Err(output) => output.clone(),
        };
        sink.event(match told {
            Ok(output) => Event::ToolCallCompleted { name, output },
            Err(output) => Event::ToolCallFailed { name, output },
        });
        let mut message = Message::text(Role::Tool, text);
        message.tool_call_id = Some(call.id.clone());
        self.say(message, sink);
    }

    fn play(&mut self, sink: &mut dyn Sink) -> Ended {
        sink.event(Event::RunStarted {
            model: Some(self.asking.model.id.to_string()),
            label: None,
        });
        let ended = self.converse(sink);
        sink.event(match &ended {
            Ended::Succeeded => Event::RunCompleted {
                stop_reason: Some("end_turn".to_owned()),
            },
            Ended::Failed(failure) | Ended::NotStarted(failure) => Event::RunFailed {
                message: failure.message.clone(),
            },
            Ended::Interrupted => Event::RunCancelled,
        });
        ended
    }
}

impl Session for Talk<'_> {
    fn start(&mut self, sink: &mut dyn Sink) -> Ended {
        self.say(Message::text(Role::System, self.system()), sink);
        self.say(Message::text(Role::User, self.job.text), sink);
        self.play(sink)
    }

    fn can_resume(&self) -> bool {
        true
    }

    /// Each call that was begun has its result, as a session is only left between rounds.
    fn resume(&mut self, _number: u64, sink: &mut dyn Sink) -> Ended {
        self.say(Message::text(Role::User, CONTINUE), sink);
        self.play(sink)
    }
}

/// The file of a conversation.
fn keep(job: &Job<'_>) -> Result<File, String> {
    let mut file = job.files.clone().into_os_string();
    file.push(".jsonl");
    let file = PathBuf::from(file);
    let folder = file.parent().unwrap_or(&file);
    let opened = fs::create_dir_all(folder).and_then(|()| regular::append(&file));
    opened.map_err(|error| format!("cannot write {}: {error}", file.display()))
}
