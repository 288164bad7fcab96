//! `models.use`, `default`, `get` and `infer` (spec part 05, sections 3 and 5).

use std::rc::Rc;
use std::sync::Arc;

use crate::engine::ask::Ask;
use crate::engine::entry::{Entry, Request};
use crate::engine::model::{Message, Origin, Role, model_id_fault};
use crate::engine::roles::{Handle, Options};
use crate::lua::{Arg, Call, Class, Failure, Kind, NotUtf8, Reply};
use crate::prompt::is_name;

/// `models.use(label, options?)`: the section's selection (spec M18, M20).
pub fn select(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let label = label(call, "use")?;
    let entry = call.host();
    let role = named(entry, &label)?.ok_or_else(|| {
        let text = format!("models.use label {label:?} is not a bound model role");
        Failure::lua(text)
    })?;
    if call.count() > 2 {
        let count = call.count();
        let text = format!("models.use takes at most 2 arguments, got {count}");
        return Err(Failure::lua(text));
    }
    let options = options(call)?;
    let handle = match options == Options::default() {
        true => role,
        false => Rc::new(role.with(options)),
    };
    *entry.selection.borrow_mut() = Some(handle.clone());
    Ok(Reply::Object(handle.object()))
}

/// `models.default(label)`: the prompt-wide default (spec M19).
pub fn default(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let label = label(call, "default")?;
    let entry = call.host();
    let role = named(entry, &label)?.ok_or_else(|| {
        let text = format!("models.default label {label:?} is not a bound model role");
        Failure::lua(text)
    })?;
    entry.shared.roles.set_default(&role).map_err(|existing| {
        Failure::lua(format!(
            "models.default is already {existing:?}: the prompt-wide default cannot change \
             mid-run"
        ))
    })?;
    Ok(Reply::Object(role.object()))
}

/// `models.get(label)`: a handle that selects nothing (spec M18, M21).
pub fn get(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let label = label(call, "get")?;
    let entry = call.host();
    if let Some(role) = entry.shared.roles.get(&label) {
        return Ok(Reply::Object(role.clone().object()));
    }
    if entry.shared.ui.is_some() {
        return match model_id_fault(&label) {
            None => Ok(Reply::Object(Rc::new(Handle::raw(&label)).object())),
            Some(reason) => Err(Failure::lua(format!(
                "models.get model id {label:?} is invalid: invalid model id: {reason}"
            ))),
        };
    }
    named(entry, &label)?;
    let text = format!("models.get alias {label:?} is not a bound model role");
    Err(Failure::lua(text))
}

/// `models.infer(handle?, prompt)`: one round of one user message (spec M29, M30).
pub fn infer(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let count = call.count();
    if count > 2 {
        return Err(Failure::lua("models.infer takes (handle?, prompt)"));
    }
    let prompt = call.string(count.saturating_sub(1), "prompt")?;
    let handle = match count {
        2 => handle(&call.arg(0), "models.infer")?,
        _ => None,
    };
    let entry = call.host();
    entry.outside_library()?;
    Ok(Request::Round(Box::new(Ask {
        origin: Origin::Infer,
        handle: entry.model(handle)?,
        messages: Arc::new([Message::text(Role::User, prompt)]),
        tools: Arc::new([]),
        notices: 0,
        answered: false,
        talk: entry.talk.clone(),
    })))
}

/// The handle that an argument holds; `None` for nil.
///
/// # Errors
/// `{function} handle must be a model handle`, with the type where it is no userdata.
pub fn handle(arg: &Arg, function: &str) -> Result<Option<Rc<Handle>>, Failure> {
    if arg.is_nil() {
        return Ok(None);
    }
    if let Some(handle) = arg.object::<Handle>() {
        return Ok(Some(handle));
    }
    let text = format!("{function} handle must be a model handle");
    Err(Failure::lua(match arg.is_userdata() {
        true => text,
        false => format!("{text}, got {}", arg.type_of()),
    }))
}

impl Entry {
    /// The model that a round runs under: the handle if it names one, else the section's selection,
    /// else the prompt-wide default (spec M16, M17).
    pub(super) fn model(&self, handle: Option<Rc<Handle>>) -> Result<Rc<Handle>, Failure> {
        handle.or_else(|| self.selected()).ok_or_else(|| {
            let text = format!("model binding required for section {}", self.name());
            Failure {
                class: Class::Binding,
                ..Failure::new(Kind::Internal, text)
            }
        })
    }
}

/// The label that a call names. A number is its text, as Lua has it.
fn label(call: &Call<'_, Entry>, function: &str) -> Result<String, Failure> {
    let found = match call.count() {
        0 => "no value",
        _ => call.type_of(0),
    };
    let bytes = call.coerced_bytes(0).ok_or_else(|| {
        let text = format!("bad argument #1 to '{function}' (string expected, got {found})");
        Failure::lua(text)
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The role of a label of the right form; `None` where it is not bound.
fn named(entry: &Entry, label: &str) -> Result<Option<Rc<Handle>>, Failure> {
    match is_name(label) {
        true => Ok(entry.shared.roles.get(label).cloned()),
        false => Err(bad_alias(label)),
    }
}

/// A name that no alias and no label can be.
pub fn bad_alias(name: &str) -> Failure {
    Failure::lua(format!(
        "invalid alias {name:?}: expected [A-Za-z][A-Za-z0-9_-]{{0,63}}"
    ))
}

/// The options of `models.use`, entries looked at in a fixed order (spec M22).
fn options(call: &Call<'_, Entry>) -> Result<Options, Failure> {
    let table = call.arg(1);
    let mut options = Options::default();
    if table.is_nil() {
        return Ok(options);
    }
    let refuse = |text: String| Err(Failure::lua(format!("models.use option{text}")));
    if !table.is_table() {
        let found = table.type_of();
        return refuse(format!("s must be a table, got {found}"));
    }
    let (mut named, mut strange) = (Vec::new(), Vec::new());
    for (key, value) in call.pairs(1)? {
        match key.text() {
            Some(Ok(name)) => named.push((name, value)),
            Some(Err(NotUtf8)) => named.push((key.lossy(), value)),
            None => strange.push(key.type_of()),
        }
    }
    if let Some(found) = strange.iter().min() {
        return refuse(format!(" names must be strings, got {found}"));
    }
    named.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, value) in named {
        match name.as_str() {
            "temperature" => options.temperature = Some(temperature(&value)?),
            "max_tokens" => options.max_tokens = Some(max_tokens(&value)?),
            _ => {
                return refuse(format!(
                    " {name:?} is unknown: expected temperature or max_tokens"
                ));
            }
        }
    }
    Ok(options)
}

fn temperature(value: &Arg) -> Result<f64, Failure> {
    let refuse = |text: String| {
        Err(Failure::lua(format!(
            "models.use option temperature {text}"
        )))
    };
    match value.number() {
        None => {
            let found = value.type_of();
            refuse(format!("must be a number, got {found}"))
        }
        Some(number) if !number.is_finite() => refuse(format!("must be finite, got {number}")),
        Some(number) if !(0.0..=2.0).contains(&number) => refuse(format!(
            "{number} is outside the supported range [0.0, 2.0]"
        )),
        Some(number) => Ok(number),
    }
}

fn max_tokens(value: &Arg) -> Result<u32, Failure> {
    let actual = match (value.integer(), value.number()) {
        (Some(whole), _) => match u32::try_from(whole) {
            Ok(most @ 1..) => return Ok(most),
            _ => whole.to_string(),
        },
        (None, Some(number)) => match number {
            _ if number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number) => {
                return Ok(number as u32);
            }
            _ => number.to_string(),
        },
        (None, None) => value.type_of().to_owned(),
    };
    Err(Failure::lua(format!(
        "models.use option max_tokens must be an integer in [1, 4294967295], got {actual}"
    )))
}
