//! One section entry, as its section VM sees the engine (spec L9, L17).

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::ahead::Ahead;
use super::ask::{Ask, Talk};
use super::built_in::Asked;
use super::catalog::Catalog;
use super::event::EventKind;
use super::globals;
use super::offers::Offers;
use super::outbox::{Outbox, Task};
use super::prelude::Preludes;
use super::program::Program;
use super::roles::{Handle, Roles};
use super::seeded::Seeded;
use super::store::{Policy, StoreOp};
use super::substitution::{Root, render};
use super::tool_calls::ToolAsk;
use super::toolbox::{Called, Toolbox};
use crate::lua::{
    Call, Conversation, Data, Failure, Global, Host, Library, Look, Lookup, Object, Thrown, Vm,
};
use crate::prompt::{Dialect, Scope, SectionId};

/// What every chain of a run shares.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) program: Program,
    pub(super) outbox: Outbox,
    pub(super) seeded: Seeded,
    pub(super) nonce: String,
    pub(super) execution: Arc<str>,
    pub(super) when: Arc<str>,
    pub(super) log_events: u32,
    pub(super) policy: Policy,
    /// Whether the store is opened for the run and each task (spec S58).
    pub(super) opens_store: bool,
    pub(super) ui: Option<Data>,
    /// The roles, bound to the Host's model.
    pub(super) roles: Roles,
    /// What units define in every section.
    pub(super) preludes: Preludes,
    /// The tools that units bring.
    pub(super) catalog: Rc<Catalog>,
    /// What every section offers.
    pub(super) always: RefCell<Offers>,
    /// How many rounds have been issued (spec M76).
    pub(super) rounds: Cell<u64>,
    /// The cap on the rounds of one loop (spec M55).
    pub(super) max_rounds: u32,
    /// What was made for sections to come.
    pub(super) ahead: Ahead,
}

impl Shared {
    /// Gives the roles' labels to their handles in a section VM, and the aliases of bound slots to
    /// their tools (spec M28, T59).
    pub(super) fn declare(&self, vm: &Vm<Entry>) -> Result<(), Failure> {
        let names = self.roles.labels().chain(self.catalog.aliases());
        let labels: Vec<Arc<str>> = names.cloned().collect();
        match labels.is_empty() {
            true => Ok(()),
            false => vm.declare(labels),
        }
    }
}

/// A chain's input: the argument string, and what it was parsed to (spec L114).
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) args: Arc<str>,
    pub(super) argv: Data,
}

impl Input {
    /// Derives `argv` from an argument string by the prompt's declaration (spec L111, L112).
    pub(super) fn new(program: &Program, args: Arc<str>) -> Self {
        let argv = match program.prompt().contract.args.explicit {
            true => Data::from_json(&args).unwrap_or(Data::Null),
            false => Data::object([("prose", Data::Text(args.clone()))]),
        };
        Self { args, argv }
    }
}

/// The engine's side of one section VM.
pub(super) struct Entry {
    pub(super) shared: Rc<Shared>,
    pub(super) task: Rc<Task>,
    /// The section, or `None` in the H1 pass.
    pub(super) section: Option<SectionId>,
    /// The chain's id and the index of this entry in it.
    pub(super) chain: Arc<str>,
    pub(super) index: u32,
    pub(super) depth: u32,
    pub(super) input: Input,
    /// The member or item that the entry was seeded with (spec L18).
    pub(super) item: Option<Data>,
    /// `sys.index`, where the entry has one (spec L59).
    pub(super) sys_index: Option<i64>,
    /// Whether the shared library is loading.
    pub(super) loading: Cell<bool>,
    /// The target a `jump` of the running block recorded; the last one stands (spec K28).
    pub(super) jump: RefCell<Option<String>>,
    /// What is left of the log quotas.
    pub(super) log: Cell<LogQuota>,
    /// The model selected here (spec M16).
    pub(super) selection: RefCell<Option<Rc<Handle>>>,
    /// The section's model at its first tool call (spec M24).
    pub(super) tool_model: RefCell<Option<Arc<str>>>,
    pub(super) toolbox: Toolbox,
    /// What the chain keeps of its conversations.
    pub(super) talk: Rc<Talk>,
    /// A call of a unit's tool that is about to be put out.
    pub(super) tool_call: RefCell<Option<Box<ToolAsk>>>,
    /// The unit whose prelude makes the next call.
    pub(super) own: Cell<Option<usize>>,
}

/// What a section VM may still log (spec L76).
#[derive(Clone, Copy, Debug)]
pub(super) struct LogQuota {
    pub(super) events: u32,
    pub(super) bytes: u64,
}

impl LogQuota {
    pub(super) fn new(events: u32) -> Self {
        Self {
            events,
            bytes: u64::from(events) * 256,
        }
    }
}

/// What a suspending call asks the scheduler for, its arguments checked (spec K203).
pub(super) enum Request {
    /// A called chain.
    Call {
        target: SectionId,
        input: Option<String>,
        var: Data,
    },
    /// A round with a model.
    Round(Box<Ask>),
    /// A call of a unit's tool.
    Tool(Box<ToolAsk>),
    /// A store operation.
    Store(StoreOp),
    /// `tasks.spawn`, or a model's `task`.
    Spawn(Box<Spawn>),
    /// A model's call of another task tool.
    BuiltIn(Called, Asked),
    /// A fanout: an arm for each member, or for those before one that is no data.
    Fanout {
        target: SectionId,
        var: Data,
        members: Vec<Data>,
        complete: bool,
    },
    /// `tasks.join_any` or `tasks.join` over the tasks of these ids.
    Wait {
        any: bool,
        set: Vec<String>,
        timeout: Option<f64>,
    },
    /// `tasks.status`.
    Status(String),
    /// `tasks.ready`.
    Ready(String),
    /// `tasks.cancel`.
    Cancel(String),
    /// `tasks.pending`, of the tasks of one origin where a filter says so.
    Pending { origin: Option<String> },
    /// `tasks.note`.
    Note(String),
    /// `tasks.concurrency`.
    Concurrency(Option<u32>),
}

/// A task to start.
pub(super) struct Spawn {
    pub(super) target: SectionId,
    pub(super) input: Option<String>,
    pub(super) item: Option<Data>,
    pub(super) index: Option<i64>,
    pub(super) var: Data,
    /// The call of a model that starts it; `None` for a task of the author's.
    pub(super) called: Option<Called>,
}

/// A block's pending prose: the section it stands in and the index of its block, if there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prose {
    pub(super) section: Option<SectionId>,
    pub(super) block: Option<u32>,
}

impl Entry {
    /// The section's name, or the title in the H1 pass.
    pub(super) fn name(&self) -> &Arc<str> {
        self.shared.program.name(self.section)
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.shared.program.dialect()
    }

    /// `sys.id` (spec L62).
    pub(super) fn id(&self) -> String {
        format!("{}.{}", self.chain, self.index)
    }

    /// The fields of `sys` (spec L57).
    pub(super) fn sys(&self) -> Data {
        let sections = self.shared.program.prompt().top.len();
        let mut fields = vec![
            ("when", Data::Text(self.shared.when.clone())),
            ("id", Data::text(self.id())),
            ("taskid", Data::Text(self.task.id.clone())),
            ("section_name", Data::Text(self.name().clone())),
            ("execution", Data::Text(self.shared.execution.clone())),
            (
                "section_count",
                Data::Int(i64::try_from(sections).unwrap_or(i64::MAX)),
            ),
        ];
        fields.extend(self.sys_index.map(|index| ("index", Data::Int(index))));
        let model = self.tool_model.borrow().clone();
        fields.extend(model.map(|model| ("model", Data::Text(model))));
        Data::object(fields)
    }

    /// The section's model, where it has one: its selection, else the prompt-wide default (spec
    /// M16).
    pub(super) fn selected(&self) -> Option<Rc<Handle>> {
        let own = self.selection.borrow().clone();
        own.or_else(|| self.shared.roles.default())
    }

    /// A tool is called: the call is counted, and the first fixes `sys.model` (spec M24, T88).
    pub(super) fn called_tool(&self, alias: &Arc<str>) {
        if self.toolbox.count(alias, &self.shared.always.borrow()) {
            let model = self.selected().map(|handle| handle.model.clone());
            *self.tool_model.borrow_mut() = model;
        }
    }

    pub(super) fn report(&self, kind: EventKind) {
        self.shared.outbox.report(&self.task, self.name(), kind);
    }

    /// Resolves a heading reference over this section's visible set (spec K12, checks 2 to 5).
    pub(super) fn resolve(&self, heading: &str) -> Result<SectionId, Failure> {
        resolve(&self.shared.program, self.section, heading)
    }
}

/// Resolves a heading reference from a section, or from the H1 body.
pub(super) fn resolve(
    program: &Program,
    section: Option<SectionId>,
    heading: &str,
) -> Result<SectionId, Failure> {
    let scope = section.map_or(Scope::H1, Scope::Section);
    program
        .prompt()
        .resolve(scope, heading)
        .map_err(|error| Failure::lua(error.to_string()))
}

impl Host for Entry {
    type Request = Request;
    type Prose = Prose;

    fn globals(&self) -> &'static [Global<Self>] {
        match self.dialect() {
            Dialect::Runvil => &globals::RUNVIL,
            Dialect::PromptForge => &globals::PROMPTFORGE,
        }
    }

    fn conversation(&self) -> &'static Conversation<Self> {
        &globals::CONVERSATION
    }

    fn object(&self, name: &str) -> Option<Object> {
        if let Some(role) = self.shared.roles.get(name) {
            return Some(role.clone().object());
        }
        let catalog = &self.shared.catalog;
        catalog.get(name).map(|tool| catalog.tool_object(tool))
    }

    fn render(&self, prose: &Prose, call: &Call<'_, Self>) -> Result<String, Thrown> {
        let Some(block) = prose.block else {
            return Ok(String::new());
        };
        let text = self.shared.program.prose(prose.section, block);
        let look: Look<'_> = &|steps| call.step(steps);
        render(text, call.memory(), look, |root| {
            Ok(match root {
                "args" => Root::Text(self.input.args.to_string()),
                "argv" if self.input.argv == Data::Null => Root::NoArgv,
                "argv" => Root::Data(self.input.argv.clone()),
                "item" => self.item.clone().map_or(Root::NoItem, Root::Item),
                "var" => Root::Fields(call.var()?),
                "sys" => Root::Fields(self.sys()),
                "prose" => Root::NotData,
                name => match call.global(name)? {
                    Lookup::Nil => Root::Unknown,
                    Lookup::Data(data) => Root::Data(data),
                    Lookup::Other => Root::NotData,
                },
            })
        })
    }

    fn random(&self, n: u64) -> (i64, i64) {
        self.shared.seeded.random(&self.id(), n)
    }

    fn library(&self, heading: &str) -> Result<Library<Self>, Failure> {
        let id = self.resolve(heading)?;
        let program = &self.shared.program;
        let blocks = program
            .parts(Some(id))
            .iter()
            .map(|part| {
                (
                    program.code(part),
                    Prose {
                        section: Some(id),
                        block: part.prose,
                    },
                )
            })
            .collect();
        Ok(Library {
            id: id.0,
            name: program.name(Some(id)).clone(),
            blocks,
        })
    }

    fn library_started(&self, library: &Library<Self>) {
        self.report(EventKind::Require {
            name: "lua_require_started",
            target: library.name.clone(),
        });
    }

    fn library_ended(&self, library: &Library<Self>, succeeded: bool) {
        let name = if succeeded {
            "lua_require_succeeded"
        } else {
            "lua_require_failed"
        };
        self.report(EventKind::Require {
            name,
            target: library.name.clone(),
        });
    }
}
