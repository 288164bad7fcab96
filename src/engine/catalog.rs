//! The tools that a run's units bring: PromptForge's bound slots, Runvil's catalog (spec T29, T30,
//! T59 to T67).

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::built_in::BuiltIn;
use super::packs::{PackEntry, Packs};
use super::tool::UnitTool;
use crate::lua::{Data, Object, Part};
use crate::prompt::{Dialect, Prompt};

/// A tool of a unit, as a run knows it.
#[derive(Debug)]
pub(super) struct Bound {
    /// What a prompt names it by, and it is counted under: PromptForge's alias, Runvil's tool id.
    pub(super) key: Arc<str>,
    /// The name a model calls it by.
    pub(super) name: Arc<str>,
    /// What the outside knows it by: PromptForge's tool path, Runvil's tool id.
    pub(super) path: Arc<str>,
    pub(super) tool: UnitTool,
    /// Whether it asks the operator, which no stop ends (spec K179).
    pub(super) asks: bool,
    /// Whether a model can be offered it (spec T67).
    pub(super) offerable: bool,
    /// The place of its unit.
    unit: usize,
}

/// The tools of a run.
#[derive(Debug)]
pub(super) struct Catalog {
    dialect: Dialect,
    /// By their keys.
    tools: BTreeMap<Arc<str>, Rc<Bound>>,
    /// PromptForge: every tool by its path, for the preludes of its unit (spec T58).
    paths: BTreeMap<Arc<str>, Rc<Bound>>,
    /// Those that a model can be offered, by the names it has for them.
    names: BTreeMap<Arc<str>, Rc<Bound>>,
    /// The keys in the order in which the prompt declares them, or by id.
    order: Vec<Arc<str>>,
    packs: Vec<Rc<PackEntry>>,
}

impl Catalog {
    pub(super) fn new(prompt: &Prompt, packs: Packs) -> Rc<Self> {
        let units = packs.units.into_iter().map(Rc::new).collect();
        let catalog = match prompt.dialect {
            Dialect::PromptForge => Self::slots(prompt, units),
            Dialect::Runvil => Self::ids(units),
        };
        Rc::new(catalog)
    }

    /// PromptForge: the slots whose paths are in the catalog (spec T30).
    fn slots(prompt: &Prompt, packs: Vec<Rc<PackEntry>>) -> Self {
        let mut paths = BTreeMap::new();
        for (unit, pack) in packs.iter().enumerate() {
            for tool in &pack.tools {
                let path: Arc<str> = format!("{}/{}", pack.id(), tool.name).into();
                paths.insert(path.clone(), bound(path.clone(), path, tool, unit, pack));
            }
        }
        let slots = prompt.contract.tools.iter();
        let filled = slots.filter_map(|(alias, path)| {
            let found = paths.get(path.as_str())?;
            let alias: Arc<str> = alias.as_str().into();
            Some(Bound {
                name: alias.clone(),
                key: alias,
                ..found.again()
            })
        });
        let filled: Vec<Rc<Bound>> = filled.map(Rc::new).collect();
        let paths = paths
            .into_iter()
            .map(|(path, tool)| (path, Rc::new(tool)))
            .collect();
        Self::of(Dialect::PromptForge, filled, paths, packs)
    }

    /// Runvil: every tool of every unit that can serve, by id (spec T37, T67).
    fn ids(packs: Vec<Rc<PackEntry>>) -> Self {
        let mut tools = BTreeMap::new();
        for (unit, pack) in packs.iter().enumerate() {
            for tool in &pack.tools {
                let id: Arc<str> = format!("{}/{}", pack.name, tool.name).into();
                tools.insert(
                    id.clone(),
                    bound(id, wire_name(pack, tool), tool, unit, pack),
                );
            }
        }
        let mut names: HashSet<Arc<str>> = HashSet::with_capacity(tools.len());
        let tools = tools.into_values().map(|mut tool: Bound| {
            let is_object = matches!(tool.tool.parameters, Data::Map(_));
            let is_new = names.insert(tool.name.clone());
            tool.offerable = is_object && is_new && BuiltIn::from_name(&tool.name).is_none();
            Rc::new(tool)
        });
        let tools = tools.collect();
        Self::of(Dialect::Runvil, tools, BTreeMap::new(), packs)
    }

    fn of(
        dialect: Dialect,
        tools: Vec<Rc<Bound>>,
        paths: BTreeMap<Arc<str>, Rc<Bound>>,
        packs: Vec<Rc<PackEntry>>,
    ) -> Self {
        Self {
            dialect,
            order: tools.iter().map(|tool| tool.key.clone()).collect(),
            names: tools
                .iter()
                .filter(|tool| tool.offerable)
                .map(|tool| (tool.name.clone(), tool.clone()))
                .collect(),
            tools: tools
                .into_iter()
                .map(|tool| (tool.key.clone(), tool))
                .collect(),
            paths,
            packs,
        }
    }

    /// The tool of an alias or id.
    pub(super) fn get(&self, key: &str) -> Option<&Rc<Bound>> {
        self.tools.get(key)
    }

    /// The tool of a path or id that belongs to a unit, for its prelude (spec T58).
    pub(super) fn of_unit(&self, unit: usize, path: &str) -> Option<&Rc<Bound>> {
        self.paths.get(path).filter(|tool| tool.unit == unit)
    }

    /// The tool that a model knows by a name, if it can be offered one.
    pub(super) fn named(&self, name: &str) -> Option<&Rc<Bound>> {
        self.names.get(name)
    }

    /// What a message adds of a tool that the run has and a section does not offer (spec T101).
    pub(super) fn unoffered(&self, name: &str) -> &'static str {
        match self.dialect {
            _ if self.named(name).is_none() => "",
            Dialect::PromptForge => {
                " (alias is a bound tool slot but was not added to this section's scope)"
            }
            Dialect::Runvil => " (a catalog tool that was not offered in this section)",
        }
    }

    /// The aliases, which are globals (spec T59).
    pub(super) fn aliases(&self) -> impl Iterator<Item = &Arc<str>> {
        let has_globals = self.dialect == Dialect::PromptForge;
        self.order.iter().filter(move |_| has_globals)
    }

    /// The keys that messages list: the bound aliases as declared, the offerable ids in order.
    pub(super) fn listed(&self) -> Vec<&str> {
        let keys = self.order.iter().filter(|key| {
            let tool = self.tools.get(*key);
            tool.is_some_and(|tool| tool.offerable)
        });
        keys.map(|key| &**key).collect()
    }

    /// Runvil: the tools of declared Packs, or of the others, that can be offered (spec T64).
    pub(super) fn offerable(&self, declared: bool) -> Vec<Rc<Bound>> {
        let tools = self.tools.values().filter(|tool| {
            let pack = self.packs.get(tool.unit);
            tool.offerable && pack.is_some_and(|pack| pack.declared == declared)
        });
        tools.cloned().collect()
    }

    /// Runvil: the tools that no model can be offered, by id (spec T67).
    pub(super) fn unofferable(&self) -> Vec<Arc<str>> {
        let tools = self.tools.values().filter(|tool| !tool.offerable);
        tools.map(|tool| tool.key.clone()).collect()
    }

    /// The units of the run.
    pub(super) fn packs(&self) -> &[Rc<PackEntry>] {
        &self.packs
    }

    /// Runvil: the tools of a Pack that can be offered, by id.
    pub(super) fn tools_of(&self, pack: &Rc<PackEntry>) -> Vec<Rc<Bound>> {
        let unit = self.packs.iter().position(|own| Rc::ptr_eq(own, pack));
        let tools = self
            .tools
            .values()
            .filter(|tool| tool.offerable && Some(tool.unit) == unit);
        tools.cloned().collect()
    }

    /// A tool as Lua has it (spec T60, T63).
    pub(super) fn tool_object(self: &Rc<Self>, tool: &Rc<Bound>) -> Object {
        let (catalog, own) = (self.clone(), tool.clone());
        Object {
            fields: Rc::new(move |name| catalog.tool_field(&own, name)),
            text: tool.key.clone(),
            inner: tool.clone(),
            noun: Some("Tool"),
        }
    }

    fn tool_field(self: &Rc<Self>, tool: &Rc<Bound>, name: &str) -> Option<Part> {
        let text = |text: &Arc<str>| Part::Data(Data::Text(text.clone()));
        Some(match (self.dialect, name) {
            (_, "description") => text(&tool.tool.description),
            (Dialect::Runvil, "id") => text(&tool.key),
            (Dialect::Runvil, "pack") => Part::Object(self.pack_object(self.packs.get(tool.unit)?)),
            (Dialect::PromptForge, "name") => text(&tool.key),
            (Dialect::PromptForge, "parameters") => Part::Data(Data::empty()),
            (Dialect::PromptForge, "wire_name") => text(&tool.tool.name),
            (Dialect::PromptForge, "untrusted") => Part::Data(Data::Bool(false)),
            _ => return None,
        })
    }

    /// A Pack as Lua has it (spec T63).
    pub(super) fn pack_object(self: &Rc<Self>, pack: &Rc<PackEntry>) -> Object {
        let (catalog, own) = (self.clone(), pack.clone());
        Object {
            fields: Rc::new(move |name| match name {
                "name" => Some(Part::Data(Data::Text(own.name.clone()))),
                "tools" => {
                    let tools = catalog.tools_of(&own);
                    let objects = tools.iter().map(|tool| catalog.tool_object(tool));
                    Some(Part::Objects(objects.collect()))
                }
                _ => None,
            }),
            text: pack.name.clone(),
            inner: pack.clone(),
            noun: Some("Pack"),
        }
    }
}

impl Bound {
    /// The same tool once more.
    fn again(&self) -> Self {
        Self {
            key: self.key.clone(),
            name: self.name.clone(),
            path: self.path.clone(),
            tool: self.tool.clone(),
            ..*self
        }
    }
}

fn bound(path: Arc<str>, name: Arc<str>, tool: &UnitTool, unit: usize, pack: &PackEntry) -> Bound {
    Bound {
        key: path.clone(),
        name,
        asks: *tool.name == *"ask"
            && matches!(&*pack.id(), "promptforge/user-input" | "runvil/user-input"),
        path,
        tool: tool.clone(),
        offerable: true,
        unit,
    }
}

/// The only name by which a model sees a Runvil tool (spec T67).
fn wire_name(pack: &PackEntry, tool: &UnitTool) -> Arc<str> {
    let id = format!("{}/{}", pack.name, tool.name);
    id.replace(['/', '.'], "_").into()
}
