//! `models.loop`, a round at a time, and `compactors` (spec part 05, sections 7 to 9).

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::models::handle;
use crate::engine::ask::Ask;
use crate::engine::entry::{Entry, Request};
use crate::engine::event::EventKind;
use crate::engine::model::{Message, Origin, Role, check_list, compose, overflows, read_list};
use crate::lua::{Call, Failure, Kind, NotData, Object, Reply};

/// Checks the arguments of `models.loop` that are looked at once (spec M39, M40).
pub fn check(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    call.suspends();
    let after_handle = usize::from(call.arg(0).is_userdata());
    if call.count() > after_handle + 2 {
        let text = "models.loop takes (handle?, messages, compactor?)";
        return Err(Failure::lua(text));
    }
    let compactor = call.arg(after_handle + 1);
    if !compactor.is_nil() && !compactor.is_function() {
        let found = compactor.type_of();
        let text = format!("compactor must be a function, got {found}");
        return Err(Failure::lua(text));
    }
    Ok(Reply::None)
}

/// A round that is ready, on its way through the loop.
struct Ready(RefCell<Option<Box<Ask>>>);

/// Makes the next round ready: all checks, in the order of spec M40. Gives it, and the notices to
/// append before it is sent, or false where it overflows.
pub fn prepare(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let entry = call.host();
    let round = call.arg(2).integer().unwrap_or(0);
    if round > i64::from(entry.shared.max_rounds) {
        let text = "tool-call loop did not converge";
        return Err(Failure::new(Kind::ToolLoopExhausted, text));
    }
    let handle = handle(&call.arg(0), "models.loop")?;
    let notices = entry.talk.notices.texts();
    let mut messages = list(call)?;
    if call.arg(1).is_frozen() {
        let text = "messages must be a list that can be appended to, got a frozen one";
        return Err(Failure::lua(text));
    }
    let told = notices.iter().cloned();
    messages.extend(told.map(|text| Message::text(Role::User, text)));
    entry.outside_library()?;
    let handle = entry.model(handle)?;
    entry.report(EventKind::Plain("tool_scope_validation_started"));
    let offered = entry
        .toolbox
        .offered(&entry.shared.catalog, &entry.shared.always.borrow());
    entry.report(EventKind::Plain(match offered {
        Ok(_) => "tool_scope_validation_succeeded",
        Err(_) => "tool_scope_validation_failed",
    }));
    let tools = offered?;
    let failed = || entry.report(EventKind::Plain("model_turn_failed"));
    check_list(&messages).inspect_err(|_| failed())?;
    entry.talk.replayed.restore(&mut messages);
    let messages: Arc<[Message]> = compose(&messages).into();
    let count = entry.talk.memory.borrow().count(&messages, &handle.model);
    if overflows(count, handle.context, handle.options.max_tokens) {
        failed();
        return Ok(Reply::Bool(false));
    }
    let ask = Box::new(Ask {
        origin: Origin::Chat,
        handle,
        messages,
        tools,
        notices: notices.len(),
        answered: false,
        talk: Rc::clone(&entry.talk),
    });
    let texts = notices.iter().map(|text| text.to_string());
    let ready = Ready(RefCell::new(Some(ask)));
    Ok(Reply::Several(vec![
        Reply::Object(Object::opaque(ready)),
        Reply::List(texts.collect()),
    ]))
}

/// Puts the prepared round out.
pub fn ask(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let ready = call.arg(0).object::<Ready>();
    let ask = ready.and_then(|ready| ready.0.borrow_mut().take());
    let mut ask = ask.ok_or_else(|| Failure::internal("a round was not prepared"))?;
    ask.answered = call.arg(1).boolean() == Some(true);
    Ok(Request::Round(ask))
}

/// The compactor returned, which none may (spec M57).
pub fn returned(_: &Call<'_, Entry>) -> Result<Reply, Failure> {
    Err(Failure::lua(
        "the selected compactor returned without raising: replacement compactors are deferred; \
         compactors.fail is the only shipped policy",
    ))
}

/// `compactors.fail(reason)`, the default compactor.
pub fn fail(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let reason = call.arg(0);
    let text = reason.lossy();
    let why = match text.as_str() {
        "precheck" => "the request precheck overflowed the model's context window",
        "provider" => "the provider rejected the request as exceeding the model's context window",
        _ => {
            return Err(Failure::lua(format!(
                "unknown overflow reason {text:?}; expected \"precheck\" or \"provider\""
            )));
        }
    };
    let message = format!("context exhausted: {why}");
    Err(Failure::new(Kind::ContextExhausted, message).with("reason", text))
}

/// A message list (spec M36).
fn list(call: &Call<'_, Entry>) -> Result<Vec<Message>, Failure> {
    let arg = call.arg(1);
    if !arg.is_table() {
        let found = arg.type_of();
        let text = format!("messages must be a table of message tables, got {found}");
        return Err(Failure::lua(text));
    }
    let list = arg
        .sequences("messages", call)
        .map_err(|fault| match fault {
            NotData::TooLarge | NotData::Cancelled => fault.failure(),
            NotData::Offender { .. } => Failure::lua("messages must be a JSON-representable table"),
        })?;
    read_list(&list)
}
