//! The tools by which a model starts tasks and looks after them (spec K152 to K163).

use std::rc::Rc;
use std::sync::Arc;

use super::model::Tool;
use super::run::Run;
use super::strand::Strand;
use super::task::{End, Origin, TaskKey, Wait, WaitKind};
use super::toolbox::{Called, schema};
use crate::lua::{Data, Reply};

/// A built-in tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuiltIn {
    Task,
    Cancel,
    Status,
    Await,
}

/// The tools with their names, in the order they are offered.
const TOOLS: [(BuiltIn, &str); 4] = [
    (BuiltIn::Task, "task"),
    (BuiltIn::Cancel, "task_cancel"),
    (BuiltIn::Status, "task_status"),
    (BuiltIn::Await, "await_tasks"),
];

impl BuiltIn {
    /// The tool of a name, which nothing else can take (spec T93).
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let mut tools = TOOLS.iter();
        tools.find_map(|(tool, own)| (*own == name).then_some(*tool))
    }

    /// All of them, as a round offers them.
    pub(super) fn offered(targets: &Targets) -> impl Iterator<Item = Tool> {
        TOOLS.iter().map(|(tool, name)| Tool {
            name: (*name).into(),
            description: tool.description(targets).into(),
            parameters: tool.parameters(),
        })
    }

    fn description(self, targets: &Targets) -> String {
        match self {
            Self::Task => {
                let target = match &targets.0 {
                    None => "any section of this prompt, named by its heading (for example `## \
                         Research`)."
                        .to_owned(),
                    Some(_) => format!("one of: {}", targets.listed()),
                };
                format!(
                    "Starts a task: a section of this prompt that runs on its own while you go \
                     on. Returns the task's id; a notice tells you how the task ended. `input`, \
                     when given, is the text that the section gets. `target` must be {target}"
                )
            }
            Self::Cancel => "Cancels a task that you started. `id` is the id that `task` \
                             returned."
                .to_owned(),
            Self::Status => "Tells how a task that you started is doing. `id` is the id that \
                             `task` returned."
                .to_owned(),
            Self::Await => "Waits until a task that you started has ended, and returns the \
                            notices of all that have. `timeout`, when given, is the most seconds \
                            to wait."
                .to_owned(),
        }
    }

    fn parameters(self) -> Data {
        let of = |kind: &str| Data::object([("type", Data::text(kind))]);
        match self {
            Self::Task => schema(
                vec![("target", of("string")), ("input", of("string"))],
                ["target"],
            ),
            Self::Cancel | Self::Status => schema(vec![("id", of("string"))], ["id"]),
            Self::Await => schema(vec![("timeout", of("number"))], []),
        }
    }
}

/// The sections at which a model may start tasks: those of these headings, or any.
#[derive(Clone, Debug)]
pub(super) struct Targets(pub(super) Option<Rc<[String]>>);

impl Targets {
    pub(super) fn allow(&self, heading: &str) -> bool {
        let listed = self.0.as_ref();
        listed.is_none_or(|listed| listed.iter().any(|target| target == heading))
    }

    /// The headings, as messages list them.
    pub(super) fn listed(&self) -> String {
        self.0.as_deref().unwrap_or_default().join(", ")
    }
}

/// What a model's call of a built-in asks for, its arguments checked. To start a task is a request
/// of its own.
pub(super) enum Asked {
    /// Nothing: the call is refused with this text.
    Refused(String),
    /// `task_status`, of the task of this id.
    Status(String),
    /// `task_cancel`
    Cancel(String),
    /// `await_tasks`, for so many seconds at most.
    Await(Option<f64>),
}

impl Run {
    /// Serves a model's call of a built-in. `None` says that the strand has to wait.
    pub(super) fn built_in(
        &mut self,
        task: TaskKey,
        strand: &mut Strand,
        called: Called,
        asked: Asked,
    ) -> Option<Reply> {
        let answer = match asked {
            Asked::Refused(text) => Err(text),
            Asked::Status(id) => self
                .models_task(strand, &called, &id)
                .map(|key| self.status(key, strand).line(&id)),
            Asked::Cancel(id) => self.models_task(strand, &called, &id).map(|key| {
                // The model knows: it is told nothing.
                self.record_mut(key).told = None;
                self.stop_task(key, End::Cancelled);
                self.admit();
                format!("Task id={id} cancelled")
            }),
            Asked::Await(timeout) => return self.await_tasks(task, strand, called, timeout),
        };
        Some(self.told(strand, called, answer))
    }

    /// Reports what a built-in answers, or why it refuses, and gives the text.
    pub(super) fn told(
        &self,
        strand: &Strand,
        called: Called,
        answer: Result<String, String>,
    ) -> Reply {
        let succeeded = answer.is_ok();
        let (Ok(text) | Err(text)) = answer;
        let text: Arc<str> = text.into();
        for event in called.answered(succeeded, text.clone()) {
            strand.report_event(event);
        }
        Reply::Shared(text)
    }

    /// The task of an id, if the model started it from the section entry that is running (spec
    /// K159).
    fn models_task(&self, strand: &Strand, called: &Called, id: &str) -> Result<TaskKey, String> {
        let found = strand.top().and_then(|chain| {
            let key = chain.find_owned(id)?;
            let here = Origin::Model {
                entry: chain.entry(),
            };
            (self.record(key).origin == here).then_some(key)
        });
        found.ok_or_else(|| format!("{}: no model task with id {id}", called.alias))
    }

    fn await_tasks(
        &mut self,
        task: TaskKey,
        strand: &mut Strand,
        called: Called,
        timeout: Option<f64>,
    ) -> Option<Reply> {
        let Some(chain) = strand.top() else {
            return Some(self.told(strand, called, Ok(NOTHING.to_owned())));
        };
        if !chain.talk.notices.is_empty() {
            return Some(self.awaited(strand, called, None, &[]));
        }
        let here = Origin::Model {
            entry: chain.entry(),
        };
        let owned = chain.owned.iter().map(|(_, key)| *key);
        let members: Vec<TaskKey> = owned
            .filter(|key| self.record(*key).is_live() && self.record(*key).origin == here)
            .collect();
        if members.is_empty() && timeout.is_none() {
            return Some(self.told(strand, called, Ok(NOTHING.to_owned())));
        }
        let timer = timeout.and_then(|seconds| Some((strand.top_mut()?.next_child().1, seconds)));
        self.begin_wait(
            task,
            Wait::new(WaitKind::Notices { called, timeout }, members),
        );
        if let Some((timer, seconds)) = timer {
            self.set_timer(task, timer, seconds);
        }
        None
    }

    /// What `await_tasks` gives: all notices that have arrived, and that the time is over where it
    /// is (spec K163).
    pub(super) fn awaited(
        &mut self,
        strand: &Strand,
        called: Called,
        late: Option<f64>,
        members: &[TaskKey],
    ) -> Reply {
        let mut lines = match strand.top() {
            Some(chain) => self.take_notices(&chain.talk, usize::MAX),
            None => Vec::new(),
        };
        if let Some(seconds) = late {
            let ids = members.iter().map(|key| &*self.record(*key).task.id);
            let ids = ids.collect::<Vec<_>>().join(", ");
            let line = match members {
                [] => format!("slept {seconds} seconds"),
                _ => format!("timed out; tasks {ids} still running"),
            };
            lines.push(line.into());
        }
        self.told(strand, called, Ok(lines.join("\n")))
    }
}

/// What `await_tasks` gives where there is no task and no time to wait for.
const NOTHING: &str = "nothing to wait for";
