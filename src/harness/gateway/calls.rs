//! The tool calls of a reply, put together from their fragments and judged (spec M66, M67).

use std::collections::{BTreeMap, HashSet};

use super::chunk::Fragment;
use crate::engine::model::ToolCall;
use crate::lua::Data;

/// Calls by their index.
#[derive(Debug, Default)]
pub(super) struct Calls(BTreeMap<i64, Call>);

#[derive(Debug, Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    /// Adds what a fragment says to the call with that index.
    pub(super) fn merge(&mut self, index: i64, fragment: &Fragment<'_>) {
        let call = self.0.entry(index).or_default();
        let add = |to: &mut String, part: Option<&super::chunk::Text<'_>>| {
            *to += part.map_or("", |part| &part.0);
        };
        add(&mut call.id, fragment.id.as_ref());
        if let Some(function) = &fragment.function {
            add(&mut call.name, function.0.name.as_ref());
            add(&mut call.arguments, function.0.arguments.as_ref());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The calls in the order of their indexes, where all can be executed; else spec M70's text.
    pub(super) fn judge(self, finish_reason: Option<&str>) -> Result<Vec<ToolCall>, String> {
        if let Some(reason @ ("length" | "content_filter")) = finish_reason {
            return Err(format!(
                "tool-call batch truncated by finish_reason \"{reason}\": partial arguments must \
                 not execute"
            ));
        }
        let calls: Vec<ToolCall> = self
            .0
            .into_values()
            .map(Call::judge)
            .collect::<Result<_, _>>()?;
        let mut ids = HashSet::new();
        match calls.iter().all(|call| ids.insert(&call.id)) {
            true => Ok(calls),
            false => Err("duplicate tool call id within one turn".to_owned()),
        }
    }
}

impl Call {
    fn judge(self) -> Result<ToolCall, String> {
        if self.id.trim().is_empty() {
            return Err("tool call id was blank".to_owned());
        }
        if self.name.trim().is_empty() {
            return Err("tool call name was blank".to_owned());
        }
        match Data::from_json(&self.arguments) {
            Ok(arguments @ Data::Map(_)) => Ok(ToolCall {
                id: self.id.into(),
                name: self.name.into(),
                arguments,
            }),
            Ok(_) => Err("tool call arguments were not a JSON object".to_owned()),
            Err(error) => Err(format!("tool call arguments were not valid JSON: {error}")),
        }
    }
}
