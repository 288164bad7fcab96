//! What a call came to: its output, or the tool's own failure (spec T168 to T171).

use serde_json::value::RawValue;

use super::message::Outcome;
use crate::engine::tool::{ToolClass, ToolFailure};
use crate::harness::shown::one_line;
use crate::lua::Data;

/// The code of refused arguments.
const INVALID_PARAMS: i64 = -32602;

/// The output of a call, as the reply to it has it. `shown` is the tool's whole name.
///
/// # Errors
/// The tool's own failure (spec T170).
pub fn output(shown: &str, structured: bool, outcome: Outcome) -> Result<String, ToolFailure> {
    let failure = |class, text: &str| Err(ToolFailure::new(class, format!("{shown}: {text}")));
    let result = match outcome {
        Ok(result) => CallResult::read(&result),
        Err(error) => {
            let message = one_line(&error.message);
            return match error.code {
                INVALID_PARAMS => failure(ToolClass::InvalidArguments, &message),
                code => failure(ToolClass::Backend, &format!("{message} (code {code})")),
            };
        }
    };
    let text = result.text();
    if result.is_error {
        let text = text.filter(|text| !text.is_empty());
        return match text {
            Some(text) => failure(ToolClass::Backend, &one_line(&text)),
            None => failure(ToolClass::Backend, "the tool reported an error"),
        };
    }
    let value = result.structured.as_ref().filter(|_| structured);
    match value.map(Data::to_json).or(text) {
        Some(output) => Ok(output),
        None => failure(ToolClass::Backend, "malformed result"),
    }
}

/// The parts of a result that matter.
#[derive(Default)]
struct CallResult {
    is_error: bool,
    /// The blocks, where `content` is an array.
    content: Option<Data>,
    /// The value, where there is one.
    structured: Option<Data>,
}

impl CallResult {
    /// Reads a result; one that cannot be read has no parts.
    fn read(result: &RawValue) -> Self {
        let result = Data::from_json(result.get()).unwrap_or_default();
        let part = |key| result.get(key).filter(|part| **part != Data::Null).cloned();
        Self {
            is_error: part("isError") == Some(Data::Bool(true)),
            content: part("content").filter(|content| matches!(content, Data::List(_))),
            structured: part("structuredContent"),
        }
    }

    /// The plain output (spec T168); `None` where there is neither an array nor a value.
    fn text(&self) -> Option<String> {
        let blocks = match &self.content {
            Some(Data::List(blocks)) => blocks.as_slice(),
            _ => &[],
        };
        if let Some((first, others)) = blocks.split_first() {
            let mut text = block(first);
            for other in others {
                text.push('\n');
                text.push_str(&block(other));
            }
            return Some(text);
        }
        match (&self.structured, &self.content) {
            (Some(value), _) => Some(value.to_json()),
            (None, Some(_)) => Some(String::new()),
            (None, None) => None,
        }
    }
}

/// A block's text.
fn block(block: &Data) -> String {
    let kind = text(block, "type").unwrap_or("unknown");
    let shown = match kind {
        "text" => text(block, "text").map(ToOwned::to_owned),
        "image" | "audio" => {
            let media = text(block, "mimeType").unwrap_or("of unknown type");
            let bytes = text(block, "data").map_or(0, decoded);
            Some(format!("[{kind} {media}, {bytes} bytes omitted]"))
        }
        "resource_link" => text(block, "uri").map(|uri| format!("[resource {uri}]")),
        "resource" => block.get("resource").and_then(resource),
        _ => None,
    };
    shown.unwrap_or_else(|| format!("[{kind} content omitted]"))
}

fn resource(resource: &Data) -> Option<String> {
    if let Some(text) = text(resource, "text") {
        return Some(text.to_owned());
    }
    let (uri, blob) = (text(resource, "uri")?, text(resource, "blob")?);
    Some(format!("[resource {uri}, {} bytes omitted]", decoded(blob)))
}

fn text<'a>(block: &'a Data, key: &str) -> Option<&'a str> {
    match block.get(key) {
        Some(Data::Text(text)) => Some(text),
        _ => None,
    }
}

/// How many bytes a Base64 text stands for.
fn decoded(base64: &str) -> usize {
    let is_digit = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b'=';
    let digits = base64.bytes().filter(is_digit).count();
    digits / 4 * 3 + digits % 4 * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::super::message::RpcError;
    use super::*;

    fn shown(structured: bool, result: &str) -> Result<String, (ToolClass, String)> {
        let result = RawValue::from_string(result.to_owned()).expect("JSON");
        output("kiln/fire", structured, Ok(result))
            .map_err(|failure| (failure.class, failure.message))
    }

    fn plain(result: &str) -> String {
        shown(false, result).expect("no failure")
    }

    #[test]
    fn blocks_are_joined() {
        // spec T168, case C54
        let result = r#"{"content":[
            {"type":"text","text":"a\nb","annotations":{}},
            {"type":"image","data":"AAAA","mimeType":"image/png"},
            {"type":"audio","data":"AAAAAA==","mimeType":"audio/wav"},
            {"type":"image"},
            {"type":"resource_link","uri":"file:///a","name":"a"},
            {"type":"resource","resource":{"uri":"file:///a","text":"inside"}},
            {"type":"resource","resource":{"uri":"file:///a","blob":"AAAAAAA="}},
            {"type":"resource","resource":{"blob":"AAAA"}},
            {"type":"resource"},
            {"type":"text"},
            {"type":"video","text":"x"},
            {"text":"x"},
            5
        ],"structuredContent":{"n":2}}"#;
        let expected = "a\nb\n[image image/png, 3 bytes omitted]\n[audio audio/wav, 4 bytes omitted]\n\
            [image of unknown type, 0 bytes omitted]\n[resource file:///a]\ninside\n\
            [resource file:///a, 5 bytes omitted]\n[resource content omitted]\n\
            [resource content omitted]\n[text content omitted]\n[video content omitted]\n\
            [unknown content omitted]\n[unknown content omitted]";
        assert_eq!(plain(result), expected);
        let image = r#"{"content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"}]}"#;
        assert_eq!(plain(image), "a\n[image image/png, 3 bytes omitted]");
    }

    #[test]
    fn a_value_stands_in_for_blocks() {
        // spec T168, T169, case C53
        assert_eq!(plain(r#"{"content":[]}"#), "");
        assert_eq!(plain(r#"{"content":[],"structuredContent":null}"#), "");
        for content in [
            "",
            r#""content":[],"#,
            r#""content":null,"#,
            r#""content":"no","#,
        ] {
            let result = format!(r#"{{{content}"structuredContent":{{"n": 2, "a": [1.0]}}}}"#);
            for structured in [true, false] {
                assert_eq!(
                    shown(structured, &result),
                    Ok(r#"{"a":[1.0],"n":2}"#.to_owned())
                );
            }
        }
        let both = r#"{"content":[{"type":"text","text":"two"}],"structuredContent":{"n":2}}"#;
        assert_eq!(shown(true, both), Ok(r#"{"n":2}"#.to_owned()));
        assert_eq!(plain(both), "two");
        assert_eq!(
            shown(true, r#"{"content":[{"type":"text","text":"2"}]}"#),
            Ok("2".to_owned())
        );
    }

    #[test]
    fn a_tools_failures_have_their_class_and_text() {
        // spec T170, T171, case C52
        let backend = |text: &str| Err((ToolClass::Backend, format!("kiln/fire: {text}")));
        let bad = r#"{"content":[{"type":"text","text":"bad\nglaze"}],"isError":true}"#;
        assert_eq!(shown(true, bad), backend("bad\\nglaze"));
        let value = r#"{"structuredContent":{"n":2},"isError":true}"#;
        assert_eq!(shown(true, value), backend("{\"n\":2}"));
        for silent in [
            r#"{"isError":true}"#,
            r#"{"content":[],"isError":true}"#,
            r#"{"content":[{"type":"text","text":""}],"isError":true}"#,
        ] {
            assert_eq!(shown(false, silent), backend("the tool reported an error"));
        }
        for malformed in ["null", "5", "{}", r#"{"content":{},"isError":"yes"}"#] {
            assert_eq!(
                shown(true, malformed),
                backend("malformed result"),
                "{malformed}"
            );
        }
        let deep = format!("{{\"content\":{}{}}}", "[".repeat(500), "]".repeat(500));
        assert_eq!(shown(true, &deep), backend("malformed result"));
        let failed = |code: i64, message: &str| {
            let message = message.to_owned();
            let failure = output("kiln/fire", true, Err(RpcError { code, message }));
            failure.map_err(|failure| (failure.class, failure.message))
        };
        let refused = (ToolClass::InvalidArguments, "kiln/fire: no\\tn".to_owned());
        assert_eq!(failed(-32602, "no\tn"), Err(refused));
        assert_eq!(failed(-32000, "down"), backend("down (code -32000)"));
        let long = "é".repeat(2000);
        assert_eq!(
            failed(1, &long),
            backend(&format!("{} (code 1)", "é".repeat(1000)))
        );
    }
}
