//! The Engine's globals in each dialect (spec L17, F43).

use super::calls::{
    built_in, control, conversation, data, local_tools, log, models, offers, store, tasks, tools,
};
use super::entry::Entry;
use crate::lua::{Conversation, Data, Definition, Function, Global, Written};
use crate::prompt::Dialect;

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

const MODELS: &[Named] = &[
    ("use", Function::Direct(models::select)),
    ("default", Function::Direct(models::default)),
    ("get", Function::Direct(models::get)),
    ("infer", Function::Suspending(models::infer)),
    ("loop", Function::Written(Written::Loop)),
];

const MESSAGES: &[Named] = &[("new", Function::Written(Written::MessageList))];

const COMPACTORS: &[Named] = &[("fail", Function::Direct(conversation::fail))];

const TOOLS: &[Named] = &[
    ("call", Function::Written(Written::ToolCall)),
    ("add", Function::Direct(offers::offer)),
    ("always", Function::Direct(offers::always)),
    ("add_local", Function::Written(Written::LocalTool)),
    ("allow_tasks", Function::Direct(built_in::allow)),
];

const RUNVIL_TOOLS: &[Named] = &[
    ("call", Function::Written(Written::ToolCall)),
    ("offer", Function::Direct(offers::offer)),
    ("always_offer", Function::Direct(offers::always_offer)),
    ("offer_local", Function::Written(Written::LocalTool)),
    ("allow_tasks", Function::Direct(built_in::allow)),
    ("required", Function::Direct(offers::required)),
    ("extras", Function::Direct(offers::extras)),
    ("get", Function::Direct(offers::get)),
];

const PACKS: &[Named] = &[
    ("offer", Function::Direct(offers::offer_packs)),
    ("required", Function::Direct(offers::required_packs)),
    ("extras", Function::Direct(offers::extra_packs)),
    ("get", Function::Direct(offers::get_pack)),
];

/// The engine's part of `models.loop` and of tool calls.
pub(super) static CONVERSATION: Conversation<Entry> = Conversation {
    check: conversation::check,
    prepare: conversation::prepare,
    ask: conversation::ask,
    returned: conversation::returned,
    register: local_tools::register,
    route: tools::route,
    dispatch: tools::dispatch,
    serve: tools::serve,
    finish: local_tools::finish,
    leave: local_tools::leave,
    count: tools::count,
    own: tools::own,
};

const JSON: &[Named] = &[
    ("encode", Function::Direct(data::json_encode)),
    ("decode", Function::Direct(data::json_decode)),
];

const PROMPT: &[Named] = &[
    ("section", Function::Direct(data::prompt_section)),
    ("list", Function::Direct(data::list)),
];

/// The functions that a dialect gives a prompt, `table.name` for those in a table.
pub fn functions(dialect: Dialect) -> Vec<String> {
    let globals: &[Global<Entry>] = match dialect {
        Dialect::Runvil => &RUNVIL,
        Dialect::PromptForge => &PROMPTFORGE,
    };
    let mut names = Vec::new();
    for Global { name, value } in globals {
        match value {
            Definition::Table(functions) | Definition::Tools(functions) => {
                names.extend(
                    functions
                        .iter()
                        .map(|(function, _)| format!("{name}.{function}")),
                );
            }
            Definition::Function(_) | Definition::FunctionWhere(..) | Definition::Require => {
                names.push((*name).to_owned());
            }
            Definition::Data(_) | Definition::Sealed(_) | Definition::Var => {}
        }
    }
    names
}

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

const MODEL_ROLES: Global<Entry> = global("models", Definition::Table(MODELS));
const MESSAGE_LISTS: Global<Entry> = global("messages", Definition::Table(MESSAGES));
const OVERFLOW: Global<Entry> = global("compactors", Definition::Table(COMPACTORS));

/// `runvil: 0`.
pub(super) static RUNVIL: [Global<Entry>; 19] = [
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
    MODEL_ROLES,
    MESSAGE_LISTS,
    OVERFLOW,
    global("tools", Definition::Tools(RUNVIL_TOOLS)),
    global("packs", Definition::Table(PACKS)),
    global("tasks", Definition::Table(RUNVIL_TASKS)),
    global("json", Definition::Table(JSON)),
    global("prompt", Definition::Table(PROMPT)),
    global("require", Definition::Require),
];

/// `promptforge: 0`.
pub(super) static PROMPTFORGE: [Global<Entry>; 17] = [
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
    MODEL_ROLES,
    MESSAGE_LISTS,
    OVERFLOW,
    global("tools", Definition::Tools(TOOLS)),
    global("tasks", Definition::Table(&TASKS)),
    global("fanout", Definition::Function(FANOUT)),
    global(
        "list_from_section",
        Definition::Function(Function::Direct(data::list)),
    ),
];
