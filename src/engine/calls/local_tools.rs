//! Local tools: their registration, and how their handlers end (spec part 06, section 13).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::models::bad_alias;
use crate::engine::entry::Entry;
use crate::engine::event::EventKind;
use crate::engine::model::Tool;
use crate::engine::toolbox::schema;
use crate::lua::{Arg, Call, Data, Failure, NotUtf8, Reply};
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
    if entry.dialect() == Dialect::PromptForge && entry.shared.catalog.get(&alias).is_some() {
        let text = format!("{function} alias {alias:?} duplicates a bound tool slot");
        return Err(Failure::lua(text));
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
    let mut declared: BTreeMap<String, Arg> = BTreeMap::new();
    let mut strange = Vec::new();
    for (key, spec) in params {
        match key.text() {
            Some(Ok(name)) => drop(declared.insert(name, spec)),
            Some(Err(NotUtf8)) => strange.push("string that is not UTF-8"),
            None => strange.push(key.type_of()),
        }
    }
    // The same one in every run, whatever the order of a table's keys.
    if let Some(found) = strange.iter().min() {
        let text = format!("{function} param names must be strings, got {found}");
        return Err(Failure::lua(text));
    }
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
