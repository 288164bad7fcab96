//! An operation on a backend, the same for all of them (spec sections 5 to 7).

use super::backend::{Backend, BackendError};
use crate::engine::store::{Glob, LineRange, StoreFailure, StoreOp, StoreValue, replace_one};

/// Performs an operation that has been [checked](StoreOp::check).
pub(super) fn perform(backend: &mut dyn Backend, op: &StoreOp) -> Result<StoreValue, StoreFailure> {
    match op {
        StoreOp::Write { path, contents } => done(path, backend.write(path, contents.as_bytes())),
        StoreOp::Append { path, contents } => done(path, backend.append(path, contents.as_bytes())),
        StoreOp::Read { path, start, end } => {
            let range = LineRange {
                start: *start,
                end: *end,
            };
            range.read(path, text(backend, path)?).map(StoreValue::Text)
        }
        StoreOp::ReadNumbered { path, start, end } => {
            let range = LineRange {
                start: *start,
                end: *end,
            };
            range
                .read_numbered(path, &text(backend, path)?)
                .map(StoreValue::Text)
        }
        StoreOp::Replace { path, old, new } => {
            let replaced = replace_one(path, &text(backend, path)?, old, new)?;
            done(path, backend.write(path, replaced.as_bytes()))
        }
        StoreOp::Delete { path } => done(path, backend.remove(path).map(|_| ())),
        StoreOp::Exists { path } => {
            let kind = backend.kind(path).map_err(|error| error.at(path))?;
            Ok(StoreValue::Bool(kind.is_some()))
        }
        StoreOp::Glob { pattern } => list(backend, pattern).map(StoreValue::List),
        StoreOp::Open { task } => backend
            .open(task)
            .map(|()| StoreValue::Null)
            .map_err(|error| StoreFailure::not_opened(error.reason())),
    }
}

/// The sorted paths a pattern matches.
pub(super) fn list(backend: &mut dyn Backend, pattern: &str) -> Result<Vec<String>, StoreFailure> {
    let glob = Glob::new(pattern)?;
    let mut paths = backend.glob(&glob).map_err(|error| error.at(pattern))?;
    paths.sort_unstable();
    Ok(paths)
}

fn done(path: &str, result: Result<(), BackendError>) -> Result<StoreValue, StoreFailure> {
    result
        .map(|()| StoreValue::Null)
        .map_err(|error| error.at(path))
}

fn text(backend: &mut dyn Backend, path: &str) -> Result<String, StoreFailure> {
    let bytes = backend.read(path).map_err(|error| error.at(path))?;
    String::from_utf8(bytes).map_err(|_| StoreFailure::not_utf8(path))
}
