//! A record of a message list, read from its data (spec M34 to M36).

use std::sync::Arc;

use super::super::message::{Content, Message, Part, Role, ToolCall};
use crate::lua::Data;

/// Reads a record; a breach of M36 is worded without the record's position.
pub(super) fn message(record: &Data) -> Result<Message, String> {
    if !is_table(record) {
        return Err("must be a message table".to_owned());
    }
    let role = role(record)?;
    let content = content(field(record, "content"))?;
    let tool_call_id = match field(record, "tool_call_id") {
        Some(Data::Text(id)) => Some(Arc::clone(id)),
        Some(_) => return Err("tool_call_id must be a string".to_owned()),
        None if role == Role::Tool => {
            return Err("is a tool message and must set a string tool_call_id".to_owned());
        }
        None => None,
    };
    let tool_calls = field(record, "tool_calls").map_or(Ok(Vec::new()), tool_calls)?;
    Ok(Message {
        role,
        content,
        tool_calls,
        tool_call_id,
    })
}

fn role(record: &Data) -> Result<Role, String> {
    let name = text(record, "role")
        .ok_or("role must be a string, one of: system, user, assistant, tool")?;
    Role::from_name(name).ok_or_else(|| {
        format!("role {name:?} is unknown; known roles: system, user, assistant, tool")
    })
}

fn content(content: Option<&Data>) -> Result<Content, String> {
    if let Some(Data::Text(text)) = content {
        return Ok(Content::Text(Arc::clone(text)));
    }
    let parts = content
        .and_then(items)
        .ok_or("content must be a string or a non-empty array of content parts")?;
    let parts = parts
        .iter()
        .enumerate()
        .map(|(at, data)| part(data).map_err(|breach| format!("content part {} {breach}", at + 1)));
    Ok(Content::Parts(parts.collect::<Result<_, _>>()?))
}

/// Reads a part; a breach is worded without the part's position.
fn part(part: &Data) -> Result<Part, String> {
    let name = text(part, "type").ok_or("must be a table with a string type field")?;
    match &**name {
        "text" => {
            let text =
                text(part, "text").ok_or("is a text part and must set a string text field")?;
            Ok(Part::Text(Arc::clone(text)))
        }
        "image_url" => {
            let url = field(part, "image_url")
                .and_then(|image| text(image, "url"))
                .ok_or(
                    "is an image_url part and must set an image_url table with a string url field",
                )?;
            Ok(Part::Image(Arc::clone(url)))
        }
        _ => Err(format!(
            "has unknown type {name:?}; known types: text, image_url"
        )),
    }
}

fn tool_calls(calls: &Data) -> Result<Vec<ToolCall>, String> {
    let calls = items(calls).ok_or("tool_calls must be an array")?;
    let calls = calls.iter().enumerate().map(|(at, call)| {
        tool_call(call).map_err(|breach| format!("tool_calls[{}] {breach}", at + 1))
    });
    calls.collect()
}

/// Reads a call; a breach is worded without the call's position.
fn tool_call(call: &Data) -> Result<ToolCall, &'static str> {
    if !is_table(call) {
        return Err("must be a table");
    }
    let id = text(call, "id").ok_or("must set a string id")?;
    let name = text(call, "name").ok_or("must set a string name")?;
    let arguments = match field(call, "arguments") {
        None => Data::empty(),
        Some(arguments) if is_empty(arguments) => Data::empty(),
        Some(arguments @ Data::Map(_)) => arguments.clone(),
        Some(_) => return Err("arguments must be a table"),
    };
    Ok(ToolCall {
        id: Arc::clone(id),
        name: Arc::clone(name),
        arguments,
    })
}

fn is_table(data: &Data) -> bool {
    matches!(data, Data::List(_) | Data::Map(_))
}

/// The items of a sequence: there is at least one (spec M35).
pub(super) fn items(data: &Data) -> Option<&[Data]> {
    match data {
        Data::List(items) if !items.is_empty() => Some(items),
        _ => None,
    }
}

/// Whether it is a table with nothing in it (spec M35).
pub(super) fn is_empty(data: &Data) -> bool {
    match data {
        Data::List(items) => items.is_empty(),
        Data::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

/// The value of a key, where it is not nil.
fn field<'a>(table: &'a Data, key: &str) -> Option<&'a Data> {
    table.get(key).filter(|value| **value != Data::Null)
}

/// The string of a key, where it is one.
fn text<'a>(table: &'a Data, key: &str) -> Option<&'a Arc<str>> {
    match table.get(key) {
        Some(Data::Text(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(json: &str) -> Data {
        Data::from_json(json).expect("JSON")
    }

    #[test]
    fn every_structure_check_has_its_message() {
        // spec M36, in its order; M-C22
        let role = "role must be a string, one of: system, user, assistant, tool";
        let content = "content must be a string or a non-empty array of content parts";
        let part = "content part 2 must be a table with a string type field";
        let text = "content part 2 is a text part and must set a string text field";
        let image = "content part 2 is an image_url part and must set an image_url table with a \
                     string url field";
        let rows = [
            ("7", "must be a message table"),
            ("null", "must be a message table"),
            ("{}", role),
            (r#"["user"]"#, role),
            (r#"{"role":null}"#, role),
            (r#"{"role":1}"#, role),
            (
                r#"{"role":"User"}"#,
                r#"role "User" is unknown; known roles: system, user, assistant, tool"#,
            ),
            (
                r#"{"role":"a\"\n"}"#,
                r#"role "a\"\n" is unknown; known roles: system, user, assistant, tool"#,
            ),
            (r#"{"role":"user"}"#, content),
            (r#"{"role":"user","content":null}"#, content),
            (r#"{"role":"user","content":3}"#, content),
            (r#"{"role":"user","content":[]}"#, content),
            (r#"{"role":"user","content":{}}"#, content),
            (r#"{"role":"user","content":{"type":"text"}}"#, content),
            (r#"{"role":"user","content":[OK,7]}"#, part),
            (r#"{"role":"user","content":[OK,["text"]]}"#, part),
            (r#"{"role":"user","content":[OK,{"type":1}]}"#, part),
            (
                r#"{"role":"user","content":[OK,{"type":"Text"}]}"#,
                r#"content part 2 has unknown type "Text"; known types: text, image_url"#,
            ),
            (r#"{"role":"user","content":[OK,{"type":"text"}]}"#, text),
            (
                r#"{"role":"user","content":[OK,{"type":"text","text":1}]}"#,
                text,
            ),
            (
                r#"{"role":"user","content":[OK,{"type":"image_url"}]}"#,
                image,
            ),
            (
                r#"{"role":"user","content":[OK,{"type":"image_url","image_url":"u"}]}"#,
                image,
            ),
            (
                r#"{"role":"user","content":[OK,{"type":"image_url","image_url":{"url":1}}]}"#,
                image,
            ),
            (
                r#"{"role":"user","content":"","tool_call_id":1,"tool_calls":1}"#,
                "tool_call_id must be a string",
            ),
            (
                r#"{"role":"tool","content":"","tool_call_id":1}"#,
                "tool_call_id must be a string",
            ),
            (
                r#"{"role":"tool","content":"","tool_calls":1}"#,
                "is a tool message and must set a string tool_call_id",
            ),
            (
                r#"{"role":"tool","content":"","tool_call_id":null}"#,
                "is a tool message and must set a string tool_call_id",
            ),
        ];
        for (record, breach) in rows {
            let record = record.replace("OK", r#"{"type":"text","text":""}"#);
            assert_eq!(message(&data(&record)), Err(breach.to_owned()), "{record}");
        }
    }

    #[test]
    fn every_check_of_a_call_has_its_message() {
        // spec M36, M-C22
        let rows = [
            ("[]", "tool_calls must be an array"),
            ("{}", "tool_calls must be an array"),
            ("7", "tool_calls must be an array"),
            (r#"{"id":"k"}"#, "tool_calls must be an array"),
            ("[OK,7]", "tool_calls[2] must be a table"),
            ("[OK,{}]", "tool_calls[2] must set a string id"),
            ("[OK,[1]]", "tool_calls[2] must set a string id"),
            (r#"[OK,{"id":1}]"#, "tool_calls[2] must set a string id"),
            (r#"[OK,{"id":"k"}]"#, "tool_calls[2] must set a string name"),
            (
                r#"[OK,{"id":"k","name":[]}]"#,
                "tool_calls[2] must set a string name",
            ),
            (
                r#"[OK,{"id":"k","name":"t","arguments":"{}"}]"#,
                "tool_calls[2] arguments must be a table",
            ),
            (
                r#"[OK,{"id":"k","name":"t","arguments":[1]}]"#,
                "tool_calls[2] arguments must be a table",
            ),
        ];
        for (calls, breach) in rows {
            let calls = calls.replace("OK", r#"{"id":"j","name":"t"}"#);
            let record = format!(r#"{{"role":"assistant","content":"b","tool_calls":{calls}}}"#);
            assert_eq!(message(&data(&record)), Err(breach.to_owned()), "{calls}");
        }
    }

    #[test]
    fn a_record_is_read_with_its_fields_and_no_more() {
        // spec M34
        let user = data(
            r#"{"role":"user","tool_calls":null,"name":"x","content":[
                {"type":"text","text":"t","x":1},
                {"type":"image_url","image_url":{"url":"u","detail":"low"}}]}"#,
        );
        let expected = Message {
            content: Content::Parts(vec![Part::Text("t".into()), Part::Image("u".into())]),
            ..Message::text(Role::User, "")
        };
        assert_eq!(message(&user), Ok(expected));
        let tool = data(r#"{"role":"tool","content":"r","tool_call_id":"1","x":[{}]}"#);
        let expected = Message {
            tool_call_id: Some("1".into()),
            ..Message::text(Role::Tool, "r")
        };
        assert_eq!(message(&tool), Ok(expected));
    }

    #[test]
    fn absent_and_empty_arguments_are_the_same() {
        // spec M34, M35
        let arguments = [
            ("", Data::empty()),
            (r#","arguments":null"#, Data::empty()),
            (r#","arguments":{}"#, Data::empty()),
            (r#","arguments":[]"#, Data::empty()),
            (r#","arguments":{"a":[1]},"x":1"#, data(r#"{"a":[1]}"#)),
        ];
        for (written, arguments) in arguments {
            let call = data(&format!(r#"{{"id":"1","name":"n"{written}}}"#));
            let expected = ToolCall {
                id: "1".into(),
                name: "n".into(),
                arguments,
            };
            assert_eq!(tool_call(&call), Ok(expected), "{written}");
        }
    }

    #[test]
    fn texts_stay_shared() {
        let text: Arc<str> = "long".into();
        let record = Data::object([
            ("role", Data::text("user")),
            ("content", Data::Text(Arc::clone(&text))),
        ]);
        let Content::Text(read) = message(&record).expect("right").content else {
            panic!("not plain");
        };
        assert!(Arc::ptr_eq(&read, &text));
    }
}
