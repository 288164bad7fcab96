//! Waiting for units to be ready (spec T35).

use std::thread;
use std::time::{Duration, Instant};

use runvil::engine::Outcome;
use runvil::harness::{CancelToken, Launch};
use runvil::prompt::Dialect::{self, PromptForge, Runvil};

use crate::fake::{Fake, fake, host, prompt, run_with};

/// A unit that is not ready before the run is cancelled.
fn slow(id: &'static str, then: Result<(), &'static str>) -> Fake {
    fake(id).waiting(move |activation| {
        while !activation.cancel.is_cancelled() {
            thread::sleep(Duration::from_millis(1));
        }
        then.map_err(str::to_owned)
    })
}

/// Runs and cancels once a unit is waited for; gives the notes of the host's log.
#[track_caller]
fn assert_cancelled(units: Vec<Fake>, waited_for: &Fake, dialect: Dialect, frontmatter: &str) {
    let (host, notes) = host(units);
    let cancel = CancelToken::default();
    let launch = Launch {
        cancel: cancel.clone(),
        ..Launch::default()
    };
    let source = prompt(dialect, frontmatter, "return 'ran'");
    let begun = Instant::now();
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            while !waited_for.seen().contains(&"activate".to_owned()) {
                assert!(begun.elapsed() < Duration::from_secs(20));
                thread::sleep(Duration::from_millis(1));
            }
            cancel.cancel();
        });
        run_with(&host, &source, launch)
    });
    assert_eq!(report.outcome, Outcome::Cancelled);
    let notes = notes.lock().unwrap();
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn a_cancel_ends_the_wait_and_no_notice_follows() {
    let declared = slow("own/slow", Err("it was not ready"));
    let later = fake("own/later").unready("later");
    let units = vec![declared.clone(), later.clone()];
    assert_cancelled(units, &declared, Runvil, "uses: [slow, gone, later]");
    assert_eq!(later.seen(), ["start"], "it is waited for after the cancel");
    let own = slow("own/slow", Ok(()));
    assert_cancelled(vec![own.clone()], &own, Runvil, "");
    let plugin = slow("acme/slow", Err("it was not ready"));
    assert_cancelled(
        vec![plugin.clone()],
        &plugin,
        PromptForge,
        "plugins: [acme/slow, acme/gone]",
    );
}

#[test]
fn all_units_begin_before_one_is_waited_for() {
    let second = fake("own/second");
    let started = second.clone();
    let first = fake("own/first").waiting(move |_| match started.seen().as_slice() {
        [begun] if begun == "start" => Ok(()),
        seen => Err(format!("{seen:?}")),
    });
    let (host, notes) = host([first, second]);
    run_with(&host, &prompt(Runvil, "", "return 1"), Launch::default());
    assert!(notes.lock().unwrap().is_empty());
}
