//! What a chain keeps of its conversations, and a round on its way out (spec M40, M61).

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::model::{Memory, Message, Origin, Tool, ToolCall};
use super::notices::Notices;
use super::replayed::Replayed;
use super::roles::Handle;
use crate::prompt::SectionId;

/// What a chain keeps over its section entries.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// What the last reply told of its size (spec M61).
    pub(super) memory: RefCell<Memory>,
    /// What calls of the model's had for arguments.
    pub(super) replayed: Replayed,
    /// What its model is to be told.
    pub(super) notices: Notices,
    /// The section that the chain is in, or was in last.
    pub(super) section: Cell<Option<SectionId>>,
}

/// A round that was checked and composed.
pub(super) struct Ask {
    pub(super) origin: Origin,
    pub(super) handle: Rc<Handle>,
    pub(super) messages: Arc<[Message]>,
    pub(super) tools: Arc<[Tool]>,
    /// How many of the chain's notices it takes with it.
    pub(super) notices: usize,
    /// Whether a tool call was answered before, in the same loop (spec M42).
    pub(super) answered: bool,
    pub(super) talk: Rc<Talk>,
}

/// The tool calls of a reply, while they are performed.
pub(super) struct Batch {
    pub(super) turn: u32,
    pub(super) calls: Arc<[ToolCall]>,
}
