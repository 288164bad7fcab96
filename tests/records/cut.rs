//! Records that end before their runs did.

use runvil::harness::{ResumeError, replay};

use crate::made::{line_with, lines, record_longer, record_rich, resume};

/// Resumes a record that was cut off, and holds the run to the one that was not.
#[track_caller]
fn goes_on(cut: &[u8], outcome: &runvil::Outcome) {
    let (resumed, record) = resume(cut);
    let report = resumed.unwrap_or_else(|error| {
        let end = String::from_utf8_lossy(&cut[cut.len().saturating_sub(300)..]);
        panic!("{error}\nafter …{end}")
    });
    assert_eq!(report.outcome, *outcome);
    let replayed = replay(&record[..], &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(replayed.outcome.as_ref(), Some(outcome));
    let whole = cut
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    assert!(record.starts_with(&cut[..whole]), "what was there stays");
}

#[test]
fn a_run_goes_on_after_every_line() {
    let (report, record) = record_rich();
    let mut end = 0;
    let whole = lines(&record);
    for (at, line) in whole.iter().enumerate() {
        end += line.len() + 1;
        let cut = &record[..end];
        if at + 1 == whole.len() {
            let (resumed, after) = resume(cut);
            assert!(matches!(resumed, Err(ResumeError::Ended)), "{resumed:?}");
            assert_eq!(after, record);
        } else {
            goes_on(cut, &report.outcome);
            let replayed = replay(cut, &mut |_| {}).unwrap();
            assert_eq!((replayed.outcome, replayed.lines), (None, at as u64 + 1));
        }
    }
}

#[test]
fn a_line_torn_at_every_byte_is_cut_off_or_refused() {
    // case 4
    let (report, record) = record_rich();
    let mut seen = std::collections::BTreeSet::new();
    let mut start = 0;
    for (at, line) in lines(&record).into_iter().enumerate() {
        let kind = line.split('"').nth(5).unwrap();
        let is_first = seen.insert(kind) || (kind == "answer" && line.contains("dropped"));
        // The first line is all there is of its run.
        for end in (1..=line.len()).filter(|_| is_first && at > 0) {
            let cut = &record[..start + end];
            let replayed = replay(cut, &mut |_| {}).unwrap();
            assert!(replayed.is_torn && replayed.outcome.is_none());
            // A replay is quick, and a resumed run is not.
            if end % 9 != 1 && end != line.len() {
                continue;
            }
            let hides_answer = kind == "answer" && !line.contains("dropped");
            if hides_answer && cut.len() % 4096 > 0 {
                let (resumed, after) = resume(cut);
                let Err(ResumeError::TornAnswer { line }) = resumed else {
                    panic!("{resumed:?}")
                };
                assert_eq!(line, at as u64 + 1);
                assert_eq!(after, cut, "the record is as it was");
            } else {
                goes_on(cut, &report.outcome);
            }
        }
        start += line.len() + 1;
    }
    assert_eq!(
        seen.into_iter().collect::<Vec<_>>(),
        ["answer", "effect", "event", "outcome", "run"]
    );
}

#[test]
fn zeros_in_place_of_a_line_may_be_of_an_answer() {
    // case 12: what a machine that lost its power leaves
    let (report, record) = record_rich();
    let (at, _) = line_with(&record, &[r#""t":"answer""#, r#""value":"#]);
    let before: usize = lines(&record)[..at - 1]
        .iter()
        .map(|line| line.len() + 1)
        .sum();
    let zeros = [0; 40];
    for left in [0, 1, 10, 20] {
        let cut = [&record[..before + left], &zeros[..]].concat();
        let (resumed, after) = resume(&cut);
        let Err(ResumeError::TornAnswer { line }) = resumed else {
            panic!("{left}: {resumed:?}")
        };
        assert_eq!((line, after), (at as u64, cut));
    }
    // An effect hides none.
    let (at, _) = line_with(&record, &[r#""t":"effect""#]);
    let before: usize = lines(&record)[..at - 1]
        .iter()
        .map(|line| line.len() + 1)
        .sum();
    goes_on(&[&record[..before], &zeros[..]].concat(), &report.outcome);
}

#[test]
fn an_answer_torn_where_a_page_ends_is_none() {
    // case 15: what a kill leaves, and a full disk
    const PAGE: usize = 4096;
    let (mut value, mut reply) = (false, false);
    // The lines are moved until an answer of the store and a model's stand on such an end.
    for by in (0..PAGE).step_by(40) {
        let (report, record) = record_longer(by);
        let mut start = 0_usize;
        for (at, line) in lines(&record).into_iter().enumerate() {
            let cut = record.get(..(start + 60).next_multiple_of(PAGE));
            start += line.len() + 1;
            let of = [("\"value\":", &mut value), ("\"text\":", &mut reply)];
            let mut of = of.into_iter().filter(|(member, _)| line.contains(member));
            let (Some(cut), Some((_, seen))) = (cut.filter(|cut| cut.len() < start), of.next())
            else {
                continue;
            };
            if !line.contains(r#""t":"answer""#) || std::mem::replace(seen, true) {
                continue;
            }
            goes_on(cut, &report.outcome);
            let lost = [&cut[..cut.len() - 1], &[0_u8][..]].concat();
            for cut in [&record[..cut.len() - 1], &record[..=cut.len()], &lost] {
                let (resumed, after) = resume(cut);
                let Err(ResumeError::TornAnswer { line }) = resumed else {
                    panic!("{resumed:?}")
                };
                assert_eq!((line, after.as_slice()), (at as u64 + 1, cut));
            }
        }
    }
    assert!(value && reply, "{value} {reply}");
}

#[test]
fn moments_go_on_from_the_last_line() {
    // spec R14
    let (_, record) = record_rich();
    let (at, effect) = line_with(&record, &[r#""t":"effect""#]);
    let whole = lines(&record);
    let later = effect.replacen("\"at\":", "\"at\":5000000", 1);
    let mut cut: String = whole[..at - 1]
        .iter()
        .map(|line| format!("{line}\n"))
        .collect();
    cut.push_str(&format!("{later}\n"));
    let (resumed, after) = resume(cut.as_bytes());
    resumed.unwrap();
    let (_, outcome) = line_with(&after, &[r#""t":"outcome""#]);
    let (_, moment) = outcome.split_once("\"at\":").unwrap();
    let digits: String = moment.chars().take_while(char::is_ascii_digit).collect();
    assert!(digits.parse::<u64>().unwrap() >= 5_000_000, "{outcome}");
}

#[test]
fn a_record_without_a_whole_line_is_none() {
    let (_, record) = record_rich();
    for end in [0, 1, 100] {
        let (resumed, _) = resume(&record[..end]);
        let error = resumed.unwrap_err().to_string();
        assert_eq!(error, "it holds no whole line of a record");
    }
}
