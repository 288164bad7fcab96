//! A chain: one walk over sibling sections, with its own counters, input and `var` (spec K2).

use std::rc::Rc;
use std::sync::Arc;

use super::admission::ChainKey;
use super::ask::Talk;
use super::entry::{Entry, Input, Prose};
use super::program::Program;
use super::task::TaskKey;
use crate::lua::{Compiled, Data, Vm};
use crate::prompt::SectionId;

/// A walk, from its first section to its end.
pub(super) struct Chain {
    pub(super) id: Arc<str>,
    pub(super) key: ChainKey,
    pub(super) depth: u32,
    pub(super) input: Input,
    /// What the next section entry starts with.
    pub(super) var: Data,
    /// The index of the next section entry.
    pub(super) entries: u32,
    /// The index of the next child chain.
    pub(super) children: u32,
    /// The tasks it has started, each with the index it took as a child, in spawn order.
    pub(super) owned: Vec<(u32, TaskKey)>,
    /// What the first section entry sees of the task's seed (spec K72).
    pub(super) item: Option<Data>,
    pub(super) sys_index: Option<i64>,
    /// Where the walk is on each level it has descended to, the innermost last (spec K24).
    pub(super) levels: Vec<Level>,
    /// The section entry that is running.
    pub(super) running: Option<Running>,
    /// What it keeps of its conversations.
    pub(super) talk: Rc<Talk>,
    /// Whether the chain has waited on the Harness since its caller called it (spec K147).
    pub(super) waited: bool,
}

/// A place in a list of siblings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// The section the siblings are children of; `None` for the top level.
    pub(super) parent: Option<SectionId>,
    pub(super) position: usize,
}

/// A section entry that is running, or the H1 pass.
pub(super) struct Running {
    pub(super) section: Option<SectionId>,
    /// Its VM; none where there is no Lua to run.
    pub(super) vm: Option<Vm<Entry>>,
    pub(super) stage: Stage,
}

/// What of a section entry runs next, or is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The PromptForge shared library.
    Library,
    /// The Lua block of this index.
    Block(usize),
}

/// How a section entry ended.
pub(super) enum Ending {
    /// No block returned anything.
    FellThrough,
    /// A block returned this text.
    Returned(String),
    /// A block recorded a jump to this heading.
    Jumped(String),
}

impl Chain {
    /// A chain that has not started its walk.
    pub(super) fn new(id: Arc<str>, key: ChainKey, depth: u32, input: Input, var: Data) -> Self {
        Self {
            id,
            key,
            depth,
            input,
            var,
            entries: 0,
            children: 0,
            owned: Vec::new(),
            item: None,
            sys_index: None,
            levels: Vec::new(),
            running: None,
            talk: Rc::default(),
            waited: false,
        }
    }

    /// The section that the walk is at; `None` past the end of the innermost level.
    pub(super) fn current(&self, program: &Program) -> Option<SectionId> {
        let level = self.levels.last()?;
        let prompt = program.prompt();
        let siblings = match level.parent {
            Some(parent) => &prompt.section(parent).children,
            None => &prompt.top,
        };
        siblings.get(level.position).copied()
    }

    /// Goes on to the next sibling, and from the end of a level to the section after the one that
    /// jumped down to it. `None` ends the walk.
    pub(super) fn advance(&mut self, program: &Program) -> Option<SectionId> {
        while let Some(level) = self.levels.last_mut() {
            level.position += 1;
            if let Some(section) = self.current(program) {
                return Some(section);
            }
            self.levels.pop();
        }
        None
    }

    /// Goes to a section that is visible from the current one: a sibling moves the level, a child
    /// opens one (spec K30, K31).
    pub(super) fn go_to(&mut self, program: &Program, target: SectionId) {
        let to = Level::of(program, target);
        match self.levels.last_mut() {
            Some(level) if level.parent == to.parent => *level = to,
            _ => self.levels.push(to),
        }
    }

    /// The index of the section entry that is running.
    pub(super) fn entry(&self) -> u32 {
        self.entries.saturating_sub(1)
    }

    /// The index and id of the next child: a called chain, a task or a timer (spec K3).
    pub(super) fn next_child(&mut self) -> (u32, Arc<str>) {
        let index = self.children;
        self.children = index.saturating_add(1);
        (index, format!("{}.{index}", self.id).into())
    }

    /// The id that the next child will have.
    pub(super) fn peek_child(&self) -> String {
        format!("{}.{}", self.id, self.children)
    }

    /// The task of this chain's that an id names.
    pub(super) fn find_owned(&self, id: &str) -> Option<TaskKey> {
        let index = id
            .strip_prefix(&*self.id)?
            .strip_prefix('.')?
            .parse::<u32>()
            .ok()?;
        let at = self
            .owned
            .binary_search_by_key(&index, |(index, _)| *index)
            .ok()?;
        Some(self.owned[at].1)
    }
}

impl Level {
    fn of(program: &Program, section: SectionId) -> Self {
        let section = program.prompt().section(section);
        Self {
            parent: section.parent,
            position: section.position as usize,
        }
    }
}

impl Running {
    /// What runs at this stage, and the prose it reads; a library reads none.
    pub(super) fn code(&self, program: &Program) -> Option<(Compiled, Option<Prose>)> {
        match self.stage {
            Stage::Library => program.library().map(|code| (code, None)),
            Stage::Block(at) => program.parts(self.section).get(at).map(|part| {
                let prose = Prose {
                    section: self.section,
                    block: part.prose,
                };
                (program.code(part), Some(prose))
            }),
        }
    }
}
