//! Counts the rounds that are under way.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use runvil::engine::model::Round;
use runvil::harness::model::{Broker, Taken, Terms};

use super::{Stage, block};

/// A broker that says when a round begins and when it ends.
pub struct Watched {
    broker: Arc<dyn Broker>,
    stage: Stage,
}

impl Watched {
    pub fn new(broker: Arc<dyn Broker>, stage: Stage) -> Self {
        Self { broker, stage }
    }
}

/// A round that has begun. It ends when this is dropped, be it that its deed is done, has panicked
/// or is never begun.
struct UnderWay {
    stage: Stage,
    round: u64,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        block(&self.stage)
            .scene
            .end_round(self.round, Instant::now());
    }
}

impl Broker for Watched {
    fn take(&self, round: Arc<Round>, terms: Terms) -> Taken {
        let (stage, id) = (self.stage.clone(), round.round);
        block(&stage).scene.begin_round(id);
        match self.broker.take(round, terms) {
            Taken::Known(span, answered) => {
                let now = Instant::now();
                let end = now.checked_add(span).unwrap_or(now);
                block(&stage).scene.end_round(id, end);
                Taken::Known(span, answered)
            }
            Taken::Deed(deed) => {
                let under_way = UnderWay { stage, round: id };
                Taken::Deed(Box::new(move || {
                    let answered = deed();
                    drop(under_way);
                    answered
                }))
            }
        }
    }

    fn skip(&self, round: &Round) {
        self.broker.skip(round);
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.broker.fmt(f)
    }
}
