//! A check that is interrupted (spec P62, P65, P121).

use std::thread;
use std::time::{Duration, Instant};

use runvil::harness::CancelToken;
use runvil::packet::contract::{Interrupted, evaluate};

use crate::bounds::{assert_gone, nap, processes};
use crate::fixture::{Fixture, contract};

/// Interrupts a check once a process with this word runs. How long it took from then on.
#[track_caller]
fn interrupt(fixture: &Fixture, verify: &str, word: &str) -> Duration {
    let cancel = CancelToken::default();
    let token = cancel.clone();
    let (result, took) = thread::scope(|scope| {
        let canceller = scope.spawn(move || {
            let begun = Instant::now();
            while processes(word).is_empty() && begun.elapsed() < Duration::from_secs(5) {
                thread::sleep(Duration::from_millis(5));
            }
            token.cancel();
            Instant::now()
        });
        let result = evaluate(&fixture.scope, "01", Some(&contract(verify)), &cancel);
        let ended = Instant::now();
        (result, ended.duration_since(canceller.join().unwrap()))
    });
    assert_eq!(result, Err(Interrupted));
    assert_gone(word);
    took
}

#[test]
fn a_command_is_killed_at_once_and_its_outputs_come_back() {
    let fixture = Fixture::app();
    fixture.write("app/figure", "old");
    let word = &nap(98763);
    let script = format!("trap '' TERM; printf new > figure; sleep {word} & sleep {word}");
    let verify =
        format!("commands: {{exec: sh, args: ['-c', \"{script}\"], regenerates: [figure]}}");
    let took = interrupt(&fixture, &verify, word);
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!(fixture.read("app/figure").as_deref(), Some("old"));
    assert_eq!(fixture.read("app/figure.runvil-verifier-backup"), None);
}

#[test]
fn a_remote_is_not_waited_for() {
    let fixture = Fixture::app();
    let word = &nap(98764);
    fixture.shell(&format!(
        "git init -q --bare remote && cd app && git remote add origin ../remote\n\
         git push -qu origin main && git config protocol.ext.allow always\n\
         git remote set-url origin 'ext::sleep {word}'"
    ));
    let verify = "repos_clean: {repo: app, pushed: true, network: true}";
    let took = interrupt(&fixture, verify, word);
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn a_text_is_looked_for_no_longer() {
    let fixture = Fixture::app();
    // Zeros without end, as good as.
    fixture.shell("truncate -s 500G app/huge");
    let cancel = CancelToken::default();
    let token = cancel.clone();
    let verify = contract("contains: {path: huge, text: x}");
    let (result, took) = thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(200));
            token.cancel();
        });
        let begun = Instant::now();
        let result = evaluate(&fixture.scope, "01", Some(&verify), &cancel);
        (result, begun.elapsed())
    });
    assert_eq!(result, Err(Interrupted));
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[test]
fn nothing_begins_after_an_interruption() {
    let fixture = Fixture::app();
    let cancel = CancelToken::default();
    cancel.cancel();
    let verify = "commands: {exec: touch, args: [made]}";
    for verify in [
        verify,
        "files_exist: a",
        "glob: '**'",
        "changed_paths_only: a",
    ] {
        let checked = evaluate(&fixture.scope, "01", Some(&contract(verify)), &cancel);
        assert_eq!(checked, Err(Interrupted), "{verify}");
    }
    assert_eq!(fixture.read("app/made"), None);
}
