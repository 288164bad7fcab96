//! The worker pool (spec R7): threads only where deeds need them, and none lost.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded, unbounded};
use runvil::engine::store::StoreValue;
use runvil::engine::{Answer, EffectId};
use runvil::harness::Pool;

const LONG: Duration = Duration::from_secs(20);

fn answer(text: &str) -> Answer {
    Answer::Store(Ok(StoreValue::Text(text.to_owned())))
}

/// A deed that goes on when its gate is opened, or dropped.
fn gated(
    id: u64,
) -> (
    Sender<()>,
    EffectId,
    impl FnOnce() -> Answer + Send + 'static,
) {
    let (open, gate) = bounded::<()>(1);
    let deed = move || {
        let _ = gate.recv();
        answer("late")
    };
    (open, EffectId(id), deed)
}

#[test]
fn no_thread_is_started_before_the_first_deed() {
    let mut pool = Pool::new(4);
    assert_eq!(pool.threads(), 0);
    assert!(pool.ready().is_none());
    assert!(pool.next(Duration::from_millis(1)).is_none());
    assert_eq!(pool.threads(), 0);
    pool.submit(EffectId(7), || answer("done")).unwrap();
    assert_eq!(pool.threads(), 1);
    assert_eq!(pool.next(LONG), Some((EffectId(7), answer("done"))));
}

#[test]
fn there_are_never_more_threads_than_allowed() {
    const MOST: usize = 3;
    let mut pool = Pool::new(MOST);
    let (now, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for id in 0..200 {
        let (now, peak) = (now.clone(), peak.clone());
        pool.submit(EffectId(id), move || {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_micros(200));
            now.fetch_sub(1, Ordering::SeqCst);
            answer(&id.to_string())
        })
        .unwrap();
        assert!(pool.threads() <= MOST);
    }
    let answers: BTreeMap<EffectId, Answer> = (0..200).map(|_| pool.next(LONG).unwrap()).collect();
    assert_eq!(answers.len(), 200, "each deed is answered once");
    for (id, got) in answers {
        assert_eq!(got, answer(&id.0.to_string()));
    }
    assert_eq!(pool.threads(), MOST);
    assert!((1..=MOST).contains(&peak.load(Ordering::SeqCst)));
    assert!(pool.ready().is_none());
}

#[test]
fn a_pool_of_none_has_one_thread() {
    let mut pool = Pool::new(0);
    for id in 0..3 {
        pool.submit(EffectId(id), || answer("done")).unwrap();
    }
    for id in 0..3 {
        assert_eq!(pool.next(LONG), Some((EffectId(id), answer("done"))));
    }
    assert_eq!(pool.threads(), 1);
}

#[test]
fn an_idle_thread_takes_the_next_deed() {
    let mut pool = Pool::new(8);
    for id in 0..50 {
        pool.submit(EffectId(id), || answer("done")).unwrap();
        assert_eq!(pool.next(LONG), Some((EffectId(id), answer("done"))));
    }
    assert_eq!(pool.threads(), 1, "one thread was enough");
}

#[test]
fn a_deed_that_panics_is_answered_as_broken_and_others_go_on() {
    let mut pool = Pool::new(1);
    pool.submit(EffectId(0), || panic!("a plain text")).unwrap();
    pool.submit(EffectId(1), || panic!("the number {}", 5))
        .unwrap();
    /// Panics once more when it is dropped.
    struct Again;
    impl Drop for Again {
        fn drop(&mut self) {
            panic!("again");
        }
    }
    pool.submit(EffectId(2), || std::panic::panic_any(Again))
        .unwrap();
    pool.submit(EffectId(3), || answer("fine")).unwrap();
    let broken = |text: &str| Answer::Broken(format!("a worker panicked: {text}"));
    assert_eq!(pool.next(LONG), Some((EffectId(0), broken("a plain text"))));
    assert_eq!(pool.next(LONG), Some((EffectId(1), broken("the number 5"))));
    assert_eq!(pool.next(LONG), Some((EffectId(2), broken("no message"))));
    assert_eq!(pool.next(LONG), Some((EffectId(3), answer("fine"))));
    assert_eq!(pool.threads(), 1, "the thread outlives the panics");
}

/// Drops a pool and says how long that took.
fn drop_time(pool: Pool) -> Duration {
    let start = Instant::now();
    drop(pool);
    start.elapsed()
}

#[test]
fn a_pool_with_idle_threads_ends_them() {
    let mut pool = Pool::new(4);
    let mut opens = Vec::new();
    for id in 0..4 {
        let (open, id, deed) = gated(id);
        opens.push(open);
        pool.submit(id, deed).unwrap();
    }
    assert_eq!(pool.threads(), 4);
    drop(opens);
    for _ in 0..4 {
        pool.next(LONG).unwrap();
    }
    assert!(drop_time(pool) < LONG);
}

#[test]
fn a_pool_that_is_dropped_begins_no_more_deeds_and_waits_for_none() {
    let mut pool = Pool::new(2);
    let (begun, first) = unbounded();
    let mut opens = Vec::new();
    for id in 0..2 {
        let (open, id, deed) = gated(id);
        let begun = begun.clone();
        opens.push(open);
        pool.submit(id, move || {
            begun.send(()).unwrap();
            deed()
        })
        .unwrap();
    }
    let (queued, token) = (Arc::new(AtomicUsize::new(0)), Arc::new(()));
    for id in 2..50 {
        let (queued, token) = (queued.clone(), token.clone());
        pool.submit(EffectId(id), move || {
            queued.fetch_add(1, Ordering::SeqCst);
            drop(token);
            answer("queued")
        })
        .unwrap();
    }
    for _ in 0..2 {
        first.recv_timeout(LONG).unwrap();
    }
    assert!(drop_time(pool) < LONG, "the busy threads are left to end");
    assert_eq!(Arc::strong_count(&token), 1, "deeds not begun are dropped");
    drop(opens);
    // The threads end by themselves: their ends of the channel close.
    drop(begun);
    assert!(first.recv_timeout(LONG).is_err());
    assert_eq!(queued.load(Ordering::SeqCst), 0);
}

/// Threads come and go with their pools, whatever state they are dropped in.
#[test]
fn dropping_races_with_nothing() {
    for round in 0..200_u64 {
        let mut pool = Pool::new(3);
        for id in 0..round % 7 {
            pool.submit(EffectId(id), move || match id % 3 {
                0 => panic!("round {round}"),
                _ => answer("done"),
            })
            .unwrap();
        }
        if round % 2 == 0 && round % 7 > 0 {
            pool.next(LONG).unwrap();
        }
        assert!(drop_time(pool) < LONG);
    }
}
