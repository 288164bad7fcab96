//! What is offered to a model: by a section, and by all of the prompt (spec T75 to T79).

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Tools that are offered, each once, in the order in which they were first.
#[derive(Clone, Debug, Default)]
pub(super) struct Offers {
    order: Vec<Arc<str>>,
    /// The same.
    all: HashSet<Arc<str>>,
    descriptions: BTreeMap<Arc<str>, Arc<str>>,
    /// How often something was offered.
    changes: u64,
}

impl Offers {
    /// Offers a tool, from now on with this description where one is given.
    pub(super) fn add(&mut self, key: &Arc<str>, description: Option<&Arc<str>>) {
        self.changes += 1;
        if self.all.insert(key.clone()) {
            self.order.push(key.clone());
        }
        if let Some(description) = description {
            self.descriptions.insert(key.clone(), description.clone());
        }
    }

    /// A number that tells these offers from what they were before.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// The keys of the tools, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.order.iter()
    }

    /// The description that a tool was given here.
    pub(super) fn description(&self, key: &str) -> Option<&Arc<str>> {
        self.descriptions.get(key)
    }

    pub(super) fn contains(&self, key: &Arc<str>) -> bool {
        self.all.contains(key)
    }
}
