//! Composition: what the messages of a list become in a request (spec M49).

use std::sync::Arc;

use super::message::{Content, Message, Part, Role};

/// The messages that are sent for a list that [`check`](super::list::check) passed (spec M49).
/// Texts stay shared, but for those that are joined; each is copied once at most.
pub(in crate::engine) fn compose(messages: &[Message]) -> Vec<Message> {
    let runs = messages.chunk_by(merges);
    runs.filter_map(|run| match run {
        [] => None,
        [alone] => Some(alone.clone()),
        // Only the last of a run can have calls.
        [.., last] => Some(Message {
            content: merged(run, separator(last.role)),
            ..last.clone()
        }),
    })
    .collect()
}

/// Whether two neighbours are sent as one message.
fn merges(first: &Message, second: &Message) -> bool {
    first.role == second.role
        && match first.role {
            Role::System | Role::User => true,
            Role::Assistant => first.tool_calls.is_empty(),
            Role::Tool => false,
        }
}

/// What stands between the texts of two messages that are sent as one.
fn separator(role: Role) -> &'static str {
    match role {
        Role::System | Role::User => "\n\n",
        Role::Assistant | Role::Tool => "",
    }
}

/// The content of messages that are sent as one. Plain ones are joined until the first that has
/// parts; from there on all are parts, and so is the separator.
fn merged(run: &[Message], separator: &'static str) -> Content {
    let plain = run.iter().map_while(|message| match &message.content {
        Content::Text(text) => Some(Arc::clone(text)),
        Content::Parts(_) => None,
    });
    let texts: Vec<Arc<str>> = plain.collect();
    let opening = texts.len();
    let text = joined(texts, separator);
    if opening == run.len() {
        return Content::Text(text);
    }
    let separator = Some(Arc::from(separator)).filter(has_text);
    let mut parts = Vec::new();
    parts.extend(Some(text).filter(has_text).map(Part::Text));
    for (at, message) in run.iter().enumerate().skip(opening) {
        if at > 0 {
            parts.extend(separator.clone().map(Part::Text));
        }
        match &message.content {
            Content::Text(text) => {
                parts.extend(Some(Arc::clone(text)).filter(has_text).map(Part::Text));
            }
            Content::Parts(more) => parts.extend_from_slice(more),
        }
    }
    Content::Parts(parts)
}

/// Texts as one; empty ones add no separator.
fn joined(mut texts: Vec<Arc<str>>, separator: &str) -> Arc<str> {
    texts.retain(has_text);
    match &texts[..] {
        [alone] => Arc::clone(alone),
        texts => texts.join(separator).into(),
    }
}

fn has_text(text: &Arc<str>) -> bool {
    !text.is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sample;
    use super::*;

    /// Records short: a role's first letter and a content, which is plain, or parts in brackets
    /// where `!` stands for an image.
    fn short(records: &[(&str, &str)]) -> Vec<Message> {
        let records = records.iter().map(|(role, content)| Message {
            content: short_content(content),
            ..Message::text(
                match *role {
                    "s" => Role::System,
                    "u" => Role::User,
                    _ => Role::Assistant,
                },
                "",
            )
        });
        records.collect()
    }

    fn short_content(content: &str) -> Content {
        let inside = content.strip_prefix('[').and_then(|c| c.strip_suffix(']'));
        let Some(inside) = inside else {
            return Content::Text(content.into());
        };
        let part = |part: &str| match part {
            "!" => Part::Image("!".into()),
            text => Part::Text(text.into()),
        };
        Content::Parts(inside.split(',').map(part).collect())
    }

    fn assert_sent(list: &[(&str, &str)], sent: &[(&str, &str)]) {
        assert_eq!(compose(&short(list)), short(sent), "{list:?}");
    }

    #[test]
    fn leading_systems_are_one() {
        // spec M49
        assert_sent(
            &[("s", "a"), ("s", "b"), ("u", "c")],
            &[("s", "a\n\nb"), ("u", "c")],
        );
        assert_sent(&[("s", "a"), ("s", ""), ("s", "b")], &[("s", "a\n\nb")]);
        assert_sent(&[("s", "[a,!]"), ("u", "b")], &[("s", "[a,!]"), ("u", "b")]);
    }

    #[test]
    fn plain_neighbours_are_joined() {
        // spec M49: an empty side adds neither text nor separator
        assert_sent(
            &[("u", "a"), ("u", "b"), ("u", "c")],
            &[("u", "a\n\nb\n\nc")],
        );
        assert_sent(
            &[("u", ""), ("u", "a"), ("u", ""), ("u", "b")],
            &[("u", "a\n\nb")],
        );
        assert_sent(&[("u", ""), ("u", "")], &[("u", "")]);
        assert_sent(&[("a", "x"), ("a", ""), ("a", "y")], &[("a", "xy")]);
        assert_sent(
            &[("u", "a"), ("a", "x"), ("u", "b")],
            &[("u", "a"), ("a", "x"), ("u", "b")],
        );
    }

    #[test]
    fn parts_stay_in_arrival_order() {
        // spec M49
        assert_sent(&[("u", "a"), ("u", "[!]")], &[("u", "[a,\n\n,!]")]);
        assert_sent(&[("u", ""), ("u", "[!]")], &[("u", "[\n\n,!]")]);
        assert_sent(&[("u", ""), ("u", ""), ("u", "[!]")], &[("u", "[\n\n,!]")]);
        assert_sent(&[("u", "[!]"), ("u", "[b,!]")], &[("u", "[!,\n\n,b,!]")]);
        assert_sent(
            &[
                ("u", "a"),
                ("u", "b"),
                ("u", "[!]"),
                ("u", "c"),
                ("u", ""),
                ("u", "d"),
            ],
            &[("u", "[a\n\nb,\n\n,!,\n\n,c,\n\n,\n\n,d]")],
        );
        assert_sent(
            &[("a", "x"), ("a", "[!]"), ("a", ""), ("a", "y")],
            &[("a", "[x,!,y]")],
        );
        assert_sent(&[("a", ""), ("a", "[!]")], &[("a", "[!]")]);
    }

    #[test]
    fn what_is_sent_of_a_mixed_list() {
        // M-C27
        assert_sent(
            &[
                ("u", ""),
                ("u", "a"),
                ("a", "x"),
                ("a", "y"),
                ("u", "[!]"),
                ("u", ""),
            ],
            &[("u", "a"), ("a", "xy"), ("u", "[!,\n\n]")],
        );
    }

    #[test]
    fn text_before_calls_is_sent_with_them() {
        // spec M49
        let list = sample::messages(
            r#"[{"role":"assistant","content":"a"},{"role":"assistant","content":"b"},
                {"role":"assistant","content":"c","tool_calls":[{"id":"1","name":"t"}]},
                {"role":"tool","content":"x","tool_call_id":"1"},
                {"role":"assistant","content":"","tool_calls":[{"id":"2","name":"t"},
                                                               {"id":"3","name":"t"}]},
                {"role":"tool","content":"y","tool_call_id":"3"},
                {"role":"tool","content":"z","tool_call_id":"2"},
                {"role":"assistant","content":"d"},{"role":"assistant","content":"e"}]"#,
        )
        .expect("records");
        let sent = sample::messages(
            r#"[{"role":"assistant","content":"abc","tool_calls":[{"id":"1","name":"t"}]},
                {"role":"tool","content":"x","tool_call_id":"1"},
                {"role":"assistant","content":"","tool_calls":[{"id":"2","name":"t"},
                                                               {"id":"3","name":"t"}]},
                {"role":"tool","content":"y","tool_call_id":"3"},
                {"role":"tool","content":"z","tool_call_id":"2"},
                {"role":"assistant","content":"de"}]"#,
        )
        .expect("records");
        assert_eq!(compose(&list), sent);
    }

    #[test]
    fn assistants_that_call_are_never_merged() {
        // spec M49
        let calling = |id: &str| Message {
            tool_calls: vec![sample::call(id)],
            ..Message::text(Role::Assistant, "a")
        };
        let list = [
            calling("1"),
            calling("2"),
            Message::text(Role::Assistant, "b"),
        ];
        assert_eq!(compose(&list), list);
    }

    #[test]
    fn a_text_that_is_not_joined_stays_shared() {
        let text: Arc<str> = "long".into();
        let list = [
            Message::text(Role::User, ""),
            Message::text(Role::User, Arc::clone(&text)),
            Message::text(Role::Assistant, Arc::clone(&text)),
        ];
        for message in compose(&list) {
            let Content::Text(sent) = message.content else {
                panic!("not plain");
            };
            assert!(Arc::ptr_eq(&sent, &text));
        }
    }

    /// Everything a list says in order, but for line ends: separators have no other character.
    fn said(messages: &[Message]) -> String {
        let mut said = String::new();
        for message in messages {
            match &message.content {
                Content::Text(text) => said.push_str(text),
                Content::Parts(parts) => parts.iter().for_each(|part| match part {
                    Part::Text(text) => said.push_str(text),
                    Part::Image(url) => said.push_str(&format!("<{url}>")),
                }),
            }
            let calls = message.tool_calls.iter().map(|call| &call.id);
            calls.for_each(|id| said.push_str(&format!("({id})")));
            said.extend(message.tool_call_id.as_deref());
        }
        said.replace('\n', "")
    }

    /// M49 record by record, each merged into the message before it.
    fn compose_slowly(messages: &[Message]) -> Vec<Message> {
        let mut sent: Vec<Message> = Vec::new();
        for next in messages {
            let separator = match (sent.last(), next.role) {
                (Some(last), Role::System | Role::User) if last.role == next.role => "\n\n",
                (Some(last), Role::Assistant)
                    if last.role == next.role && last.tool_calls.is_empty() =>
                {
                    ""
                }
                _ => {
                    sent.push(next.clone());
                    continue;
                }
            };
            let last = sent.last_mut().expect("one to merge with");
            last.content = match (&last.content, &next.content) {
                (Content::Text(a), Content::Text(b)) if a.is_empty() => Content::Text(b.clone()),
                (Content::Text(a), Content::Text(b)) if b.is_empty() => Content::Text(a.clone()),
                (Content::Text(a), Content::Text(b)) => {
                    Content::Text(format!("{a}{separator}{b}").into())
                }
                (a, b) => {
                    let mut parts = as_parts(a);
                    parts.extend(as_parts(&Content::Text(separator.into())));
                    parts.extend(as_parts(b));
                    Content::Parts(parts)
                }
            };
            last.tool_calls = next.tool_calls.clone();
        }
        sent
    }

    fn as_parts(content: &Content) -> Vec<Part> {
        match content {
            Content::Text(text) if text.is_empty() => Vec::new(),
            Content::Text(text) => vec![Part::Text(text.clone())],
            Content::Parts(parts) => parts.clone(),
        }
    }

    proptest! {
        /// Composition keeps all texts, images and calls in order (spec M49).
        #[test]
        fn nothing_is_lost_or_moved(list in sample::list()) {
            prop_assert_eq!(said(&compose(&list)), said(&list));
        }

        /// Merging runs at once is merging them record by record.
        #[test]
        fn runs_merge_as_pairs_do(list in sample::list()) {
            prop_assert_eq!(compose(&list), compose_slowly(&list));
        }

        /// What is composed has nothing left to merge, and still keeps M37.
        #[test]
        fn composing_again_changes_nothing(list in sample::list()) {
            let sent = compose(&list);
            prop_assert_eq!(super::super::list::check(&sent), Ok(()));
            prop_assert_eq!(&compose(&sent), &sent);
        }
    }
}
