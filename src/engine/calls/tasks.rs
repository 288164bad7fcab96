//! The `tasks` functions and fanout: their arguments, checked in order (spec part 03, sections 7 to
//! 10).

use crate::engine::entry::{Entry, Request, Spawn};
use crate::lua::{Arg, Call, Data, Failure, NotData, NotUtf8, target};
use crate::prompt::SectionId;

/// `tasks.spawn(target, opts?)` (spec K89).
pub fn spawn(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let options = options(call, "tasks.spawn")?;
    let heading = target(call)?;
    let input = options.field("input")?;
    let input = match input.is_nil() {
        true => None,
        false => Some(input.string("input")?),
    };
    let item = options.field("item")?;
    if item.is_opaque() {
        let found = item.type_of();
        return Err(Failure::lua(format!("item must be JSON data, got {found}")));
    }
    let item = match item.is_nil() {
        true => None,
        false => Some(item.data("item", call).map_err(|_| unrepresentable())?),
    };
    let index = index(&options.field("index")?)?;
    call.host().outside_library()?;
    let (target, var) = startable(call, &heading)?;
    Ok(Request::Spawn(Box::new(Spawn {
        target,
        input,
        item,
        index,
        var,
        called: None,
    })))
}

/// The section that a new task is to start at, and its `var` (spec K89, 7 to 10).
pub(super) fn startable(
    call: &Call<'_, Entry>,
    heading: &str,
) -> Result<(SectionId, Data), Failure> {
    let entry = call.host();
    let var = call.var()?;
    let section = worker(entry, heading)?;
    entry.goes_deeper("call")?;
    Ok((section, var))
}

/// A fanout over the members that the collection gave (spec K61, e and f).
pub fn fanout(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let entry = call.host();
    entry.outside_library()?;
    let var = call.var()?;
    let heading = target(call)?;
    let section = worker(entry, &heading)?;
    entry.goes_deeper("fanout")?;
    let list = call.arg(1);
    let count = list.raw_len();
    let mut members: Vec<Data> = Vec::with_capacity(count);
    for at in 1..=count {
        match list.element(at)?.data("item", call) {
            Ok(member) => members.push(member),
            Err(fault @ NotData::Cancelled) => return Err(fault.failure()),
            Err(_) => {
                return Ok(Request::Fanout {
                    target: section,
                    var,
                    members,
                    complete: false,
                });
            }
        }
    }
    Ok(Request::Fanout {
        target: section,
        var,
        members,
        complete: true,
    })
}

/// What a member or an item fails with that JSON cannot hold.
pub fn unrepresentable() -> Failure {
    Failure::lua("item must be a JSON-representable value")
}

/// The section a task is to run: any but a list section (spec K70).
fn worker(entry: &Entry, heading: &str) -> Result<SectionId, Failure> {
    let id = entry.resolve(heading)?;
    let section = entry.shared.program.prompt().section(id);
    match section.items {
        None => Ok(id),
        Some(_) => {
            let name = &section.name;
            Err(Failure::lua(format!(
                "section `{name}` is a list section, not a worker template"
            )))
        }
    }
}

fn options(call: &Call<'_, Entry>, name: &str) -> Result<Arg, Failure> {
    let options = call.arg(1);
    match options.is_nil() || options.is_table() {
        true => Ok(options),
        false => {
            let found = options.type_of();
            Err(Failure::lua(format!(
                "{name} opts must be a table, got {found}"
            )))
        }
    }
}

fn index(index: &Arg) -> Result<Option<i64>, Failure> {
    let refused =
        |found: &str| Failure::lua(format!("index must be a non-negative integer, got {found}"));
    match index.integer() {
        Some(value) if value >= 0 => Ok(Some(value)),
        Some(negative) => Err(refused(&negative.to_string())),
        None if index.is_nil() => Ok(None),
        None => Err(refused(index.type_of())),
    }
}

/// `tasks.join_any(set, opts?)`.
pub fn join_any(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    wait(call, "tasks.join_any", true)
}

/// `tasks.join(set, opts?)`.
pub fn join(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    wait(call, "tasks.join", false)
}

/// The checks 1 to 6 of spec K102; whether the members are the chain's own is the scheduler's to
/// say.
fn wait(call: &Call<'_, Entry>, name: &str, any: bool) -> Result<Request, Failure> {
    let timeout = options(call, name)?.field("timeout")?;
    if !timeout.is_nil() && timeout.number().is_none() {
        let found = timeout.type_of();
        return Err(Failure::lua(format!(
            "{name} timeout must be a number, got {found}"
        )));
    }
    let set = call.arg(0);
    if !set.is_table() {
        let found = set.type_of();
        return Err(Failure::lua(format!(
            "{name} expects a set of tasks, got {found}"
        )));
    }
    let mut ids = Vec::with_capacity(set.raw_len());
    set.each(|member| {
        ids.push(task_id(&member, name)?);
        Ok(())
    })?;
    if ids.is_empty() {
        return Err(Failure::lua(format!("{name} requires at least one task")));
    }
    let seconds = timeout.number();
    if let Some(seconds) = seconds
        && !is_duration(seconds)
    {
        let shown = timeout
            .integer()
            .map_or_else(|| seconds.to_string(), |whole| whole.to_string());
        return Err(Failure::lua(format!(
            "timeout must be a non-negative finite number of seconds, got {shown}"
        )));
    }
    entry_of(call)?;
    Ok(Request::Wait {
        any,
        set: ids,
        timeout: seconds,
    })
}

/// Whether a wait may last so many seconds (spec K113).
pub(super) fn is_duration(seconds: f64) -> bool {
    (0.0..18_446_744_073_709_551_616.0).contains(&seconds)
}

/// A handle or id as the id it names (spec K93, K94).
fn task_id(task: &Arg, name: &str) -> Result<String, Failure> {
    let refused = |found: &str| {
        Failure::lua(format!(
            "{name} expects a Task handle or task id, got {found}"
        ))
    };
    let id = match task.text() {
        Some(id) => id,
        None if task.is_table() => match task.field("task")?.text() {
            Some(id) => id,
            None => return Err(refused("table")),
        },
        None => return Err(refused(task.type_of())),
    };
    let id = id.map_err(|NotUtf8| Failure::lua("task id must be a valid UTF-8 string"))?;
    match is_task_id(&id) {
        true => Ok(id),
        false => Err(Failure::lua(format!(
            "`{id}` is not a task id: required a dot-separated path such as `0.1`"
        ))),
    }
}

/// One or more decimal components joined by single dots, none padded (spec K9).
pub(super) fn is_task_id(id: &str) -> bool {
    id.split('.').all(|component| {
        let canonical = component == "0" || !component.starts_with('0');
        canonical
            && component.bytes().all(|byte| byte.is_ascii_digit())
            && component.parse::<u32>().is_ok()
    })
}

/// Where the call stands: nowhere while the shared library loads.
fn entry_of<'a>(call: &'a Call<'_, Entry>) -> Result<&'a Entry, Failure> {
    let entry = call.host();
    entry.outside_library()?;
    Ok(entry)
}

/// `tasks.status(task)`.
pub fn status(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let id = task_id(&call.arg(0), "tasks.status")?;
    entry_of(call).map(|_| Request::Status(id))
}

/// `tasks.ready(task)`.
pub fn ready(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let id = task_id(&call.arg(0), "tasks.ready")?;
    entry_of(call).map(|_| Request::Ready(id))
}

/// `tasks.cancel(task)`.
pub fn cancel(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let id = task_id(&call.arg(0), "tasks.cancel")?;
    entry_of(call).map(|_| Request::Cancel(id))
}

/// `tasks.pending(filter?)` (spec K117).
pub fn pending(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let filter = call.arg(0);
    if !filter.is_nil() && !filter.is_table() {
        let found = filter.type_of();
        return Err(Failure::lua(format!(
            "tasks.pending filter must be a table, got {found}"
        )));
    }
    let origin = filter.field("origin")?;
    let origin = match origin.is_nil() {
        true => None,
        false => Some(origin.string("pending filter origin")?),
    };
    if let Some(other) = &origin
        && !["author", "model"].contains(&other.as_str())
    {
        return Err(Failure::lua(format!(
            "pending filter origin must be `author` or `model`, got `{other}`"
        )));
    }
    entry_of(call).map(|_| Request::Pending { origin })
}

/// `tasks.note(text)` (spec K119).
pub fn note(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let text = match call.arg(0).text() {
        Some(Ok(text)) => text,
        Some(Err(NotUtf8)) => return Err(Failure::lua("text must be a valid UTF-8 string")),
        None => {
            let found = call.type_of(0);
            return Err(Failure::lua(format!(
                "tasks.note text must be a string, got {found}"
            )));
        }
    };
    entry_of(call).map(|_| Request::Note(text))
}

/// `tasks.concurrency(n?)` (spec K121, K122).
pub fn concurrency(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let limit = call.arg(0);
    let refused = || {
        let found = limit.type_of();
        Failure::lua(format!(
            "tasks.concurrency limit must be a positive whole number, got {found}"
        ))
    };
    let limit = match (limit.integer(), limit.number()) {
        (None, None) if limit.is_nil() => None,
        (Some(whole), _) if whole > 0 => Some(u32::try_from(whole).unwrap_or(u32::MAX)),
        (None, Some(float)) if float >= 1.0 && float.fract() == 0.0 => {
            Some(if float < f64::from(u32::MAX) {
                float as u32
            } else {
                u32::MAX
            })
        }
        _ => return Err(refused()),
    };
    entry_of(call).map(|_| Request::Concurrency(limit))
}
