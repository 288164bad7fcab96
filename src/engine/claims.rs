//! Claims on the store (spec part 04, sections 13 to 15): each region remembers its last write and
//! the accesses since. A conflict is found at the access, whichever side comes second.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use super::happens_before::{HappensBefore, Stamp};
use super::store::{Glob, StoreOp, ancestors};
use super::task::TaskKey;

/// Accesses of one kind and place that a later one may conflict with, in the order they were made.
#[derive(Debug, Default)]
struct Accesses {
    stamps: Vec<Stamp>,
    /// How many were left when they were last looked through.
    kept: usize,
}

impl Accesses {
    /// Adds an access. Those it is ordered after say nothing more (spec S86): they are dropped, not
    /// one by one, but whenever the list has doubled, so that an access costs the same however many
    /// unordered ones there are.
    fn add(&mut self, order: &HappensBefore, stamp: Stamp) {
        if self.stamps.len() > 2 * self.kept {
            self.stamps
                .retain(|old| !order.before(*old, stamp.identity));
            self.kept = self.stamps.len();
        }
        self.stamps.push(stamp);
    }
}

/// The accesses of one path.
#[derive(Debug, Default)]
struct Region {
    write: Option<Stamp>,
    touches: Accesses,
    reads: Accesses,
}

/// The accesses of one pattern.
#[derive(Debug)]
struct Pattern {
    glob: Glob,
    reads: Accesses,
}

/// A conflict: the recorded access that the new one is not ordered after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    /// Whose access it was.
    pub(super) other: TaskKey,
    /// `write` or `read`.
    pub(super) other_claim: &'static str,
}

/// All claims of a run.
#[derive(Debug)]
pub(super) struct Claims {
    pub(super) order: HappensBefore,
    paths: BTreeMap<String, Region>,
    /// The patterns that were read, in order of first use.
    patterns: Vec<Pattern>,
    pattern_of: HashMap<String, usize>,
}

impl Claims {
    pub(super) fn new() -> Self {
        Self {
            order: HappensBefore::new(),
            paths: BTreeMap::new(),
            patterns: Vec::new(),
            pattern_of: HashMap::new(),
        }
    }

    /// The first access of a list that the next step of `me` is not ordered after.
    fn unordered<'a>(
        &self,
        stamps: impl IntoIterator<Item = &'a Stamp>,
        me: TaskKey,
        other_claim: &'static str,
    ) -> Result<(), Conflict> {
        for stamp in stamps {
            if stamp.identity != me && !self.order.before(*stamp, me) {
                return Err(Conflict {
                    other: stamp.identity,
                    other_claim,
                });
            }
        }
        Ok(())
    }

    /// Checks all accesses of an operation and then records them. `me` is the task that asks.
    ///
    /// # Errors
    /// The first conflict in the order of spec S82; nothing is recorded then.
    pub(super) fn claim(&mut self, me: TaskKey, op: &StoreOp) -> Result<(), Conflict> {
        if self.order.is_serial() {
            // This access and all before it come before whatever follows: none says anything.
            self.forget();
            return Ok(());
        }
        match op {
            StoreOp::Write { path, .. }
            | StoreOp::Append { path, .. }
            | StoreOp::Replace { path, .. }
            | StoreOp::Delete { path } => self.mutate(me, path),
            StoreOp::Read { path, .. }
            | StoreOp::ReadNumbered { path, .. }
            | StoreOp::Exists { path } => self.read(me, path),
            StoreOp::Glob { pattern } => self.glob(me, pattern),
            StoreOp::Open { .. } => Ok(()),
        }
    }

    fn forget(&mut self) {
        self.paths.clear();
        self.patterns.clear();
        self.pattern_of.clear();
    }

    fn mutate(&mut self, me: TaskKey, path: &str) -> Result<(), Conflict> {
        if let Some(region) = self.paths.get(path) {
            self.unordered(&region.write, me, "write")?;
            self.unordered(&region.touches.stamps, me, "write")?;
            self.unordered(&region.reads.stamps, me, "read")?;
        }
        for pattern in &self.patterns {
            if pattern.glob.matches(path) {
                self.unordered(&pattern.reads.stamps, me, "read")?;
            }
        }
        for directory in ancestors(path) {
            if let Some(region) = self.paths.get(directory) {
                self.unordered(&region.write, me, "write")?;
                self.unordered(&region.reads.stamps, me, "read")?;
            }
            for pattern in &self.patterns {
                if pattern.glob.selects_directories() && pattern.glob.matches(directory) {
                    self.unordered(&pattern.reads.stamps, me, "read")?;
                }
            }
        }
        let stamp = self.order.stamp(me);
        // All that was recorded here comes before this write, and so before what comes after it.
        let region = Region {
            write: Some(stamp),
            ..Region::default()
        };
        match self.paths.get_mut(path) {
            Some(old) => *old = region,
            None => drop(self.paths.insert(path.to_owned(), region)),
        }
        for directory in ancestors(path) {
            self.record(directory, |region| &mut region.touches, stamp);
        }
        Ok(())
    }

    fn read(&mut self, me: TaskKey, path: &str) -> Result<(), Conflict> {
        if let Some(region) = self.paths.get(path) {
            self.unordered(&region.write, me, "write")?;
            self.unordered(&region.touches.stamps, me, "write")?;
        }
        self.record(path, |region| &mut region.reads, self.order.stamp(me));
        Ok(())
    }

    fn glob(&mut self, me: TaskKey, pattern: &str) -> Result<(), Conflict> {
        // The engine lets no pattern through that does not parse.
        let Ok(glob) = Glob::new(pattern) else {
            return Ok(());
        };
        let prefix = glob.literal_prefix();
        let below = self
            .paths
            .range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        for (path, region) in below.take_while(|(path, _)| path.starts_with(prefix)) {
            if glob.matches(path) {
                self.unordered(&region.write, me, "write")?;
                if glob.selects_directories() {
                    self.unordered(&region.touches.stamps, me, "write")?;
                }
            }
        }
        let stamp = self.order.stamp(me);
        let at = match self.pattern_of.get(pattern) {
            Some(at) => *at,
            None => {
                self.patterns.push(Pattern {
                    glob,
                    reads: Accesses::default(),
                });
                self.pattern_of
                    .insert(pattern.to_owned(), self.patterns.len() - 1);
                self.patterns.len() - 1
            }
        };
        self.patterns[at].reads.add(&self.order, stamp);
        Ok(())
    }

    /// Adds an access to one of the lists of a path.
    fn record(&mut self, path: &str, list: fn(&mut Region) -> &mut Accesses, stamp: Stamp) {
        match self.paths.get_mut(path) {
            Some(region) => list(region).add(&self.order, stamp),
            None => {
                let mut region = Region::default();
                list(&mut region).add(&self.order, stamp);
                self.paths.insert(path.to_owned(), region);
            }
        }
    }
}
