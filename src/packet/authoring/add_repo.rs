//! Adds a repo to a manifest (spec P21).

use serde_yaml::{Mapping, Value};

use crate::packet::document::{Document, lines_of};
use crate::packet::error::PacketError;
use crate::packet::packet::{MANIFEST, Packet};
use crate::packet::repos::may_be_called;
use crate::packet::source;
use crate::packet::write::write;

/// Adds a repo to the manifest of a packet. It becomes the default where that is asked for, which
/// takes the mark from the others, and where it is the first. All other lines of the manifest stay
/// as they are, as far as that can be.
///
/// # Errors
/// A name that no repo can have or that one has, a manifest that cannot be written.
pub fn add_repo(
    packet: &Packet,
    name: &str,
    path: &str,
    is_default: bool,
) -> Result<(), PacketError> {
    if !may_be_called(name) {
        return Err(PacketError::RepoName(name.to_owned()));
    }
    if packet.repos.get(name).is_some() {
        return Err(PacketError::RepoExists(name.to_owned()));
    }
    let mut entry = Mapping::new();
    entry.insert("path".into(), path.into());
    if is_default || packet.repos.is_empty() {
        entry.insert("default".into(), true.into());
    }
    let text = source::read(&packet.manifest_path, MANIFEST)?;
    let document = Document::parse(&text, MANIFEST)?;
    let mut repos = document.keys.get("repos").cloned().unwrap_or(Value::Null);
    if is_default {
        unmark(&mut repos);
    }
    match &mut repos {
        Value::Sequence(list) => {
            let mut named = Mapping::new();
            named.insert("name".into(), name.into());
            named.extend(entry);
            list.push(named.into());
        }
        Value::Mapping(map) => {
            map.insert(name.into(), entry.into());
        }
        none => {
            let mut map = Mapping::new();
            map.insert(name.into(), entry.into());
            *none = map.into();
        }
    }
    let added = Added {
        name,
        path,
        is_default: is_default || packet.repos.is_empty(),
        takes_the_mark: is_default,
    };
    let edited = document.with_key_by(|| added.edit(&text), &text, "repos", repos);
    write(&packet.manifest_path, &edited, MANIFEST)
}

/// A repo to be written into the lines of the others.
struct Added<'a> {
    name: &'a str,
    path: &'a str,
    is_default: bool,
    /// Whether the others lose the mark of the default.
    takes_the_mark: bool,
}

impl Added<'_> {
    /// The manifest with the repo behind the others, whose lines stay as they are, comments
    /// included. Nothing where they are not in block style; what comes of other odd forms need not
    /// be right.
    fn edit(&self, text: &str) -> Option<String> {
        let range = lines_of(text, "repos")?;
        let (before, after) = (text.get(..range.start)?, text.get(range.end..)?);
        let lines = text.get(range)?;
        let entries = lines.lines().skip(1).map(|line| (line, line.trim_start()));
        let mut entries = entries.filter(|(_, rest)| !rest.is_empty() && !rest.starts_with('#'));
        let (line, first) = entries.next()?;
        let indent = line.get(..line.len() - first.len())?;
        let mut fields = Mapping::new();
        let is_list = first.starts_with('-');
        if is_list {
            fields.insert("name".into(), self.name.into());
        }
        fields.insert("path".into(), self.path.into());
        if self.is_default {
            fields.insert("default".into(), true.into());
        }
        let value = match is_list {
            true => Value::Sequence(vec![fields.into()]),
            false => {
                let mut map = Mapping::new();
                map.insert(self.name.into(), fields.into());
                map.into()
            }
        };
        let new = serde_yaml::to_string(&value).ok()?;
        let new = new.lines().map(|line| format!("{indent}{line}\n"));
        let kept = lines.lines().filter_map(|line| match self.takes_the_mark {
            true => without_mark(line),
            false => Some(line.to_owned()),
        });
        let kept = kept.map(|line| line + "\n");
        Some(format!(
            "{before}{}{}{after}",
            kept.collect::<String>(),
            new.collect::<String>()
        ))
    }
}

/// A line without the mark of the default: none where that was all it had.
fn without_mark(line: &str) -> Option<String> {
    const MARK: &str = "default: true";
    let (told, comment) = match line.find(" #") {
        Some(at) => line.split_at(at),
        None => (line, ""),
    };
    if told.trim() == MARK {
        return None;
    }
    let told = told.replace(&format!(", {MARK}"), "");
    let told = told.replace(&format!("{MARK}, "), "");
    Some(format!("{told}{comment}"))
}

/// Takes the mark of the default from every repo.
fn unmark(repos: &mut Value) {
    let entries: Vec<&mut Value> = match repos {
        Value::Mapping(map) => map.values_mut().collect(),
        Value::Sequence(list) => list.iter_mut().collect(),
        _ => Vec::new(),
    };
    for entry in entries {
        if let Value::Mapping(entry) = entry
            && entry.get("default") == Some(&Value::Bool(true))
        {
            entry.shift_remove("default");
        }
    }
}
