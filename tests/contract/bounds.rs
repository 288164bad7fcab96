//! Programs that misbehave and files that are huge.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use runvil::packet::contract::{Fault, Item};

use crate::fixture::Fixture;

/// The processes with a word in their command line.
pub fn processes(word: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .filter(|path| {
            let line = fs::read(path.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(word)
        })
        .collect()
}

/// A span for `sleep` that no process but those of this test run has.
pub fn nap(seconds: u32) -> String {
    format!("{seconds}.{}", std::process::id())
}

/// Fails unless there are none, or soon will be: one that was killed may not have been buried yet.
#[track_caller]
pub fn assert_gone(word: &str) {
    let begun = Instant::now();
    while !processes(word).is_empty() {
        let waited = begun.elapsed();
        assert!(waited < Duration::from_secs(2), "{:?}", processes(word));
        thread::sleep(Duration::from_millis(10));
    }
}

/// The one item of a contract, and how long its check took.
fn check(fixture: &Fixture, verify: &str) -> (Item, Duration) {
    let begun = Instant::now();
    let mut report = fixture.check(verify);
    assert_eq!(report.items.len(), 1);
    (report.items.remove(0), begun.elapsed())
}

#[test]
fn a_flood_is_read_and_its_beginning_kept() {
    let fixture = Fixture::app();
    let script = "head -c 20000000 /dev/zero | tr '\\\\0' x; echo END";
    let verify =
        format!("commands: {{exec: sh, args: ['-c', \"{script}\"], stdout_contains: END}}");
    let (item, _) = check(&fixture, &verify);
    let kept = 16 << 20;
    let shown = 64 << 10;
    assert_eq!(item.fields["output_truncated"], true);
    assert!(!item.pass && item.fault.is_none(), "{}", item.summary());
    let before = "stdout missing \"END\"\n";
    let cut = kept + before.len() - shown;
    let expected = format!(
        "{before}{}\n[cut: {cut} bytes]",
        "x".repeat(shown - before.len())
    );
    assert_eq!(item.details, expected, "spec P44, P62");
}

#[test]
fn details_are_cut_at_a_character() {
    let fixture = Fixture::app();
    fixture.write("app/text", format!("a{}", "é".repeat(40_000)));
    let (item, _) = check(&fixture, "commands: {exec: cat, args: [text]}");
    // The bound falls into the second byte of a character, which is left out whole.
    let expected = format!("a{}\n[cut: {} bytes]", "é".repeat(32_767), 80_001 - 65_535);
    assert_eq!(item.details, expected, "spec P44");
}

#[test]
fn what_ignores_the_request_to_end_is_killed() {
    let fixture = Fixture::app();
    let word = &nap(98761);
    let script = format!("trap '' TERM; sleep {word} & sleep {word}; sleep {word}");
    let verify = format!("commands: {{exec: sh, args: ['-c', \"{script}\"], timeout_ms: 100}}");
    let (item, took) = check(&fixture, &verify);
    assert_eq!(item.fault, Some(Fault::VerifierTimeout));
    assert_eq!(item.details, "timed out after 100 ms", "spec P62");
    let (least, most) = (Duration::from_millis(2100), Duration::from_millis(4000));
    assert!(least <= took && took < most, "{took:?}");
    assert_gone(word);
}

#[test]
fn what_ends_when_asked_has_its_last_word() {
    let fixture = Fixture::app();
    let script = "trap 'echo bye; exit 0' TERM; echo hi; while :; do sleep 0.05; done";
    let verify = format!("commands: {{exec: sh, args: ['-c', \"{script}\"], timeout_ms: 300}}");
    let (item, took) = check(&fixture, &verify);
    assert_eq!(item.fault, Some(Fault::VerifierTimeout));
    assert_eq!(item.exit_code(), None, "spec P63");
    // The shell also tells of the part of its group that was asked as well.
    assert!(
        item.details.starts_with("timed out after 300 ms\nhi\n"),
        "{}",
        item.details
    );
    assert!(item.details.ends_with("\nbye"), "{}", item.details);
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn what_a_program_leaves_behind_ends_with_it() {
    let fixture = Fixture::app();
    let word = &nap(98762);
    let script = format!("sleep {word} & (sleep {word} &) ; echo done");
    let verify = format!("commands: {{exec: sh, args: ['-c', \"{script}\"]}}");
    let (item, took) = check(&fixture, &verify);
    assert!(item.pass, "{}", item.details);
    assert_eq!(item.details, "done");
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_gone(word);
}

#[test]
fn what_has_left_the_group_is_not_waited_for() {
    let fixture = Fixture::app();
    let script = "setsid sleep 20 & echo $!";
    let verify = format!("commands: {{exec: sh, args: ['-c', \"{script}\"]}}");
    let (item, took) = check(&fixture, &verify);
    assert!(item.pass, "{}", item.details);
    assert!(took < Duration::from_secs(3), "spec P62: {took:?}");
    let _ = Command::new("kill").arg(&item.details).output();
}

#[test]
fn a_program_may_close_its_output_and_go_on() {
    let fixture = Fixture::app();
    let script = "exec >&- 2>&-; sleep 0.3; exit 4";
    let verify = format!("commands: {{exec: sh, args: ['-c', \"{script}\"]}}");
    let (item, took) = check(&fixture, &verify);
    assert_eq!(item.exit_code(), Some(4));
    assert!(took >= Duration::from_millis(300), "{took:?}");
}

#[test]
fn a_huge_file_is_looked_through_or_refused() {
    let fixture = Fixture::app();
    let path = fixture.path("app/huge");
    let mut file = File::create(path).unwrap();
    file.seek(SeekFrom::Start(100 << 20)).unwrap();
    file.write_all(b"needle").unwrap();
    let verify = "{contains: {path: huge, text: needle}, matches: {path: huge, pattern: needle}, \
                  doc: huge, json: huge, yaml: huge}";
    let report = fixture.check(verify);
    let details: Vec<(bool, &str)> = report
        .items
        .iter()
        .map(|item| (item.pass, item.details.as_str()))
        .collect();
    let refused = (false, "huge: larger than 64 MiB");
    assert_eq!(
        details,
        [(true, "checked"), refused, refused, refused, refused]
    );
}

#[test]
fn a_text_is_found_wherever_it_lies() {
    let fixture = Fixture::app();
    // Files are looked at in pieces of 256 KiB.
    for at in [(256 << 10) - 3, (256 << 10) - 1, 256 << 10, (512 << 10) - 4] {
        fixture.write(
            "app/f",
            format!("{}needle{}", "n".repeat(at), "e".repeat(10)),
        );
        let (item, _) = check(&fixture, "contains: {path: f, text: needlee}");
        assert!(item.pass, "at {at}");
        let (item, _) = check(&fixture, "contains: {path: f, text: needlen}");
        assert!(!item.pass, "at {at}");
    }
}

#[test]
fn findings_and_their_texts_are_bounded() {
    let fixture = Fixture::app();
    fixture.write("app/s/many", "bad\n".repeat(1500));
    let (item, _) = check(&fixture, "source_absent: {path: s, pattern: bad}");
    assert!(
        item.details
            .starts_with("1500 forbidden source match(es): many:1, ")
    );
    assert!(
        item.details.ends_with("many:10, and 1490 more"),
        "{}",
        item.details
    );
    assert_eq!(item.fields["findings"].as_array().unwrap().len(), 1000);
    fixture.write("app/l/long", format!("{}bad", "é".repeat(9 << 20)));
    let (item, _) = check(&fixture, "source_absent: {path: l, pattern: bad}");
    assert_eq!(item.details, "1 forbidden source match(es): long:1");
    let text = item.fields["findings"][0]["text"].as_str().unwrap();
    assert!(text.len() <= 1024, "{}", text.len());
}

#[test]
fn many_matches_are_counted_and_the_first_kept() {
    let fixture = Fixture::app();
    for at in 0..1100 {
        fixture.write(&format!("app/m/{at:04}"), "x");
    }
    let (item, _) = check(&fixture, "glob: 'm/*'");
    assert_eq!(item.details, "1100 match(es); 0 empty/non-file");
    let matches = item.fields["matches"].as_array().unwrap();
    assert_eq!(
        (matches.len(), matches[999].as_str()),
        (1000, Some("m/0999"))
    );
}
