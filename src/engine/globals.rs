//! The Engine's globals in each dialect (spec L17, F43).

use super::calls::{control, data, log, store, tasks};
use super::entry::Entry;
use crate::lua::{Data, Definition, Function, Global};

type Named = (&'static str, Function<Entry>);

const STORE: &[Named] = &[
    ("write", Function::Suspending(store::write)),
    ("append", Function::Suspending(store::append)),
    ("read", Function::Suspending(store::read)),
    ("read_numbered", Function::Suspending(store::read_numbered)),
    ("str_replace", Function::Suspending(store::str_replace)),
    ("delete", Function::Suspending(store::delete)),
    ("glob", Function::Suspending(store::glob)),
    ("exists", Function::Suspending(store::exists)),
];

const TASKS: [Named; 9] = [
    ("spawn", Function::Suspending(tasks::spawn)),
    ("join_any", Function::Suspending(tasks::join_any)),
    ("join", Function::Suspending(tasks::join)),
    ("concurrency", Function::Suspending(tasks::concurrency)),
    ("ready", Function::Suspending(tasks::ready)),
    ("status", Function::Suspending(tasks::status)),
    ("pending", Function::Suspending(tasks::pending)),
    ("note", Function::Suspending(tasks::note)),
    ("cancel", Function::Suspending(tasks::cancel)),
];

const FANOUT: Function<Entry> = Function::Fanout(tasks::fanout);

/// Runvil's `tasks`, which has fanout as a tenth function (spec K86).
const RUNVIL_TASKS: &[Named] = &{
    let [a, b, c, d, e, f, g, h, i] = TASKS;
    [a, b, c, d, e, f, g, h, i, ("fanout", FANOUT)]
};

const JSON: &[Named] = &[
    ("encode", Function::Direct(data::json_encode)),
    ("decode", Function::Direct(data::json_decode)),
];

const PROMPT: &[Named] = &[
    ("section", Function::Direct(data::prompt_section)),
    ("list", Function::Direct(data::list)),
];

const fn global(name: &'static str, value: Definition<Entry>) -> Global<Entry> {
    Global { name, value }
}

const ARGS: Global<Entry> = global(
    "args",
    Definition::Data(|entry| Some(Data::Text(entry.input.args.clone()))),
);
const CALL: Global<Entry> = global(
    "call",
    Definition::Function(Function::Suspending(control::call)),
);
const ITEM: Global<Entry> = global("item", Definition::Data(|entry| entry.item.clone()));
const JUMP: Global<Entry> = global(
    "jump",
    Definition::Function(Function::Direct(control::jump)),
);
const LOG: Global<Entry> = global("log", Definition::Function(Function::Direct(log::log)));
const SYS: Global<Entry> = global("sys", Definition::Sealed(Entry::sys));
const UI: Global<Entry> = global(
    "ui",
    Definition::FunctionWhere(
        |entry| entry.shared.ui.is_some(),
        Function::Direct(data::ui),
    ),
);
const UNTRUSTED: Global<Entry> = global(
    "untrusted",
    Definition::Function(Function::Direct(data::untrusted)),
);
const VAR: Global<Entry> = global("var", Definition::Var);

/// `runvil: 0`.
pub(super) static RUNVIL: [Global<Entry>; 14] = [
    VAR,
    ARGS,
    SYS,
    ITEM,
    CALL,
    JUMP,
    LOG,
    global("store", Definition::Table(STORE)),
    UI,
    UNTRUSTED,
    global("tasks", Definition::Table(RUNVIL_TASKS)),
    global("json", Definition::Table(JSON)),
    global("prompt", Definition::Table(PROMPT)),
    global("require", Definition::Require),
];

/// `promptforge: 0`.
pub(super) static PROMPTFORGE: [Global<Entry>; 13] = [
    VAR,
    ARGS,
    SYS,
    ITEM,
    CALL,
    JUMP,
    LOG,
    global("store", Definition::Table(STORE)),
    UI,
    UNTRUSTED,
    global("tasks", Definition::Table(&TASKS)),
    global("fanout", Definition::Function(FANOUT)),
    global(
        "list_from_section",
        Definition::Function(Function::Direct(data::list)),
    ),
];
