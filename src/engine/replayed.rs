//! The arguments of calls that a model has made, as it made them.
//!
//! A list holds them as Lua tables, which have no nulls and no empty arrays. Sent back to the model
//! they are what it said, as long as the prompt has not changed what is left of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::model::{Message, ToolCall};
use crate::lua::Data;

/// Arguments that a Lua table cannot hold, by the ids of their calls. Of two calls with one id, which
/// some providers give out again, the later counts.
#[derive(Debug, Default)]
pub(super) struct Replayed(RefCell<HashMap<Arc<str>, ToolCall>>);

impl Replayed {
    /// Keeps the arguments of calls that are about to become Lua tables.
    pub(super) fn keep(&self, calls: &[ToolCall]) {
        let mut kept = self.0.borrow_mut();
        for call in calls {
            match in_lua(&call.arguments) == call.arguments {
                true => drop(kept.remove(&call.id)),
                false => drop(kept.insert(call.id.clone(), call.clone())),
            }
        }
    }

    /// Puts the arguments back into the calls of a list.
    pub(super) fn restore(&self, messages: &mut [Message]) {
        let kept = self.0.borrow();
        if kept.is_empty() {
            return;
        }
        let calls = messages.iter_mut();
        for call in calls.flat_map(|message| &mut message.tool_calls) {
            if let Some(made) = kept.get(&call.id)
                && made.name == call.name
                && in_lua(&made.arguments) == call.arguments
            {
                call.arguments = made.arguments.clone();
            }
        }
    }
}

/// What is left of data that was a Lua table and is read as a part of a message list (spec M35).
fn in_lua(data: &Data) -> Data {
    match data {
        Data::Map(map) => {
            let entries = map.iter().filter(|(_, value)| **value != Data::Null);
            Data::object(entries.map(|(key, value)| (key.clone(), in_lua(value))))
        }
        Data::List(items) => {
            let sequence = items.iter().take_while(|item| **item != Data::Null);
            let sequence: Vec<Data> = sequence.map(in_lua).collect();
            if !sequence.is_empty() {
                return Data::list(sequence);
            }
            let numbered = items.iter().zip(1..);
            let entries = numbered.filter(|(item, _)| **item != Data::Null);
            Data::object(entries.map(|(item, at): (_, i64)| (at.to_string(), in_lua(item))))
        }
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::model::Role;

    fn call(arguments: &str) -> ToolCall {
        ToolCall {
            id: "c1".into(),
            name: "t".into(),
            arguments: Data::from_json(arguments).expect("valid"),
        }
    }

    #[test]
    fn arguments_go_back_as_they_came() {
        let made = r#"{"a":[],"b":null,"n":[1,null,3],"z":[null,2]}"#;
        let left = r#"{"a":{},"n":[1],"z":{"2":2}}"#;
        assert_eq!(in_lua(&call(made).arguments), call(left).arguments);
        let replayed = Replayed::default();
        replayed.keep(&[call(made)]);
        let restored = |arguments: &str| {
            let mut messages = [Message {
                tool_calls: vec![call(arguments)],
                ..Message::text(Role::Assistant, "")
            }];
            replayed.restore(&mut messages);
            messages[0].tool_calls[0].arguments.to_json()
        };
        assert_eq!(restored(left), made);
        let changed = r#"{"a":{},"n":[2],"z":{"2":2}}"#;
        assert_eq!(restored(changed), changed);
    }
}
