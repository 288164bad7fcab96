//! Records of runs that were cancelled while Lua ran.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use runvil::Outcome;
use runvil::harness::{CancelToken, Launch, ReplayError, Replayed, replay, replay_cancellable};

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

/// Replays lines, for no longer than a while.
fn replay_for_a_while(lines: &[String]) -> Result<Replayed, ReplayError> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let cancel = CancelToken::default();
    let token = cancel.clone();
    let (done, is_done) = channel::<()>();
    let worker = thread::spawn(move || {
        // An error once the other end is dropped.
        let waited = is_done.recv_timeout(Duration::from_secs(30));
        if waited == Err(RecvTimeoutError::Timeout) {
            token.cancel();
        }
    });
    let replayed = replay_cancellable(text.as_bytes(), &cancel, &mut |_| {});
    drop(done);
    worker.join().unwrap();
    replayed
}

#[test]
fn a_cancel_that_was_edited_is_found_and_not_waited_for() {
    // case 14, spec R15: nothing but its cancel ends the loop
    let sections = "\n## W\n\n```lua\nreturn item\n```\n\n## F\n\n```lua\nerror('no')\n```\n\n\
                    ## S\n\n```lua\nwhile true do store.read('b') end\n```\n";
    for lua in [
        "while true do end",
        "for i = 1, 3 do log('x') end while true do end",
        "tasks.join_any({ tasks.spawn('## W', {}) }, { timeout = 60 }) while true do end",
        "store.write('a', 'b') log(store.read('a')) while true do end",
        // What failed was caught, so that is not what the run ended with.
        "for i = 1, 3 do pcall(store.read, 'gone') end log('x') while true do end",
        "store.write('a_failed', '') pcall(call, '## F', '') log('x') while true do end",
        "pcall(tasks.fanout, '## F', { 1 }) store.write('a', '') log('x') while true do end",
        // What the store was asked is withdrawn after the run's end.
        "store.write('b', '') tasks.spawn('## S', {}) store.read('b') log('x') while true do end",
        // More than the record's reader has at hand.
        "for i = 1, 999 do log(('x'):rep(200)) end while true do end",
    ] {
        let record = cancelled(lua, sections);
        let whole: Vec<String> = lines(&record).into_iter().map(str::to_owned).collect();
        let (at, cancel) = line_with(&record, &[r#""t":"cancel""#]);
        let at = at - 1;
        let refused = |lines: &[String], what: &str| match replay_for_a_while(lines) {
            Err(ReplayError::Cancelled) => panic!("{lua}: {what} is followed without an end"),
            Err(error) => error.to_string(),
            Ok(_) => panic!("{lua}: {what} is not found"),
        };
        let mut missing = whole.clone();
        missing.remove(at);
        let last = whole.len() - 1;
        assert_eq!(
            refused(&missing, "a missing cancel"),
            format!("line {last}: the run ended as cancelled, and no `cancel` line says where")
        );
        for other in [
            "stop", "event", "effect", "answer", "outcome", "run", "cancels",
        ] {
            let mut renamed = whole.clone();
            renamed[at] = cancel.replace(r#""t":"cancel""#, &format!(r#""t":"{other}""#));
            refused(&renamed, other);
        }
        let (before, _) = cancel.split_once(r#","after":"#).unwrap();
        for after in ["", ",\"after\":0", ",\"after\":5000", ",\"after\":\"1\""] {
            if after.is_empty() && lua.contains("pcall(store.read") {
                // The interrupted call is caught too, so a cancel there leads to the same lines.
                continue;
            }
            let mut moved = whole.clone();
            moved[at] = format!("{before}{after}}}");
            refused(&moved, after);
        }
        for other in [at - 1, at + 1] {
            let mut turned = whole.clone();
            turned.swap(at, other);
            refused(&turned, "a cancel elsewhere");
        }
        let answers = whole[..at]
            .iter()
            .rposition(|line| line.contains(r#""answer":{"#));
        for (what, twice) in [("a second cancel", Some(at)), ("a second answer", answers)] {
            let Some(at) = twice else { continue };
            let mut twice = whole.clone();
            twice.insert(at, whole[at].clone());
            refused(&twice, what);
        }
        let spelled: Vec<String> = whole
            .iter()
            .map(|line| line.replacen('{', "{ ", 1))
            .collect();
        assert!(
            replay_for_a_while(&spelled).is_ok(),
            "{lua}: another spelling"
        );
        let mut missing = spelled;
        missing.remove(at);
        refused(&missing, "a missing cancel in another spelling");
    }
}

#[test]
fn a_run_may_end_as_cancelled_by_itself() {
    // spec L103, R15: an error value is made again from its fields, and no cancel line tells of it
    let raise = "local _, e = pcall(store.read, 'gone') e.kind = 'cancelled' store.write('a', '') \
                 error(e)";
    let named = |name| format!("\n## {name}\n\n```lua\n{raise}\n```\n");
    for (lua, section) in [
        (raise, "W"),
        ("call('## W', '')", "W"),
        ("tasks.fanout('## W', { 1 })", "W"),
        ("jump('## run_failed')", "run_failed"),
        (
            "call('## lua_teardown_started', '')",
            "lua_teardown_started",
        ),
    ] {
        let (report, record) = record(&prompt("", lua, &named(section)), Launch::default());
        assert_eq!(report.outcome, Outcome::Cancelled, "{lua}");
        let replayed = replay(&record[..], &mut |_| {});
        let replayed = replayed.unwrap_or_else(|error| panic!("{lua}: {error}"));
        assert_eq!(replayed.outcome, Some(Outcome::Cancelled));
    }
}

#[test]
fn a_replay_can_be_cancelled() {
    // Nothing tells that this step did not come so far.
    let record = cancelled("log('x') while true do end", "");
    let text = String::from_utf8(record).unwrap();
    let text = text.replace("\"after\":4}", "\"after\":5}");
    let cancel = CancelToken::default();
    let token = cancel.clone();
    let worker = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        token.cancel();
    });
    let replayed = replay_cancellable(text.as_bytes(), &cancel, &mut |_| {});
    worker.join().unwrap();
    assert!(
        matches!(replayed, Err(ReplayError::Cancelled)),
        "{replayed:?}"
    );
}
