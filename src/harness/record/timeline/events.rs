//! What events say.

use super::builder::Builder;
use super::item::{Call, Served, State, What};
use super::order::{falls_through, is_first};
use super::{Clip, Entry, Totals, Track};
use crate::engine::model::ToolCall;
use crate::harness::record::EventLine;
use crate::lua::Data;

impl Builder {
    /// An event was reported.
    pub(super) fn event(&mut self, line: EventLine) {
        let track = self.place(&line.task);
        match line.kind() {
            "section_started" => {
                let entry = self.entry(track, line.section());
                self.enter(track, line.section(), entry);
            }
            "section_finished" => {
                if let Some(item) = self.going[track].left.take() {
                    self.end(track, Some(item), State::Done);
                }
            }
            // The Lua under the title has no section events.
            "lua_chunk_started" if self.going[track].open.is_empty() => {
                self.enter(track, line.section(), Entry::Title);
            }
            "lua_chunk_failed" | "lua_shared_load_failed" => {
                if let Some(open) = self.going[track].open.last_mut() {
                    open.has_failed = true;
                }
            }
            "lua_teardown_succeeded" => self.leave(track),
            "lua_require_started" => {
                let item = self.add(track, What::Require(line.text("target").to_owned()));
                self.going[track].loads.push(item);
            }
            "lua_require_succeeded" => self.loaded(track, State::Done),
            "lua_require_failed" => self.loaded(track, State::Failed),
            "lua" => {
                self.totals(track).checkpoints += 1;
                let message = self.clip(line.text("message"));
                self.add_instant(track, What::Checkpoint(message), State::Done);
            }
            "task_started" => self.task_started(track, &line),
            "task_succeeded" => self.task_ended(&line, State::Done),
            "task_failed" => self.task_ended(&line, State::Failed),
            "task_cancelled" => self.task_ended(&line, State::Cancelled),
            "task_abandoned" => self.task_ended(&line, State::Abandoned),
            "task_notice" => {
                let text = self.clip(line.text("text"));
                self.add_instant(track, What::Notice(text), State::Done);
            }
            "assistant_tool_calls" => self.going[track].asked = calls(&line),
            "tool_call_succeeded" => self.call_reported(track, true),
            "tool_call_failed" => self.call_reported(track, false),
            "tool_result" => self.tool_result(track, &line),
            _ => {}
        }
    }

    pub(super) fn clip(&self, text: &str) -> Clip {
        Clip::new(text, self.detail.text)
    }

    /// How a section is reached that is entered now.
    fn entry(&mut self, track: usize, name: &str) -> Entry {
        let going = &mut self.going[track];
        if !going.open.is_empty() {
            return Entry::Within;
        }
        let before = going.walked.replace(name.to_owned());
        let walks = match (&self.prompt, before) {
            (Some(prompt), Some(before)) => falls_through(prompt, &before, name),
            (Some(prompt), None) if track == 0 => is_first(prompt, name),
            _ => true,
        };
        if walks { Entry::Walk } else { Entry::Jump }
    }

    /// A section's VM is gone, and with it the section.
    fn leave(&mut self, track: usize) {
        let Some(open) = self.going[track].open.pop() else {
            return;
        };
        let state = match open {
            _ if open.has_failed => State::Failed,
            _ if open.is_title => State::Done,
            // Unless it is reported to have finished next.
            _ => State::Stopped,
        };
        self.going[track].left = open.item;
        self.end(track, open.item, state);
    }

    fn loaded(&mut self, track: usize, state: State) {
        if let Some(item) = self.going[track].loads.pop() {
            self.end(track, item, state);
        }
    }

    fn task_started(&mut self, owner: usize, line: &EventLine) {
        self.totals(owner).tasks += 1;
        let clip = |data: &Data| Clip::new(&data.render(), self.detail.text);
        let track = Track {
            task: line.text("task").to_owned(),
            name: line.text("target").to_owned(),
            owner: Some(owner),
            origin: line.text("origin").to_owned(),
            index: match line.event.get("index") {
                Some(Data::Int(index)) => Some(*index),
                _ => None,
            },
            item: line.event.get("item").map(clip),
            input: line.event.get("input").map(clip),
            at: self.now,
            end: None,
            state: State::Open,
            items: Vec::new(),
            totals: Totals::default(),
            left_out: 0,
        };
        let track = self.add_track(track);
        self.add_instant(owner, What::Task(track), State::Done);
    }

    fn task_ended(&mut self, line: &EventLine, state: State) {
        let track = self.place(line.text("task"));
        self.end_track(track, state);
    }

    /// A call is reported to have ended. One that no unit served and that has no result was a local
    /// tool's, and failed.
    fn call_reported(&mut self, track: usize, succeeded: bool) {
        let going = &mut self.going[track];
        if let Some(at) = going
            .answered
            .iter()
            .position(|(_, has_result)| !has_result)
        {
            going.answered.remove(at);
        } else if !succeeded && going.answered.is_empty() {
            let asked = match going.asked.is_empty() {
                true => None,
                false => Some(going.asked.remove(0)),
            };
            self.totals(track).calls += 1;
            self.totals(track).failed_calls += 1;
            let call = self.own_call(asked.as_ref(), None);
            self.add_instant(track, What::Call(Box::new(call)), State::Failed);
        }
    }

    /// A call has a result: that of a unit is known from its answer.
    fn tool_result(&mut self, track: usize, line: &EventLine) {
        let going = &mut self.going[track];
        let id = Some(line.text("tool_call_id")).filter(|id| !id.is_empty());
        let asked = going.asked.iter().position(|call| Some(&*call.id) == id);
        let asked = asked.map(|at| going.asked.remove(at));
        let is_this = |(call, has_result): &(Option<_>, bool)| *has_result && call.as_deref() == id;
        if let Some(at) = going.answered.iter().position(is_this) {
            going.answered.remove(at);
            return;
        }
        self.totals(track).calls += 1;
        let mut call = self.own_call(asked.as_ref(), Some(line.text("content")));
        call.tool = line.text("alias").into();
        self.add_instant(track, What::Call(Box::new(call)), State::Done);
    }

    /// A call that the run serves itself.
    fn own_call(&self, asked: Option<&ToolCall>, output: Option<&str>) -> Call {
        let arguments = asked.map(|call| self.clip(&call.arguments.to_json()));
        Call {
            tool: asked.map_or_else(Default::default, |call| call.name.clone()),
            served: Served::Run,
            by_model: asked.is_some(),
            arguments: arguments.unwrap_or_default(),
            output: output.map(|text| self.clip(text)),
            failure: None,
        }
    }
}

/// The calls that a reply asks for.
fn calls(line: &EventLine) -> Vec<ToolCall> {
    let Some(Data::List(calls)) = line.event.get("calls") else {
        return Vec::new();
    };
    let text = |call: &Data, key| match call.get(key) {
        Some(Data::Text(text)) => text.clone(),
        _ => Default::default(),
    };
    let calls = calls.iter().map(|call| ToolCall {
        id: text(call, "id"),
        name: text(call, "name"),
        arguments: call.get("arguments").cloned().unwrap_or(Data::Null),
    });
    calls.collect()
}
