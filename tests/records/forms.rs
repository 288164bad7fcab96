//! Lines as whole runs write them.

use std::sync::Arc;

use runvil::Outcome;
use runvil::engine::store::{Deny, Policy, PolicyRule};
use runvil::harness::record::{ENGINE, Line, Reader};
use runvil::harness::{Launch, Store, replay};

use crate::made::{line_with, lines, prompt, record, record_rich};

#[test]
fn a_store_operation_has_the_numbers_of_case_7() {
    let (_, record) = record(
        &prompt("", "store.write('a', 'x') return 'ok'", ""),
        Launch::default(),
    );
    let effect = r#","effect":{"kind":"store","op":"write","path":"a","contents":"x"}}"#;
    let (_, line) = line_with(&record, &[r#""t":"effect""#]);
    assert!(line.starts_with(r#"{"v":1,"t":"effect","task":"0","seq":7,"id":0,"at":"#));
    assert!(line.ends_with(effect), "{line}");
    let (_, line) = line_with(&record, &[r#""t":"answer""#]);
    assert!(line.starts_with(r#"{"v":1,"t":"answer","task":"0","seq":7,"id":0,"at":"#));
    assert!(line.ends_with(r#","answer":{"value":null}}"#), "{line}");
    let (_, line) = line_with(&record, &["store_write_succeeded"]);
    assert!(line.contains(r#""seq":8"#), "{line}");
}

#[test]
fn a_failed_answer_and_a_dropped_timer_are_as_case_8_has_them() {
    let (_, record) = record_rich();
    line_with(
        &record,
        &[
            r#""answer":{"failure":{"reason":"not_found","message":"file not found in store: gone","path":"gone"}}}"#,
        ],
    );
    // The round of a task that is cancelled.
    line_with(&record, &[r#""t":"answer""#, r#""answer":"dropped"}"#]);
    line_with(&record, &[r#""answer":{"fired":true}}"#]);
    let lua = "local t = tasks.spawn('### T') tasks.join({ t }, { timeout = 3600 }) return 'x'";
    let more = "\n### T\n\n```lua\nstore.exists('a')\n```\n";
    let (report, record) = self::record(&prompt("", lua, more), Launch::default());
    assert_eq!(report.outcome, Outcome::Completed("x".to_owned()));
    let (_, timer) = line_with(&record, &[r#""kind":"timer""#]);
    let id = timer.split(r#""id":"#).nth(1).unwrap();
    let id = id.split(',').next().unwrap();
    let (_, answer) = line_with(&record, &[r#""t":"answer""#, &format!(r#""id":{id},"#)]);
    assert!(answer.ends_with(r#""answer":"dropped"}"#), "{answer}");
}

#[test]
fn the_first_line_names_a_hosts_store_and_its_policy() {
    let rule = PolicyRule::new("a/**", Deny::Write, "kept").unwrap();
    let policy = Policy {
        read_only: false,
        rules: vec![rule],
    };
    let store = Store::memory();
    store.write("a/b", "x").unwrap();
    let launch = Launch {
        store: Some(store.with_policy(policy)),
        ..Launch::default()
    };
    let lua = "local ok, e = pcall(store.write, 'a/b', 'y') return e.message .. store.read('a/b')";
    let (report, record) = record(&prompt("", lua, ""), launch);
    let text = "permission denied for store path a/b: keptx";
    assert_eq!(report.outcome, Outcome::Completed(text.to_owned()));
    let head = lines(&record)[0];
    assert!(head.contains(
        r#""store":{"read_only":false,"policy":[{"pattern":"a/**","deny":"write","reason":"kept"}]}"#
    ));
    assert!(replay(&record[..], &mut |_| {}).is_ok());
}

#[test]
fn runs_that_prepare_ends_have_a_record() {
    // spec R17
    let missing = prompt("uses: [acme/x]\n", "return 1", "");
    let undeclared = Launch {
        input: Some("text".to_owned()),
        ..Launch::default()
    };
    let cancelled = Launch::default();
    cancelled.cancel.cancel();
    let none = Launch {
        store: Some(Store::none()),
        ..Launch::default()
    };
    let declares = "input: {path: in, description: d}\n";
    let plain = prompt("", "return 1", "");
    let rows = [
        ("no prompt".to_owned(), Launch::default(), "Parse", "null"),
        (
            prompt("", "return (", ""),
            Launch::default(),
            "Parse",
            "null",
        ),
        (
            missing,
            Launch::default(),
            "RequirementsUnmet",
            r#"{"services""#,
        ),
        (plain.clone(), undeclared, "Input", "null"),
        (
            prompt(declares, "return 1", ""),
            Launch::default(),
            "Input",
            "null",
        ),
        (plain.clone(), cancelled, "cancelled", "null"),
        (
            plain.replace("runvil: 0", "runvil: 3"),
            Launch::default(),
            "Version",
            "{",
        ),
        (plain, none, "Vfs", "{"),
    ];
    for (source, launch, ends, packs) in rows {
        let (report, record) = record(&source, launch);
        let lines = lines(&record);
        let last = lines.last().unwrap();
        assert!(last.contains(&format!("\"{ends}\"")), "{last}");
        assert!(
            lines[0].contains(&format!("\"packs\":{packs}")),
            "{}",
            lines[0]
        );
        let replayed = replay(&record[..], &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(replayed.outcome, Some(report.outcome), "{ends}");
        assert_eq!(replayed.lines, lines.len() as u64);
    }
}

#[test]
fn a_setup_error_leaves_no_record() {
    // spec R17, C10
    let source = prompt("", "return 1", "").replace("runvil: 0", "promptforge: 0");
    let launch = Launch {
        input: Some("text".to_owned()),
        ..Launch::default()
    };
    let (report, record) = record(&source, launch);
    assert!(report.is_setup_error());
    assert!(record.is_empty());
}

#[test]
fn a_stop_names_what_it_reached_and_no_question() {
    // spec K212
    let lua = "models.default('main', {})\n\
        local ask = tasks.spawn('### Ask')\n\
        local ok, e = pcall(models.infer, 'x')\n\
        local _, _, said = tasks.join_any({ ask })\n\
        return e.kind .. said";
    let more = "\n### Ask\n\n```lua\nreturn (input.ask())\n```\n";
    let front = "uses: [user-input]\nmodels:\n  main: {description: d}\n";
    let script =
        runvil::harness::Script::from_yaml("rounds:\n- {reply: late, delay_ms: 3600000}\n")
            .unwrap();
    let stop = runvil::harness::StopToken::default();
    let launch = Launch {
        model: Some(script.model().clone()),
        broker: Some(Arc::new(script)),
        operator: Some(Arc::new(Stopping(stop.clone()))),
        stop,
        ..Launch::default()
    };
    let (report, record) = record(&prompt(front, lua, more), launch);
    assert_eq!(
        report.outcome,
        Outcome::Completed("cancelledat last".to_owned())
    );
    let (_, stop) = line_with(&record, &[r#""t":"stop""#]);
    let (_, round) = line_with(&record, &[r#""kind":"model""#]);
    let id = round
        .split(r#""id":"#)
        .nth(1)
        .unwrap()
        .split(',')
        .next()
        .unwrap();
    assert!(stop.ends_with(&format!(r#""ids":[{id}]}}"#)), "{stop}");
    line_with(&record, &[r#""answer":"interrupted"}"#]);
    let replayed = replay(&record[..], &mut |_| {}).unwrap();
    assert_eq!(replayed.outcome, Some(report.outcome));
}

/// Stops what the run waits for, and answers after a while.
#[derive(Debug)]
struct Stopping(runvil::harness::StopToken);

impl runvil::harness::unit::Operator for Stopping {
    fn ask(&self, _: &runvil::harness::unit::Question) -> Result<String, String> {
        let while_it_waits = std::time::Duration::from_millis(50);
        std::thread::sleep(while_it_waits);
        self.0.stop();
        std::thread::sleep(while_it_waits);
        Ok("at last".to_owned())
    }
}

#[test]
fn a_cancel_in_a_loop_stands_before_what_the_step_put_out() {
    // case 9
    let launch = Launch::default();
    let cancel = launch.cancel.clone();
    let worker = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(200));
        cancel.cancel();
    });
    let lua = "for i = 1, 3 do log('x') end while true do end";
    let (report, record) = record(&prompt("", lua, ""), launch);
    worker.join().unwrap();
    assert_eq!(report.outcome, Outcome::Cancelled);
    let (at, line) = line_with(&record, &[r#""t":"cancel""#]);
    assert!(line.ends_with(r#","after":6}"#), "{line}");
    assert!(lines(&record)[at].contains("run_started"));
    assert!(replay(&record[..], &mut |_| {}).is_ok());
}

#[test]
fn a_record_holds_whole_lines_whose_moments_never_go_back() {
    let (_, record) = record_rich();
    assert_eq!(record.last(), Some(&b'\n'));
    let mut last = 0;
    for line in Reader::new(&record[..]) {
        let at = match line.unwrap().1 {
            Line::Effect(line) => line.at,
            Line::Answer(line) => line.at,
            Line::Outcome(line) => line.at,
            Line::Head(head) => {
                assert_eq!(head.engine, ENGINE);
                assert_eq!(head.run_id.len(), 32);
                0
            }
            _ => last,
        };
        assert!(at >= last);
        last = at;
    }
}
