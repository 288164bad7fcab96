//! What a record says of the files in its Host's store, and what of its last operations was done
//! (spec R16).
//!
//! A record does not hold what was in the store before, so a file is known only as far as the run
//! wrote or read it.

use std::collections::BTreeMap;

use crate::engine::store::{StoreFailure, StoreOp, StoreValue, ancestors, replace_one};
use crate::harness::{EntryKind, Store};

/// What is known of the files.
#[derive(Debug, Default)]
pub(super) struct Contents(BTreeMap<String, Known>);

/// What is known of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing is there.
    Absent,
    /// A file of these bytes.
    Whole(Vec<u8>),
    /// A file that ends so.
    Ends(Vec<u8>),
}

/// What stands at a path.
enum Found {
    Nothing,
    File(Vec<u8>),
    Directory,
}

/// Whether an operation was done, as far as the store shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Done,
    NotDone,
    /// It may have been, and doing it again comes to the same or is the safer.
    Either {
        /// Whether it is taken for done.
        likely: bool,
    },
    /// The store is neither as before nor as after.
    Neither,
}

impl Known {
    fn holds(&self, found: &Found) -> bool {
        match (self, found) {
            (Self::Absent, Found::Nothing) => true,
            (Self::Whole(bytes), Found::File(found)) => bytes == found,
            (Self::Ends(end), Found::File(found)) => found.ends_with(end),
            _ => false,
        }
    }
}

impl Contents {
    /// The Host has written a file, before the run began.
    pub(super) fn staged(&mut self, path: &str, text: &str) {
        self.write(path, Known::Whole(text.as_bytes().to_vec()));
    }

    /// An operation was answered.
    pub(super) fn answered(&mut self, op: &StoreOp, answer: &Result<StoreValue, StoreFailure>) {
        match (op, answer) {
            (StoreOp::Write { path, contents }, Ok(_)) => {
                self.write(path, Known::Whole(contents.as_bytes().to_vec()));
            }
            (StoreOp::Append { path, contents }, Ok(_)) => {
                let known = after_append(self.0.get(path), contents);
                self.write(path, known);
            }
            (StoreOp::Replace { path, old, new }, Ok(_)) => match self.replaced(path, old, new) {
                Some(Ok(bytes)) => self.write(path, Known::Whole(bytes)),
                _ => self.forget(path),
            },
            (StoreOp::Delete { path }, Ok(_))
            | (StoreOp::Exists { path }, Ok(StoreValue::Bool(false))) => {
                self.0.insert(path.clone(), Known::Absent);
            }
            (
                StoreOp::Read {
                    path, start: None, ..
                },
                Ok(StoreValue::Text(text)),
            ) => self.staged(path, text),
            _ => {}
        }
    }

    /// An operation was performed, and what came of it is not in the record.
    pub(super) fn unanswered(&mut self, op: &StoreOp) {
        if let (true, Some(path)) = (op.changes(), op.target()) {
            self.forget(path);
        }
    }

    /// The first path at which the store is not as the record leaves it; those of `last` are left
    /// out.
    pub(super) fn difference(&self, store: &Store, last: &[&StoreOp]) -> Option<String> {
        let is_last = |path: &str| {
            let mut targets = last.iter().filter(|op| op.changes());
            targets.any(|op| op.target() == Some(path))
        };
        let mut known = self.0.iter().filter(|(path, _)| !is_last(path));
        known
            .find(|(path, known)| !find(store, path).is_some_and(|found| known.holds(&found)))
            .map(|(path, _)| path.clone())
    }

    /// Whether an operation was done after all that is known. Operations in flight together touch
    /// different files, so each is looked at by itself.
    pub(super) fn verdict(&self, store: &Store, op: &StoreOp) -> Verdict {
        let likely = |likely| Verdict::Either { likely };
        let Some(path) = op.target().filter(|_| op.changes()) else {
            return likely(false);
        };
        let Some(found) = find(store, path) else {
            return Verdict::Neither;
        };
        let before = self.0.get(path);
        let not_done = before.is_none_or(|known| known.holds(&found));
        let (done, is_likely) = match op {
            StoreOp::Append { contents, .. } => {
                let after = after_append(before, contents);
                // A file that ends in the same text twice may have ended in it before.
                let whole = matches!((&after, &found),
                    (Known::Whole(after) | Known::Ends(after), Found::File(found)) if after == found);
                (after.holds(&found), whole)
            }
            StoreOp::Write { contents, .. } => {
                let after = Known::Whole(contents.as_bytes().to_vec());
                (after.holds(&found), true)
            }
            StoreOp::Replace { old, new, .. } => match self.replaced(path, old, new) {
                Some(Ok(bytes)) => (Known::Whole(bytes).holds(&found), true),
                // It fails, whenever it is done.
                Some(Err(_)) => (false, false),
                None => may_be_replaced(&found, old, new),
            },
            _ => (Known::Absent.holds(&found), true),
        };
        match (done, not_done) {
            (true, false) => Verdict::Done,
            (false, true) => Verdict::NotDone,
            (true, true) => likely(is_likely),
            (false, false) => Verdict::Neither,
        }
    }

    fn write(&mut self, path: &str, known: Known) {
        for above in ancestors(path) {
            self.forget(above);
        }
        self.0.insert(path.to_owned(), known);
    }

    fn forget(&mut self, path: &str) {
        self.0.remove(path);
    }

    /// What replacing comes to, where the whole file is known.
    fn replaced(&self, path: &str, old: &str, new: &str) -> Option<Result<Vec<u8>, StoreFailure>> {
        let Known::Whole(bytes) = self.0.get(path)? else {
            return None;
        };
        let text = std::str::from_utf8(bytes).ok()?;
        Some(replace_one(path, text, old, new).map(String::into_bytes))
    }
}

/// What a file is known to be after text was added.
fn after_append(before: Option<&Known>, text: &str) -> Known {
    let text = text.as_bytes();
    match before {
        Some(Known::Absent) => Known::Whole(text.to_vec()),
        Some(Known::Whole(bytes)) => Known::Whole([bytes, text].concat()),
        Some(Known::Ends(end)) => Known::Ends([end, text].concat()),
        None => Known::Ends(text.to_vec()),
    }
}

/// Whether a file may have had its one `old` replaced, and whether that is likely.
fn may_be_replaced(found: &Found, old: &str, new: &str) -> (bool, bool) {
    let Found::File(bytes) = found else {
        return (false, false);
    };
    let text = String::from_utf8_lossy(bytes);
    (text.contains(new), text.matches(old).count() != 1)
}

/// What stands at a path; `None` where the store does not say.
fn find(store: &Store, path: &str) -> Option<Found> {
    Some(match store.kind(path).ok()? {
        None => Found::Nothing,
        Some(EntryKind::Directory) => Found::Directory,
        Some(EntryKind::File) => Found::File(store.read(path).ok()?),
    })
}

/// How many of the last operations, which were performed in this order if at all, were done; `None`
/// where the store is as after none of them.
pub(super) fn done(verdicts: &[Verdict]) -> Option<usize> {
    if verdicts.contains(&Verdict::Neither) {
        return None;
    }
    let at_least = verdicts
        .iter()
        .rposition(|verdict| *verdict == Verdict::Done);
    let at_least = at_least.map_or(0, |at| at + 1);
    let at_most = verdicts
        .iter()
        .position(|verdict| *verdict == Verdict::NotDone);
    let at_most = at_most.unwrap_or(verdicts.len());
    let open = verdicts.get(at_least..at_most)?;
    let likely = |verdict: &Verdict| *verdict == Verdict::Either { likely: true };
    let more = open.iter().rposition(likely).map_or(0, |at| at + 1);
    Some(at_least + more)
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Done, Neither, NotDone};
    use super::*;

    const LIKELY: Verdict = Verdict::Either { likely: true };
    const MAYBE: Verdict = Verdict::Either { likely: false };

    #[test]
    fn the_operations_were_done_up_to_one_of_them() {
        for (verdicts, wanted) in [
            (&[][..], Some(0)),
            (&[Done, NotDone], Some(1)),
            (&[NotDone, NotDone], Some(0)),
            (&[NotDone, Done], None),
            (&[MAYBE, Done, MAYBE], Some(2)),
            (&[MAYBE, LIKELY, MAYBE, NotDone], Some(2)),
            (&[MAYBE, MAYBE], Some(0)),
            (&[LIKELY, Neither], None),
        ] {
            assert_eq!(done(verdicts), wanted, "{verdicts:?}");
        }
    }

    fn append(path: &str, contents: &str) -> StoreOp {
        let (path, contents) = (path.to_owned(), contents.to_owned());
        StoreOp::Append { path, contents }
    }

    #[test]
    fn what_the_store_shows_of_an_operation() {
        let store = Store::memory();
        let mut known = Contents::default();
        let null = Ok(StoreValue::Null);
        known.answered(&append("log", "a"), &null);
        let next = append("log", "b");
        for (file, wanted) in [
            ("a", NotDone),
            ("xa", NotDone),
            ("ab", Done),
            ("xab", Done),
            ("b", Neither),
        ] {
            store.write("log", file).unwrap();
            assert_eq!(known.verdict(&store, &next), wanted, "{file}");
        }
        // The same text again: the file may have ended in it before the run.
        let same = append("log", "a");
        for (file, wanted) in [("a", NotDone), ("aa", LIKELY), ("aaa", MAYBE)] {
            store.write("log", file).unwrap();
            assert_eq!(known.verdict(&store, &same), wanted, "{file}");
        }
        let write = |contents: &str| StoreOp::Write {
            path: "f".to_owned(),
            contents: contents.to_owned(),
        };
        assert_eq!(known.verdict(&store, &write("x")), NotDone);
        known.answered(&write("old"), &null);
        assert_eq!(known.verdict(&store, &write("x")), Neither);
        assert_eq!(known.difference(&store, &[]), Some("f".to_owned()));
        store.write("f", "old").unwrap();
        assert_eq!(known.verdict(&store, &write("x")), NotDone);
        let replace = StoreOp::Replace {
            path: "f".to_owned(),
            old: "ol".to_owned(),
            new: "bol".to_owned(),
        };
        assert_eq!(known.verdict(&store, &replace), NotDone);
        store.write("f", "bold").unwrap();
        assert_eq!(known.verdict(&store, &replace), Done);
        let delete = StoreOp::Delete {
            path: "f".to_owned(),
        };
        assert_eq!(known.verdict(&store, &delete), Neither);
        known.unanswered(&delete);
        assert_eq!(known.verdict(&store, &delete), NotDone);
        assert_eq!(known.difference(&store, &[&same]), None);
    }

    #[test]
    fn a_directory_may_stand_where_nothing_was_before_a_file_came_below_it() {
        let store = Store::memory();
        store.write("d/f", "x").unwrap();
        let mut known = Contents::default();
        let exists = StoreOp::Exists {
            path: "d".to_owned(),
        };
        known.answered(&exists, &Ok(StoreValue::Bool(false)));
        assert_eq!(known.difference(&store, &[]), Some("d".to_owned()));
        known.staged("d/f", "x");
        assert_eq!(known.difference(&store, &[]), None);
    }
}
