//! Which accesses come before which: fork and join stamps on the tree of tasks (spec part 04,
//! sections 12 and 15).
//!
//! Each task carries the moment it was forked and the moment it was joined, on its owner's clock. A
//! task is joined by its owner alone, after all below it has ended, so these two moments decide.

use super::task::TaskKey;

/// An identity: one serial thread of store accesses (spec S63). Named by its task.
#[derive(Clone, Debug)]
struct Identity {
    parent: Option<TaskKey>,
    depth: u32,
    spawned_at: u64,
    joined_at: Option<u64>,
    now: u64,
}

/// An access, by who made it and when on that identity's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) identity: TaskKey,
    at: u64,
}

/// The order between the tasks of a run.
#[derive(Debug)]
pub(super) struct HappensBefore {
    identities: Vec<Identity>,
    /// How many identities have been spawned and not joined.
    open: usize,
}

impl HappensBefore {
    pub(super) fn new() -> Self {
        let root = Identity {
            parent: None,
            depth: 0,
            spawned_at: 0,
            joined_at: None,
            now: 0,
        };
        Self {
            identities: vec![root],
            open: 0,
        }
    }

    fn identity(&self, task: TaskKey) -> &Identity {
        &self.identities[task.index()]
    }

    /// The next access of a task.
    pub(super) fn stamp(&self, task: TaskKey) -> Stamp {
        Stamp {
            identity: task,
            at: self.identity(task).now,
        }
    }

    /// A task is spawned: what its owner did so far comes before all it does. Tasks are spawned in
    /// the order of their keys.
    pub(super) fn spawn(&mut self, owner: TaskKey) {
        let parent = &mut self.identities[owner.index()];
        let child = Identity {
            parent: Some(owner),
            depth: parent.depth + 1,
            spawned_at: parent.now,
            joined_at: None,
            now: 0,
        };
        parent.now += 1;
        self.identities.push(child);
        self.open += 1;
    }

    /// A task is joined: all it did comes before its owner's next step. The first join counts.
    pub(super) fn join(&mut self, task: TaskKey) {
        if self.identity(task).joined_at.is_some() {
            return;
        }
        let Some(owner) = self.identity(task).parent else {
            return;
        };
        let owner = &mut self.identities[owner.index()];
        owner.now += 1;
        let now = owner.now;
        self.identities[task.index()].joined_at = Some(now);
        self.open -= 1;
    }

    /// Whether every task but the first has been joined: all accesses so far come before all that
    /// are to come.
    pub(super) fn is_serial(&self) -> bool {
        self.open == 0
    }

    /// Whether a recorded access comes before the next step of `b` (spec S83).
    pub(super) fn before(&self, a: Stamp, b: TaskKey) -> bool {
        let (mut up_a, mut up_b) = (a.identity, b);
        let (mut child_a, mut child_b) = (None, None);
        while up_a != up_b {
            let (depth_a, depth_b) = (self.identity(up_a).depth, self.identity(up_b).depth);
            if depth_a >= depth_b {
                child_a = Some(up_a);
                up_a = self.identity(up_a).parent.unwrap_or(TaskKey::ROOT);
            }
            if depth_b >= depth_a {
                child_b = Some(up_b);
                up_b = self.identity(up_b).parent.unwrap_or(TaskKey::ROOT);
            }
        }
        match (child_a, child_b) {
            (None, None) => true,
            (None, Some(b)) => a.at <= self.identity(b).spawned_at,
            (Some(a), None) => self.identity(a).joined_at.is_some(),
            (Some(a), Some(b)) => {
                let joined = self.identity(a).joined_at;
                joined.is_some_and(|at| at <= self.identity(b).spawned_at)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fork_and_join_stamps_order_what_they_should() {
        // case 04/SC55
        let mut order = HappensBefore::new();
        let (root, a, b, c) = (TaskKey(0), TaskKey(1), TaskKey(2), TaskKey(3));
        order.spawn(root);
        order.spawn(root);
        let by_a = order.stamp(a);
        order.join(a);
        order.spawn(root);
        let by_b = order.stamp(b);
        assert!(order.before(by_a, root));
        assert!(order.before(by_a, c));
        assert!(!order.before(by_a, b));
        assert!(!order.before(by_b, c));
        assert!(!order.is_serial());
        order.join(b);
        order.join(c);
        assert!(order.is_serial());
        assert!(order.before(by_b, root));
    }
}
