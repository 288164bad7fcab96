//! What holds for any input: the rules against slow readings of the specification, and one
//! backend against the other.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use runvil::engine::store::{Glob, LineRange, ancestors, broken_rule, replace_one};
use runvil::harness::Store;

use super::*;

/// Text of up to `pieces` of the given ones.
fn text_of(choices: &'static [&'static str], pieces: usize) -> impl Strategy<Value = String> {
    vec(select(choices), 0..=pieces).prop_map(|parts| parts.concat())
}

const PATTERN_PIECES: &[&str] = &[
    "a", "b", "ab", "*", "/", "**/", "/**", "/**/", "é", ".", "\\", "\u{1}",
];
const PATH_PIECES: &[&str] = &[
    "a", "/", ".", " ", "\\", "\t", "\u{7f}", "é", "nul", "CON", "com", "1", "0", "lpt9", "x",
];
const NAMES: &[&str] = &[
    "a", "b", "a/b", "a/b/c", "a/a", "b/a", "c/d", "c/d/e", "a.b", "A", "é", "c", "c/d/f", "..",
    "a/", "a\\", "",
];
const PATTERNS: &[&str] = &[
    "**", "**/", "*", "*/", "a/*", "a/**", "a/**/", "**/a", "c/**/e", "a*", "a**", "", "A", "/a",
];
const TEXTS: &[&str] = &["", "x", "y\n", "x\r\nx", "\n\n", "one\ntwo\nthree\n", "é"];

#[derive(Clone, Debug)]
enum Deed {
    Prompt(StoreOp),
    /// The Host writes bytes that are no text.
    Host(&'static str),
}

fn deed() -> impl Strategy<Value = Deed> {
    let path = || select(NAMES).prop_map(str::to_owned);
    let contents = || select(TEXTS).prop_map(str::to_owned);
    let bound = || proptest::option::of(-1_i64..5);
    let op = prop_oneof![
        3 => (path(), contents()).prop_map(|(path, contents)| StoreOp::Write { path, contents }),
        2 => (path(), contents()).prop_map(|(path, contents)| StoreOp::Append { path, contents }),
        1 => (path(), bound(), bound())
            .prop_map(|(path, start, end)| StoreOp::Read { path, start, end }),
        1 => (path(), bound(), bound())
            .prop_map(|(path, start, end)| StoreOp::ReadNumbered { path, start, end }),
        1 => (path(), contents(), contents())
            .prop_map(|(path, old, new)| StoreOp::Replace { path, old, new }),
        2 => path().prop_map(|path| StoreOp::Delete { path }),
        1 => path().prop_map(|path| StoreOp::Exists { path }),
        1 => select(PATTERNS).prop_map(|pattern| StoreOp::Glob { pattern: pattern.into() }),
    ];
    prop_oneof![12 => op.prop_map(Deed::Prompt), 1 => select(NAMES).prop_map(Deed::Host)]
}

proptest! {
    /// S35, S36: the bounded matcher gives the verdicts of the unbounded one.
    #[test]
    fn a_glob_matches_as_specified(
        pattern in text_of(PATTERN_PIECES, 9),
        path in text_of(&["a", "b", "ab", "/", "/a", "é", "."], 12),
    ) {
        prop_assume!(!path.is_empty() && path.split('/').all(|segment| !segment.is_empty()));
        if let Ok(glob) = Glob::new(&pattern) {
            let matches = glob.matches(&path);
            prop_assert_eq!(matches, slow::glob(&pattern, &path));
            prop_assert!(!matches || path.starts_with(glob.literal_prefix()));
            let levels = path.split('/').count();
            prop_assert!(!matches || glob.depth().is_none_or(|depth| depth == levels));
        }
    }

    /// S37.
    #[test]
    fn a_pattern_is_checked_as_specified(pattern in text_of(PATTERN_PIECES, 9)) {
        prop_assert_eq!(Glob::new(&pattern).err().and_then(|f| f.rule), slow::pattern_rule(&pattern));
    }

    /// S15.
    #[test]
    fn a_path_is_checked_as_specified(path in text_of(PATH_PIECES, 7), long in 0_usize..3) {
        let path = path + &"x".repeat(long * 511);
        prop_assert_eq!(broken_rule(&path), slow::path_rule(&path));
    }

    /// A path that passes is spelled in one way only: its segments joined by `/`.
    #[test]
    fn the_ancestors_of_a_path_are_its_prefixes(path in text_of(&["a", "b/", ".c"], 6)) {
        prop_assume!(broken_rule(&path).is_none());
        let segments: Vec<&str> = path.split('/').collect();
        let prefixes: Vec<String> = (1..segments.len()).rev().map(|n| segments[..n].join("/")).collect();
        prop_assert_eq!(ancestors(&path).collect::<Vec<_>>(), prefixes);
    }

    /// S22 to S26.
    #[test]
    fn a_range_selects_as_specified(
        text in text_of(&["a", "b", "\n", "\r", "\r\n", "é"], 14),
        start in proptest::option::of(-2_i64..10),
        end in proptest::option::of(-2_i64..10),
    ) {
        let range = LineRange { start, end };
        let told = |text: &str| format!("invalid line range for p: {text}");
        let read = range.read("p", text.clone()).map_err(|failure| failure.message);
        prop_assert_eq!(read, slow::read(&text, start, end).map_err(told));
        let numbered = range.read_numbered("p", &text).map_err(|failure| failure.message);
        prop_assert_eq!(numbered, slow::read_numbered(&text, start, end).map_err(told));
    }

    /// S30: a replacement succeeds exactly where the text holds the anchor once.
    #[test]
    fn a_replacement_replaces_one(
        text in text_of(&["a", "b"], 8),
        old in text_of(&["a", "b"], 3),
        new in text_of(&["a", "c"], 3),
    ) {
        let count = if old.is_empty() { 0 } else { text.matches(&old).count() };
        match replace_one("p", &text, &old, &new) {
            Ok(replaced) => {
                prop_assert_eq!(count, 1);
                prop_assert_eq!(replaced, text.replace(&old, &new));
            }
            Err(failure) => {
                prop_assert_ne!(count, 1);
                prop_assert_eq!(failure.count, Some(count as u64));
            }
        }
    }

    /// S60: a prompt's reads, writes and globs behave on a directory as in memory.
    #[test]
    fn backends_agree(deeds in vec(deed(), 1..40)) {
        let memory = Store::memory();
        let root = tempfile::tempdir().unwrap();
        let directory = Store::directory(root.path()).unwrap();
        for deed in deeds {
            match &deed {
                Deed::Prompt(op) => {
                    prop_assert_eq!(memory.perform(op), directory.perform(op), "{:?}", op);
                }
                Deed::Host(path) => {
                    let bytes = b"\xff\n";
                    prop_assert_eq!(memory.write(path, bytes), directory.write(path, bytes));
                }
            }
        }
        prop_assert_eq!(memory.list("**/"), directory.list("**/"));
        prop_assert_eq!(memory.list("**"), directory.list("**"));
        for path in memory.list("**").unwrap() {
            prop_assert_eq!(memory.read(&path), directory.read(&path));
        }
    }
}
