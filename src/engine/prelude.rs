//! The preludes of a run's units, compiled once, and what they may define (spec T54 to T57).

use std::collections::BTreeMap;

use super::entry::Entry;
use super::packs::Packs;
use crate::lua::{Compiled, Compiler, Failure, Vm};
use crate::prompt::{Dialect, LuaBlock, Prompt, reserved};

/// The preludes of a run, in the order they run.
#[derive(Debug)]
pub(super) struct Preludes {
    dialect: Dialect,
    /// Names that the frontmatter gives: role labels and, in PromptForge, tool aliases.
    taken: Vec<String>,
    each: Vec<Prelude>,
}

#[derive(Debug)]
struct Prelude {
    /// The place of its unit.
    unit: usize,
    /// Its unit as messages name it.
    title: String,
    code: Result<Compiled, String>,
}

impl Preludes {
    /// Compiles what declared units bring.
    pub(super) fn new(prompt: &Prompt, packs: &Packs) -> Self {
        let dialect = prompt.dialect;
        let units = packs.units.iter().enumerate();
        let each = units.filter_map(|(unit, pack)| {
            let source = pack.prelude.as_ref().filter(|_| pack.declared)?;
            let title = match dialect {
                Dialect::PromptForge => format!("Plugin `{}`", pack.id()),
                Dialect::Runvil => format!("Pack `{}`", pack.name),
            };
            let code = compile(dialect, format!("prelude of {}", pack.id()), source);
            Some(Prelude { unit, title, code })
        });
        let labels = prompt.contract.models.keys();
        Self {
            dialect,
            taken: labels
                .chain(prompt.contract.tools.keys())
                .cloned()
                .collect(),
            each: each.collect(),
        }
    }

    /// Runs them in a section VM.
    pub(super) fn run(&self, vm: &Vm<Entry>) -> Result<(), Failure> {
        let mut defined: BTreeMap<String, &str> = BTreeMap::new();
        for prelude in &self.each {
            let title = &prelude.title;
            let failed =
                |text: &str| Failure::exact(format!("{title}: its prelude failed: {text}"));
            let code = prelude.code.as_ref().map_err(|text| failed(text))?;
            vm.prelude(prelude.unit, code, failed, |name, kind| {
                self.check(prelude, &mut defined, name, kind)
            })?;
        }
        Ok(())
    }

    fn check<'a>(
        &self,
        prelude: &'a Prelude,
        defined: &mut BTreeMap<String, &'a str>,
        name: &str,
        kind: &str,
    ) -> Result<(), Failure> {
        let title = &prelude.title;
        let fault = |text: String| {
            let text = format!("{title}: its prelude defines the global `{name}`{text}");
            Err(Failure::exact(text))
        };
        if let Some(category) = reserved(name, self.dialect) {
            return fault(format!(", which is reserved ({category})"));
        }
        if self.taken.iter().any(|taken| taken == name) {
            let what = match self.dialect {
                Dialect::PromptForge => "a tool or model alias",
                Dialect::Runvil => "a model role",
            };
            return fault(format!(", which the prompt's frontmatter binds as {what}"));
        }
        if let Some(other) = defined.get(name) {
            return fault(format!(", which {other} already defines"));
        }
        if !matches!(kind, "table" | "function") {
            return fault(format!(
                " as a {kind}; a prelude defines only tables and functions"
            ));
        }
        defined.insert(name.to_owned(), title);
        Ok(())
    }
}

fn compile(dialect: Dialect, label: String, source: &str) -> Result<Compiled, String> {
    let mut compiler = Compiler::new(dialect)?;
    let region = compiler.compile(&LuaBlock {
        source: source.to_owned(),
        line: 1,
        label,
    })?;
    Ok(Compiled::new(compiler.finish(), region))
}
