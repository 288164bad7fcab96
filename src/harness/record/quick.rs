//! Reads answers that are written as this engine writes them, and are of the kinds that come by the
//! thousand, at a fraction of what it takes to read any line (spec R21).

use super::json::read_shallow;
use super::text::is_plain;
use super::{answer, write};
use crate::engine::store::StoreValue;
use crate::engine::{Answer, EffectId};

/// An answer that was taken, as its line has it.
pub(in crate::harness) struct Quick<'a> {
    pub(in crate::harness) task: &'a str,
    pub(in crate::harness) seq: u32,
    pub(in crate::harness) id: EffectId,
    pub(in crate::harness) at: u64,
    pub(in crate::harness) answer: Answer,
    /// Whether this engine, told all this, writes these very bytes.
    pub(in crate::harness) is_exact: bool,
}

/// The answer in a line; `None` for what any other reader of lines must look at.
pub(in crate::harness) fn answer(line: &str) -> Option<Quick<'_>> {
    let rest = line.strip_prefix(write::ANSWER)?;
    let (task, rest) = rest.split_once('"')?;
    is_plain(task).then_some(())?;
    let (seq, rest) = number(rest.strip_prefix(r#","seq":"#)?)?;
    let (id, rest) = number(rest.strip_prefix(r#","id":"#)?)?;
    let (at, rest) = number(rest.strip_prefix(r#","at":"#)?)?;
    let answer = rest.strip_prefix(r#","answer":"#)?.strip_suffix('}')?;
    let value = value(answer);
    Some(Quick {
        task,
        seq,
        id: EffectId(id),
        at,
        is_exact: value.is_some(),
        answer: value.or_else(|| reply(answer))?,
    })
}

/// What the store gave.
fn value(answer: &str) -> Option<Answer> {
    let value = answer.strip_prefix(r#"{"value":"#)?.strip_suffix('}')?;
    let value = match value {
        "null" => StoreValue::Null,
        "true" => StoreValue::Bool(true),
        "false" => StoreValue::Bool(false),
        text => {
            let text = text.strip_prefix('"')?.strip_suffix('"')?;
            is_plain(text).then(|| StoreValue::Text(text.to_owned()))?
        }
    };
    Some(Answer::Store(Ok(value)))
}

/// What a model said. Nothing in such a reply nests.
fn reply(answer: &str) -> Option<Answer> {
    answer.strip_prefix(r#"{"text":"#)?;
    let form: answer::ReplyForm = read_shallow(answer).ok()?;
    form.reply().ok().map(Box::new).map(Ok).map(Answer::Model)
}

/// A whole number as JSON has it, and what stands after it.
fn number<T: std::str::FromStr>(text: &str) -> Option<(T, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(digits);
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::super::{AnswerLine, Answered, Line};
    use super::*;

    #[test]
    fn what_is_read_quickly_is_what_any_reader_reads() {
        // spec R15, R21
        let line = |answer: &str| {
            format!(
                r#"{{"v":1,"t":"answer","task":"0.1","seq":9,"id":4,"at":17,"answer":{answer}}}"#
            )
        };
        let quick = [
            r#"{"value":null}"#,
            r#"{"value":true}"#,
            r#"{"value":false}"#,
            r#"{"value":""}"#,
            r#"{"value":"some text, more of it than goes at once: ä"}"#,
            r#"{"text":"said","model":"m"}"#,
            r#"{"text":"a\"b","finish_reason":"stop","model":"m","degraded":["x"]}"#,
        ];
        let slow = [
            r#"{"value":"a\nb"}"#,
            r#"{"value":["a"]}"#,
            r#"{"value": true}"#,
            r#"{"calls":[{"id":"c","name":"n","arguments":{}}],"model":"m"}"#,
            r#"{"output":"x"}"#,
            r#"{"fired":true}"#,
            r#""dropped""#,
        ];
        for (answer, is_quick) in quick
            .map(|answer| (answer, true))
            .into_iter()
            .chain(slow.map(|answer| (answer, false)))
        {
            let line = line(answer);
            let read = super::answer(&line);
            assert_eq!(read.is_some(), is_quick, "{line}");
            let Ok(Line::Answer(AnswerLine { id, at, answer, .. })) = Line::read(&line) else {
                panic!("{line}")
            };
            let Some(quick) = read else { continue };
            assert_eq!((quick.task, quick.seq), ("0.1", 9));
            assert_eq!((quick.id, quick.at), (id, at));
            if quick.is_exact {
                let (task, seq) = (quick.task, quick.seq);
                let mut again = Vec::new();
                let place = write::Place { task, seq, id };
                write::answer(&mut again, place, at, &quick.answer).expect("it has a form");
                assert_eq!(again, format!("{line}\n").into_bytes());
            }
            assert_eq!(Answered::Taken(quick.answer), answer);
        }
    }

    #[test]
    fn what_is_no_json_is_not_read_quickly() {
        let good =
            r#"{"v":1,"t":"answer","task":"0","seq":9,"id":4,"at":17,"answer":{"value":"x"}}"#;
        assert!(answer(good).is_some());
        for (from, to) in [
            ("\"seq\":9", "\"seq\":09"),
            ("\"seq\":9", "\"seq\":4294967296"),
            ("\"id\":4", "\"id\":18446744073709551616"),
            ("\"at\":17", "\"at\":"),
            ("\"at\":17", "\"at\":1.5"),
            ("\"0\"", "\"\u{1}\""),
            ("\"0\"", "\"\\u0030\""),
            ("\"x\"", "\"x\u{1f}\""),
            ("\"x\"", "\"x\"y\""),
            ("\"x\"", "\""),
            ("\"x\"}}", "\"x\"}} "),
            ("\"v\":1", "\"v\":2"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good);
            assert!(answer(&bad).is_none(), "{bad}");
        }
    }
}
