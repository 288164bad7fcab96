//! The token budget of a request: what it is thought to take, and whether that fits the model's
//! context window (spec M58 to M62).

use std::sync::Arc;

use super::message::{Content, Message, Part, Role, ToolCall};
use super::metrics::Usage;

/// The most tokens kept free for a reply whose length is not limited.
const DEFAULT_RESERVE: u64 = 8192;

/// Bytes that are taken for one token.
const BYTES_PER_TOKEN: u64 = 4;

/// What a message takes beside its content, in tokens.
const TOKENS_PER_MESSAGE: u64 = 4;

/// Whether a request of `count` tokens is refused before it is sent (spec M58).
pub(in crate::engine) fn overflows(count: u64, window: u32, max_tokens: Option<u32>) -> bool {
    count.saturating_add(reserve(window, max_tokens)) > u64::from(window)
}

/// The tokens kept free for the reply (spec M58).
fn reserve(window: u32, max_tokens: Option<u32>) -> u64 {
    let window = u64::from(window);
    let reply = max_tokens.map_or((window / 8).min(DEFAULT_RESERVE), u64::from);
    reply.min(window / 2)
}

/// The tokens that composed messages are thought to take (spec M59).
fn estimate(messages: &[Message]) -> u64 {
    let total = |sum: u64, message| sum.saturating_add(bytes(message));
    let bytes = messages.iter().fold(0, total);
    let count = count(messages.len());
    (bytes / BYTES_PER_TOKEN).saturating_add(count.saturating_mul(TOKENS_PER_MESSAGE))
}

/// The bytes of a message that count.
fn bytes(message: &Message) -> u64 {
    let content = match &message.content {
        Content::Text(text) => count(text.len()),
        Content::Parts(parts) => parts.iter().map(part_bytes).fold(0, u64::saturating_add),
    };
    let calls = message.tool_calls.iter().map(call_bytes);
    calls.fold(content, u64::saturating_add)
}

fn part_bytes(part: &Part) -> u64 {
    match part {
        Part::Text(text) => count(text.len()),
        Part::Image(_) => 0,
    }
}

/// The length of a call's wire form.
fn call_bytes(call: &ToolCall) -> u64 {
    // Keys are strings and floats finite, so writing to memory cannot fail.
    serde_json::to_vec(call).map_or(0, |json| count(json.len()))
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// What a chain remembers of its last loop round whose reply told its usage (spec M61).
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Memory {
    last: Option<Told>,
}

/// A round, and what it took.
#[derive(Clone, Debug)]
struct Told {
    sent: Arc<[Message]>,
    model: Arc<str>,
    total: u64,
}

impl Memory {
    /// Remembers a loop round whose reply told its usage: the composed messages sent, and the id
    /// of the model asked.
    pub(in crate::engine) fn remember(
        &mut self,
        sent: Arc<[Message]>,
        model: Arc<str>,
        usage: Usage,
    ) {
        let reasoning = u64::from(usage.reasoning_tokens.unwrap_or(0));
        let total = u64::from(usage.prompt_tokens)
            .saturating_add(u64::from(usage.completion_tokens))
            .saturating_sub(reasoning);
        self.last = Some(Told { sent, model, total });
    }

    /// The tokens that composed messages take with a model: counted from the round remembered
    /// where they continue it, else the estimate of all (spec M61).
    pub(in crate::engine) fn count(&self, composed: &[Message], model: &str) -> u64 {
        let told = self.last.as_ref().filter(|told| &*told.model == model);
        let counted = told.and_then(|told| match composed.strip_prefix(&*told.sent)? {
            [reply, new @ ..] if reply.role == Role::Assistant => {
                Some(told.total.saturating_add(estimate(new)))
            }
            _ => None,
        });
        counted.unwrap_or_else(|| estimate(composed))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::compose::compose;
    use super::super::sample;
    use super::*;

    fn user(bytes: usize) -> Message {
        Message::text(Role::User, "a".repeat(bytes))
    }

    fn assistant(text: &str) -> Message {
        Message::text(Role::Assistant, text)
    }

    fn usage(prompt_tokens: u32, completion_tokens: u32, reasoning_tokens: Option<u32>) -> Usage {
        Usage {
            prompt_tokens,
            completion_tokens,
            reasoning_tokens,
            ..Usage::default()
        }
    }

    fn remembering(sent: &[Message], usage: Usage) -> Memory {
        let mut memory = Memory::default();
        memory.remember(sent.into(), "m1".into(), usage);
        memory
    }

    #[test]
    fn the_checkpoints_hold() {
        // spec M60, M-C34
        assert_eq!(estimate(&[user(396)]), 103);
        assert!(!overflows(103, 123, Some(20)));
        assert!(overflows(103, 122, Some(20)));
        assert_eq!(reserve(4096, None), 512);
        assert_eq!(reserve(100, Some(500)), 50);
    }

    #[test]
    fn the_reserve_is_bounded() {
        // spec M58
        assert_eq!(reserve(65_535, None), 8191);
        assert_eq!(reserve(65_536, None), 8192);
        assert_eq!(reserve(u32::MAX, None), 8192);
        assert_eq!(reserve(15, None), 1);
        assert_eq!(reserve(1, None), 0);
        assert_eq!(reserve(1, Some(1)), 0);
        assert_eq!(reserve(u32::MAX, Some(u32::MAX)), u64::from(u32::MAX / 2));
        assert!(overflows(u64::MAX, u32::MAX, None));
    }

    #[test]
    fn bytes_are_divided_once() {
        // spec M59
        assert_eq!(estimate(&[]), 0);
        assert_eq!(estimate(&[user(3)]), 4);
        assert_eq!(estimate(&[user(3), user(3)]), 1 + 8);
        assert_eq!(estimate(&[Message::text(Role::User, "éé")]), 1 + 4);
    }

    #[test]
    fn what_counts_is_text_and_calls() {
        // spec M59, M50
        let messages = sample::messages(
            r#"[{"role":"user","content":[{"type":"text","text":"12345"},
                  {"type":"image_url","image_url":{"url":"a long address of an image"}},
                  {"type":"text","text":"678"}]},
                {"role":"assistant","content":"1234","tool_calls":[
                  {"id":"k","name":"t"},{"id":"j","name":"u","arguments":{"b":"\"","a":[1]}}]},
                {"role":"tool","content":"12345678","tool_call_id":"an id that does not count"}]"#,
        )
        .expect("records");
        let calls = [
            r#"{"id":"k","type":"function","function":{"name":"t","arguments":"{}"}}"#,
            r#"{"id":"j","type":"function","function":{"name":"u","arguments":"{\"a\":[1],\"b\":\"\\\"\"}"}}"#,
        ];
        let calls: usize = calls.iter().map(|call| call.len()).sum();
        let bytes = |at: usize| bytes(&messages[at]);
        assert_eq!([bytes(0), bytes(1), bytes(2)], [8, 4 + calls as u64, 8]);
        assert_eq!(estimate(&messages), (20 + calls as u64) / 4 + 12);
    }

    #[test]
    fn a_round_counts_from_what_the_last_one_told() {
        // spec M61, M-C35
        let sent = [user(400)];
        let memory = remembering(&sent, usage(1000, 50, Some(20)));
        let list = [user(400), assistant("a reply"), user(8)];
        let count = memory.count(&list, "m1");
        assert_eq!(count, 1036);
        assert_eq!(reserve(1180, None), 147);
        assert!(overflows(count, 1180, None));
        assert_eq!(reserve(1184, None), 148);
        assert!(!overflows(count, 1184, None));
        assert_eq!(memory.count(&list[..2], "m1"), 1030);
    }

    #[test]
    fn anything_else_is_estimated() {
        // spec M61
        let memory = remembering(&[user(8), assistant("x"), user(8)], usage(1000, 50, None));
        let sent = [user(8), assistant("x"), user(8)];
        let continued = |rest: &[Message]| [&sent[..], rest].concat();
        assert_eq!(memory.count(&continued(&[assistant("y")]), "m1"), 1050);
        let other = [
            continued(&[]),
            continued(&[user(8)]),
            sent[..2].to_vec(),
            [&sent[..2], &[user(9), assistant("y")]].concat(),
            [&[user(7)], &sent[1..], &[assistant("y")]].concat(),
            // The reply was merged into what was sent.
            [&sent[..1], &[assistant("xy")], &sent[2..]].concat(),
        ];
        for list in other {
            assert_eq!(memory.count(&list, "m1"), estimate(&list), "{list:?}");
        }
        let list = continued(&[assistant("y")]);
        assert_eq!(memory.count(&list, "m2"), estimate(&list));
        assert_eq!(Memory::default().count(&list, "m1"), estimate(&list));
    }

    #[test]
    fn a_batch_continues_a_round() {
        // spec M61: the assistant is in the total, its results are not
        let memory = remembering(&[user(8)], usage(10, 5, None));
        let list = sample::messages(
            r#"[{"role":"user","content":"aaaaaaaa"},
                {"role":"assistant","content":"","tool_calls":[{"id":"k","name":"t"}]},
                {"role":"tool","content":"12345678","tool_call_id":"k"}]"#,
        )
        .expect("records");
        assert_eq!(memory.count(&list, "m1"), 15 + 2 + 4);
    }

    #[test]
    fn a_later_round_replaces_the_memory() {
        // spec M61
        let mut memory = remembering(&[user(8)], usage(10, 5, None));
        memory.remember(
            [user(4)].as_slice().into(),
            "m2".into(),
            usage(7, 1, Some(9)),
        );
        let list = [user(8), assistant("x")];
        assert_eq!(memory.count(&list, "m1"), estimate(&list));
        assert_eq!(memory.count(&[user(4), assistant("x")], "m2"), 0);
        memory.remember(
            [user(4)].as_slice().into(),
            "m2".into(),
            usage(u32::MAX, u32::MAX, None),
        );
        let most = 2 * u64::from(u32::MAX);
        assert_eq!(memory.count(&[user(4), assistant("x")], "m2"), most);
    }

    proptest! {
        /// Apart from the one division, estimates add up (spec M59).
        #[test]
        fn estimates_add_up(a in sample::list(), b in sample::list()) {
            let apart = estimate(&a) + estimate(&b);
            let both = estimate(&[a, b].concat());
            prop_assert!(both == apart || both == apart + 1);
        }

        /// A round that continues the one before counts from its usage (spec M61).
        #[test]
        fn what_continues_a_round_is_counted_from_it(
            list in sample::list(),
            at in any::<prop::sample::Index>(),
            tokens in any::<(u32, u32)>(),
        ) {
            let composed = compose(&list);
            let (sent, rest) = composed.split_at(at.index(composed.len() + 1));
            let usage = usage(tokens.0, 0, Some(tokens.1));
            let total = u64::from(tokens.0.saturating_sub(tokens.1));
            let expected = match rest.first() {
                Some(reply) if reply.role == Role::Assistant => total + estimate(&rest[1..]),
                _ => estimate(&composed),
            };
            prop_assert_eq!(remembering(sent, usage).count(&composed, "m1"), expected);
        }

        /// A request is refused exactly when it leaves less than the reserve (spec M58).
        #[test]
        fn what_fits_beside_the_reserve_passes(window in 1_u32.., max_tokens: Option<u32>) {
            let free = u64::from(window) - reserve(window, max_tokens);
            prop_assert!(!overflows(free, window, max_tokens));
            prop_assert!(overflows(free + 1, window, max_tokens));
        }
    }
}
