//! The end of a server, and of what it started (spec T167).

use std::thread;
use std::time::{Duration, Instant};

use runvil::harness::CancelToken;
use rustix::process::test_kill_process;

use crate::kiln::{Kiln, pid_of, transport};

#[test]
fn a_server_whose_input_is_closed_may_say_goodbye() {
    let kiln = Kiln::ready("plain");
    let begun = Instant::now();
    let notes = kiln.end();
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "it was waited for"
    );
    assert_eq!(notes.last().map(String::as_str), Some("acme/kiln: bye"));
}

#[test]
fn a_server_that_will_not_end_is_killed() {
    let kiln = Kiln::ready("stubborn");
    let begun = Instant::now();
    kiln.end();
    let took = begun.elapsed();
    assert!((4.0..8.0).contains(&took.as_secs_f64()), "{took:?}");
}

#[test]
fn a_server_that_only_hears_signals_is_asked_to_end() {
    let kiln = Kiln::ready("plain");
    kiln.call("deaf", "").unwrap();
    let begun = Instant::now();
    kiln.end();
    let took = begun.elapsed();
    assert!((2.0..4.0).contains(&took.as_secs_f64()), "{took:?}");
}

#[test]
fn what_a_server_started_ends_with_it() {
    let kiln = Kiln::ready("plain");
    let child = pid_of(&kiln.call("spawn", "").unwrap());
    assert!(test_kill_process(child).is_ok());
    kiln.end();
    let kiln = Kiln::ready("plain");
    kiln.call("spawn", "").unwrap();
    assert!(kiln.call("die", "").is_err());
    kiln.end();
}

#[test]
fn a_panic_leaves_nothing() {
    let mut kiln = Kiln::ready("plain");
    kiln.call("spawn", "").unwrap();
    let unit = kiln.take();
    let run = thread::spawn(move || {
        let _unit = unit;
        panic!("as is wanted here");
    });
    assert!(run.join().is_err());
    kiln.assert_nothing_is_left();
}

#[test]
fn a_unit_may_be_closed_while_a_call_is_in_flight() {
    let kiln = Kiln::ready("plain");
    thread::scope(|scope| {
        scope.spawn(|| {
            let ended = transport("kiln/later: the server process ended");
            assert_eq!(kiln.call("later", "x"), ended);
        });
        while kiln.call("held", "") != Ok("1".to_owned()) {
            thread::sleep(Duration::from_millis(5));
        }
        kiln.unit().close();
    });
    kiln.assert_nothing_is_left();
    assert_eq!(
        kiln.call("echo", ""),
        transport("kiln/echo: the server process ended")
    );
    assert_eq!(kiln.start(), Ok(()));
    assert_eq!(kiln.call("echo", "again"), Ok("again".to_owned()));
    kiln.end();
}

#[test]
fn no_process_is_started_beside_one_that_is_ending() {
    // spec T161
    let kiln = Kiln::ready("plain");
    kiln.call("deaf", "").unwrap();
    let first = kiln.started()[0];
    thread::scope(|scope| {
        scope.spawn(|| kiln.unit().close());
        while kiln.call("echo", "") != transport("kiln/echo: the server process ended") {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(test_kill_process(first).is_ok(), "it has ended already");
        let cancel = CancelToken::default();
        cancel.cancel();
        assert!(kiln.start_until(&cancel).is_err(), "a cancelled run waits");
        assert_eq!(kiln.start(), Ok(()));
        assert!(test_kill_process(first).is_err(), "there are two");
    });
    assert_eq!(kiln.call("echo", "again"), Ok("again".to_owned()));
    kiln.end();
}
