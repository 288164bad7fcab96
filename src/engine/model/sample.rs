//! Conversations for the tests of this room.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use super::list;
use super::message::{Content, Message, Part, Role, ToolCall};
use crate::lua::{Data, Failure};

/// The messages of a list written as JSON.
pub(super) fn messages(json: &str) -> Result<Vec<Message>, Failure> {
    let data = Data::from_json(json).map_err(Failure::lua)?;
    list::read(&data)
}

/// A call with an id.
pub(super) fn call(id: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "t".into(),
        arguments: Data::empty(),
    }
}

/// The record that a message is read from.
pub(super) fn record(message: &Message) -> Data {
    let mut fields = vec![
        ("role", Data::text(message.role.name())),
        ("content", content_data(&message.content)),
    ];
    if let Some(id) = &message.tool_call_id {
        fields.push(("tool_call_id", Data::Text(Arc::clone(id))));
    }
    if !message.tool_calls.is_empty() {
        let calls: Vec<Data> = message.tool_calls.iter().map(call_data).collect();
        fields.push(("tool_calls", Data::list(calls)));
    }
    Data::object(fields)
}

fn content_data(content: &Content) -> Data {
    match content {
        Content::Text(text) => Data::Text(Arc::clone(text)),
        Content::Parts(parts) => Data::list(parts.iter().map(part_data).collect::<Vec<_>>()),
    }
}

fn part_data(part: &Part) -> Data {
    match part {
        Part::Text(text) => Data::object([
            ("type", Data::text("text")),
            ("text", Data::Text(Arc::clone(text))),
        ]),
        Part::Image(url) => Data::object([
            ("type", Data::text("image_url")),
            (
                "image_url",
                Data::object([("url", Data::Text(Arc::clone(url)))]),
            ),
        ]),
    }
}

fn call_data(call: &ToolCall) -> Data {
    Data::object([
        ("id", Data::Text(Arc::clone(&call.id))),
        ("name", Data::Text(Arc::clone(&call.name))),
        ("arguments", call.arguments.clone()),
    ])
}

/// A short text without line ends; often empty.
fn text() -> impl Strategy<Value = Arc<str>> {
    "[a-cé\"]{0,3}".prop_map(Arc::from)
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![text().prop_map(Part::Text), text().prop_map(Part::Image),]
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        3 => text().prop_map(Content::Text),
        1 => vec(part(), 1..3).prop_map(Content::Parts),
    ]
}

fn message(role: Role) -> impl Strategy<Value = Message> {
    content().prop_map(move |content| Message {
        content,
        ..Message::text(role, "")
    })
}

/// An assistant that calls, and the results in any order. The ids are unique in the batch.
fn batch() -> impl Strategy<Value = Vec<Message>> {
    let order = (1..4_usize).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle());
    let arguments = prop_oneof![
        Just(Data::empty()),
        text().prop_map(|text| Data::object([("a", Data::Text(text))])),
    ];
    (
        message(Role::Assistant),
        order,
        arguments,
        message(Role::Tool),
    )
        .prop_map(|(mut assistant, order, arguments, result)| {
            assistant.tool_calls = (0..order.len())
                .map(|id| ToolCall {
                    arguments: arguments.clone(),
                    ..call(&id.to_string())
                })
                .collect();
            let results = order.into_iter().map(|id| Message {
                tool_call_id: Some(id.to_string().into()),
                ..result.clone()
            });
            std::iter::once(assistant.clone()).chain(results).collect()
        })
}

/// The leading system records: one of any kind, or plain ones.
fn systems() -> impl Strategy<Value = Vec<Message>> {
    let plain = text().prop_map(|text| Message::text(Role::System, text));
    prop_oneof![vec(message(Role::System), 0..2), vec(plain, 0..4)]
}

/// Makes ids unique over the batches of a list.
fn number((at, mut block): (usize, Vec<Message>)) -> Vec<Message> {
    let unique = |id: &Arc<str>| Arc::from(format!("{at}.{id}"));
    for message in &mut block {
        message.tool_call_id = message.tool_call_id.as_ref().map(unique);
        for call in &mut message.tool_calls {
            call.id = unique(&call.id);
        }
    }
    block
}

/// A list that keeps M37; never empty.
pub(super) fn list() -> impl Strategy<Value = Vec<Message>> {
    let block = prop_oneof![
        message(Role::User).prop_map(|message| vec![message]),
        message(Role::Assistant).prop_map(|message| vec![message]),
        batch(),
    ];
    (systems(), vec(block, 1..7)).prop_map(|(systems, blocks)| {
        let rest = blocks.into_iter().enumerate().flat_map(number);
        systems.into_iter().chain(rest).collect()
    })
}

/// A list that was edited up to twice, and may break M37 or not.
pub(super) fn edited_list() -> impl Strategy<Value = Vec<Message>> {
    let edits = vec(
        (
            0..6_u8,
            any::<prop::sample::Index>(),
            any::<prop::sample::Index>(),
        ),
        0..3,
    );
    (list(), edits).prop_map(|(mut list, edits)| {
        for (edit, from, to) in edits {
            if list.is_empty() {
                break;
            }
            let (from, to) = (from.index(list.len()), to.index(list.len()));
            match edit {
                0 => drop(list.remove(from)),
                1 => list.insert(to, list[from].clone()),
                2 => list.swap(from, to),
                3 => list[to].tool_call_id = list[from].tool_call_id.clone(),
                4 => list[to].tool_calls = list[from].tool_calls.clone(),
                _ => list[to].role = list[from].role,
            }
        }
        list
    })
}
