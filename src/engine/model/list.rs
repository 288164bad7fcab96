//! Message lists: read from their data, and checked across their records (spec M33 to M37).

mod record;

use std::collections::HashSet;

use super::message::{Content, Message, Role, ToolCall};
use crate::lua::{Data, Failure};

/// The messages of a list, whose texts stay shared with it (spec M34 to M36).
///
/// The list is a table that was read as data: that it is a table, and one JSON can represent, was
/// found before. Absent and `null` are the same, and so are an empty array and an empty object.
///
/// # Errors
/// The first breach of M36, from `messages must not be empty` on.
pub(in crate::engine) fn read(list: &Data) -> Result<Vec<Message>, Failure> {
    if record::is_empty(list) {
        return Err(Failure::lua("messages must not be empty"));
    }
    let records = record::items(list)
        .ok_or_else(|| Failure::lua("messages must be an array of message tables"))?;
    let records = records.iter().enumerate();
    records
        .map(|(at, record)| record::message(record).map_err(|breach| breach_at(at, &breach)))
        .collect()
}

/// Checks what holds between the records of a list (spec M37).
///
/// # Errors
/// The first breach, in the order of M37.
pub(in crate::engine) fn check(messages: &[Message]) -> Result<(), Failure> {
    let is_system = |message: &&Message| message.role == Role::System;
    let leading = messages.iter().take_while(is_system).count();
    if leading > 1 {
        let is_parts = |message: &Message| matches!(message.content, Content::Parts(_));
        if let Some(at) = messages.iter().take(leading).position(is_parts) {
            let breach = "is a system message with content parts; \
                          only plain text system messages can be composed";
            return Err(breach_at(at, breach));
        }
    }
    let mut batches = Batches::default();
    for (at, message) in messages.iter().enumerate() {
        belongs(message, at < leading).map_err(|breach| breach_at(at, breach))?;
        match message.role {
            Role::System => {}
            Role::User => batches.close()?,
            Role::Assistant => {
                batches.close()?;
                batches.open(at, &message.tool_calls)?;
            }
            Role::Tool => batches.answer(at, message.tool_call_id.as_deref())?,
        }
    }
    batches.close()
}

/// The failure of a record; its position counts from 0.
fn breach_at(at: usize, breach: &str) -> Failure {
    Failure::lua(format!("messages[{}] {breach}", at + 1))
}

/// Whether a record may stand where it is, with the fields it has (spec M37 #1 to #3).
fn belongs(message: &Message, leading: bool) -> Result<(), &'static str> {
    if message.role != Role::Assistant && !message.tool_calls.is_empty() {
        return Err("sets tool_calls but is not an assistant message");
    }
    if message.role != Role::Tool && message.tool_call_id.is_some() {
        return Err("sets a tool_call_id but is not a tool message");
    }
    if message.role == Role::System && !leading {
        return Err("is a system message outside the leading system block");
    }
    Ok(())
}

/// The tool calls of a list up to a record (spec M37 #4 to #6).
#[derive(Default)]
struct Batches<'a> {
    /// The ids of all calls.
    seen: HashSet<&'a str>,
    /// The calls of the last batch, and the position of their record.
    last: (usize, &'a [ToolCall]),
    /// The ids of those that have no result yet; none when the batch is closed.
    pending: HashSet<&'a str>,
}

impl<'a> Batches<'a> {
    /// A record calls tools; it may call none.
    fn open(&mut self, at: usize, calls: &'a [ToolCall]) -> Result<(), Failure> {
        for call in calls {
            if !self.seen.insert(&call.id) {
                let breach = format!("tool call id {:?} duplicates an earlier tool call", call.id);
                return Err(breach_at(at, &breach));
            }
            self.pending.insert(&call.id);
        }
        self.last = (at, calls);
        Ok(())
    }

    /// A tool record answers a call.
    fn answer(&mut self, at: usize, id: Option<&str>) -> Result<(), Failure> {
        if id.is_some_and(|id| self.pending.remove(id)) {
            return Ok(());
        }
        let id = id.unwrap_or_default();
        let breach =
            format!("is an orphan tool record: no pending assistant tool call with id {id:?}");
        Err(breach_at(at, &breach))
    }

    /// No call of the last batch may be open any more.
    fn close(&self) -> Result<(), Failure> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let (at, calls) = self.last;
        let open = calls.iter().find(|call| self.pending.contains(&*call.id));
        open.map_or(Ok(()), |call| {
            let breach = format!("tool call {:?} has no tool result", call.id);
            Err(breach_at(at, &breach))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::message::Part;
    use super::super::sample;
    use super::*;

    /// What reading and checking a list says; nothing when it is right.
    fn says(json: &str) -> String {
        let checked = sample::messages(json).and_then(|messages| check(&messages));
        checked.err().map_or(String::new(), |failure| {
            assert_eq!(failure, Failure::lua(failure.message.clone()));
            failure.message
        })
    }

    #[test]
    fn a_list_is_a_sequence_with_something_in_it() {
        // spec M35, M36, M-C21
        assert_eq!(says("{}"), "messages must not be empty");
        assert_eq!(says("[]"), "messages must not be empty");
        for keyed in [r#"{"role":"user","content":"a"}"#, "1", "null"] {
            assert_eq!(says(keyed), "messages must be an array of message tables");
        }
    }

    #[test]
    fn the_first_bad_record_is_reported() {
        // spec M36, M37: no rule across records is asked before all records are right; M-C22
        let list = r#"[{"role":"tool","content":"","tool_call_id":"z"},{"role":"x"},7]"#;
        let role = r#"messages[2] role "x" is unknown; known roles: system, user, assistant, tool"#;
        assert_eq!(says(list), role);
        let calls = r#"[{"role":"user","content":"a"},
                        {"role":"assistant","content":"b","tool_calls":{}}]"#;
        assert_eq!(says(calls), "messages[2] tool_calls must be an array");
        let orphan = r#"[{"role":"tool","content":"","tool_call_id":"z"}]"#;
        assert_eq!(
            says(orphan),
            r#"messages[1] is an orphan tool record: no pending assistant tool call with id "z""#
        );
        assert_eq!(says(r#"[{"role":"user","content":""}]"#), "");
    }

    /// A list written short: records of the role's first letter, in upper case with parts; calls
    /// after `=`, the id of a tool record after `:`.
    fn short(list: &str) -> Vec<Message> {
        list.split_whitespace().map(record).collect()
    }

    fn record(word: &str) -> Message {
        let mut message = match &word[..1] {
            "s" | "S" => Message::text(Role::System, "s"),
            "u" => Message::text(Role::User, "u"),
            "a" => Message::text(Role::Assistant, "a"),
            _ => Message::text(Role::Tool, "t"),
        };
        if word.starts_with('S') {
            message.content = Content::Parts(vec![Part::Text("s".into())]);
        }
        if let Some((_, ids)) = word.split_once('=') {
            message.tool_calls = ids
                .chars()
                .map(|id| sample::call(&id.to_string()))
                .collect();
        }
        if let Some((_, id)) = word.split_once(':') {
            message.tool_call_id = Some(id.into());
        }
        message
    }

    #[test]
    fn every_rule_across_records_has_its_message() {
        // spec M37; M-C23 to M-C26
        let parts = "is a system message with content parts; only plain text system messages can \
                     be composed";
        let calls = "sets tool_calls but is not an assistant message";
        let id = "sets a tool_call_id but is not a tool message";
        let system = "is a system message outside the leading system block";
        let rows = [
            ("s S t:z", 2, parts.to_owned()),
            ("S S", 1, parts.to_owned()),
            ("s=k s S", 3, parts.to_owned()),
            ("u=k", 1, calls.to_owned()),
            ("u=k:k", 1, calls.to_owned()),
            ("a=k t=j:k", 2, calls.to_owned()),
            ("u s=k", 2, calls.to_owned()),
            ("u:k", 1, id.to_owned()),
            ("a=k:k", 1, id.to_owned()),
            ("a=k s:k", 2, id.to_owned()),
            ("u s", 2, system.to_owned()),
            ("s u S", 3, system.to_owned()),
            ("a=k s", 2, system.to_owned()),
            (
                "u a=k u s",
                2,
                r#"tool call "k" has no tool result"#.to_owned(),
            ),
            (
                "a=kj t:k a",
                1,
                r#"tool call "j" has no tool result"#.to_owned(),
            ),
            (
                "a=kj a=kj",
                1,
                r#"tool call "k" has no tool result"#.to_owned(),
            ),
            (
                "u a=kjl t:j",
                2,
                r#"tool call "k" has no tool result"#.to_owned(),
            ),
            (
                "u a=kk",
                2,
                r#"tool call id "k" duplicates an earlier tool call"#.to_owned(),
            ),
            (
                "a=k t:k u a=jk",
                4,
                r#"tool call id "k" duplicates an earlier tool call"#.to_owned(),
            ),
        ];
        for (list, at, breach) in rows {
            let failure = Failure::lua(format!("messages[{at}] {breach}"));
            assert_eq!(check(&short(list)), Err(failure), "{list}");
        }
        let orphans = [
            ("u a=k t:k t:k", 4, "k"),
            ("t:z", 1, "z"),
            ("a=k t:k u t:k", 4, "k"),
            ("a=k t:k a=j t:k", 4, "k"),
        ];
        for (list, at, id) in orphans {
            let failure = Failure::lua(format!(
                "messages[{at}] is an orphan tool record: no pending assistant tool call with id \
                 \"{id}\""
            ));
            assert_eq!(check(&short(list)), Err(failure), "{list}");
        }
    }

    #[test]
    fn what_keeps_the_rules_passes() {
        // spec M37
        for list in [
            "u",
            "S",
            "s s u",
            "S u a u",
            "a=kj t:j t:k a=l t:l a u",
            "a=k t:k",
            "",
        ] {
            assert_eq!(check(&short(list)), Ok(()), "{list}");
        }
    }

    #[test]
    fn ids_are_quoted_with_escapes() {
        let mut messages = short("a=k");
        messages[0].tool_calls[0].id = "\"\n".into();
        let failure = Failure::lua(r#"messages[1] tool call "\"\n" has no tool result"#);
        assert_eq!(check(&messages), Err(failure));
    }

    /// Whether a list keeps M37, said of whole windows instead of record by record.
    fn keeps_the_rules(list: &[Message]) -> bool {
        let leading = list.iter().take_while(|m| m.role == Role::System).count();
        let plain = |m: &Message| matches!(m.content, Content::Text(_));
        let calls: Vec<&str> = list
            .iter()
            .flat_map(|m| m.tool_calls.iter().map(|call| &*call.id))
            .collect();
        let answered = |at: usize| {
            let count = list[at].tool_calls.len();
            let mut asked: Vec<&str> = list[at].tool_calls.iter().map(|c| &*c.id).collect();
            let mut told: Vec<&str> = list[at + 1..]
                .iter()
                .take(count)
                .filter_map(|m| m.tool_call_id.as_deref())
                .collect();
            asked.sort_unstable();
            told.sort_unstable();
            asked == told
        };
        (leading < 2 || list[..leading].iter().all(plain))
            && list.iter().enumerate().all(|(at, m)| {
                (m.tool_calls.is_empty() || m.role == Role::Assistant)
                    && (m.tool_call_id.is_some() == (m.role == Role::Tool))
                    && (m.role != Role::System || at < leading)
                    && answered(at)
            })
            && (1..calls.len()).all(|at| !calls[..at].contains(&calls[at]))
            && list.iter().filter(|m| m.role == Role::Tool).count() == calls.len()
    }

    proptest! {
        /// Lists that keep the rules pass.
        #[test]
        fn right_lists_pass(list in sample::list()) {
            prop_assert!(keeps_the_rules(&list));
            prop_assert_eq!(check(&list), Ok(()));
        }

        /// Of lists with a few edits, those pass that keep the rules (spec M37).
        #[test]
        fn exactly_right_lists_pass(list in sample::edited_list()) {
            prop_assert_eq!(check(&list).is_ok(), keeps_the_rules(&list));
        }

        /// Records are read as the messages they were written from (spec M34).
        #[test]
        fn records_read_back(list in sample::list()) {
            let records: Vec<Data> = list.iter().map(sample::record).collect();
            prop_assert_eq!(read(&Data::list(records)), Ok(list));
        }
    }
}
