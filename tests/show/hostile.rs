//! Texts that would do harm where they were taken for more than texts.

use super::hostile_record::hostile;
use super::shown;

#[test]
fn nothing_reaches_a_terminal_raw() {
    for words in [&[][..], &["--all"], &["--json"], &["--json", "--all"]] {
        let text = shown(&hostile(), words);
        let harmful = |char: &char| {
            let turns = matches!(*char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            let is_json = words.contains(&"--json");
            (char.is_control() && !matches!(char, '\n' | '\t')) || (turns && !is_json)
        };
        let found: Vec<char> = text.chars().filter(harmful).collect();
        assert!(found.is_empty(), "{found:?} with {words:?}");
    }
    let text = shown(&hostile(), &[]);
    for part in [
        "task 0.0 Arm",
        "write b.md 200.0 KB",
        "round 0  “\\u{1b}[2J",
        "error[Lua]: \\u{1b}[2J",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let widest = text
        .split("\n\n")
        .nth(1)
        .unwrap()
        .lines()
        .map(|row| row.chars().count());
    assert!(widest.max().unwrap() <= 120, "{text}");
}

#[test]
fn a_trace_of_it_is_sound() {
    super::trace::trace(&hostile());
}

#[test]
fn a_moment_may_be_as_late_as_can_be_written() {
    let record = String::from_utf8(hostile()).unwrap();
    let outcome = record.trim_end().rsplit('\n').next().unwrap();
    let at = &outcome[outcome.find("\"at\":").unwrap()..];
    let at = &at[..at.find(',').unwrap()];
    let late = outcome.replacen(at, &format!("\"at\":{}", u64::MAX), 1);
    let record = record.replace(outcome, &late);
    for words in [
        &[][..],
        &["--json"],
        &["--trace", "out"],
        &["--html", "out"],
    ] {
        shown(record.as_bytes(), words);
    }
}
