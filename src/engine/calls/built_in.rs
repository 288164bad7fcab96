//! The model's task tools: what lets it use them, and its calls, checked in order (spec K153 to
//! K163).

use super::tasks::{is_duration, is_task_id, startable};
use crate::engine::built_in::{Asked, BuiltIn, Targets};
use crate::engine::entry::{Entry, Request, Spawn};
use crate::engine::model::ToolCall;
use crate::engine::toolbox::Called;
use crate::lua::{Call, Data, Failure, NotUtf8, Reply};

/// `tools.allow_tasks(targets?)` (spec K153, K154).
pub fn allow(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let refuse = |text: String| Failure::lua(format!("tools.allow_tasks targets {text}"));
    let given = call.arg(0);
    let listed = match given.is_nil() {
        true => None,
        false => {
            if !given.is_table() {
                let found = given.lua_type();
                return Err(refuse(format!(
                    "must be a list of section headings, got {found}"
                )));
            }
            let mut listed = Vec::new();
            given.each(|target| {
                let heading = match target.text() {
                    Some(Ok(heading)) => heading.trim().to_owned(),
                    Some(Err(NotUtf8)) => {
                        return Err(refuse("must be valid UTF-8 strings".to_owned()));
                    }
                    None => {
                        let found = target.lua_type();
                        return Err(refuse(format!(
                            "must be section heading strings, got {found}"
                        )));
                    }
                };
                if heading.is_empty() {
                    return Err(refuse("must be non-empty section headings".to_owned()));
                }
                listed.push(heading);
                Ok(())
            })?;
            if listed.is_empty() {
                return Err(refuse(
                    "must name at least one section; call it with no argument to allow any section"
                        .to_owned(),
                ));
            }
            Some(listed.into())
        }
    };
    call.host().toolbox.allow_tasks(Targets(listed));
    Ok(Reply::None)
}

/// What a model's call of a built-in asks the scheduler for.
pub fn request(call: &Call<'_, Entry>, tool: BuiltIn, made: &ToolCall, turn: u32) -> Request {
    let called = Called {
        alias: made.name.clone(),
        call: made.id.clone(),
        turn,
    };
    let argument = |name: &str| made.arguments.get(name).unwrap_or(&Data::Null);
    let asked = match tool {
        BuiltIn::Task => match start(call, argument("target"), argument("input")) {
            Ok(spawn) => {
                let called = Some(called);
                return Request::Spawn(Box::new(Spawn { called, ..spawn }));
            }
            Err(text) => Asked::Refused(format!("task: {text}")),
        },
        BuiltIn::Cancel => with_id(argument("id"), &made.name, Asked::Cancel),
        BuiltIn::Status => with_id(argument("id"), &made.name, Asked::Status),
        BuiltIn::Await => timeout(argument("timeout")),
    };
    Request::BuiltIn(called, asked)
}

/// The task that a model starts (spec K158).
fn start(call: &Call<'_, Entry>, target: &Data, input: &Data) -> Result<Spawn, String> {
    let Data::Text(target) = target else {
        return Err(
            "`target` must be a string naming a section heading, such as `## Research`".to_owned(),
        );
    };
    let input = match input {
        Data::Null => None,
        Data::Text(text) => Some(text.to_string()),
        _ => return Err("`input` must be a string when given".to_owned()),
    };
    let heading = target.trim();
    let targets = call.host().toolbox.targets();
    if let Some(targets) = targets.filter(|targets| !targets.allow(heading)) {
        return Err(format!(
            "target `{heading}` is not allowed; allowed targets: {}",
            targets.listed()
        ));
    }
    let (target, var) = startable(call, heading).map_err(|failure| failure.message)?;
    Ok(Spawn {
        target,
        input,
        item: None,
        index: None,
        var,
        called: None,
    })
}

/// A call that names a task (spec K160).
fn with_id(id: &Data, name: &str, asked: fn(String) -> Asked) -> Asked {
    match id {
        Data::Text(id) if is_task_id(id) => asked(id.to_string()),
        Data::Text(id) => Asked::Refused(format!(
            "{name}: `{id}` is not a task id; use the id `task` returned"
        )),
        _ => Asked::Refused(format!(
            "{name}: `id` must be a task id string, exactly as `task` returned it"
        )),
    }
}

/// How long `await_tasks` is to wait (spec K163).
fn timeout(timeout: &Data) -> Asked {
    let seconds = match timeout {
        Data::Null => return Asked::Await(None),
        Data::Int(seconds) => Some(*seconds as f64),
        Data::Float(seconds) => Some(*seconds),
        _ => None,
    };
    match seconds.filter(|seconds| is_duration(*seconds)) {
        Some(seconds) => Asked::Await(Some(seconds)),
        None => Asked::Refused(
            "await_tasks: `timeout` must be a non-negative number of seconds when given".to_owned(),
        ),
    }
}
