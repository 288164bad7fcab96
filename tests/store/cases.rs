//! The cases SC1 to SC24 that are operations on a store.

use std::time::{Duration, Instant};

use runvil::engine::store::{Reason, Rule};
use runvil::harness::Store;

use super::*;

/// SC1 (S20, S23): what was written is read back byte for byte.
#[test]
fn a_file_is_read_verbatim() {
    on_each_backend(|store| {
        assert_eq!(store.perform(&write("a/b.txt", "x\r\ny\n")), DONE);
        assert_eq!(store.perform(&read("a/b.txt")), text("x\r\ny\n"));
    });
}

/// SC2 (S12, S28): an empty append creates the file; a write replaces, an append adds.
#[test]
fn an_append_creates_its_file() {
    on_each_backend(|store| {
        assert_eq!(store.perform(&append("e", "")), DONE);
        assert_eq!(store.perform(&exists("e")), truth(true));
        assert_eq!(store.perform(&read("e")), text(""));
        store.perform(&append("e", "one")).unwrap();
        store.perform(&append("e", "\ntwo")).unwrap();
        assert_eq!(store.perform(&read("e")), text("one\ntwo"));
        store.perform(&write("e", "3")).unwrap();
        assert_eq!(store.perform(&read("e")), text("3"));
        store.perform(&append("deep/er/f", "x")).unwrap();
        assert_eq!(store.perform(&read("deep/er/f")), text("x"));
    });
}

/// SC5 (S17): the path is shown as Rust's `Debug` shows it.
#[test]
fn an_invalid_path_is_shown_escaped() {
    on_each_backend(|store| {
        let failure = store.perform(&read("a\\b")).unwrap_err();
        assert_eq!(failure.reason, Reason::InvalidPath);
        assert_eq!(failure.rule, Some(Rule::Backslash));
        assert_eq!(failure.path.as_deref(), Some("a\\b"));
        assert_eq!(
            failure.message,
            r#"invalid path "a\\b": path contains a backslash"#
        );
        assert_eq!(
            message(store, write("a\tb", "")),
            r#"invalid path "a\tb": path contains a control character"#
        );
    });
}

/// SC6, SC7 (S15): the first broken rule is told, whatever the operation.
#[test]
fn the_first_broken_rule_of_a_path_is_told() {
    let long = "a".repeat(1025);
    let absolute_and_long = format!("/{}", "a".repeat(1024));
    let rules = [
        ("", Rule::Empty),
        ("/", Rule::Absolute),
        (&long, Rule::TooLong),
        (&absolute_and_long, Rule::TooLong),
        ("a\tb", Rule::Control),
        ("a\u{7f}", Rule::Control),
        ("a\0b", Rule::Control),
        ("a//b", Rule::EmptySegment),
        ("a/", Rule::EmptySegment),
        ("./a", Rule::Traversal),
        ("...", Rule::UnsafeSuffix),
        ("a. ", Rule::UnsafeSuffix),
        (" ", Rule::UnsafeSuffix),
        ("Nul.txt", Rule::ReservedName),
        ("x/lpt9", Rule::ReservedName),
        ("nul/../x", Rule::ReservedName),
        ("../nul", Rule::Traversal),
        ("/a\\b", Rule::Absolute),
        ("a\\\u{1}", Rule::Control),
    ];
    on_each_backend(|store| {
        for (path, rule) in rules {
            let ops = [
                write(path, ""),
                append(path, ""),
                read(path),
                number(path, None, 1),
                replace(path, "", ""),
                delete(path),
                exists(path),
            ];
            for op in ops {
                let failure = store.perform(&op).unwrap_err();
                assert_eq!(failure.rule, Some(rule), "{op:?}");
                assert_eq!(failure.reason, Reason::InvalidPath);
                assert_eq!(
                    failure.message,
                    format!("invalid path {path:?}: {}", rule.phrase())
                );
            }
        }
        assert_eq!(store.perform(&glob("**")), list(&[]));
        assert_eq!(store.perform(&glob("**/")), list(&[]));
    });
}

/// SC8 (S14, S16): unusual names are names.
#[test]
fn unusual_paths_are_allowed() {
    on_each_backend(|store| {
        for path in [
            ".config",
            "com10.txt",
            "com0",
            ".con",
            " lead",
            "console.txt",
            "a b/é/*",
        ] {
            assert_eq!(store.perform(&write(path, path)), DONE, "{path}");
            assert_eq!(store.perform(&read(path)), text(path));
        }
        assert_eq!(store.perform(&exists(".CONFIG")), truth(false));
    });
    let store = Store::memory();
    let longest = "é".repeat(512);
    assert_eq!(store.perform(&write(&longest, "x")), DONE);
    assert_eq!(store.perform(&read(&longest)), text("x"));
}

/// SC9 (S24, S26): a range of lines, clamped to the file.
#[test]
fn a_range_gives_whole_lines() {
    on_each_backend(|store| {
        store.perform(&write("p", "l1\nl2\nl3\n")).unwrap();
        for (start, end, lines) in [
            (2, None, "l2\nl3"),
            (2, Some(2), "l2"),
            (3, Some(99), "l3"),
            (3, Some(i64::MAX), "l3"),
            (4, None, ""),
            (9, Some(-5), ""),
            (i64::MAX, None, ""),
            (1, Some(1), "l1"),
            (1, Some(i64::MAX), "l1\nl2\nl3"),
        ] {
            assert_eq!(
                store.perform(&read_lines("p", start, end)),
                text(lines),
                "{start} {end:?}"
            );
        }
    });
}

/// S22: lines end at `\n` or `\r\n`; a lone `\r` is an ordinary character.
#[test]
fn a_carriage_return_alone_ends_no_line() {
    on_each_backend(|store| {
        store.perform(&write("p", "a\rb\r\nc\r")).unwrap();
        assert_eq!(store.perform(&read_lines("p", 1, 1)), text("a\rb"));
        assert_eq!(store.perform(&read_lines("p", 2, None)), text("c\r"));
        assert_eq!(store.perform(&read_lines("p", 1, None)), text("a\rb\nc\r"));
    });
}

/// SC10 (S26, S27): bounds that make no sense.
#[test]
fn a_range_that_makes_no_sense_is_refused() {
    on_each_backend(|store| {
        store.perform(&write("p", "l1\nl2\nl3\n")).unwrap();
        for (start, end, reason) in [
            (Some(0), None, "start must be at least 1"),
            (Some(-7), None, "start must be at least 1"),
            (Some(i64::MIN), Some(i64::MAX), "start must be at least 1"),
            (Some(3), Some(2), "end must not be before start"),
            (Some(1), Some(0), "end must not be before start"),
            (Some(1), Some(i64::MIN), "end must not be before start"),
            (None, Some(2), "start is required when end is given"),
        ] {
            for op in [read_lines("p", start, end), number("p", start, end)] {
                let failure = store.perform(&op).unwrap_err();
                assert_eq!(failure.reason, Reason::InvalidRange);
                assert_eq!(
                    failure.message,
                    format!("invalid line range for p: {reason}")
                );
                assert_eq!(failure.path.as_deref(), Some("p"));
            }
        }
    });
}

/// SC11 (S26): a missing file wins over a bad start, not over a missing one.
#[test]
fn a_missing_file_is_told_before_a_bad_bound() {
    on_each_backend(|store| {
        let reason = |op| store.perform(&op).unwrap_err().reason;
        assert_eq!(reason(read_lines("q", 0, None)), Reason::NotFound);
        assert_eq!(reason(read_lines("q", None, 1)), Reason::InvalidRange);
        assert_eq!(reason(number("q", 2, 1)), Reason::NotFound);
    });
}

/// SC12 (S25): numbers are the file's own, as wide as the largest returned.
#[test]
fn lines_are_numbered_as_in_the_file() {
    on_each_backend(|store| {
        store
            .perform(&write("n", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"))
            .unwrap();
        store.perform(&write("blank", "\n")).unwrap();
        store.perform(&write("empty", "")).unwrap();
        assert_eq!(store.perform(&number("n", 9, None)), text(" 9| i\n10| j"));
        assert_eq!(store.perform(&number("n", 1, 2)), text("1| a\n2| b"));
        assert_eq!(store.perform(&number("n", 8, 9)), text("8| h\n9| i"));
        assert_eq!(store.perform(&number("n", 11, None)), text(""));
        assert_eq!(store.perform(&number("blank", None, None)), text("1| "));
        assert_eq!(store.perform(&number("empty", 1, 0)), text(""));
        assert_eq!(store.perform(&number("empty", None, None)), text(""));
    });
}

/// SC13 (S30): occurrences do not overlap and are counted left to right.
#[test]
fn a_replacement_needs_exactly_one_occurrence() {
    on_each_backend(|store| {
        store.perform(&write("f", "aaa")).unwrap();
        assert_eq!(store.perform(&replace("f", "aa", "b")), DONE);
        assert_eq!(store.perform(&read("f")), text("ba"));
        store.perform(&write("f", "aaaa")).unwrap();
        let failure = store.perform(&replace("f", "aa", "b")).unwrap_err();
        assert_eq!((failure.reason, failure.count), (Reason::Anchor, Some(2)));
        assert_eq!(failure.anchor.as_deref(), Some("aa"));
        assert_eq!(
            failure.message,
            "anchor \"aa\" occurs 2 times in f, expected exactly one; \
             include more surrounding text so it matches once"
        );
        assert_eq!(store.perform(&read("f")), text("aaaa"));
        store.perform(&write("f", "keep one keep")).unwrap();
        assert_eq!(store.perform(&replace("f", " one ", "")), DONE);
        assert_eq!(store.perform(&read("f")), text("keepkeep"));
    });
}

/// SC14 (S30): an empty anchor is told before the file is looked at.
#[test]
fn a_replacement_tells_what_is_missing() {
    on_each_backend(|store| {
        let empty = store.perform(&replace("none", "", "x")).unwrap_err();
        assert_eq!(
            empty.message,
            "str_replace requires a non-empty anchor: none"
        );
        assert_eq!((empty.anchor.as_deref(), empty.count), (Some(""), Some(0)));
        let missing = store.perform(&replace("none", "y", "x")).unwrap_err();
        assert_eq!(missing.message, "file not found in store: none");
        assert_eq!((missing.anchor, missing.count), (None, None));
        store.perform(&write("f", "")).unwrap();
        let unmatched = store.perform(&replace("f", "y", "x")).unwrap_err();
        assert_eq!(
            unmatched.message,
            "anchor \"y\" was not found in f, expected exactly one"
        );
        assert_eq!(
            (unmatched.anchor.as_deref(), unmatched.count),
            (Some("y"), Some(0))
        );
    });
}

/// SC15 (S18, S31): a directory outlives its files and is deleted only when empty.
#[test]
fn a_directory_is_deleted_only_when_empty() {
    on_each_backend(|store| {
        store.perform(&write("d/x", "1")).unwrap();
        let failure = store.perform(&delete("d")).unwrap_err();
        assert_eq!(failure.reason, Reason::DirectoryNotEmpty);
        assert_eq!(failure.message, "directory not empty in store: d");
        assert_eq!(store.perform(&read("d/x")), text("1"));
        assert_eq!(store.perform(&delete("d/x")), DONE);
        assert_eq!(store.perform(&delete("d/x")), DONE);
        assert_eq!(store.perform(&exists("d")), truth(true));
        assert_eq!(store.perform(&delete("d")), DONE);
        assert_eq!(store.perform(&exists("d")), truth(false));
        store.perform(&write("e/f/g", "1")).unwrap();
        store.perform(&delete("e/f/g")).unwrap();
        assert_eq!(
            message(store, delete("e")),
            "directory not empty in store: e"
        );
    });
}

/// SC16 (S29, S31, S32, S33): a path is a file or a directory, and nothing is below a file.
#[test]
fn a_file_is_no_directory_and_the_reverse() {
    on_each_backend(|store| {
        store.perform(&write("f", "1")).unwrap();
        store.perform(&write("d/x", "1")).unwrap();
        assert_eq!(
            message(store, write("f/g", "")),
            "not a directory in store: f/g"
        );
        assert_eq!(
            message(store, append("f/g/h", "")),
            "not a directory in store: f/g/h"
        );
        assert_eq!(
            message(store, append("d", "")),
            "is a directory in store: d"
        );
        assert_eq!(message(store, write("d", "")), "is a directory in store: d");
        assert_eq!(message(store, read("d")), "is a directory in store: d");
        assert_eq!(
            message(store, replace("d", "a", "b")),
            "is a directory in store: d"
        );
        assert_eq!(message(store, read("f/g")), "file not found in store: f/g");
        assert_eq!(
            message(store, replace("f/g", "a", "b")),
            "file not found in store: f/g"
        );
        assert_eq!(store.perform(&exists("f/g")), truth(false));
        assert_eq!(store.perform(&delete("f/g")), DONE);
        assert_eq!(store.perform(&glob("**")), list(&["d/x", "f"]));
        assert_eq!(store.perform(&glob("**/")), list(&["d"]));
    });
}

/// SC17 (S34, S35): what patterns list.
#[test]
fn patterns_list_files_or_directories() {
    on_each_backend(|store| {
        for path in ["s/b", "s/a", "s/t/c", "m"] {
            store.perform(&write(path, "")).unwrap();
        }
        let listed: [(&str, &[&str]); 16] = [
            ("*", &["m"]),
            ("s/*", &["s/a", "s/b"]),
            ("s/**/c", &["s/t/c"]),
            ("**/m", &["m"]),
            ("**/c", &["s/t/c"]),
            ("**", &["m", "s/a", "s/b", "s/t/c"]),
            ("s/**", &["s/a", "s/b", "s/t/c"]),
            ("**/**", &["m", "s/a", "s/b", "s/t/c"]),
            ("*/", &["s"]),
            ("s/*/", &["s/t"]),
            ("s/", &["s"]),
            ("**/", &["s", "s/t"]),
            ("s/**/", &["s/t"]),
            ("x*", &[]),
            ("s/a/**", &[]),
            ("s", &[]),
        ];
        for (pattern, paths) in listed {
            assert_eq!(store.perform(&glob(pattern)), list(paths), "{pattern}");
        }
        store.perform(&write(".h", "")).unwrap();
        store.perform(&write("s.x", "")).unwrap();
        assert_eq!(store.perform(&glob("*")), list(&[".h", "m", "s.x"]));
        assert_eq!(
            store.perform(&glob("**")),
            list(&[".h", "m", "s.x", "s/a", "s/b", "s/t/c"])
        );
    });
}

/// SC18 (S37, S38): the rules of patterns, told with the pattern as it is.
#[test]
fn the_first_broken_rule_of_a_pattern_is_told() {
    on_each_backend(|store| {
        let long = "*".repeat(1025);
        for (pattern, rule) in [
            ("", Rule::Empty),
            (&*long, Rule::TooLong),
            ("a\\**b\n", Rule::Control),
            ("a\\**b", Rule::Backslash),
            ("a/***", Rule::Wildcard),
            ("a**", Rule::Wildcard),
            ("a/**b", Rule::Wildcard),
            ("***/", Rule::Wildcard),
        ] {
            let failure = store.perform(&glob(pattern)).unwrap_err();
            assert_eq!(failure.rule, Some(rule), "{pattern}");
            assert_eq!(failure.reason, Reason::InvalidPath);
            assert_eq!(failure.path.as_deref(), Some(pattern));
            let phrase = rule.phrase();
            assert_eq!(
                failure.message,
                format!("invalid glob pattern \"{pattern}\": {phrase}")
            );
        }
        assert_eq!(
            message(store, glob("")),
            "invalid glob pattern \"\": path is empty"
        );
        store.perform(&write("a/b", "")).unwrap();
        for pattern in [
            "/x", "../*", "a//*", "/", "//", "a//", "/**", "./**", "a/./b",
        ] {
            assert_eq!(store.perform(&glob(pattern)), list(&[]), "{pattern}");
        }
    });
}

/// SC19 (S36): a pattern made to be slow is not.
#[test]
fn matching_is_bounded() {
    let store = Store::memory();
    store.perform(&write(&"a".repeat(1000), "")).unwrap();
    let started = Instant::now();
    assert_eq!(
        store.perform(&glob(&format!("{}b", "*a".repeat(340)))),
        list(&[])
    );
    let deep = "a/".repeat(500) + "a";
    store.perform(&write(&deep, "")).unwrap();
    assert_eq!(
        store.perform(&glob(&format!("{}b", "**/a/".repeat(200)))),
        list(&[])
    );
    assert_eq!(
        store.perform(&glob(&format!("{}*", "**/*a*/".repeat(140)))),
        list(&[&deep])
    );
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// SC22 (S21): only what needs text looks at it.
#[test]
fn bytes_that_are_no_text_are_kept() {
    on_each_backend(|store| {
        store.write("b", b"\xff\n").unwrap();
        for op in [
            read("b"),
            read_lines("b", 0, None),
            number("b", 5, None),
            replace("b", "x", ""),
        ] {
            let failure = store.perform(&op).unwrap_err();
            assert_eq!(failure.reason, Reason::NotUtf8);
            assert_eq!(failure.message, "file in store is not UTF-8: b");
        }
        assert_eq!(store.perform(&append("b", "x")), DONE);
        assert_eq!(store.perform(&exists("b")), truth(true));
        assert_eq!(store.read("b").unwrap(), b"\xff\nx");
    });
}

/// SC23 (S57): a read-only store.
#[test]
fn a_read_only_store_refuses_every_change() {
    on_each_backend(|store| {
        store.write("k", "text").unwrap();
        let store = store.clone().read_only();
        assert_eq!(store.perform(&read("k")), text("text"));
        assert_eq!(
            message(&store, write("k", "")),
            "permission denied for store path k: the store is read-only"
        );
        for op in [delete("zz"), append("k", ""), replace("none", "a", "b")] {
            assert_eq!(
                store.perform(&op).unwrap_err().reason,
                Reason::PermissionDenied
            );
        }
        assert_eq!(
            store.perform(&replace("k", "", "b")).unwrap_err().reason,
            Reason::Anchor
        );
        assert_eq!(
            store.perform(&write("/k", "")).unwrap_err().reason,
            Reason::InvalidPath
        );
        assert_eq!(store.perform(&glob("*")), list(&["k"]));
        assert_eq!(store.perform(&read("k")), text("text"));
    });
}

/// SC24 (S50): a handle without a store.
#[test]
fn a_handle_may_declare_no_store() {
    let store = Store::none();
    assert!(!store.is_declared());
    let failure = store.perform(&read("a")).unwrap_err();
    assert_eq!(failure.message, "store operation failed");
    assert_eq!((failure.reason, failure.path), (Reason::Backend, None));
    assert_eq!(
        store.write("a", "").unwrap_err().message,
        "store operation failed"
    );
}

/// S3: stores of their own do not see each other; S5, S62: clones share the files.
#[test]
fn clones_share_files_and_stores_do_not() {
    on_each_backend(|store| {
        let other = Store::memory();
        store.perform(&write("a", "1")).unwrap();
        assert_eq!(store.clone().perform(&read("a")), text("1"));
        assert_eq!(other.perform(&exists("a")), truth(false));
    });
}
