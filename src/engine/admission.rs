//! Which tasks may run: slots under the limits of a task's ancestor chains (spec K120 to K125,
//! K209).

use std::collections::{BTreeMap, BTreeSet};

use super::task::TaskKey;

/// Names a chain of the run while it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ChainKey(u32);

impl ChainKey {
    /// The root chain.
    pub(super) const ROOT: Self = Self(0);
}

#[derive(Debug)]
struct Node {
    /// The chain that called it, or that owns its task.
    parent: Option<ChainKey>,
    /// What the chain set itself; the ceiling for the root.
    limit: u32,
    /// The slot holders among all its descendants.
    slots: u32,
}

/// The tree of live chains with their limits, and the tasks that wait for a slot.
#[derive(Debug)]
pub(super) struct Admission {
    ceiling: u32,
    nodes: Vec<Node>,
    free: Vec<ChainKey>,
    /// The queued tasks of each owning chain. All of them have the same ancestors, so either the
    /// first of them may go or none.
    queues: BTreeMap<ChainKey, BTreeSet<TaskKey>>,
    /// The first of each queue, in spawn order.
    heads: BTreeSet<(TaskKey, ChainKey)>,
}

impl Admission {
    /// A tree of the root alone. With a ceiling of nothing no task could ever go.
    pub(super) fn new(ceiling: u32) -> Self {
        let ceiling = ceiling.max(1);
        let root = Node {
            parent: None,
            limit: ceiling,
            slots: 0,
        };
        Self {
            ceiling,
            nodes: vec![root],
            free: Vec::new(),
            queues: BTreeMap::new(),
            heads: BTreeSet::new(),
        }
    }

    /// A new chain under another.
    pub(super) fn open(&mut self, parent: ChainKey) -> ChainKey {
        let node = Node {
            parent: Some(parent),
            limit: u32::MAX,
            slots: 0,
        };
        match self.free.pop() {
            Some(key) => {
                self.nodes[key.0 as usize] = node;
                key
            }
            None => {
                self.nodes.push(node);
                ChainKey(self.nodes.len() as u32 - 1)
            }
        }
    }

    /// A chain has ended; it owns no live task any more.
    pub(super) fn close(&mut self, chain: ChainKey) {
        if chain != ChainKey::ROOT {
            self.free.push(chain);
        }
    }

    fn ancestors(&self, chain: ChainKey) -> impl Iterator<Item = ChainKey> {
        std::iter::successors(Some(chain), |chain| self.nodes[chain.0 as usize].parent)
    }

    /// A chain's effective limit.
    pub(super) fn limit(&self, chain: ChainKey) -> u32 {
        let limits = self
            .ancestors(chain)
            .map(|chain| self.nodes[chain.0 as usize].limit);
        limits.min().unwrap_or(self.ceiling)
    }

    /// Sets a chain's own limit.
    pub(super) fn set_limit(&mut self, chain: ChainKey, limit: u32) {
        let most = if chain == ChainKey::ROOT {
            self.ceiling
        } else {
            u32::MAX
        };
        self.nodes[chain.0 as usize].limit = limit.min(most);
    }

    /// Puts a task of a chain in line, at its place in spawn order.
    pub(super) fn queue(&mut self, chain: ChainKey, task: TaskKey) {
        let queue = self.queues.entry(chain).or_default();
        let first = queue.first().copied();
        queue.insert(task);
        if first.is_none_or(|first| task < first) {
            if let Some(first) = first {
                self.heads.remove(&(first, chain));
            }
            self.heads.insert((task, chain));
        }
    }

    /// How many tasks are in line.
    pub(super) fn in_line(&self) -> usize {
        self.queues.values().map(BTreeSet::len).sum()
    }

    /// Takes a task out of line. Whether it was in it.
    pub(super) fn unqueue(&mut self, chain: ChainKey, task: TaskKey) -> bool {
        let Some(queue) = self.queues.get_mut(&chain) else {
            return false;
        };
        if !queue.remove(&task) {
            return false;
        }
        if self.heads.remove(&(task, chain))
            && let Some(next) = queue.first()
        {
            self.heads.insert((*next, chain));
        }
        if queue.is_empty() {
            self.queues.remove(&chain);
        }
        true
    }

    fn has_room(&self, chain: ChainKey) -> bool {
        self.ancestors(chain).all(|chain| {
            let node = &self.nodes[chain.0 as usize];
            node.slots < node.limit
        })
    }

    /// Admits the next task in spawn order whose ancestors all have room, from `after` on.
    pub(super) fn admit(&mut self, after: Option<TaskKey>) -> Option<TaskKey> {
        if !self.has_room(ChainKey::ROOT) {
            return None;
        }
        let from = after.map_or(TaskKey::ROOT, TaskKey::next);
        let mut candidates = self.heads.range((from, ChainKey::ROOT)..);
        let (task, chain) = candidates
            .find(|(_, chain)| self.has_room(*chain))
            .copied()?;
        self.unqueue(chain, task);
        self.occupy(chain, true);
        Some(task)
    }

    /// Gives back the slot of a task of a chain.
    pub(super) fn release(&mut self, chain: ChainKey) {
        self.occupy(chain, false);
    }

    fn occupy(&mut self, chain: ChainKey, taken: bool) {
        let mut next = Some(chain);
        while let Some(chain) = next {
            let node = &mut self.nodes[chain.0 as usize];
            node.slots = if taken {
                node.slots + 1
            } else {
                node.slots.saturating_sub(1)
            };
            next = node.parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_go_in_spawn_order_where_there_is_room() {
        // spec K124
        let mut admission = Admission::new(3);
        let narrow = admission.open(ChainKey::ROOT);
        admission.set_limit(narrow, 1);
        assert_eq!(admission.limit(narrow), 1);
        for task in [1, 2] {
            admission.queue(narrow, TaskKey(task));
        }
        for task in [4, 3] {
            admission.queue(ChainKey::ROOT, TaskKey(task));
        }
        let mut order = Vec::new();
        let mut last = None;
        while let Some(task) = admission.admit(last) {
            last = Some(task);
            order.push(task.0);
        }
        assert_eq!(order, [1, 3, 4]);
        admission.release(narrow);
        assert_eq!(admission.admit(None), Some(TaskKey(2)));
        assert_eq!(admission.admit(None), None);
    }
}
