//! The tools of a section entry: what it offers to a model, the calls that are under way, and how
//! often each tool was called (spec T75, T76, T106, T111).

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::built_in::{BuiltIn, Targets};
use super::catalog::Catalog;
use super::event::{EventKind, ToolResult};
use super::model::Tool;
use super::offers::Offers;
use crate::lua::{Class, Data, Failure, Kind};

/// The tools of one section entry.
#[derive(Debug, Default)]
pub(super) struct Toolbox {
    /// What this section offers of units.
    pub(super) offers: RefCell<Offers>,
    local: RefCell<Local>,
    targets: RefCell<Option<Targets>>,
    /// What was offered last, as long as nothing of this entry's own changes.
    last: RefCell<Option<Offered>>,
    running: RefCell<Vec<Called>>,
    counts: RefCell<BTreeMap<Arc<str>, i64>>,
}

/// What a round offered, and the changes of the offers that it is made of.
#[derive(Debug)]
struct Offered {
    changes: [u64; 2],
    tools: Arc<[Tool]>,
}

/// The local tools, in the order they were registered.
#[derive(Debug, Default)]
struct Local {
    tools: Vec<Tool>,
    aliases: HashSet<Arc<str>>,
}

impl Toolbox {
    /// What a round offers, in order: what every section does, what this one does, its local tools
    /// and the built-ins. It is the very list of the round before where nothing has changed since, so
    /// that what is made of it can be kept too.
    ///
    /// # Errors
    /// A tool whose schema is no object, which no model can be offered (spec T80).
    pub(super) fn offered(
        &self,
        catalog: &Catalog,
        always: &Offers,
    ) -> Result<Arc<[Tool]>, Failure> {
        let changes = [always.changes(), self.offers.borrow().changes()];
        let mut last = self.last.borrow_mut();
        if let Some(last) = last.as_ref().filter(|last| last.changes == changes) {
            return Ok(last.tools.clone());
        }
        let tools = self.list(catalog, always)?;
        *last = Some(Offered {
            changes,
            tools: tools.clone(),
        });
        Ok(tools)
    }

    fn list(&self, catalog: &Catalog, always: &Offers) -> Result<Arc<[Tool]>, Failure> {
        let (offers, local) = (self.offers.borrow(), self.local.borrow());
        let mut offered = Vec::new();
        let own = offers.keys().filter(|key| !always.contains(key));
        for key in always.keys().chain(own) {
            let Some(bound) = catalog.get(key) else {
                continue;
            };
            // A local tool of its name takes its place (spec T81).
            if is_hidden(&bound.name) || local.aliases.contains(&bound.name) {
                continue;
            }
            if !matches!(bound.tool.parameters, Data::Map(_)) {
                let text = format!("model-facing schema build failure for tool alias {key:?}");
                return Err(Failure {
                    class: Class::Binding,
                    ..Failure::new(Kind::Internal, text)
                });
            }
            let described = offers.description(key).or_else(|| always.description(key));
            offered.push(Tool {
                name: bound.name.clone(),
                description: described.unwrap_or(&bound.tool.description).clone(),
                parameters: bound.tool.parameters.clone(),
            });
        }
        let reachable = local.tools.iter().filter(|tool| !is_hidden(&tool.name));
        offered.extend(reachable.cloned());
        offered.extend(self.targets.borrow().iter().flat_map(BuiltIn::offered));
        Ok(offered.into())
    }

    /// The alias of the local tool that a call by this name reaches.
    pub(super) fn local(&self, name: &str) -> Option<Arc<str>> {
        let local = self.local.borrow();
        local
            .aliases
            .get(name)
            .filter(|_| !is_hidden(name))
            .cloned()
    }

    /// Whether a local tool of this alias was registered.
    pub(super) fn is_registered(&self, alias: &str) -> bool {
        self.local.borrow().aliases.contains(alias)
    }

    /// Registers a local tool.
    pub(super) fn add(&self, tool: Tool) {
        let mut local = self.local.borrow_mut();
        local.aliases.insert(tool.name.clone());
        local.tools.push(tool);
        *self.last.borrow_mut() = None;
    }

    /// Lets the model start tasks at these targets, in place of those before.
    pub(super) fn allow_tasks(&self, targets: Targets) {
        *self.targets.borrow_mut() = Some(targets);
        *self.last.borrow_mut() = None;
    }

    /// Where the model may start tasks; `None` where it may not.
    pub(super) fn targets(&self) -> Option<Targets> {
        self.targets.borrow().clone()
    }

    /// Counts a call of a tool; what is offered of units then has a count too (spec T108). Whether
    /// it is the section's first of any.
    pub(super) fn count(&self, alias: &Arc<str>, always: &Offers) -> bool {
        let mut counts = self.counts.borrow_mut();
        let is_first = counts.is_empty();
        for key in always.keys().chain(self.offers.borrow().keys()) {
            if !counts.contains_key(key) {
                counts.insert(key.clone(), 0);
            }
        }
        match counts.get_mut(alias) {
            Some(count) => *count += 1,
            None => drop(counts.insert(alias.clone(), 1)),
        }
        is_first
    }

    /// How often a tool was called.
    ///
    /// # Errors
    /// The tools that have a count, where this one has none.
    pub(super) fn counted(&self, alias: &str) -> Result<i64, Vec<Arc<str>>> {
        let counts = self.counts.borrow();
        let count = counts.get(alias).copied();
        count.ok_or_else(|| counts.keys().cloned().collect())
    }

    /// A local tool's handler starts.
    pub(super) fn enter(&self, called: Called) {
        self.running.borrow_mut().push(called);
    }

    /// The innermost handler has returned.
    pub(super) fn leave(&self) -> Option<Called> {
        self.running.borrow_mut().pop()
    }

    /// Only so many handlers still run. Whether there were more.
    pub(super) fn unwind(&self, depth: usize) -> bool {
        let mut running = self.running.borrow_mut();
        let unwinds = running.len() > depth;
        running.truncate(depth);
        unwinds
    }

    /// Whether a local tool's handler is running.
    pub(super) fn is_running(&self) -> bool {
        !self.running.borrow().is_empty()
    }
}

/// Whether a built-in takes every call by this name (spec T82, T93).
fn is_hidden(name: &str) -> bool {
    BuiltIn::from_name(name).is_some()
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub(super) struct Called {
    /// The name it is reported under.
    pub(super) alias: Arc<str>,
    /// The model's call; empty for a script's.
    pub(super) call: Arc<str>,
    /// The number of the round that called, or of those before a script's call.
    pub(super) turn: u32,
}

impl Called {
    /// What is reported of a call that gave a trusted text (spec K189).
    pub(super) fn answered(self, succeeded: bool, content: Arc<str>) -> [EventKind; 2] {
        let outcome = EventKind::Plain(match succeeded {
            true => "tool_call_succeeded",
            false => "tool_call_failed",
        });
        let result = EventKind::ToolResult(Box::new(ToolResult {
            turn: self.turn,
            tool_call_id: self.call,
            alias: self.alias,
            content,
            trusted: true,
        }));
        [outcome, result]
    }
}

/// The JSON Schema of a tool's arguments: an object of these properties.
pub(super) fn schema<'a>(
    properties: Vec<(&'a str, Data)>,
    required: impl IntoIterator<Item = &'a str>,
) -> Data {
    let required = required.into_iter().map(Data::text);
    Data::object([
        ("type", Data::text("object")),
        ("properties", Data::object(properties)),
        ("required", Data::list(required.collect::<Vec<_>>())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::packs::Packs;
    use crate::prompt::{Dialect, Prompt};

    fn tool(name: &str) -> Tool {
        Tool {
            name: name.into(),
            description: "d".into(),
            parameters: Data::empty(),
        }
    }

    #[test]
    fn a_list_is_the_same_until_something_changes() {
        // spec T77
        let source = "---\nname: t\ndescription: d\nrunvil: 0\n---\n# T\n";
        let prompt = Prompt::parse(source, Dialect::Runvil).expect("sound");
        let catalog = Catalog::new(&prompt, Packs::default());
        let (toolbox, mut always) = (Toolbox::default(), Offers::default());
        let mut last = toolbox.offered(&catalog, &always).expect("offered");
        let mut changed = |always: &Offers| {
            let offer = || toolbox.offered(&catalog, always).expect("offered");
            let before = std::mem::replace(&mut last, offer());
            assert!(Arc::ptr_eq(&offer(), &last));
            !Arc::ptr_eq(&before, &last)
        };
        assert!(!changed(&always));
        toolbox.add(tool("own"));
        assert!(changed(&always));
        toolbox.allow_tasks(Targets(None));
        assert!(changed(&always));
        toolbox.offers.borrow_mut().add(&"x/t".into(), None);
        assert!(changed(&always));
        // A description alone is a change too.
        let other = Arc::from("other");
        toolbox.offers.borrow_mut().add(&"x/t".into(), Some(&other));
        assert!(changed(&always));
        always.add(&"x/u".into(), None);
        assert!(changed(&always));
        assert!(!changed(&always));
        assert_eq!(last.len(), 5);
    }
}
