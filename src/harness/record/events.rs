//! The lines of events, which most lines of a record are.

use std::io;
use std::sync::Arc;

use super::text::add;
use super::write;
use crate::engine::Event;

/// How many kinds of them are kept, over the sections they are reported under.
const MOST: usize = 8;

/// Writes the lines of events. They differ from others of their kind and section in their coordinates
/// and in the fields of the kind alone, so the rest is kept.
#[derive(Debug, Default)]
pub(super) struct Events {
    head: Head,
    kept: Vec<Kept>,
    /// How many have made room for another.
    replaced: usize,
}

/// How a line begins, up to its number. The next one nearly always differs in a digit or two.
#[derive(Debug, Default)]
struct Head {
    text: Vec<u8>,
    task: Arc<str>,
    seq: u32,
}

impl Head {
    #[inline]
    fn of(&mut self, event: &Event) -> &[u8] {
        let by = event.seq.checked_sub(self.seq);
        let by = by.filter(|_| Arc::ptr_eq(&self.task, &event.task));
        let end = self.text.len();
        let has_moved = by.is_some_and(|by| add(&mut self.text, end, by.into()));
        self.seq = event.seq;
        if !has_moved {
            self.make(event);
        }
        &self.text
    }

    #[cold]
    fn make(&mut self, event: &Event) {
        self.task = event.task.clone();
        self.text.clear();
        write::event_head(&mut self.text, event);
    }
}

#[derive(Debug)]
struct Kept {
    name: &'static str,
    execution: Arc<str>,
    section: Arc<str>,
    /// The line, from its number up to the fields of its kind.
    middle: Vec<u8>,
}

impl Kept {
    #[inline]
    fn is_of(&self, name: &'static str, event: &Event) -> bool {
        std::ptr::eq(self.name, name)
            && Arc::ptr_eq(&self.section, &event.section)
            && Arc::ptr_eq(&self.execution, &event.execution)
    }
}

impl Events {
    /// Writes the line of an event.
    ///
    /// # Errors
    /// Something in it has no JSON form.
    pub(super) fn write(&mut self, out: &mut Vec<u8>, event: &Event) -> io::Result<()> {
        out.extend_from_slice(self.head.of(event));
        let name = event.kind.name();
        let kept = match self.kept.iter().position(|kept| kept.is_of(name, event)) {
            Some(at) => self.kept.get(at),
            None => Some(self.keep(name, event)),
        };
        out.extend_from_slice(kept.map_or(&[], |kept| &kept.middle));
        write::event_rest(out, event)
    }

    /// Keeps the middle of a line.
    #[cold]
    fn keep(&mut self, name: &'static str, event: &Event) -> &Kept {
        let mut middle = Vec::new();
        write::event_middle(&mut middle, event);
        let kept = Kept {
            name,
            execution: event.execution.clone(),
            section: event.section.clone(),
            middle,
        };
        let at = match self.kept.len() < MOST {
            true => self.kept.len(),
            false => self.replaced % MOST,
        };
        match self.kept.get_mut(at) {
            Some(place) => {
                *place = kept;
                self.replaced += 1;
            }
            None => self.kept.push(kept),
        }
        &self.kept[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::EventKind;

    #[test]
    fn what_is_kept_changes_no_line() {
        // spec R14: kinds, sections and tasks in turns, more than are kept
        let names = [
            "lua_chunk_started",
            "lua_chunk_succeeded",
            "section_started",
        ];
        let sections: [Arc<str>; 5] = ["A", "B", "quo\"ted", "D", "E"].map(Arc::from);
        let mut events = Events::default();
        for seq in 0..200_u32 {
            let at = seq as usize;
            let event = Event {
                kind: match at % 7 {
                    6 => EventKind::Checkpoint {
                        message: "m".to_owned(),
                    },
                    _ => EventKind::Plain(names[at % 3]),
                },
                execution: if at < 150 {
                    "run".into()
                } else {
                    "other".into()
                },
                section: sections[at / 2 % 5].clone(),
                task: if at.is_multiple_of(4) {
                    "0".into()
                } else {
                    "0.1".into()
                },
                seq,
            };
            let [mut kept, mut wanted] = [Vec::new(), Vec::new()];
            events.write(&mut kept, &event).expect("it has a form");
            write::event(&mut wanted, &event).expect("it has a form");
            assert_eq!(kept, wanted);
            assert!(events.kept.len() <= MOST);
        }
    }
}
