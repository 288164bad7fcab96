//! Records of runs that were cancelled while Lua ran.

use std::thread;
use std::time::Duration;

use runvil::Outcome;
use runvil::harness::{Launch, replay};

use crate::made::{line_with, lines, prompt, record, resume};

/// The record of a run that is cancelled in an endless loop.
fn cancelled(lua: &str, sections: &str) -> Vec<u8> {
    let launch = Launch::default();
    let cancel = launch.cancel.clone();
    let worker = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        cancel.cancel();
    });
    let (report, record) = record(&prompt("", lua, sections), launch);
    worker.join().unwrap();
    assert_eq!(report.outcome, Outcome::Cancelled);
    record
}

#[test]
fn a_cancel_after_a_wait_that_left_its_timer_is_found_again() {
    // case 10, spec R15: what is dropped counts, though no event tells of it
    let worker = "\n## W\n\n```lua\nreturn item\n```\n\n## F\n\n```lua\nerror('no')\n```\n";
    for lua in [
        "tasks.join_any({ tasks.spawn('## W', {}) }, { timeout = 60 }) while true do end",
        "tasks.join({ tasks.spawn('## W', {}) }, { timeout = 60 }) while true do end",
        "pcall(tasks.join, { tasks.spawn('## F', {}) }, { timeout = 60 }) while true do end",
        "tasks.join_any({ tasks.spawn('## W', {}) }, { timeout = 60 }) log('x') while true do end",
    ] {
        let record = cancelled(lua, worker);
        let (_, timer) = line_with(&record, &[r#""answer":"dropped""#]);
        assert!(timer.contains(r#""t":"answer""#));
        let replayed = replay(&record[..], &mut |_| {});
        assert!(replayed.is_ok(), "{lua}: {replayed:?}");
    }
}

#[test]
fn a_cancelled_run_without_its_last_lines_is_ended() {
    // case 11
    for lua in ["log('a') while true do end", "while true do end"] {
        let record = cancelled(lua, "");
        let whole = lines(&record);
        let (cancel, _) = line_with(&record, &[r#""t":"cancel""#]);
        for count in cancel..whole.len() {
            let cut: String = whole[..count]
                .iter()
                .map(|line| format!("{line}\n"))
                .collect();
            let (report, resumed) = resume(cut.as_bytes());
            let report = report.unwrap_or_else(|error| panic!("{count} lines: {error}"));
            assert_eq!(report.outcome, Outcome::Cancelled);
            let replayed = replay(&resumed[..], &mut |_| {}).unwrap();
            assert_eq!(replayed.outcome, Some(Outcome::Cancelled));
        }
    }
}
