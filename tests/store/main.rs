//! The store, as operations on a handle (spec part 04, sections 1 to 11).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cases;
mod directory;
mod handle;
mod properties;
mod record;
mod slow;

use runvil::engine::store::{StoreFailure, StoreOp, StoreValue};
use runvil::harness::Store;

type Answer = Result<StoreValue, StoreFailure>;

/// Runs a check on a fresh store of each built-in backend.
fn on_each_backend(check: impl Fn(&Store)) {
    check(&Store::memory());
    let root = tempfile::tempdir().unwrap();
    check(&Store::directory(root.path()).unwrap());
}

fn write(path: &str, contents: &str) -> StoreOp {
    StoreOp::Write {
        path: path.into(),
        contents: contents.into(),
    }
}

fn append(path: &str, contents: &str) -> StoreOp {
    StoreOp::Append {
        path: path.into(),
        contents: contents.into(),
    }
}

fn read(path: &str) -> StoreOp {
    read_lines(path, None, None)
}

fn read_lines(path: &str, start: impl Into<Option<i64>>, end: impl Into<Option<i64>>) -> StoreOp {
    StoreOp::Read {
        path: path.into(),
        start: start.into(),
        end: end.into(),
    }
}

fn number(path: &str, start: impl Into<Option<i64>>, end: impl Into<Option<i64>>) -> StoreOp {
    StoreOp::ReadNumbered {
        path: path.into(),
        start: start.into(),
        end: end.into(),
    }
}

fn replace(path: &str, old: &str, new: &str) -> StoreOp {
    StoreOp::Replace {
        path: path.into(),
        old: old.into(),
        new: new.into(),
    }
}

fn delete(path: &str) -> StoreOp {
    StoreOp::Delete { path: path.into() }
}

fn exists(path: &str) -> StoreOp {
    StoreOp::Exists { path: path.into() }
}

fn glob(pattern: &str) -> StoreOp {
    StoreOp::Glob {
        pattern: pattern.into(),
    }
}

const DONE: Answer = Ok(StoreValue::Null);

fn text(text: &str) -> Answer {
    Ok(StoreValue::Text(text.into()))
}

fn truth(truth: bool) -> Answer {
    Ok(StoreValue::Bool(truth))
}

fn list(paths: &[&str]) -> Answer {
    Ok(StoreValue::List(
        paths.iter().map(|&path| path.into()).collect(),
    ))
}

/// The message of the failure an operation must give.
fn message(store: &Store, op: StoreOp) -> String {
    store.perform(&op).unwrap_err().message
}
