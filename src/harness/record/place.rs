//! How the lines of an effect begin.

use std::sync::Arc;

use super::line::START;
use super::rest::Rest;
use super::text::{add, number, raw};
use crate::engine::{EffectId, Issued};

/// How the line of an answer begins.
pub(in crate::harness) const ANSWER: &str = r#"{"v":1,"t":"answer","task":""#;

/// What follows the moment in it.
const TAKEN: &str = r#","answer":"#;

/// Where the word stands, from the beginning and back from the end, that an effect's line has another
/// one for. Both are equally long.
const FIRST: usize = START.len();
const SECOND: usize = r#"answer":"#.len();
const WORD: &[u8; 6] = b"effect";

/// The beginning of the lines of an effect and of its answer, which takes the most time of a line: its
/// task, its number, its id and its moment. It is put together once for both, as the answer's has it.
#[derive(Debug, Default)]
pub(in crate::harness) struct Place {
    text: Vec<u8>,
    task: Arc<str>,
    seq: u32,
    /// Where the digits of its number end.
    seq_end: usize,
    id: EffectId,
    id_end: usize,
    /// How much of it stands before the moment.
    stem: usize,
    /// The moment of the effect.
    at: u64,
}

impl Place {
    /// Makes it that of an effect which is put out at that moment, from which it nearly always
    /// differs in a digit or two.
    #[inline]
    pub(super) fn move_to(&mut self, issued: &Issued, at: u64) {
        if !self.add(issued) {
            self.make(issued);
        }
        if self.at != at || self.text.len() == self.stem {
            self.text.truncate(self.stem);
            number(&mut self.text, at);
            raw(&mut self.text, TAKEN);
            self.at = at;
        }
    }

    /// Makes it that of a later effect of the same task. Whether it could.
    #[inline]
    fn add(&mut self, issued: &Issued) -> bool {
        let by = (
            issued.seq.checked_sub(self.seq),
            issued.id.0.checked_sub(self.id.0),
        );
        let (true, (Some(seq), Some(id))) = (Arc::ptr_eq(&self.task, &issued.task), by) else {
            return false;
        };
        self.seq = issued.seq;
        self.id = issued.id;
        add(&mut self.text, self.seq_end, seq.into()) && add(&mut self.text, self.id_end, id)
    }

    #[cold]
    fn make(&mut self, issued: &Issued) {
        let text = &mut self.text;
        text.clear();
        raw(text, ANSWER);
        // A task's id has nothing that is escaped.
        raw(text, &issued.task);
        raw(text, r#"","seq":"#);
        number(text, issued.seq.into());
        self.seq_end = text.len();
        raw(text, r#","id":"#);
        number(text, issued.id.0);
        self.id_end = text.len();
        raw(text, r#","at":"#);
        self.stem = text.len();
        self.task = issued.task.clone();
        self.seq = issued.seq;
        self.id = issued.id;
    }

    /// Begins the line of the effect.
    #[inline]
    pub(super) fn begin_effect(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.text);
        for word in [start + FIRST, out.len().saturating_sub(SECOND)] {
            if let Some(word) = out.get_mut(word..word + WORD.len()) {
                word.copy_from_slice(WORD);
            }
        }
    }

    /// Begins the line of an answer that was taken at a moment.
    #[inline]
    pub(super) fn begin_answer(&self, out: &mut Vec<u8>, at: u64) {
        if at == self.at {
            return out.extend_from_slice(&self.text);
        }
        out.extend_from_slice(self.text.get(..self.stem).unwrap_or_default());
        number(out, at);
        raw(out, TAKEN);
    }

    /// Takes the beginning of the line of an answer, which has its moment.
    #[inline]
    pub(super) fn take(&self, line: &mut Rest<'_>) -> Option<u64> {
        if line.takes(&self.text) {
            return Some(self.at);
        }
        line.take(self.text.get(..self.stem)?)?;
        let at = line.number()?;
        line.take(TAKEN.as_bytes())?;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Effect;

    #[test]
    fn what_is_made_of_another_place_is_what_is_made_anew() {
        // spec R14: the same task and another one, by ones and by more, at other moments
        let tasks: [Arc<str>; 2] = ["0", "0.12"].map(Arc::from);
        let mut place = Place::default();
        let (mut seq, mut id) = (0, 0);
        for round in 0..3000_u32 {
            seq += [1, 2, 2, 3, 98, 1000][round as usize % 6];
            id += [1, 1, 1, 7][round as usize % 4];
            if round % 500 == 499 {
                seq = 5;
            }
            let issued = Issued {
                id: EffectId(id),
                task: tasks[usize::from(round / 7 % 5 == 0)].clone(),
                seq,
                effect: Effect::Timer {
                    timer: "t".into(),
                    seconds: 1.0,
                },
            };
            let at = u64::from(round / 3 % 120);
            place.move_to(&issued, at);
            let wanted = |word, at| {
                let task = &issued.task;
                format!(
                    r#"{{"v":1,"t":"{word}","task":"{task}","seq":{seq},"id":{id},"at":{at},"{word}":"#
                )
            };
            let mut written = b"before\n".to_vec();
            place.begin_effect(&mut written);
            let effect = wanted("effect", at);
            assert_eq!(
                String::from_utf8(written).expect("text"),
                format!("before\n{effect}")
            );
            for at in [at, at + 1] {
                let mut written = Vec::new();
                place.begin_answer(&mut written, at);
                let line = wanted("answer", at);
                assert_eq!(written, line.as_bytes());
                let mut rest = Rest(&written);
                assert_eq!(place.take(&mut rest), Some(at));
                assert_eq!(rest.0, b"");
            }
        }
    }
}
