//! The messages in a line of a server, and those sent to it: JSON-RPC 2.0 (spec T161).

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::lua::Data;

/// The most messages of a line.
const MOST_TOGETHER: usize = 1000;

/// What a request came to: the JSON of its result, which nothing has looked into yet, or an error.
pub type Outcome = Result<Box<RawValue>, RpcError>;

/// A message of a server.
#[derive(Clone, Debug)]
pub enum Message {
    /// The reply to a request.
    Reply {
        /// The request's id.
        id: u64,
        /// What it came to.
        outcome: Outcome,
    },
    /// A request to the host.
    Request {
        /// Its id, to be sent back as it is.
        id: Box<RawValue>,
        /// What is asked for.
        method: String,
    },
    /// Something the host is told.
    Notification {
        /// What it is about.
        method: String,
        /// The JSON of what it says.
        params: Option<Box<RawValue>>,
    },
    /// No message: not JSON, not JSON-RPC 2.0, or a reply to what nobody can have asked.
    Stray,
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// Its code; 0 where the server gave none.
    pub code: i64,
    /// Its message; `no message` where the server gave none, or an empty one.
    pub message: String,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: String,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    /// `null` is a result too.
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// The messages of an array, which must not be many.
struct Batch<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Batch<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Few;
        impl<'de> Visitor<'de> for Few {
            type Value = Vec<&'de RawValue>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an array of at most {MOST_TOGETHER} messages")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut batch = Vec::new();
                while let Some(message) = seq.next_element()? {
                    batch.push(message);
                    if batch.len() > MOST_TOGETHER {
                        return Err(A::Error::invalid_length(batch.len(), &self));
                    }
                }
                Ok(batch)
            }
        }
        deserializer.deserialize_seq(Few).map(Self)
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl Message {
    /// The messages in a line: one, or several where the line is an array of at most 1000. A blank
    /// line holds none. However much of a line is no message, that is said once.
    pub fn read(line: &[u8]) -> Vec<Self> {
        match line.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => Vec::new(),
            Some(b'[') => match serde_json::from_slice::<Batch>(line) {
                Ok(Batch(batch)) => {
                    let messages = batch
                        .iter()
                        .map(|message| Self::one(message.get().as_bytes()));
                    let mut messages: Vec<_> = messages.collect();
                    let mut strays = 0;
                    messages.retain(|message| {
                        strays += usize::from(matches!(message, Self::Stray));
                        !matches!(message, Self::Stray) || strays == 1
                    });
                    messages
                }
                Err(_) => vec![Self::Stray],
            },
            Some(_) => vec![Self::one(line)],
        }
    }

    fn one(text: &[u8]) -> Self {
        let Ok(envelope) = serde_json::from_slice::<Envelope>(text) else {
            return Self::Stray;
        };
        if envelope.jsonrpc != "2.0" {
            return Self::Stray;
        }
        let own_id = || envelope.id?.get().parse().ok();
        match envelope {
            Envelope {
                method: Some(method),
                id: Some(id),
                ..
            } => Self::Request {
                id: id.to_owned(),
                method,
            },
            Envelope {
                method: Some(method),
                params,
                ..
            } => Self::Notification {
                method,
                params: params.map(ToOwned::to_owned),
            },
            Envelope {
                error: Some(error), ..
            } => own_id().map_or(Self::Stray, |id| Self::Reply {
                id,
                outcome: Err(RpcError::read(error)),
            }),
            Envelope {
                result: Some(result),
                ..
            } => own_id().map_or(Self::Stray, |id| Self::Reply {
                id,
                outcome: Ok(result.to_owned()),
            }),
            _ => Self::Stray,
        }
    }
}

impl RpcError {
    fn read(error: &RawValue) -> Self {
        let error = Data::from_json(error.get()).unwrap_or_default();
        let code = match error.get("code") {
            Some(Data::Int(code)) => *code,
            _ => 0,
        };
        let message = match error.get("message") {
            Some(Data::Text(message)) if !message.is_empty() => message,
            _ => "no message",
        };
        Self {
            code,
            message: message.to_owned(),
        }
    }
}

#[derive(Serialize)]
struct Sent<'a, I, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<I>,
    #[serde(flatten)]
    body: Body<'a, P>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Body<'a, P> {
    Call { method: &'a str, params: P },
    Result { result: P },
    Error { error: Refusal },
}

#[derive(Serialize)]
struct Refusal {
    code: i64,
    message: &'static str,
}

/// A request's line.
pub(super) fn request(id: u64, method: &str, params: impl Serialize) -> Vec<u8> {
    line(&Sent {
        jsonrpc: "2.0",
        id: Some(id),
        body: Body::Call { method, params },
    })
}

/// A notification's line.
pub(super) fn notification(method: &str, params: impl Serialize) -> Vec<u8> {
    line(&Sent {
        jsonrpc: "2.0",
        id: None::<u64>,
        body: Body::Call { method, params },
    })
}

/// The line that answers a server's request (spec T164).
pub(super) fn answer(id: &RawValue, method: &str) -> Vec<u8> {
    let body = match method {
        "ping" => Body::Result {
            result: Data::empty(),
        },
        _ => Body::Error {
            error: Refusal {
                code: -32601,
                message: "Method not found",
            },
        },
    };
    line(&Sent {
        jsonrpc: "2.0",
        id: Some(id),
        body,
    })
}

fn line(message: &impl Serialize) -> Vec<u8> {
    // Keys are strings and floats finite, so writing to memory cannot fail.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Vec<String> {
        let messages = Message::read(line.as_bytes()).into_iter();
        let shown = messages.map(|message| match message {
            Message::Reply {
                id,
                outcome: Ok(result),
            } => format!("{id} = {result}"),
            Message::Reply {
                id,
                outcome: Err(error),
            } => {
                format!("{id} failed: {} ({})", error.message, error.code)
            }
            Message::Request { id, method } => format!("{id} asks {method}"),
            Message::Notification { method, params } => {
                format!(
                    "{method} {}",
                    params.map_or("-".into(), |params| params.to_string())
                )
            }
            Message::Stray => "stray".to_owned(),
        });
        shown.collect()
    }

    #[test]
    fn messages_are_told_apart() {
        // spec T161
        for (line, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{"a": [1]}}"#,
                r#"7 = {"a": [1]}"#,
            ),
            (
                r#" {"result":null,"error":null,"id":7,"jsonrpc":"2.0","more":{}} "#,
                "7 = null",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":[]}}"#,
                "1 failed: no (-32602)",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"message":""}}"#,
                "1 failed: no message (0)",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":5,"result":6}"#,
                "1 failed: no message (0)",
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a\n","method":"ping"}"#,
                r#""a\n" asks ping"#,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","params":{"x":1}}"#,
                r#"m {"x":1}"#,
            ),
            (r#"{"jsonrpc":"2.0","method":"m"}"#, "m -"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "m -"),
            (r#"{"jsonrpc":"2.0","id":"7","result":{}}"#, "stray"),
            (r#"{"jsonrpc":"2.0","id":-7,"result":{}}"#, "stray"),
            (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, "stray"),
            (r#"{"jsonrpc":"2.0","id":7}"#, "stray"),
            (r#"{"jsonrpc":"1.0","id":7,"result":{}}"#, "stray"),
            (r#"{"id":7,"result":{}}"#, "stray"),
            (r#"{"jsonrpc":"2.0","id":7,"result":{}} x"#, "stray"),
            (r#"{"jsonrpc":"2.0","id":7,"id":8,"result":{}}"#, "stray"),
            ("listening on port 80", "stray"),
            ("7", "stray"),
            ("[1", "stray"),
        ] {
            assert_eq!(shown(line), [expected], "{line}");
        }
        let two = r#"[{"jsonrpc":"2.0","id":7,"result":1},{"jsonrpc":"2.0","method":"m"},3]"#;
        assert_eq!(shown(two), ["7 = 1", "m -", "stray"]);
        let many = |count: usize| shown(&format!("[{}]", vec!["3"; count].join(",")));
        assert_eq!(many(MOST_TOGETHER), ["stray"]);
        let whole = vec![r#"{"jsonrpc":"2.0","method":"m"}"#; MOST_TOGETHER].join(",");
        assert_eq!(shown(&format!("[{whole}]")).len(), MOST_TOGETHER);
        assert_eq!(shown(&format!("[{whole},{whole}]")), ["stray"]);
        for nothing in ["", " \t\r", "[]"] {
            assert_eq!(shown(nothing), [""; 0], "{nothing}");
        }
        assert!(matches!(Message::read(b"{\xff}")[..], [Message::Stray]));
    }

    #[test]
    fn a_deep_result_is_still_a_reply() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let line = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{deep}}}"#);
        assert_eq!(shown(&line), [format!("7 = {deep}")]);
    }

    #[test]
    fn what_is_sent_is_one_line() {
        let text = |line: Vec<u8>| String::from_utf8(line).expect("text");
        let params = Data::object([("text", Data::text("a\nb"))]);
        assert_eq!(
            text(request(3, "tools/call", &params)),
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"text\":\"a\\nb\"}}\n"
        );
        assert_eq!(
            text(notification("n", Data::empty())),
            "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}\n"
        );
    }

    #[test]
    fn requests_are_answered() {
        // spec T164
        let id = RawValue::from_string("\"x\"".to_owned()).expect("JSON");
        let text = |method| String::from_utf8(answer(&id, method)).expect("text");
        assert_eq!(
            text("ping"),
            "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}\n"
        );
        assert_eq!(
            text("sampling/createMessage"),
            "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}\n"
        );
    }
}
