//! Local tools, and calls of tools by scripts and models (spec part 06, sections 8, 10 and 13).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::built_in;
use super::models::bad_alias;
use crate::engine::ask::Batch;
use crate::engine::built_in::BuiltIn;
use crate::engine::entry::{Entry, Request};
use crate::engine::event::EventKind;
use crate::engine::model::{Tool, ToolCall};
use crate::engine::toolbox::{Called, schema};
use crate::lua::{Arg, Call, Data, Failure, Kind, Reply};
use crate::prompt::{Dialect, is_name};

/// The types that a parameter of a local tool may have.
const TYPES: [&str; 4] = ["string", "integer", "number", "boolean"];

/// Checks and registers a local tool (spec T112, T113).
pub fn register(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let entry = call.host();
    let function = match entry.dialect() {
        Dialect::Runvil => "tools.offer_local",
        Dialect::PromptForge => "tools.add_local",
    };
    let alias = call.string(0, &format!("{function} alias"))?;
    let description = call.string(1, &format!("{function} description"))?;
    let (params, handler) = (call.arg(2), call.arg(3));
    for (arg, name, is_right, right) in [
        (&params, "params", params.is_table(), "table"),
        (&handler, "handler", handler.is_function(), "function"),
    ] {
        if !is_right {
            let found = arg.type_of();
            let text = format!("{function} {name} must be a {right}, got {found}");
            return Err(Failure::lua(text));
        }
    }
    if !is_name(&alias) {
        return Err(bad_alias(&alias));
    }
    if entry.toolbox.is_registered(&alias) {
        let text = format!("{function} alias {alias:?} is already registered");
        return Err(Failure::lua(text));
    }
    entry.toolbox.add(Tool {
        name: alias.into(),
        description: description.into(),
        parameters: parameters(function, call.pairs(2)?)?,
    });
    Ok(Reply::None)
}

/// The JSON Schema of a local tool's parameters: every one is required.
fn parameters(function: &str, params: Vec<(Arg, Arg)>) -> Result<Data, Failure> {
    let named = params.into_iter().map(|(key, spec)| (key.lossy(), spec));
    let declared: BTreeMap<String, Arg> = named.collect();
    let mut properties = Vec::with_capacity(declared.len());
    for (name, spec) in &declared {
        properties.push((name.as_str(), property(function, name, spec)?));
    }
    Ok(schema(properties, declared.keys().map(String::as_str)))
}

/// One parameter: a type, or a type and a description.
fn property(function: &str, name: &str, spec: &Arg) -> Result<Data, Failure> {
    let (kind, description) = match spec.is_table() {
        true => (spec.element(1)?, spec.element(2)?.text()),
        false => (spec.clone(), None),
    };
    let Some(Ok(kind)) = kind.text() else {
        return Err(Failure::lua(format!(
            "{function} param {name:?} must be a type string or a {{type, description}} array"
        )));
    };
    if !TYPES.contains(&kind.as_str()) {
        return Err(Failure::lua(format!(
            "{function} param {name:?} has unsupported type {kind:?}: expected \"string\", \
             \"integer\", \"number\", or \"boolean\""
        )));
    }
    let mut fields = vec![("type", Data::text(kind))];
    if let Some(Ok(description)) = description {
        fields.push(("description", Data::text(description)));
    }
    Ok(Data::object(fields))
}

/// Looks a script's call up: the local tool's alias and its arguments (spec T86, T91). Its handler
/// then runs.
pub fn route(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    call.suspends();
    let Some(Ok(name)) = call.arg(0).text() else {
        let found = call.type_of(0);
        let text = format!("tools.call alias must be a string or Tool object, got {found}");
        return Err(Failure::lua(text));
    };
    let arguments = arguments(&call.arg(1))?;
    let entry = call.host();
    entry.outside_library()?;
    match entry.toolbox.local(&name) {
        Some(alias) => Ok(entry.enter(alias, Arc::default(), entry.task.turns(), arguments)),
        None => Err(unbound(entry.dialect(), &name)),
    }
}

/// The arguments of a script's call, an object.
fn arguments(table: &Arg) -> Result<Data, Failure> {
    if table.is_nil() {
        return Ok(Data::empty());
    }
    if !table.is_table() {
        let found = table.type_of();
        return Err(Failure::lua(format!("args must be a table, got {found}")));
    }
    match table.data("args") {
        Ok(data @ Data::Map(_)) => Ok(data),
        Ok(Data::List(items)) if items.is_empty() => Ok(Data::empty()),
        _ => Err(Failure::lua("args must be a JSON-representable table")),
    }
}

/// Looks a model's call up, by its place in the reply: as [`route`], or nothing where it is no
/// local tool.
pub fn dispatch(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let batch = call.arg(0).object::<Batch>();
    let (made, turn) = called(batch.as_deref(), &call.arg(1))?;
    let entry = call.host();
    Ok(match entry.toolbox.local(&made.name) {
        Some(alias) => entry.enter(alias, made.id.clone(), turn, made.arguments.clone()),
        None => Reply::None,
    })
}

/// Serves a model's call of a tool that is not local.
pub fn serve(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let batch = call.arg(0).object::<Batch>();
    let (made, turn) = called(batch.as_deref(), &call.arg(1))?;
    match BuiltIn::from_name(&made.name) {
        Some(tool) => Ok(built_in::request(call, tool, made, turn)),
        None => Err(Failure::internal("a tool that was not offered was called")),
    }
}

/// The call at a place of a reply, and the number of its round.
fn called<'a>(batch: Option<&'a Batch>, at: &Arg) -> Result<(&'a ToolCall, u32), Failure> {
    let found = batch.zip(at.integer()).and_then(|(batch, at)| {
        let at = usize::try_from(at.checked_sub(1)?).ok()?;
        Some((batch.calls.get(at)?, batch.turn))
    });
    found.ok_or_else(|| Failure::internal("a call that is in no reply was made"))
}

/// Takes what a local tool's handler returned as the call's result (spec T115).
pub fn finish(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let text: Arc<str> = call.arg(0).scalar()?.unwrap_or_default().into();
    let entry = call.host();
    if let Some(called) = entry.toolbox.leave() {
        for event in called.answered(true, text.clone()) {
            entry.report(event);
        }
    }
    Ok(Reply::Shared(text))
}

/// A local tool's handler has raised, or could not be started: only so many others run now.
pub fn leave(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let entry = call.host();
    let depth = call.arg(0).integer().unwrap_or(0);
    if entry.toolbox.unwind(usize::try_from(depth).unwrap_or(0)) {
        entry.report(EventKind::Plain("tool_call_failed"));
    }
    Ok(Reply::None)
}

/// `tools.calls[alias]` (spec T106, T109).
pub fn count(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let alias = call.arg(1).lossy();
    let entry = call.host();
    let counted = entry.toolbox.counted(&alias);
    counted
        .map(|count| Reply::Data(Data::Int(count)))
        .map_err(|others| {
            let (noun, offer) = match entry.dialect() {
                Dialect::PromptForge => ("aliases", "add it via tools.add"),
                Dialect::Runvil => ("names", "offer it with tools.offer"),
            };
            let check = match others.is_empty() {
                true => String::new(),
                false => format!(" - check for typos or {offer}"),
            };
            Failure::lua(format!(
                "tools.calls: {alias:?} has no seeded count; seeded {noun}: {others:?}{check}"
            ))
        })
}

impl Entry {
    /// A local tool's handler is about to run: its alias and its arguments.
    fn enter(&self, alias: Arc<str>, call: Arc<str>, turn: u32, arguments: Data) -> Reply {
        self.called_tool(&alias);
        self.toolbox.enter(Called {
            alias: alias.clone(),
            call,
            turn,
        });
        Reply::Several(vec![Reply::Shared(alias), Reply::Data(arguments)])
    }
}

/// A script called a tool that is not in the run (spec T92).
fn unbound(dialect: Dialect, name: &str) -> Failure {
    let message = match dialect {
        Dialect::PromptForge => {
            format!("tool {name:?} is not bound in this run; bound aliases: []")
        }
        Dialect::Runvil => format!("tool {name:?} is not a tool in this run; catalog tools: []"),
    };
    Failure::new(Kind::UnboundTool, message).with("name", name)
}
