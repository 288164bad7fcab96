//! Offering tools to the model, and the objects of tools and Packs (spec part 06, sections 6 and
//! 7).

use std::rc::Rc;
use std::sync::Arc;

use super::models::bad_alias;
use crate::engine::catalog::Bound;
use crate::engine::entry::Entry;
use crate::engine::packs::PackEntry;
use crate::lua::{Arg, Call, Failure, NotUtf8, Object, Reply};
use crate::prompt::{Dialect, is_name};

/// `tools.add(spec, description?)` or `tools.offer(spec, description?)`: in this section.
pub fn offer(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let function = match call.host().dialect() {
        Dialect::PromptForge => "tools.add",
        Dialect::Runvil => "tools.offer",
    };
    let (tools, description) = named(call, function)?;
    let offers = &call.host().toolbox.offers;
    for tool in tools {
        offers.borrow_mut().add(&tool.key, description.as_ref());
    }
    Ok(Reply::None)
}

/// `tools.always(alias, description?)`: in every section (spec T70).
pub fn always(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let alias = match call.arg(0).text() {
        Some(Ok(alias)) => alias,
        _ => {
            let found = call.type_of(0);
            let text = format!("tools.always alias must be a string, got {found}");
            return Err(Failure::lua(text));
        }
    };
    let description = description(call, "tools.always")?;
    let entry = call.host();
    let tool = entry.slot("tools.always", &alias)?;
    let always = &entry.shared.always;
    always.borrow_mut().add(&tool.key, description.as_ref());
    Ok(Reply::None)
}

/// `tools.always_offer(spec, description?)`: in every section.
pub fn always_offer(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let (tools, description) = named(call, "tools.always_offer")?;
    let always = &call.host().shared.always;
    for tool in tools {
        always.borrow_mut().add(&tool.key, description.as_ref());
    }
    Ok(Reply::None)
}

/// `packs.offer(spec)`: every tool of Packs, in this section (spec T74).
pub fn offer_packs(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    if call.count() == 0 {
        return Ok(Reply::None);
    }
    let refuse = |arg: &Arg| {
        let found = arg.type_of();
        Failure::lua(format!(
            "packs.offer expects strings, Pack objects, or arrays of either, got {found}"
        ))
    };
    let (specs, _) = specs(&call.arg(0), is_named::<PackEntry>, refuse)?;
    if call.count() > 1 {
        let found = call.type_of(1);
        let text = format!("packs.offer takes one argument, got extra {found}");
        return Err(Failure::lua(text));
    }
    let entry = call.host();
    let catalog = &entry.shared.catalog;
    let mut tools = Vec::new();
    for spec in specs {
        let pack = match spec.object::<PackEntry>() {
            Some(pack) => pack,
            None => {
                let name = spec.lossy();
                entry.pack(&name).ok_or_else(|| {
                    Failure::lua(format!("packs.offer: {name:?} is not a Pack in this run"))
                })?
            }
        };
        if let Some(reason) = &pack.reason {
            let name = &pack.name;
            return Err(Failure::lua(format!(
                "packs.offer: the {name} Pack is unavailable in this run: {reason}"
            )));
        }
        tools.extend(catalog.tools_of(&pack));
    }
    for tool in tools {
        entry.toolbox.offers.borrow_mut().add(&tool.key, None);
    }
    Ok(Reply::None)
}

/// `tools.required()`
pub fn required(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    Ok(call.host().tools(true))
}

/// `tools.extras()`
pub fn extras(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    Ok(call.host().tools(false))
}

/// `tools.get(id)` (spec T65).
pub fn get(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let id = match call.arg(0).text() {
        Some(Ok(id)) => id,
        Some(Err(NotUtf8)) => return Ok(nil()),
        None => {
            let found = call.type_of(0);
            return Err(Failure::lua(format!(
                "tools.get takes a tool id, got {found}"
            )));
        }
    };
    let catalog = &call.host().shared.catalog;
    let tool = catalog.get(&id).filter(|tool| tool.offerable);
    Ok(tool.map_or(nil(), |tool| Reply::Object(catalog.tool_object(tool))))
}

/// `packs.required()`
pub fn required_packs(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    Ok(call.host().packs(|pack| pack.declared))
}

/// `packs.extras()`
pub fn extra_packs(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    Ok(call
        .host()
        .packs(|pack| !pack.declared && pack.reason.is_none()))
}

/// `packs.get(name)` (spec T66).
pub fn get_pack(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let entry = call.host();
    let name = match call.arg(0).text() {
        Some(Ok(name)) => name,
        Some(Err(NotUtf8)) => return Ok(nil()),
        None => {
            let found = call.type_of(0);
            return Err(Failure::lua(format!(
                "packs.get takes a Pack id, got {found}"
            )));
        }
    };
    let pack = entry
        .pack(&name)
        .filter(|pack| pack.declared || pack.reason.is_none());
    Ok(pack.map_or(nil(), |pack| {
        Reply::Object(entry.shared.catalog.pack_object(&pack))
    }))
}

fn nil() -> Reply {
    Reply::Data(crate::lua::Data::Null)
}

impl Entry {
    fn tools(&self, declared: bool) -> Reply {
        let catalog = &self.shared.catalog;
        let tools = catalog.offerable(declared);
        let objects = tools.iter().map(|tool| catalog.tool_object(tool));
        Reply::Objects(objects.collect())
    }

    fn packs(&self, wanted: impl Fn(&PackEntry) -> bool) -> Reply {
        let catalog = &self.shared.catalog;
        let mut packs: Vec<_> = catalog.packs().iter().filter(|pack| wanted(pack)).collect();
        packs.sort_by(|a, b| a.name.cmp(&b.name));
        let objects: Vec<Object> = packs.iter().map(|pack| catalog.pack_object(pack)).collect();
        Reply::Objects(objects)
    }

    /// The Pack of an id, or of a whole name.
    fn pack(&self, name: &str) -> Option<Rc<PackEntry>> {
        let mut packs = self.shared.catalog.packs().iter();
        packs
            .find(|pack| *pack.name == *name || pack.id() == name)
            .cloned()
    }

    /// The tool of a bound slot (spec T71).
    fn slot(&self, function: &str, alias: &str) -> Result<Rc<Bound>, Failure> {
        if !is_name(alias) {
            return Err(bad_alias(alias));
        }
        let found = self.shared.catalog.get(alias).cloned();
        found.ok_or_else(|| {
            Failure::lua(format!(
                "{function} alias {alias:?} is not a bound tool slot"
            ))
        })
    }

    /// A tool that a model can be offered (spec T71).
    fn offerable(&self, function: &str, id: &str) -> Result<Rc<Bound>, Failure> {
        let found = self.shared.catalog.get(id).filter(|tool| tool.offerable);
        found.cloned().ok_or_else(|| {
            Failure::lua(format!(
                "{function}: {id:?} is not a catalog tool in this run"
            ))
        })
    }
}

/// The tools that a call names, and the description it gives them.
type Named = (Vec<Rc<Bound>>, Option<Arc<str>>);

/// What a call of a function names; all or nothing (spec T69 to
/// T73).
fn named(call: &Call<'_, Entry>, function: &str) -> Result<Named, Failure> {
    if call.count() == 0 {
        return Ok((Vec::new(), None));
    }
    let refuse = |arg: &Arg| {
        let found = arg.type_of();
        Failure::lua(format!(
            "{function} expects strings, Tool objects, or arrays of either, got {found}"
        ))
    };
    let (specs, is_array) = specs(&call.arg(0), is_named::<Bound>, refuse)?;
    if is_array && !call.is_nil(1) {
        let text = format!("{function} array form takes no override");
        return Err(Failure::lua(text));
    }
    let description = description(call, function)?;
    let entry = call.host();
    let tools = specs.iter().map(|spec| match spec.object::<Bound>() {
        Some(tool) => Ok(tool),
        None => match entry.dialect() {
            Dialect::PromptForge => entry.slot(function, &spec.lossy()),
            Dialect::Runvil => entry.offerable(function, &spec.lossy()),
        },
    });
    Ok((tools.collect::<Result<_, _>>()?, description))
}

/// The description in a call's second argument, its last.
fn description(call: &Call<'_, Entry>, function: &str) -> Result<Option<Arc<str>>, Failure> {
    let description = match call.is_nil(1) {
        true => None,
        false => Some(call.string(1, &format!("{function} override"))?.into()),
    };
    if call.count() > 2 {
        let found = call.type_of(2);
        let text =
            format!("{function} takes one alias plus an optional override, got extra {found}");
        return Err(Failure::lua(text));
    }
    Ok(description)
}

/// What an argument names: itself, or the items of its sequence; whether it is one.
fn specs(
    arg: &Arg,
    is_spec: impl Fn(&Arg) -> bool,
    refuse: impl Fn(&Arg) -> Failure,
) -> Result<(Vec<Arg>, bool), Failure> {
    if is_spec(arg) {
        return Ok((vec![arg.clone()], false));
    }
    if !arg.is_table() {
        return Err(refuse(arg));
    }
    let mut specs = Vec::new();
    arg.each(|item| match is_spec(&item) {
        true => {
            specs.push(item);
            Ok(())
        }
        false => Err(refuse(&item)),
    })?;
    Ok((specs, true))
}

/// Whether an argument is a name, or an object of the kind.
fn is_named<T: 'static>(spec: &Arg) -> bool {
    spec.text().is_some() || spec.object::<T>().is_some()
}
