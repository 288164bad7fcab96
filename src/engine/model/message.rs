//! The messages of a round, in their wire form (spec M34, M49, M50, M64).

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::lua::Data;

/// Who a message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `system`
    System,
    /// `user`
    User,
    /// `assistant`
    Assistant,
    /// `tool`
    Tool,
}

const ROLES: [(Role, &str); 4] = [
    (Role::System, "system"),
    (Role::User, "user"),
    (Role::Assistant, "assistant"),
    (Role::Tool, "tool"),
];

impl Role {
    /// The role's name, as lists and the wire write it.
    pub fn name(self) -> &'static str {
        ROLES
            .iter()
            .find(|(role, _)| *role == self)
            .map_or("", |(_, name)| name)
    }

    /// The role of an exact name.
    pub fn from_name(name: &str) -> Option<Self> {
        ROLES
            .iter()
            .find(|(_, n)| *n == name)
            .map(|(role, _)| *role)
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who it is from.
    pub role: Role,
    /// What it says.
    pub content: Content,
    /// The calls of an assistant that calls tools.
    pub tool_calls: Vec<ToolCall>,
    /// The call that a tool message answers.
    pub tool_call_id: Option<Arc<str>>,
}

impl Message {
    /// A message that is plain text.
    pub fn text(role: Role, text: impl Into<Arc<str>>) -> Self {
        Self {
            role,
            content: Content::Text(text.into()),
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }
}

/// What a message says.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(Arc<str>),
    /// Parts, at least one.
    Parts(Vec<Part>),
}

impl Content {
    /// The texts it holds, joined by newlines.
    pub fn joined(&self) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            Self::Parts(parts) => {
                let texts = parts.iter().filter_map(|part| match part {
                    Part::Text(text) => Some(&**text),
                    Part::Image(_) => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// `text`
    Text(Arc<str>),
    /// `image_url`, with the image's URL.
    Image(Arc<str>),
}

/// A model's call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Tells it from the other calls of its conversation.
    pub id: Arc<str>,
    /// The name the tool was offered under.
    pub name: Arc<str>,
    /// Its arguments, an object.
    pub arguments: Data,
}

impl ToolCall {
    /// The call as message lists and events have it.
    pub fn record(&self) -> Data {
        Data::object([
            ("id", Data::Text(self.id.clone())),
            ("name", Data::Text(self.name.clone())),
            ("arguments", self.arguments.clone()),
        ])
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", self.role.name())?;
        map.serialize_entry("content", &self.content)?;
        if !self.tool_calls.is_empty() {
            map.serialize_entry("tool_calls", &self.tool_calls)?;
        }
        if let Some(id) = &self.tool_call_id {
            map.serialize_entry("tool_call_id", &**id)?;
        }
        map.end()
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Parts(parts) => serializer.collect_seq(parts),
        }
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Url<'a> {
            url: &'a str,
        }
        let mut map = serializer.serialize_map(Some(2))?;
        match self {
            Self::Text(text) => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", &**text)?;
            }
            Self::Image(url) => {
                map.serialize_entry("type", "image_url")?;
                map.serialize_entry("image_url", &Url { url })?;
            }
        }
        map.end()
    }
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Function<'a> {
            name: &'a str,
            arguments: String,
        }
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("id", &*self.id)?;
        map.serialize_entry("type", "function")?;
        let function = Function {
            name: &self.name,
            arguments: self.arguments.to_json(),
        };
        map.serialize_entry("function", &function)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_their_wire_form() {
        // spec M50, M64
        let call = ToolCall {
            id: "c1".into(),
            name: "echo".into(),
            arguments: Data::object([("b", Data::Int(1)), ("a", Data::Null)]),
        };
        let messages = [
            Message {
                tool_calls: vec![call],
                ..Message::text(Role::Assistant, "")
            },
            Message {
                tool_call_id: Some("c1".into()),
                ..Message::text(Role::Tool, "r")
            },
            Message {
                content: Content::Parts(vec![Part::Text("t".into()), Part::Image("u".into())]),
                ..Message::text(Role::User, "")
            },
        ];
        let wire = serde_json::to_string(&messages).expect("serializes");
        assert_eq!(
            wire,
            r#"[{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"echo","arguments":"{\"a\":null,\"b\":1}"}}]},"#
                .to_owned()
                + r#"{"role":"tool","content":"r","tool_call_id":"c1"},"#
                + r#"{"role":"user","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"u"}}]}]"#
        );
    }
}
