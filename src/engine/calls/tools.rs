//! Calls of tools by scripts and models, and their counts (spec part 06, sections 8, 10 and 12).

use std::rc::Rc;
use std::sync::Arc;

use super::built_in;
use crate::engine::ask::Batch;
use crate::engine::built_in::BuiltIn;
use crate::engine::catalog::Bound;
use crate::engine::entry::{Entry, Request};
use crate::engine::model::ToolCall;
use crate::engine::tool_calls::ToolAsk;
use crate::engine::toolbox::Called;
use crate::lua::{Arg, Call, Data, Failure, Kind, Reply};
use crate::prompt::Dialect;

/// The next call is the prelude's of a unit (spec T58).
pub fn own(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let unit = call
        .arg(0)
        .integer()
        .and_then(|unit| usize::try_from(unit).ok());
    call.host().own.set(unit);
    Ok(Reply::None)
}

/// Looks a script's call up: the local tool's alias and its arguments, whose handler then runs, or
/// `false` for a unit's tool, which is then served (spec T86, T91).
pub fn route(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    call.suspends();
    let entry = call.host();
    let own = entry.own.take();
    let (named, object) = (call.arg(0).text(), call.arg(0).object::<Bound>());
    let name = match (&object, named) {
        (Some(tool), _) => tool.key.to_string(),
        // No tool has a name that is not UTF-8.
        (None, Some(_)) => call.arg(0).lossy(),
        (None, None) => {
            let found = call.type_of(0);
            let text = format!("tools.call alias must be a string or Tool object, got {found}");
            return Err(Failure::lua(text));
        }
    };
    let arguments = arguments(call, &call.arg(1))?;
    entry.outside_library()?;
    if BuiltIn::from_name(&name).is_some() {
        return Err(entry.unbound(&name));
    }
    let turn = entry.task.turns();
    if object.is_none()
        && let Some(alias) = entry.toolbox.local(&name)
    {
        return Ok(entry.enter(alias, Arc::default(), turn, arguments));
    }
    let catalog = &entry.shared.catalog;
    let of_unit = own.and_then(|unit| catalog.of_unit(unit, &name));
    match of_unit.or_else(|| catalog.get(&name)) {
        Some(tool) => Ok(entry.call_tool(tool, Arc::default(), turn, arguments)),
        None => Err(entry.unbound(&name)),
    }
}

/// The arguments of a script's call, an object.
fn arguments(call: &Call<'_, Entry>, table: &Arg) -> Result<Data, Failure> {
    if table.is_nil() {
        return Ok(Data::empty());
    }
    if !table.is_table() {
        let found = table.type_of();
        return Err(Failure::lua(format!("args must be a table, got {found}")));
    }
    match table.data("args", call) {
        Ok(data @ Data::Map(_)) => Ok(data),
        Ok(Data::List(items)) if items.is_empty() => Ok(Data::empty()),
        _ => Err(Failure::lua("args must be a JSON-representable table")),
    }
}

/// Looks a model's call up, by its place in the reply: as [`route`], or nothing where it is a
/// built-in.
pub fn dispatch(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let batch = call.arg(0).object::<Batch>();
    let (made, turn) = called(batch.as_deref(), &call.arg(1))?;
    let entry = call.host();
    let (id, arguments) = (made.id.clone(), made.arguments.clone());
    if let Some(alias) = entry.toolbox.local(&made.name) {
        return Ok(entry.enter(alias, id, turn, arguments));
    }
    Ok(match entry.shared.catalog.named(&made.name) {
        Some(tool) if BuiltIn::from_name(&made.name).is_none() => {
            entry.call_tool(tool, id, turn, arguments)
        }
        _ => Reply::None,
    })
}

/// Serves the call that was looked up: of a unit's tool, or a model's of a built-in.
pub fn serve(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    if let Some(ask) = call.host().tool_call.take() {
        return Ok(Request::Tool(ask));
    }
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

/// `tools.calls[key]` (spec T106, T109).
pub fn count(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let key = call.arg(1).lossy();
    let entry = call.host();
    let others = match entry.toolbox.counted(&key) {
        Ok(count) => return Ok(Reply::Data(Data::Int(count))),
        Err(others) => others,
    };
    let is_known = entry
        .shared
        .catalog
        .get(&key)
        .is_some_and(|tool| tool.offerable);
    let (noun, known, offer) = match entry.dialect() {
        Dialect::PromptForge => (
            "aliases",
            " (alias is a bound tool slot but was neither added to this section's scope nor \
             dispatched by tools.call)",
            " - check for typos or add it via tools.add",
        ),
        Dialect::Runvil => (
            "names",
            " (a catalog tool that was neither offered in this section nor called with tools.call)",
            " - check for typos or offer it with tools.offer",
        ),
    };
    let check = match (is_known, others.is_empty()) {
        (true, _) => known,
        (false, false) => offer,
        (false, true) => "",
    };
    Err(Failure::lua(format!(
        "tools.calls: {key:?} has no seeded count; seeded {noun}: {others:?}{check}"
    )))
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

    /// A unit's tool is about to be called.
    fn call_tool(&self, tool: &Rc<Bound>, call: Arc<str>, turn: u32, arguments: Data) -> Reply {
        self.called_tool(&tool.key);
        *self.tool_call.borrow_mut() = Some(Box::new(ToolAsk {
            bound: tool.clone(),
            called: Called {
                alias: tool.key.clone(),
                call,
                turn,
            },
            arguments,
        }));
        Reply::Bool(false)
    }

    /// A script called a tool that is not in the run (spec T92).
    fn unbound(&self, name: &str) -> Failure {
        let listed = self.shared.catalog.listed();
        let message = match self.dialect() {
            Dialect::PromptForge => {
                format!("tool {name:?} is not bound in this run; bound aliases: {listed:?}")
            }
            Dialect::Runvil => {
                format!("tool {name:?} is not a tool in this run; catalog tools: {listed:?}")
            }
        };
        Failure::new(Kind::UnboundTool, message).with("name", name)
    }
}
