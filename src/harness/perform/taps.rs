//! The rounds in flight that the Host listens in on: their debug events, in their place among the
//! others (spec K188, K188a).

use std::collections::BTreeMap;

use crate::engine::{EffectId, RoundPlace, Run};
use crate::harness::model::{DebugEvent, DebugEvents, DebugKind, Tap};

/// The rounds in flight that the Host listens in on; none where it does not.
pub(super) struct Taps {
    debug: Option<DebugEvents>,
    open: BTreeMap<EffectId, (RoundPlace, Tap)>,
}

impl Taps {
    pub(super) fn new(debug: Option<DebugEvents>) -> Self {
        Self {
            debug,
            open: BTreeMap::new(),
        }
    }

    /// What listens in on a round that is about to be asked, where the Host wants that. Nobody wants
    /// to know of one that has been withdrawn.
    pub(super) fn tap(&mut self, id: EffectId, run: &Run) -> Option<Tap> {
        self.debug.as_ref()?;
        let place = run.round_place(id)?;
        let tap = Tap::default();
        self.open.insert(id, (place, tap.clone()));
        Some(tap)
    }

    /// Gives the Host the requests that have been told of since.
    pub(super) fn requests(&self) {
        let Some(debug) = &self.debug else { return };
        for (place, tap) in self.open.values() {
            if let Some(body) = tap.take_request() {
                request(debug, place, body);
            }
        }
    }

    /// A round's answer is about to be handed in: gives the Host the reply that it came from, where
    /// anything came.
    pub(super) fn answered(&mut self, id: EffectId) {
        let Some(debug) = &self.debug else { return };
        let Some((place, tap)) = self.open.remove(&id) else {
            return;
        };
        let mut heard = tap.take();
        if let Some(body) = heard.request.take() {
            request(debug, &place, body);
        }
        if heard.body.is_empty() {
            return;
        }
        let body = text(std::mem::take(&mut heard.body));
        let finish_reason = heard.finish_reason.take();
        let reasoning = std::mem::take(&mut heard.reasoning);
        let [body, reasoning] = [body, reasoning].map(|text| heard.without_key(text));
        let finish_reason = finish_reason.map(|text| heard.without_key(text));
        let kind = DebugKind::Response {
            body: &body,
            finish_reason: finish_reason.as_deref(),
            reasoning_content: Some(&*reasoning).filter(|reasoning| !reasoning.is_empty()),
        };
        debug.give(event(&place, kind));
    }

    /// A round's answer is not wanted any more.
    pub(super) fn withdrawn(&mut self, id: EffectId) {
        self.open.remove(&id);
    }
}

fn request(debug: &DebugEvents, place: &RoundPlace, body: Vec<u8>) {
    let kind = DebugKind::Request { body: &text(body) };
    debug.give(event(place, kind));
}

fn event<'a>(place: &'a RoundPlace, kind: DebugKind<'a>) -> DebugEvent<'a> {
    DebugEvent {
        kind,
        execution: &place.execution,
        section: &place.section,
        task: &place.task,
        turn: place.turn,
    }
}

/// Bytes as text; what is no UTF-8 is replaced.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
