//! The threads that calls of units' tools take: those of the Host, which end with it (spec R7). It
//! has a process to itself, whose threads it counts.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

#[path = "units/fake.rs"]
#[allow(dead_code, reason = "the tests of units use the rest")]
mod fake;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use runvil::engine::Outcome;
use runvil::harness::{CancelToken, Launch};
use runvil::prompt::Dialect::Runvil;

use fake::{fake, host, prompt, result, run, run_with};

/// How many workers there are.
fn workers() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let names =
        threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    names
        .filter(|name| name.starts_with("runvil-worker"))
        .count()
}

#[test]
fn a_host_keeps_the_threads_of_its_runs_and_leaves_none() {
    let in_flight = Arc::<AtomicUsize>::default();
    let counted = in_flight.clone();
    let stuck = fake("own/stuck").serving(move |call| {
        counted.fetch_add(1, Ordering::SeqCst);
        while !call.abort.is_aborted() {
            sleep(Duration::from_millis(1));
        }
        Ok(String::new())
    });
    let (host, _) = host([fake("own/web"), stuck]);

    assert_eq!(result(run(&host, &prompt(Runvil, "", "return 'x'"))), "x");
    assert_eq!(workers(), 0, "a run that calls nothing starts one");

    let lua = "for _ = 1, 100 do tools.call('web/t') end return 'x'";
    assert_eq!(result(run(&host, &prompt(Runvil, "", lua))), "x");
    assert_eq!(workers(), 1, "one is enough, and is kept");

    let cancel = CancelToken::default();
    let launch = Launch {
        cancel: cancel.clone(),
        ..Launch::default()
    };
    let lua = "return #tasks.fanout('### W', { 1, 2, 3 })\n```\n\n### W\n\n```lua\n\
               return tools.call('stuck/t')";
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            while in_flight.load(Ordering::SeqCst) < 3 {
                sleep(Duration::from_millis(1));
            }
            assert_eq!(workers(), 3);
            cancel.cancel();
        });
        run_with(&host, &prompt(Runvil, "", lua), launch)
    });
    assert_eq!(report.outcome, Outcome::Cancelled);
    assert_eq!(workers(), 3, "the kept one was among them");
    drop(host);
    let begun = Instant::now();
    while workers() > 0 {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{} are left",
            workers()
        );
        sleep(Duration::from_millis(5));
    }
}
