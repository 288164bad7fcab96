//! The eight functions of `store`: arguments, path rules and policy (spec S40, steps 1 to 4).

use crate::engine::entry::{Entry, Request};
use crate::engine::event::{EventKind, store_events};
use crate::engine::store::StoreOp;
use crate::lua::{Call, Failure, Field, Kind};

/// `store.write(path, contents)`.
pub fn write(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let path = text(call, 0, "path")?;
    ask(
        call,
        StoreOp::Write {
            path,
            contents: text(call, 1, "contents")?,
        },
    )
}

/// `store.append(path, contents)`.
pub fn append(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let path = text(call, 0, "path")?;
    ask(
        call,
        StoreOp::Append {
            path,
            contents: text(call, 1, "contents")?,
        },
    )
}

/// `store.read(path, start?, end?)`.
pub fn read(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let path = text(call, 0, "path")?;
    let start = call.integer(1, "start")?;
    ask(
        call,
        StoreOp::Read {
            path,
            start,
            end: call.integer(2, "end")?,
        },
    )
}

/// `store.read_numbered(path, start?, end?)`.
pub fn read_numbered(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let path = text(call, 0, "path")?;
    let start = call.integer(1, "start")?;
    ask(
        call,
        StoreOp::ReadNumbered {
            path,
            start,
            end: call.integer(2, "end")?,
        },
    )
}

/// `store.str_replace(path, old, new)`.
pub fn str_replace(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let path = text(call, 0, "path")?;
    let old = text(call, 1, "old")?;
    ask(
        call,
        StoreOp::Replace {
            path,
            old,
            new: text(call, 2, "new")?,
        },
    )
}

/// `store.delete(path)`.
pub fn delete(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    ask(
        call,
        StoreOp::Delete {
            path: text(call, 0, "path")?,
        },
    )
}

/// `store.exists(path)`.
pub fn exists(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    ask(
        call,
        StoreOp::Exists {
            path: text(call, 0, "path")?,
        },
    )
}

/// `store.glob(pattern)`.
pub fn glob(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    ask(
        call,
        StoreOp::Glob {
            pattern: text(call, 0, "pattern")?,
        },
    )
}

/// A required string; while the shared library loads, a number is converted (spec S13).
fn text(call: &Call<'_, Entry>, index: usize, name: &str) -> Result<String, Failure> {
    if call.host().loading.get()
        && let Some(bytes) = call.coerced_bytes(index)
        && let Ok(text) = String::from_utf8(bytes)
    {
        return Ok(text);
    }
    call.string(index, name)
}

fn ask(call: &Call<'_, Entry>, op: StoreOp) -> Result<Request, Failure> {
    let entry = call.host();
    op.check().map_err(failure)?;
    if let Some(refusal) = entry.shared.policy.refuse(&op) {
        if let Some((_, failed)) = store_events(&op) {
            entry.report(EventKind::Plain(failed));
        }
        return Err(failure(refusal));
    }
    Ok(Request::Store(op))
}

/// A store failure as an error value (spec S47).
pub fn failure(error: crate::engine::store::StoreFailure) -> Failure {
    let mut failure = Failure::new(Kind::Store, error.message).with("reason", error.reason.tag());
    if let Some(path) = error.path {
        failure = failure.with("path", path);
    }
    if let Some(anchor) = error.anchor {
        failure = failure.with("anchor", anchor);
    }
    if let Some(count) = error.count {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        failure.fields.push(("count", Field::Count(count)));
    }
    if let Some(rule) = error.rule {
        failure = failure.with("rule", rule.tag());
    }
    failure
}
