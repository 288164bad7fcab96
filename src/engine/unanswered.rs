//! What is kept of the effects that have no answer.

use std::collections::BTreeMap;

use super::effect::EffectId;

/// Something for each effect without an answer. Nearly always the one that was put out last is
/// answered next, so that one has a place of its own.
#[derive(Debug)]
pub(crate) struct Unanswered<T> {
    last: Option<(EffectId, T)>,
    others: BTreeMap<EffectId, T>,
}

impl<T> Default for Unanswered<T> {
    fn default() -> Self {
        Self {
            last: None,
            others: BTreeMap::new(),
        }
    }
}

impl<T> Unanswered<T> {
    /// Keeps something of an effect.
    #[inline]
    pub(crate) fn insert(&mut self, id: EffectId, kept: T) {
        if let Some((id, kept)) = self.last.replace((id, kept)) {
            self.others.insert(id, kept);
        }
    }

    /// What is kept of an effect, which is kept no longer.
    #[inline]
    pub(crate) fn remove(&mut self, id: EffectId) -> Option<T> {
        match self.last.take_if(|(last, _)| *last == id) {
            Some((_, kept)) => Some(kept),
            None => self.others.remove(&id),
        }
    }

    /// Keeps nothing of an effect any longer.
    #[inline]
    pub(crate) fn forget(&mut self, id: EffectId) {
        match &self.last {
            Some((last, _)) if *last == id => self.last = None,
            _ => drop(self.others.remove(&id)),
        }
    }

    /// What is kept of an effect.
    #[inline]
    pub(crate) fn get(&self, id: EffectId) -> Option<&T> {
        match &self.last {
            Some((last, kept)) if *last == id => Some(kept),
            _ => self.others.get(&id),
        }
    }

    /// What is kept of the effect that was put out last, unless it has its answer.
    #[inline]
    pub(crate) fn last(&self) -> Option<(EffectId, &T)> {
        self.last.as_ref().map(|(id, kept)| (*id, kept))
    }

    /// Whether nothing is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_none() && self.others.is_empty()
    }

    /// All there is, in issue order.
    pub(crate) fn into_map(self) -> BTreeMap<EffectId, T> {
        let mut all = self.others;
        all.extend(self.last);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_once_in_any_order() {
        let mut open = Unanswered::default();
        for id in 0..6 {
            open.insert(EffectId(id), id);
        }
        assert_eq!(
            [5, 0].map(|id| open.get(EffectId(id)).copied()),
            [Some(5), Some(0)]
        );
        for (id, forgets) in [(5, true), (1, true), (3, false)] {
            match forgets {
                true => open.forget(EffectId(id)),
                false => assert_eq!(open.remove(EffectId(id)), Some(id)),
            }
            assert_eq!(open.remove(EffectId(id)), None);
            assert_eq!(open.get(EffectId(id)), None);
        }
        open.insert(EffectId(6), 6);
        let left: Vec<u64> = open.into_map().into_values().collect();
        assert_eq!(left, [0, 2, 4, 6]);
    }
}
