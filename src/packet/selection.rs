//! Which prompts a command is about (spec P27, P31).

use std::collections::BTreeSet;

use super::error::PacketError;
use super::packet::Packet;
use super::prompt::Prompt;
use super::prompt_id::PromptId;
use super::standing::Standing;

/// What a command line selects. Nothing at all is every prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selectors {
    /// Ids, as written.
    pub ids: Vec<String>,
    /// The prompts of this phase.
    pub phase: Option<i64>,
    /// Those that are not recorded as completed.
    pub remaining: bool,
    /// The first of packet order, as written.
    pub from: Option<String>,
    /// The last of packet order, as written.
    pub through: Option<String>,
}

impl Selectors {
    /// Whether the recorded statuses decide.
    #[must_use]
    pub fn needs_progress(&self) -> bool {
        self.remaining && self.ids.is_empty()
    }

    /// The selected prompts: explicit ids in the order given, else in packet order. `recorded` are
    /// the statuses, of which none count unless [`needs_progress`](Self::needs_progress).
    ///
    /// # Errors
    /// Ids and bounds that are no prompts, and a lower bound behind the upper one.
    pub fn select<'p>(
        &self,
        packet: &'p Packet,
        recorded: &Standing,
    ) -> Result<Vec<&'p Prompt>, PacketError> {
        let selected = if self.ids.is_empty() {
            let in_phase = |prompt: &Prompt| self.phase.is_none_or(|phase| phase == prompt.phase);
            let is_left = |prompt: &Prompt| !self.remaining || !recorded.is_completed(&prompt.id);
            let prompts = packet.prompts.iter();
            prompts
                .filter(|prompt| in_phase(prompt) && is_left(prompt))
                .collect()
        } else {
            self.explicit(packet)?
        };
        let range = self.range(packet)?;
        Ok(match range {
            None => selected,
            Some(range) => {
                let inside = |prompt: &&Prompt| range.contains(&prompt.id);
                selected.into_iter().filter(inside).collect()
            }
        })
    }

    fn explicit<'p>(&self, packet: &'p Packet) -> Result<Vec<&'p Prompt>, PacketError> {
        let mut selected: Vec<&Prompt> = Vec::new();
        let mut unknown: Vec<String> = Vec::new();
        for raw in &self.ids {
            match find(packet, raw) {
                Some(prompt) if selected.iter().any(|other| other.id == prompt.id) => {}
                Some(prompt) => selected.push(prompt),
                None => unknown.push(normal(raw)),
            }
        }
        match unknown.is_empty() {
            true => Ok(selected),
            false => Err(PacketError::UnknownPrompts {
                ids: unknown,
                known: known(packet),
            }),
        }
    }

    /// The ids between the bounds; `None` for no bounds.
    fn range<'p>(&self, packet: &'p Packet) -> Result<Option<BTreeSet<&'p PromptId>>, PacketError> {
        let place = |option: &'static str, raw: &Option<String>| match raw {
            None => Ok(None),
            Some(raw) => {
                let at = find(packet, raw).and_then(|found| {
                    let mut prompts = packet.prompts.iter();
                    prompts.position(|prompt| prompt.id == found.id)
                });
                at.map(Some).ok_or_else(|| PacketError::UnknownBound {
                    option,
                    id: normal(raw),
                    known: known(packet),
                })
            }
        };
        let from = place("from", &self.from)?;
        let through = place("through", &self.through)?;
        if from.is_none() && through.is_none() {
            return Ok(None);
        }
        if let (Some(first), Some(last)) = (from, through)
            && first > last
        {
            let shown = |raw: &Option<String>| raw.as_deref().map(normal).unwrap_or_default();
            return Err(PacketError::BoundsCross {
                from: shown(&self.from),
                through: shown(&self.through),
            });
        }
        let end = through.map_or(packet.prompts.len(), |last| last + 1);
        let inside = packet.prompts.get(from.unwrap_or(0)..end);
        let ids = inside.unwrap_or_default().iter().map(|prompt| &prompt.id);
        Ok(Some(ids.collect()))
    }
}

fn find<'p>(packet: &'p Packet, raw: &str) -> Option<&'p Prompt> {
    packet.prompt(raw.parse::<PromptId>().ok()?.as_str())
}

/// An id in its normal form, or what stands in its place.
fn normal(raw: &str) -> String {
    let id = raw.parse::<PromptId>();
    id.map_or_else(|_| raw.to_owned(), |id| id.to_string())
}

fn known(packet: &Packet) -> Vec<PromptId> {
    let prompts = packet.prompts.iter();
    prompts.map(|prompt| prompt.id.clone()).collect()
}
