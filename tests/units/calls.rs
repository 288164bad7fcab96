//! Calls of units' tools (spec T83 to T105).

use std::io::BufReader;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use runvil::engine::Outcome;
use runvil::engine::tool::{ToolClass, ToolFailure};
use runvil::harness::record::Recorder;
use runvil::harness::unit::Call;
use runvil::harness::{CancelToken, Launch, StopToken, replay};
use runvil::prompt::Dialect::{PromptForge, Runvil};

use crate::fake::{Fake, fake, host, prompt, result, run, run_with};

/// A unit whose tool waits until its call is aborted, and counts the calls that are in flight.
fn stuck() -> (Fake, Arc<AtomicUsize>) {
    let in_flight = Arc::<AtomicUsize>::default();
    let counted = in_flight.clone();
    let unit = fake("own/web").serving(move |call: &Call| {
        counted.fetch_add(1, Ordering::SeqCst);
        while !call.abort.is_aborted() {
            thread::sleep(Duration::from_millis(1));
        }
        counted.fetch_sub(1, Ordering::SeqCst);
        Ok("late".to_owned())
    });
    (unit, in_flight)
}

/// Waits until so many calls are in flight.
#[track_caller]
fn wait_for(in_flight: &AtomicUsize, count: usize) {
    let begun = Instant::now();
    while in_flight.load(Ordering::SeqCst) != count {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "never {count} in flight"
        );
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_call_reaches_the_unit_that_has_the_tool() {
    let units = [
        fake("own/web"),
        fake("acme/kiln").with_tools(&["t", "fire"]),
    ];
    let (host, _) = host(units);
    let lua = "return tools.call('web/t', {a = 1}) .. '|' .. tools.call('kiln/fire')";
    let report = run(&host, &prompt(Runvil, "uses: [acme/kiln]", lua));
    assert_eq!(result(report), "web/t {\"a\":1}|kiln/fire {}");
    let lua = "return tools.call('x') .. '|' .. tools.call('y')";
    let frontmatter = "plugins: [acme/kiln, promptforge/web]\n\
                       tools: {x: acme/kiln/fire, y: promptforge/web/t}";
    let report = run(&host, &prompt(PromptForge, frontmatter, lua));
    assert_eq!(result(report), "acme/kiln/fire {}|promptforge/web/t {}");
}

#[test]
fn a_failed_call_has_the_units_message() {
    let unit = fake("own/web")
        .serving(|_| Err(ToolFailure::new(ToolClass::Transport, "the line is dead")));
    let (host, _) = host([unit]);
    let lua = "local ok, e = pcall(tools.call, 'web/t') return e.kind .. ': ' .. e.message";
    let report = run(&host, &prompt(Runvil, "", lua));
    assert_eq!(result(report), "tool: tool call failure: the line is dead");
}

#[test]
fn a_unit_that_panics_ends_the_run_and_not_the_host() {
    let (host, _) = host([fake("own/web").serving(|_| panic!("as is wanted here"))]);
    let file = tempfile::NamedTempFile::new().unwrap();
    let launch = Launch {
        record: Some(Recorder::file(file.reopen().unwrap())),
        ..Launch::default()
    };
    let source = prompt(Runvil, "", "return tools.call('web/t')");
    let report = run_with(&host, &source, launch);
    let record = BufReader::new(file.reopen().unwrap());
    let again = replay(record, &mut |_| {}).unwrap();
    assert_eq!(again.outcome.as_ref(), Some(&report.outcome));
    let Outcome::Failed(error) = report.outcome else {
        panic!("{:?}", report.outcome)
    };
    assert_eq!(error.kind.name(), "Internal");
    assert_eq!(error.message, "a worker panicked: as is wanted here");
    // spec R3
    let location = error.location.unwrap();
    assert_eq!(location.path.as_deref(), Some("src/engine/run.rs"));
    assert!(location.line.is_some());
}

#[test]
fn calls_of_several_chains_are_in_flight_at_once() {
    let meeting = Arc::new(std::sync::Barrier::new(4));
    let unit = fake("own/web").serving(move |call| {
        meeting.wait();
        Ok(call.task.to_string())
    });
    let (host, _) = host([unit]);
    let lua = "return table.concat(tasks.fanout('### W', {1, 2, 3, 4}))\n```\n\n### W\n\n```lua\n\
               return tools.call('web/t') .. ' '";
    let report = run(&host, &prompt(Runvil, "", lua));
    assert_eq!(result(report), "0.0 0.1 0.2 0.3 ");
}

#[test]
fn a_cancel_aborts_what_is_in_flight() {
    // spec T105
    let (unit, in_flight) = stuck();
    let (host, _) = host([unit]);
    let cancel = CancelToken::default();
    let launch = Launch {
        cancel: cancel.clone(),
        ..Launch::default()
    };
    let lua = "return table.concat(tasks.fanout('### W', {1, 2, 3}))\n```\n\n### W\n\n```lua\n\
               return tools.call('web/t')";
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            wait_for(&in_flight, 3);
            cancel.cancel();
        });
        run_with(&host, &prompt(Runvil, "", lua), launch)
    });
    assert_eq!(report.outcome, Outcome::Cancelled);
    wait_for(&in_flight, 0);
}

#[test]
fn a_stop_aborts_what_is_in_flight_and_the_run_goes_on() {
    // spec T105
    let (unit, in_flight) = stuck();
    let (host, _) = host([unit]);
    let stop = StopToken::default();
    let launch = Launch {
        stop: stop.clone(),
        ..Launch::default()
    };
    let lua = "local ok, e = pcall(tools.call, 'web/t') return e.kind .. ': ' .. e.message";
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            wait_for(&in_flight, 1);
            stop.stop();
        });
        run_with(&host, &prompt(Runvil, "", lua), launch)
    });
    assert_eq!(result(report), "cancelled: interrupted by Ctrl-C");
    wait_for(&in_flight, 0);
}

#[test]
fn a_call_of_a_task_that_ends_is_aborted() {
    let (unit, in_flight) = stuck();
    let (host, _) = host([unit]);
    let lua = "local t = tasks.spawn('### W') pcall(tasks.join, {t}, {timeout = 0.05}) \
               tasks.cancel(t) return 'on'\n```\n\n### W\n\n```lua\nreturn tools.call('web/t')";
    let report = run(&host, &prompt(Runvil, "", lua));
    assert_eq!(result(report), "on");
    wait_for(&in_flight, 0);
}
