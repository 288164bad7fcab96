//! What the file tools do, within the repositories (spec P147, P148).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::engine::store::broken_rule;
use crate::harness::{Backend, BackendError, EntryKind};
use crate::packet::contract::pattern::compile;
use crate::packet::interrupt::Interrupt;
use crate::packet::name::PACKET;
use crate::packet::provider::Setting;
use crate::packet::provider::ground::{Ground, cause, refuse_closed};
use crate::packet::resolve::resolve;

/// The most paths of a listing, lines of a search, and bytes of what is read and written.
const MOST_PATHS: usize = 1000;
const MOST_MATCHES: usize = 200;
const MOST_READ: usize = 256 << 10;
const MOST_WRITTEN: usize = 1 << 20;

/// The repositories that the tools reach.
pub(super) struct Files {
    grounds: BTreeMap<String, Ground>,
    /// The repo that is meant where none is named.
    usual: String,
}

/// A tool's result: its text, or what went wrong.
pub(super) type Told = Result<String, String>;

/// The arguments of a call.
struct Arguments<'a>(&'a Value);

impl Arguments<'_> {
    fn text(&self, name: &str) -> Result<&str, String> {
        self.0[name]
            .as_str()
            .ok_or_else(|| format!("{name} must be a string"))
    }

    /// A text that need not be there.
    fn text_or<'s>(&'s self, name: &str, usual: &'s str) -> Result<&'s str, String> {
        match &self.0[name] {
            Value::Null => Ok(usual),
            _ => self.text(name),
        }
    }

    fn number(&self, name: &str, usual: usize) -> Result<usize, String> {
        match &self.0[name] {
            Value::Null => Ok(usual),
            value => value
                .as_u64()
                .and_then(|number| usize::try_from(number).ok())
                .ok_or_else(|| format!("{name} must be a whole number")),
        }
    }
}

impl Files {
    /// The repositories of a prompt: its targets are written, the packet's folder is read.
    pub(super) fn of(setting: Setting<'_>, is_plan: bool) -> Result<Self, String> {
        let mut grounds = BTreeMap::new();
        let mut usual = None;
        for repo in setting.packet.targets(setting.prompt) {
            if let Some(path) = &repo.path {
                grounds.insert(repo.name.clone(), Ground::open(path, !is_plan)?);
                usual.get_or_insert_with(|| repo.name.clone());
            }
        }
        // Without a repo the packet's folder is what is worked on.
        let is_target = usual.is_none() && !is_plan;
        grounds.insert(
            PACKET.to_owned(),
            Ground::open(&setting.packet.root, is_target)?,
        );
        Ok(Self {
            grounds,
            usual: usual.unwrap_or_else(|| PACKET.to_owned()),
        })
    }

    /// Calls a tool. One that looks through many files ends with the run.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value, run: &Interrupt) -> Told {
        let given = Arguments(arguments);
        let repo = given.text_or("repo", &self.usual)?.to_owned();
        let ground = self.grounds.get_mut(&repo);
        let ground = ground.ok_or_else(|| format!("repo {repo:?} is not known"))?;
        let shown = match tool {
            "list_files" | "search_files" => given.text_or("path", ".")?,
            "read_file" | "write_file" | "edit_file" | "delete_file" => given.text("path")?,
            other => return Err(format!("there is no tool {other:?}")),
        };
        let path = inside(ground, shown)?;
        if let "write_file" | "edit_file" | "delete_file" = tool
            && !ground.is_writable
        {
            return Err("refused: read-only".to_owned());
        }
        match tool {
            "list_files" => list(ground, &path, given.number("depth", 2)?, run),
            "read_file" => read_lines(ground, &path, shown, &given),
            "search_files" => search(ground, &path, given.text("pattern")?, run),
            "write_file" => {
                let content = given.text("content")?;
                write(ground, &path, content)?;
                Ok(format!("wrote {} bytes to {shown}", content.len()))
            }
            "edit_file" => edit(ground, &path, shown, &given),
            "delete_file" => match ground.files.kind(&path).map_err(said)? {
                Some(EntryKind::File) => {
                    ground.files.remove(&path).map_err(said)?;
                    Ok(format!("deleted {shown}"))
                }
                Some(EntryKind::Directory) => Err(said(BackendError::IsADirectory)),
                None => Err(said(BackendError::NotFound)),
            },
            other => Err(format!("there is no tool {other:?}")),
        }
    }
}

/// A path as the folder has it: relative, without `.` and `..`; empty for the folder itself.
fn inside(ground: &Ground, written: &str) -> Result<String, String> {
    if Path::new(written).is_absolute() {
        return Err("refused: absolute path".to_owned());
    }
    let leaves = || "refused: path leaves the repository".to_owned();
    let mut parts: Vec<&str> = Vec::new();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or_else(leaves)?;
            }
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    ground.check(&path).map_err(said)?;
    if !resolve(&ground.root, &path).starts_with(&ground.root) {
        return Err(leaves());
    }
    match broken_rule(&path) {
        Some(rule) if !path.is_empty() => Err(format!("refused: {}", rule.phrase())),
        _ => Ok(path),
    }
}

/// An error as a tool tells it.
fn said(error: BackendError) -> String {
    match error {
        BackendError::PermissionDenied(reason) => format!("refused: {reason}"),
        error => cause(error),
    }
}

/// The files and folders below a folder, in byte order, folders with a slash.
fn below(
    ground: &Ground,
    path: &str,
    depth: usize,
    run: &Interrupt,
) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut pending = vec![(path.to_owned(), 1)];
    while let Some((folder, level)) = pending.pop() {
        go_on(run)?;
        let entries = fs::read_dir(ground.root.join(&folder));
        let entries = entries.map_err(|error| crate::packet::source::cause(&error))?;
        for entry in entries.flatten() {
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                continue;
            };
            if refuse_closed(&name).is_err() {
                continue;
            }
            let path = match folder.is_empty() {
                true => name,
                false => format!("{folder}/{name}"),
            };
            if kind.is_dir() {
                found.push(format!("{path}/"));
                if level < depth {
                    pending.push((path, level + 1));
                }
            } else if kind.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn list(ground: &Ground, path: &str, depth: usize, run: &Interrupt) -> Told {
    let mut paths = below(ground, path, depth, run)?;
    if paths.len() > MOST_PATHS {
        paths.truncate(MOST_PATHS);
        paths.push("[more]".to_owned());
    }
    Ok(paths.join("\n"))
}

fn read(ground: &mut Ground, path: &str, shown: &str) -> Told {
    let bytes = ground.read(path).map_err(said)?;
    String::from_utf8(bytes).map_err(|_| format!("not a text file: {shown}"))
}

fn read_lines(ground: &mut Ground, path: &str, shown: &str, given: &Arguments<'_>) -> Told {
    let first = given.number("start_line", 1)?.max(1);
    let count = given.number("lines", 2000)?;
    let text = read(ground, path, shown)?;
    let mut out = String::new();
    for line in text.split_inclusive('\n').skip(first - 1).take(count) {
        let room = MOST_READ - out.len();
        if line.len() > room {
            // Of a line that is longer than all of that there is no more to be had.
            let shown = if out.is_empty() { room } else { 0 };
            let end = (0..=shown).rev().find(|at| line.is_char_boundary(*at));
            out.push_str(line.get(..end.unwrap_or(0)).unwrap_or_default());
            out.push_str("[cut]");
            break;
        }
        out.push_str(line);
    }
    Ok(out)
}

fn search(ground: &mut Ground, path: &str, pattern: &str, run: &Interrupt) -> Told {
    let pattern = compile(pattern).map_err(|error| error.to_string())?;
    let paths = match ground.files.kind(path) {
        Ok(Some(EntryKind::File)) => vec![path.to_owned()],
        _ => below(ground, path, usize::MAX, run)?,
    };
    let mut found = String::new();
    let mut count = 0;
    for path in paths.iter().filter(|path| !path.ends_with('/')) {
        go_on(run)?;
        let Ok(text) = read(ground, path, path) else {
            continue;
        };
        let lines = (1..).zip(text.lines());
        for (number, line) in lines.filter(|(_, line)| pattern.is_match(line)) {
            let entry = format!("{path}:{number}: {line}\n");
            if count == MOST_MATCHES || found.len() + entry.len() > MOST_READ {
                return Ok(found + "[cut]");
            }
            found += &entry;
            count += 1;
        }
    }
    Ok(without_end(found))
}

fn without_end(mut lines: String) -> String {
    lines.pop();
    lines
}

/// Nothing is looked for once the run is to end.
fn go_on(run: &Interrupt) -> Result<(), String> {
    match run.is_raised() {
        true => Err("interrupted".to_owned()),
        false => Ok(()),
    }
}

fn write(ground: &mut Ground, path: &str, content: &str) -> Result<(), String> {
    if content.len() > MOST_WRITTEN {
        return Err(format!("content is larger than {MOST_WRITTEN} bytes"));
    }
    let written = ground.files.write(path, content.as_bytes());
    written.map_err(said)
}

fn edit(ground: &mut Ground, path: &str, shown: &str, given: &Arguments<'_>) -> Told {
    let (old, new) = (given.text("old")?, given.text("new")?);
    let text = read(ground, path, shown)?;
    let count = match old.is_empty() {
        true => 0,
        false => text.matches(old).count(),
    };
    match count {
        0 => return Err(format!("old text not found in {shown}")),
        1 => {}
        _ if given.0["all"] == Value::Bool(true) => {}
        count => return Err(format!("old text occurs {count} times in {shown}")),
    }
    write(ground, path, &text.replace(old, new))?;
    Ok(format!("replaced {count}"))
}
