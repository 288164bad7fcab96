//! Reads answers that are written as this engine writes them, and are of the kinds that come by the
//! thousand, at a fraction of what it takes to read any line (spec R21).

use super::lines::Lines;
use super::place::ANSWER;
use super::rest::Rest;
use crate::engine::model::Reply;
use crate::engine::store::StoreValue;
use crate::engine::{Answer, EffectId};

/// An answer that was taken.
#[derive(Debug)]
pub(in crate::harness) struct Quick {
    pub(in crate::harness) id: EffectId,
    pub(in crate::harness) at: u64,
    pub(in crate::harness) answer: Answer,
    /// How long its line is, without its end.
    pub(in crate::harness) length: usize,
}

/// The answer to one of the effects without one, where a line of it comes next that is, byte for
/// byte, what this engine writes of it. `None` for what any other reader must look at.
#[inline]
pub(in crate::harness) fn answer(text: &[u8], open: &Lines) -> Option<Quick> {
    let mut rest = Rest(text);
    let (id, at) = place(&mut rest, open)?;
    let answer = match rest.takes(br#"{"value":"#) {
        true => Answer::Store(Ok(value(&mut rest)?)),
        false => Answer::Model(Ok(Box::new(reply(&mut rest)?))),
    };
    rest.take(b"}}\n")?;
    let length = text.len() - rest.0.len() - 1;
    Some(Quick {
        id,
        at,
        answer,
        length,
    })
}

/// Whose answer it is, and its moment.
#[inline]
fn place(rest: &mut Rest<'_>, open: &Lines) -> Option<(EffectId, u64)> {
    let mut line = *rest;
    if let Some((id, place)) = open.last()
        && let Some(at) = place.take(&mut line)
    {
        *rest = line;
        return Some((id, at));
    }
    line = *rest;
    line.take(ANSWER.as_bytes())?;
    line.until(b'"')?;
    line.take(br#","seq":"#)?;
    line.number()?;
    line.take(br#","id":"#)?;
    let id = EffectId(line.number()?);
    Some((id, open.get(id)?.take(rest)?))
}

/// What the store gave.
#[inline]
fn value(rest: &mut Rest<'_>) -> Option<StoreValue> {
    if rest.begins_with(b'"') {
        return rest.string().map(StoreValue::Text);
    }
    let words = [
        ("true", StoreValue::Bool(true)),
        ("false", StoreValue::Bool(false)),
        ("null", StoreValue::Null),
    ];
    let mut words = words.into_iter();
    words.find_map(|(word, value)| rest.takes(word.as_bytes()).then_some(value))
}

/// What a model said, and no more than a script says.
fn reply(rest: &mut Rest<'_>) -> Option<Reply> {
    rest.take(br#"{"text":"#)?;
    let text = rest.string()?;
    let finish_reason = match rest.takes(br#","finish_reason":"#) {
        true => Some(rest.string()?),
        false => None,
    };
    rest.take(br#","model":"#)?;
    let model = rest.string()?.into();
    Some(Reply {
        finish_reason,
        model,
        ..Reply::text(text, None)
    })
}

#[cfg(test)]
mod tests {
    use super::super::place::Place;
    use super::super::{AnswerLine, Answered, Line, write};
    use super::*;
    use crate::engine::{Effect, Issued, Item, Step};

    fn timer(task: &str, seq: u32, id: u64) -> Issued {
        Issued {
            id: EffectId(id),
            task: task.into(),
            seq,
            effect: Effect::Timer {
                timer: "t".into(),
                seconds: 1.0,
            },
        }
    }

    /// What is written of a run that has put out these timers, at the moment 17.
    fn open(effects: &[(&str, u32, u64)]) -> Lines {
        let effects = effects.iter().copied();
        let items = effects.map(|(task, seq, id)| Item::Effect(timer(task, seq, id)));
        let step = Step {
            items: items.collect(),
            withdrawn: Vec::new(),
            more: false,
            cancelled: None,
            outcome: None,
        };
        let mut lines = Lines::default();
        lines
            .step(&mut Vec::new(), &step, 17)
            .expect("they have a form");
        lines
    }

    fn line(answer: &str) -> String {
        format!(
            "{{\"v\":1,\"t\":\"answer\",\"task\":\"0.1\",\"seq\":9,\"id\":4,\"at\":17,\
             \"answer\":{answer}}}\n"
        )
    }

    #[test]
    fn what_is_read_quickly_is_what_any_reader_reads() {
        // spec R15, R21
        let quick = [
            r#"{"value":null}"#,
            r#"{"value":true}"#,
            r#"{"value":false}"#,
            r#"{"value":""}"#,
            r#"{"value":"some text, more of it than goes at once: ä\n\"\u001f\\"}"#,
            r#"{"text":"said","model":"m"}"#,
            r#"{"text":"a\"b","finish_reason":"stop","model":"m"}"#,
        ];
        let slow = [
            r#"{"value":["a"]}"#,
            r#"{"value": true}"#,
            r#"{"value":"\u0041"}"#,
            r#"{"value":"\u000a"}"#,
            r#"{"value":"a\/b"}"#,
            r#"{"text":"said","model":"m","degraded":["x"]}"#,
            r#"{"calls":[{"id":"c","name":"n","arguments":{}}],"model":"m"}"#,
            r#"{"output":"x"}"#,
            r#"{"fired":true}"#,
            r#""dropped""#,
        ];
        let all = quick.map(|answer| (answer, true)).into_iter();
        let all = all.chain(slow.map(|answer| (answer, false)));
        for ((text, is_quick), at) in all.flat_map(|one| [17, 1, 178].map(|at| (one, at))) {
            let line = line(text).replace(":17,", &format!(":{at},"));
            // It is of the effect that was put out last, or of one before it.
            for open in [open(&[("0.1", 9, 4)]), open(&[("0.1", 9, 4), ("0", 8, 5)])] {
                let read = answer(format!("{line}{line}").as_bytes(), &open);
                assert_eq!(read.is_some(), is_quick, "{line}");
                let Some(read) = read else { continue };
                assert_eq!((read.id, read.at), (EffectId(4), at));
                assert_eq!(read.length, line.len() - 1);
                let Ok(Line::Answer(AnswerLine { answer, .. })) = Line::read(line.trim_end())
                else {
                    panic!("{line}")
                };
                let mut place = Place::default();
                place.move_to(&timer("0.1", 9, 4), 0);
                let mut again = Vec::new();
                write::answer(&mut again, &place, at, &read.answer).expect("it has a form");
                assert_eq!(again, line.as_bytes());
                assert_eq!(Answered::Taken(read.answer), answer);
            }
        }
    }

    #[test]
    fn what_is_not_as_it_is_written_is_not_read_quickly() {
        let good = line(r#"{"value":"x"}"#);
        let open = open(&[("0.1", 9, 4), ("0.2", 7, 5), ("0.1", 90, 40)]);
        assert!(answer(good.as_bytes(), &open).is_some());
        for (from, to) in [
            ("\"seq\":9", "\"seq\":09"),
            ("\"seq\":9", "\"seq\":4294967296"),
            ("\"seq\":9", "\"seq\":7"),
            ("\"id\":4", "\"id\":18446744073709551616"),
            ("\"id\":4", "\"id\":3"),
            ("\"id\":4", "\"id\":5"),
            ("\"id\":4", "\"id\":40"),
            ("\"at\":17", "\"at\":"),
            ("\"at\":17", "\"at\":017"),
            ("\"at\":17", "\"at\":1.5"),
            ("\"at\":17", "\"at\":18446744073709551616"),
            ("\"0.1\"", "\"\u{1}\""),
            ("\"0.1\"", "\"\\u0030.1\""),
            ("\"0.1\"", "\"0.2\""),
            ("\"x\"", "\"x\u{1f}\""),
            ("\"x\"", "\"x\"y\""),
            ("\"x\"", "\""),
            ("\"x\"}}", "\"x\"}} "),
            ("\"x\"}}", "\"x\"}}\r"),
            ("\"v\":1", "\"v\":2"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good);
            assert!(answer(bad.as_bytes(), &open).is_none(), "{bad}");
        }
        for end in 0..good.len() {
            assert!(answer(&good.as_bytes()[..end], &open).is_none());
        }
        let odd = good.replace('x', "\u{fffd}").into_bytes();
        let odd: Vec<u8> = odd.into_iter().filter(|byte| *byte != 0xbf).collect();
        assert!(answer(&odd, &open).is_none());
    }
}
