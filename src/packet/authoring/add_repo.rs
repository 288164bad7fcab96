//! Adds a repo to a manifest (spec P21).

use serde_yaml::{Mapping, Value};

use crate::packet::document::Document;
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
    let edited = document.with_key(&text, "repos", repos);
    write(&packet.manifest_path, &edited, MANIFEST)
}

/// Takes the mark of the default from every repo.
fn unmark(repos: &mut Value) {
    let entries: Vec<&mut Value> = match repos {
        Value::Mapping(map) => map.values_mut().collect(),
        Value::Sequence(list) => list.iter_mut().collect(),
        _ => Vec::new(),
    };
    for entry in entries {
        if let Value::Mapping(entry) = entry {
            entry.shift_remove("default");
        }
    }
}
