//! What holds for any input: the rules against slow readings of the specification, and one
//! backend against the other.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use runvil::engine::store::{Glob, Range, Rule, ancestors, broken_rule, replace_one};
use runvil::harness::Store;

use super::*;

/// Text of up to `pieces` of the given ones.
fn text_of(choices: &'static [&'static str], pieces: usize) -> impl Strategy<Value = String> {
    vec(select(choices), 0..=pieces).prop_map(|parts| parts.concat())
}

/// Spec S34 and S35, read as they stand.
mod slow {
    pub fn glob(pattern: &str, path: &str) -> bool {
        let pattern: Vec<&str> = pattern
            .strip_suffix('/')
            .unwrap_or(pattern)
            .split('/')
            .collect();
        let path: Vec<&str> = path.split('/').collect();
        segments(&pattern, &path)
    }

    fn segments(pattern: &[&str], path: &[&str]) -> bool {
        match pattern {
            [] => path.is_empty(),
            ["**"] => !path.is_empty(),
            ["**", rest @ ..] => (0..=path.len()).any(|skipped| segments(rest, &path[skipped..])),
            [first, rest @ ..] => {
                !path.is_empty()
                    && bytes(first.as_bytes(), path[0].as_bytes())
                    && segments(rest, &path[1..])
            }
        }
    }

    fn bytes(pattern: &[u8], name: &[u8]) -> bool {
        match pattern {
            [] => name.is_empty(),
            [b'*', rest @ ..] => (0..=name.len()).any(|skipped| bytes(rest, &name[skipped..])),
            [byte, rest @ ..] => name.first() == Some(byte) && bytes(rest, &name[1..]),
        }
    }

    /// Spec S22.
    pub fn lines(text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = String::new();
        for character in text.chars() {
            if character != '\n' {
                line.push(character);
                continue;
            }
            if line.ends_with('\r') {
                line.pop();
            }
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            lines.push(line);
        }
        lines
    }
}

/// Spec S15, each rule on its own, with the earliest segment and then the earliest rule told.
fn slow_rule(path: &str) -> Option<Rule> {
    let devices = ["CON", "PRN", "AUX", "NUL"].map(str::to_owned).into_iter();
    let ports = (1..=9).flat_map(|n| [format!("COM{n}"), format!("LPT{n}")]);
    let devices: Vec<String> = devices.chain(ports).collect();
    let whole = [
        (Rule::Empty, path.is_empty()),
        (Rule::TooLong, path.len() > 1024),
        (Rule::Absolute, path.as_bytes().first() == Some(&b'/')),
        (Rule::Control, path.bytes().any(|b| b.is_ascii_control())),
        (Rule::Backslash, path.contains('\\')),
    ];
    let by_segment = path.split('/').flat_map(|segment| {
        let base = segment.split('.').next().unwrap_or("").to_ascii_uppercase();
        [
            (Rule::EmptySegment, segment.is_empty()),
            (Rule::Traversal, segment == "." || segment == ".."),
            (
                Rule::UnsafeSuffix,
                segment.ends_with('.') || segment.ends_with(' '),
            ),
            (Rule::ReservedName, devices.contains(&base)),
        ]
    });
    whole
        .into_iter()
        .chain(by_segment)
        .find(|(_, broken)| *broken)
        .map(|(rule, _)| rule)
}

const PATTERN_PIECES: &[&str] = &["a", "b", "ab", "*", "/", "**/", "/**", "/**/", "é", "."];
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

    /// S15.
    #[test]
    fn a_path_is_checked_as_specified(path in text_of(PATH_PIECES, 7), long in 0_usize..3) {
        let path = path + &"x".repeat(long * 511);
        prop_assert_eq!(broken_rule(&path), slow_rule(&path));
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
        start in -2_i64..10,
        end in proptest::option::of(-2_i64..10),
    ) {
        let lines = slow::lines(&text);
        let range = Range { start: Some(start), end };
        let read = range.read("p", text.clone()).map_err(|failure| failure.message);
        let numbered = range.read_numbered("p", &text);
        if start < 1 {
            prop_assert_eq!(read, Err("invalid line range for p: start must be at least 1".into()));
        } else if start > lines.len() as i64 {
            prop_assert_eq!(read, Ok(String::new()));
        } else if end.is_some_and(|end| end < start) {
            prop_assert_eq!(read, Err("invalid line range for p: end must not be before start".into()));
        } else {
            let last = end.unwrap_or(i64::MAX).min(lines.len() as i64);
            let selected = &lines[start as usize - 1..last as usize];
            prop_assert_eq!(read, Ok(selected.join("\n")));
            let width = last.to_string().len();
            let expected: Vec<String> = (start..=last)
                .zip(selected)
                .map(|(n, line)| format!("{}{n}| {line}", " ".repeat(width - n.to_string().len())))
                .collect();
            prop_assert_eq!(numbered.unwrap(), expected.join("\n"));
        }
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
