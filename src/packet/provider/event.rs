//! What happens in a session, and how that is written (spec P116, P126).

use serde_json::{Map, Value, json};

/// The most characters of a message in a compact line.
const COMPACT_MESSAGE: usize = 120;

/// Something that happened in a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// It began.
    RunStarted {
        /// The model, if it is known.
        model: Option<String>,
        /// What a script calls the step, if it does.
        label: Option<String>,
    },
    /// A part of a message came.
    MessageStreamed {
        /// The part.
        text: String,
    },
    /// A message is whole.
    MessageReceived {
        /// The message.
        text: String,
    },
    /// A tool is called.
    ToolCallStarted {
        /// The tool.
        name: String,
        /// What it is called with, if that is known.
        input: Option<Value>,
    },
    /// A tool has answered.
    ToolCallCompleted {
        /// The tool.
        name: String,
        /// The answer.
        output: String,
    },
    /// A tool has failed.
    ToolCallFailed {
        /// The tool.
        name: String,
        /// What it said.
        output: String,
    },
    /// Tokens were counted.
    TokenUsageUpdated {
        /// Tokens read.
        input: Option<u64>,
        /// Tokens written.
        output: Option<u64>,
        /// What they cost, in US dollars.
        cost_usd: Option<f64>,
    },
    /// It ended well.
    RunCompleted {
        /// Why it ended, such as `end_turn`.
        stop_reason: Option<String>,
    },
    /// It failed.
    RunFailed {
        /// How.
        message: String,
    },
    /// Something failed in it.
    ErrorOccurred {
        /// What.
        message: String,
    },
    /// It was cancelled.
    RunCancelled,
    /// Something else, which only full logs hold.
    Other {
        /// What kind.
        name: String,
        /// What is known of it.
        data: Value,
    },
}

impl Event {
    /// The type, as full logs name it.
    pub fn name(&self) -> &str {
        self.code().0
    }

    /// The name and the compact code.
    fn code(&self) -> (&str, &'static str) {
        match self {
            Self::RunStarted { .. } => ("run_started", "rs"),
            Self::MessageStreamed { .. } => ("message_streamed", "ms"),
            Self::MessageReceived { .. } => ("message_received", "mr"),
            Self::ToolCallStarted { .. } => ("tool_call_started", "ts"),
            Self::ToolCallCompleted { .. } => ("tool_call_completed", "tc"),
            Self::ToolCallFailed { .. } => ("tool_call_failed", "tf"),
            Self::TokenUsageUpdated { .. } => ("token_usage_updated", "tu"),
            Self::RunCompleted { .. } => ("run_completed", "rc"),
            Self::RunFailed { .. } => ("run_failed", "rf"),
            Self::ErrorOccurred { .. } => ("error_occurred", "er"),
            Self::RunCancelled => ("run_cancelled", "rx"),
            Self::Other { name, .. } => (name, ""),
        }
    }

    /// The event in short codes, at a moment in milliseconds since the Unix epoch; `None` for one
    /// that only full logs hold.
    pub fn compact(&self, at_ms: i64) -> Option<Value> {
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                out.insert(key.to_owned(), value);
            }
        };
        match self {
            Self::Other { .. } => return None,
            Self::RunStarted { model, .. } => put("m", json!(model)),
            Self::MessageStreamed { text } => put("l", json!(text.len())),
            Self::MessageReceived { .. } | Self::RunCancelled => {}
            Self::ToolCallStarted { name, .. } => put("n", json!(name)),
            Self::ToolCallCompleted { name, output } | Self::ToolCallFailed { name, output } => {
                put("n", json!(name));
                put("l", json!(output.len()));
            }
            Self::TokenUsageUpdated {
                input,
                output,
                cost_usd,
            } => {
                put("i", json!(input));
                put("o", json!(output));
                put("$", json!(cost_usd));
            }
            Self::RunCompleted { stop_reason } => {
                put("sr", json!(stop_reason.as_deref().map(short_reason)));
            }
            Self::RunFailed { message } | Self::ErrorOccurred { message } => {
                put("x", json!(short_message(message)));
            }
        }
        put("t", json!(self.code().1));
        Some(json!({"t": at_ms, "e": out}))
    }

    /// The event in full. `session_id` and `run_id` are left out where they are not known.
    pub fn full(&self, at: &str, session_id: Option<&str>, run_id: Option<&str>) -> Value {
        let mut out = Map::new();
        out.insert("ts".to_owned(), json!(at));
        out.insert("type".to_owned(), json!(self.name()));
        out.insert("data".to_owned(), without_nulls(self.data()));
        for (key, value) in [("session_id", session_id), ("run_id", run_id)] {
            if let Some(value) = value {
                out.insert(key.to_owned(), json!(value));
            }
        }
        Value::Object(out)
    }

    fn data(&self) -> Value {
        match self {
            Self::RunStarted { model, label } => json!({"model": model, "label": label}),
            Self::MessageStreamed { text } | Self::MessageReceived { text } => {
                json!({"text": text})
            }
            Self::ToolCallStarted { name, input } => json!({"name": name, "input": input}),
            Self::ToolCallCompleted { name, output } | Self::ToolCallFailed { name, output } => {
                json!({"name": name, "output": output})
            }
            Self::TokenUsageUpdated {
                input,
                output,
                cost_usd,
            } => json!({"input": input, "output": output, "cost_usd": cost_usd}),
            Self::RunCompleted { stop_reason } => json!({"stop_reason": stop_reason}),
            Self::RunFailed { message } | Self::ErrorOccurred { message } => {
                json!({"message": message})
            }
            Self::RunCancelled => json!({}),
            Self::Other { data, .. } => data.clone(),
        }
    }
}

fn short_reason(reason: &str) -> &str {
    match reason {
        "end_turn" => "end",
        "tool_use" => "tool",
        other => other,
    }
}

fn short_message(message: &str) -> String {
    match message.char_indices().nth(COMPACT_MESSAGE) {
        Some((at, _)) => format!("{}...", message.get(..at).unwrap_or_default()),
        None => message.to_owned(),
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of P116.
    #[test]
    fn events_are_written_in_short_codes() {
        let text = || "héllo".to_owned();
        let compact = |event: Event| event.compact(7).map(|line| line["e"].clone());
        for (event, expected) in [
            (
                Event::RunStarted {
                    model: Some("m1".to_owned()),
                    label: Some("l".to_owned()),
                },
                json!({"t": "rs", "m": "m1"}),
            ),
            (
                Event::MessageStreamed { text: text() },
                json!({"t": "ms", "l": 6}),
            ),
            (Event::MessageReceived { text: text() }, json!({"t": "mr"})),
            (
                Event::ToolCallStarted {
                    name: "n".to_owned(),
                    input: Some(json!({})),
                },
                json!({"t": "ts", "n": "n"}),
            ),
            (
                Event::ToolCallFailed {
                    name: "n".to_owned(),
                    output: text(),
                },
                json!({"t": "tf", "n": "n", "l": 6}),
            ),
            (
                Event::TokenUsageUpdated {
                    input: Some(3),
                    output: Some(4),
                    cost_usd: None,
                },
                json!({"t": "tu", "i": 3, "o": 4}),
            ),
            (
                Event::RunCompleted {
                    stop_reason: Some("end_turn".to_owned()),
                },
                json!({"t": "rc", "sr": "end"}),
            ),
            (
                Event::RunFailed {
                    message: "é".repeat(121),
                },
                json!({"t": "rf", "x": format!("{}...", "é".repeat(120))}),
            ),
            (Event::RunCancelled, json!({"t": "rx"})),
        ] {
            assert_eq!(compact(event), Some(expected));
        }
        let other = Event::Other {
            name: "section_entered".to_owned(),
            data: json!({"a": 1}),
        };
        assert_eq!(other.compact(7), None);
        let full = other.full("now", None, Some("r"));
        let expected =
            json!({"ts": "now", "type": "section_entered", "data": {"a": 1}, "run_id": "r"});
        assert_eq!(full, expected);
    }
}
