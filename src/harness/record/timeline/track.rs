//! The tracks of a timeline: a run's own chain, and its tasks.

use super::{Clip, Item, State, Totals};

/// What one chain did. What it called belongs to it (spec K183).
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The task's id; `0` for the run's own chain.
    pub task: String,
    /// The section that the task was started at; the prompt's title, where there is one, for the
    /// run's own chain.
    pub name: String,
    /// The track of the task that started it.
    pub owner: Option<usize>,
    /// `author` or `model`: who started it; empty for the run's own chain.
    pub origin: String,
    /// Its place in a fan-out.
    pub index: Option<i64>,
    /// Its item, as prose shows it.
    pub item: Option<Clip>,
    /// Its own argument string.
    pub input: Option<Clip>,
    /// When it was started.
    pub at: u64,
    /// When it ended.
    pub end: Option<u64>,
    /// How it ended.
    pub state: State,
    /// What it did, in order; what happened in a section stands after it, one deeper.
    pub items: Vec<Item>,
    /// What it did, counted; without what its own tasks did.
    pub totals: Totals,
    /// How many of its items are left out, over all.
    pub left_out: u64,
}
