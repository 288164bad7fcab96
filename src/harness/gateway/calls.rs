//! The tool calls of a reply, put together from their fragments and judged (spec M66, M67).

use std::collections::{BTreeMap, HashSet};

use super::chunk::Fragment;
use super::many::Object;
use super::raw::Text;
use crate::engine::model::ToolCall;
use crate::lua::Data;

/// Calls by their index.
#[derive(Debug, Default)]
pub(super) struct Calls(BTreeMap<i64, Call>);

#[derive(Debug, Default)]
struct Call {
    id: String,
    /// Boxed, since a reply may hold a great many calls that name nothing.
    function: Option<Box<Function>>,
}

#[derive(Debug, Default)]
struct Function {
    name: String,
    arguments: String,
}

/// The most values that the arguments of a reply's calls hold together: a value takes many times
/// the room of its text.
const VALUES: usize = 1 << 17;

impl Calls {
    /// Adds what a fragment says to the call with that index.
    pub(super) fn merge(&mut self, index: i64, fragment: &Fragment<'_>) {
        let call = self.0.entry(index).or_default();
        let add = |to: &mut String, part: Option<&Text<'_>>| {
            *to += part.map_or("", |part| &part.0);
        };
        add(&mut call.id, fragment.id.as_ref());
        if let Some(Object(part)) = &fragment.function {
            let function = call.function.get_or_insert_default();
            add(&mut function.name, part.name.as_ref());
            add(&mut function.arguments, part.arguments.as_ref());
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
        let mut values = VALUES;
        let calls: Vec<ToolCall> = self
            .0
            .into_values()
            .map(|call| call.judge(&mut values))
            .collect::<Result<_, _>>()?;
        let mut ids = HashSet::new();
        match calls.iter().all(|call| ids.insert(&call.id)) {
            true => Ok(calls),
            false => Err("duplicate tool call id within one turn".to_owned()),
        }
    }
}

impl Call {
    /// The call, where no more values than these are left for its arguments.
    fn judge(self, values: &mut usize) -> Result<ToolCall, String> {
        let function = self.function.unwrap_or_default();
        if self.id.trim().is_empty() {
            return Err("tool call id was blank".to_owned());
        }
        if function.name.trim().is_empty() {
            return Err("tool call name was blank".to_owned());
        }
        let arguments = Data::from_json_within(&function.arguments, *values);
        *values = values.saturating_sub(Data::count_in_json(&function.arguments));
        match arguments {
            Ok(arguments @ Data::Map(_)) => Ok(ToolCall {
                id: self.id.into(),
                name: function.name.into(),
                arguments,
            }),
            Ok(_) => Err("tool call arguments were not a JSON object".to_owned()),
            Err(error) => Err(format!("tool call arguments were not valid JSON: {error}")),
        }
    }
}
