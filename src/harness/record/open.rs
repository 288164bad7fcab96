//! What is kept of the effects that have no answer.

use std::collections::BTreeMap;

use crate::engine::EffectId;

/// Something for each effect without an answer. Nearly always the one that was put out last is
/// answered next, so that one has a place of its own.
#[derive(Debug)]
pub(in crate::harness) struct Open<T> {
    last: Option<(EffectId, T)>,
    others: BTreeMap<EffectId, T>,
}

impl<T> Default for Open<T> {
    fn default() -> Self {
        Self {
            last: None,
            others: BTreeMap::new(),
        }
    }
}

impl<T> Open<T> {
    /// Keeps something of an effect.
    #[inline]
    pub(in crate::harness) fn insert(&mut self, id: EffectId, kept: T) {
        if let Some((id, kept)) = self.last.replace((id, kept)) {
            self.others.insert(id, kept);
        }
    }

    /// What is kept of an effect, which is kept no longer.
    #[inline]
    pub(in crate::harness) fn remove(&mut self, id: EffectId) -> Option<T> {
        match self.last.take_if(|(last, _)| *last == id) {
            Some((_, kept)) => Some(kept),
            None => self.others.remove(&id),
        }
    }

    /// What is kept of an effect.
    #[inline]
    pub(in crate::harness) fn get(&self, id: EffectId) -> Option<&T> {
        match &self.last {
            Some((last, kept)) if *last == id => Some(kept),
            _ => self.others.get(&id),
        }
    }

    /// All there is, in issue order.
    pub(in crate::harness) fn into_map(self) -> BTreeMap<EffectId, T> {
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
        let mut open = Open::default();
        for id in 0..4 {
            open.insert(EffectId(id), id);
        }
        assert_eq!(
            [3, 0].map(|id| open.get(EffectId(id)).copied()),
            [Some(3), Some(0)]
        );
        for id in [3, 1] {
            assert_eq!(open.remove(EffectId(id)), Some(id));
            assert_eq!(open.remove(EffectId(id)), None);
            assert_eq!(open.get(EffectId(id)), None);
        }
        open.insert(EffectId(4), 4);
        let left: Vec<u64> = open.into_map().into_values().collect();
        assert_eq!(left, [0, 2, 4]);
    }
}
