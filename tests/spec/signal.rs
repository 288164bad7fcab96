//! What a Host does in the middle of a run, and when: it cancels or stops it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use runvil::harness::Launch;
use serde::Deserialize;
use serde_json::Value;

use crate::case::Case;
use crate::pattern::EventPattern;

/// How long after the last of them has gone out rounds, calls and questions count as in flight.
const IN_FLIGHT: Duration = Duration::from_millis(20);

/// At the nth event that matches, when so many rounds, calls of units' tools or questions to the
/// operator have gone out, or a while after the start.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Moment {
    Event {
        event: EventPattern,
        #[serde(default = "first")]
        nth: usize,
    },
    Rounds {
        rounds: usize,
    },
    Called {
        called: usize,
    },
    Asked {
        asked: usize,
    },
    After {
        after_ms: u64,
    },
}

fn first() -> usize {
    1
}

type Act = Arc<dyn Fn() + Send + Sync>;

/// The signals of a case, each with its moment.
pub struct Signals {
    signals: Vec<(Moment, Act)>,
    /// How many events have matched, for each.
    matched: Vec<AtomicUsize>,
}

impl Signals {
    /// The signals of a case for its launch.
    pub fn new(case: &Case, launch: &Launch) -> Self {
        let (cancel, stop) = (launch.cancel.clone(), launch.stop.clone());
        let cancel: Act = Arc::new(move || cancel.cancel());
        let stop: Act = Arc::new(move || stop.stop());
        let given = [(&case.cancel, cancel), (&case.stop, stop)].into_iter();
        let signals: Vec<_> = given
            .filter_map(|(moment, act)| Some((moment.clone()?, act)))
            .collect();
        Self {
            matched: signals.iter().map(|_| AtomicUsize::new(0)).collect(),
            signals,
        }
    }

    /// The run starts.
    pub fn start(&self) {
        for (moment, act) in &self.signals {
            if let Moment::After { after_ms } = moment {
                later(act, Duration::from_millis(*after_ms));
            }
        }
    }

    /// The Host is told an event.
    pub fn event(&self, event: &Value) {
        for ((moment, act), matched) in self.signals.iter().zip(&self.matched) {
            if let Moment::Event { event: wanted, nth } = moment
                && wanted.matches(event)
                && matched.fetch_add(1, Ordering::Relaxed) + 1 == *nth
            {
                act();
            }
        }
    }

    /// The nth round goes out.
    pub fn round(&self, nth: usize) {
        self.gone_out(|moment| matches!(moment, Moment::Rounds { rounds } if *rounds == nth));
    }

    /// The nth call of a unit's tool goes out.
    pub fn call(&self, nth: usize) {
        self.gone_out(|moment| matches!(moment, Moment::Called { called } if *called == nth));
    }

    /// The nth question goes out.
    pub fn question(&self, nth: usize) {
        self.gone_out(|moment| matches!(moment, Moment::Asked { asked } if *asked == nth));
    }

    fn gone_out(&self, is_now: impl Fn(&Moment) -> bool) {
        for (moment, act) in &self.signals {
            if is_now(moment) {
                later(act, IN_FLIGHT);
            }
        }
    }
}

fn later(act: &Act, delay: Duration) {
    let act = act.clone();
    thread::spawn(move || {
        thread::sleep(delay);
        act();
    });
}
