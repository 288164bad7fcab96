//! Reads the YAML files of a Host, scripts and configurations, and says of what is wrong with one
//! its line and its key (spec C8, C9).

mod entries;
mod located;
mod plain;

pub use entries::{Distinct, Entries, Identified};
pub use located::Located;

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed};
use serde_path_to_error::{Segment, Track};

use crate::prompt::too_deep;
use plain::Plain;

/// What is wrong with a file. Shown as `{line}: {path}: {message}`, so that the file's name and a
/// colon go before it; the path is left out where it is the whole file's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// The 1-based line.
    pub line: usize,
    /// The key, from the top: `packs.acme/kiln.trust`, `models[1].id`; empty for the whole file.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.line)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for YamlError {}

/// Reads a document. One that is empty, or holds comments alone, is the default. No key may stand
/// twice in a map, and no value may have a tag.
///
/// # Errors
/// What is wrong with the document, where there is one: the first thing that is no YAML, stands
/// twice or has a tag, else the first that the reader meets.
pub fn read<T: DeserializeOwned + Default>(text: &str) -> Result<T, YamlError> {
    if is_empty(text) {
        return Ok(T::default());
    }
    read_seed(text, PhantomData::<Plain>)?;
    read_seed(text, PhantomData::<T>)
}

/// Reads a document into what a seed makes of it. What keys and tags may be is the seed's to say;
/// a document that is empty is null to it.
///
/// # Errors
/// The first thing that is no YAML, nests too deeply, or that the seed refuses.
pub fn read_seed<'a, S: DeserializeSeed<'a>>(
    text: &'a str,
    seed: S,
) -> Result<S::Value, YamlError> {
    if let Some(at) = too_deep(text) {
        return Err(YamlError {
            line: line_at(text, at),
            path: String::new(),
            message: "recursion limit exceeded".to_owned(),
        });
    }
    // The reader itself finds no value in it, not even null.
    let text = if is_empty(text) { "null" } else { text };
    let document = serde_yaml::Deserializer::from_str(text);
    let mut track = Track::new();
    let read = seed.deserialize(serde_path_to_error::Deserializer::new(document, &mut track));
    read.map_err(|error| {
        let path = track.path();
        let steps: Vec<&Segment> = path.iter().collect();
        YamlError {
            line: line(&error, text),
            path: written(&steps),
            message: message(&error, &steps),
        }
    })
}

/// Whether there are only blank lines and comments.
fn is_empty(text: &str) -> bool {
    text.lines()
        .map(str::trim)
        .all(|line| line.is_empty() || line.starts_with('#') || line == "---")
}

/// A path as it is shown, as far as it is known; the whole document's is empty.
fn written(steps: &[&Segment]) -> String {
    let mut path = String::new();
    let is_known = |step: &&&Segment| !matches!(step, Segment::Unknown);
    for step in steps.iter().take_while(is_known) {
        if !path.is_empty() && !matches!(step, Segment::Seq { .. }) {
            path.push('.');
        }
        path += &step.to_string();
    }
    path
}

/// The line of an error. For a character that YAML does not allow only the reader's text says where
/// it is.
fn line(error: &serde_yaml::Error, text: &str) -> usize {
    let said = error.to_string();
    let position = said.rsplit_once(" at position ");
    let position = position.and_then(|(_, at)| at.parse::<usize>().ok());
    match position {
        Some(at) => line_at(text, at),
        None => error.location().map_or(1, |location| location.line()),
    }
}

/// The line of an offset.
fn line_at(text: &str, at: usize) -> usize {
    let before = text.bytes().take(at);
    before.filter(|byte| *byte == b'\n').count() + 1
}

/// What the reader says, without the path that it puts before and the place that it puts after.
fn message(error: &serde_yaml::Error, steps: &[&Segment]) -> String {
    let said = error.to_string();
    let mut message = said.as_str();
    if let Some(at) = error.location() {
        let place = format!(" at line {} column {}", at.line(), at.column());
        message = message.strip_suffix(&place).unwrap_or(message);
    }
    // Where a key itself is wrong, the reader's path is that of the map.
    let parent = steps.split_last().map_or(steps, |(_, parent)| parent);
    for prefix in [steps, parent].map(|steps| written(steps) + ": ") {
        if let Some(rest) = message.strip_prefix(&prefix) {
            return rest.to_owned();
        }
    }
    message.to_owned()
}

#[cfg(test)]
mod tests;
