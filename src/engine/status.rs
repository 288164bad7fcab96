//! What a task's status says, to Lua and to a model (spec K116, K161).

use std::fmt::Write as _;
use std::sync::Arc;

use super::run::{Deed, Run};
use super::strand::Strand;
use super::task::{End, Record, Rest, State, TaskKey};
use crate::lua::Data;

/// The status of a task.
pub(super) struct Status {
    target: Arc<str>,
    origin: &'static str,
    state: &'static str,
    /// Whether it returned, once it has ended.
    ok: Option<bool>,
    section: Option<Arc<str>>,
    blocked: Option<&'static str>,
    turns: u32,
    /// The live tasks that it started itself.
    tasks: Vec<Arc<str>>,
    depth: u32,
    note: Option<Arc<str>>,
}

impl Status {
    /// The fields that `tasks.status` gives.
    pub(super) fn data(self) -> Data {
        let tasks = self.tasks.into_iter().map(Data::Text);
        let mut fields = vec![
            ("target", Data::Text(self.target)),
            ("origin", Data::text(self.origin)),
            ("state", Data::text(self.state)),
            ("turns", Data::Int(self.turns.into())),
            ("tasks", Data::list(tasks.collect::<Vec<_>>())),
            ("depth", Data::Int(self.depth.into())),
        ];
        fields.extend(self.ok.map(|ok| ("ok", Data::Bool(ok))));
        fields.extend(self.section.map(|section| ("section", Data::Text(section))));
        fields.extend(self.blocked.map(|word| ("blocked", Data::text(word))));
        fields.extend(self.note.map(|note| ("note", Data::Text(note))));
        Data::object(fields)
    }

    /// The line that a model's `task_status` gives.
    pub(super) fn line(&self, id: &str) -> String {
        let mut line = format!("Task id={id} (## {}): {}", self.target, self.state);
        // Writing to a string cannot fail.
        let _ = match (self.state, self.ok) {
            ("done", Some(true)) => write!(line, ", ok"),
            ("done", Some(false)) => write!(line, ", failed"),
            _ => Ok(()),
        };
        if let Some(section) = &self.section {
            let _ = write!(line, ", in ## {section}");
        }
        if let Some(blocked) = self.blocked {
            let _ = write!(line, ", waiting on {blocked}");
        }
        let _ = write!(line, ", turns {}", self.turns);
        if !self.tasks.is_empty() {
            let _ = write!(line, ", tasks {}", self.tasks.join(", "));
        }
        if let Some(note) = &self.note {
            let _ = write!(line, ", note: {note}");
        }
        line
    }
}

impl Run {
    /// The status of a task; `running` is the strand that asks.
    pub(super) fn status(&self, key: TaskKey, running: &Strand) -> Status {
        let record = self.record(key);
        let strand = match &record.state {
            State::Running => Some(running),
            State::Resting(strand) => Some(&**strand),
            _ => None,
        };
        let program = &self.shared.program;
        let (state, ok) = match &record.state {
            State::Seeded(_) | State::Resting(_) | State::Running => ("running", None),
            State::Ended(end) => match end {
                End::Succeeded(_) => ("done", Some(true)),
                End::Failed(_) => ("done", Some(false)),
                End::Delivered { ok } => ("done", Some(*ok)),
                End::Cancelled => ("cancelled", Some(false)),
                End::Abandoned(_) => ("abandoned", Some(false)),
            },
        };
        let chain = strand.and_then(Strand::bottom);
        let section = chain.and_then(|chain| chain.running.as_ref()?.section);
        let owned = chain.map_or(&[][..], |chain| &chain.owned);
        let live = owned.iter().map(|(_, key)| self.record(*key));
        Status {
            target: program.name(Some(record.target)).clone(),
            origin: record.origin.tag(),
            state,
            ok,
            section: section.map(|section| program.name(Some(section)).clone()),
            blocked: self.blocked(record, strand),
            turns: record.task.turns(),
            tasks: live
                .filter(|record| record.is_live())
                .map(|record| record.task.id.clone())
                .collect(),
            depth: record.depth,
            note: record.note.clone(),
        }
    }

    /// What a live task waits for.
    fn blocked(&self, record: &Record, strand: Option<&Strand>) -> Option<&'static str> {
        match (&record.state, &record.rest) {
            (State::Ended(_), _) => None,
            (State::Seeded(_), _) if !record.slot => Some("queued"),
            (State::Seeded(_), _) => None,
            _ if strand.is_some_and(Strand::is_calling) => Some("call"),
            (State::Running, _) => None,
            (_, Rest::Queued(_)) => Some("queued"),
            (_, Rest::Tasks(_)) => Some("tasks"),
            (_, Rest::Effect(id)) => {
                Some(match self.in_flight.get(*id).map(|effect| &effect.deed) {
                    Some(Deed::Round(_)) => "chat",
                    Some(Deed::Tool(_)) => "tool_call",
                    _ => "store",
                })
            }
            (_, Rest::Ready) => None,
        }
    }
}
