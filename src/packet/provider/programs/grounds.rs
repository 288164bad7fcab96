//! The store of a program that works on repositories: folders on the disk under one root (spec
//! P142).

use std::collections::BTreeMap;

use super::told::{self, TOLD};
use crate::engine::store::{Glob, Policy};
use crate::harness::{Backend, BackendError, EntryKind};
use crate::packet::name::PACKET;
use crate::packet::provider::ground::{Ground, refuse_closed};
use crate::packet::provider::{Job, Setting};

/// Where the other repositories are.
const REPOS: &str = ".repos";

/// The working folder, the repositories beside it, and what the program is told.
#[derive(Debug)]
pub(super) struct Grounds {
    base: Ground,
    repos: BTreeMap<String, Ground>,
    told: BTreeMap<String, Vec<u8>>,
}

/// What a path leads to.
enum Place<'g, 'p> {
    /// A path in a folder on the disk.
    In(&'g mut Ground, &'p str),
    /// A folder that is only there to hold others.
    Folder,
    /// A file that the program is told.
    Told(&'g [u8]),
    /// Nothing, where nothing can be either.
    Nowhere,
}

/// What keeps the working folder from being a store: an entry whose name means something else there.
pub(super) fn obstacle(setting: Setting<'_>) -> Option<String> {
    let entries = [REPOS, TOLD].map(|name| setting.cwd().join(name));
    let taken = entries
        .iter()
        .find(|path| path.symlink_metadata().is_ok())?;
    let shown = taken.display();
    Some(format!(
        "a program cannot have {shown} in its store: the name is taken"
    ))
}

/// The paths of a ground that a pattern matches below a prefix.
fn glob_in(ground: &mut Ground, glob: &Glob, prefix: &str) -> Result<Vec<String>, BackendError> {
    let paths = match prefix {
        "" => ground.files.glob(glob)?,
        _ => ground.files.list(EntryKind::selected_by(glob))?,
    };
    let open = paths.into_iter();
    let open = open.filter(|path| refuse_closed(path).is_ok());
    let placed = open.map(|path| format!("{prefix}{path}"));
    Ok(placed.filter(|path| glob.matches(path)).collect())
}

fn read_only() -> BackendError {
    BackendError::PermissionDenied(Policy::READ_ONLY.to_owned())
}

impl Grounds {
    /// The grounds of a job; why there are none otherwise.
    pub(super) fn of(job: &Job<'_>) -> Result<Self, String> {
        let setting = job.setting;
        let packet = setting.packet;
        let targets = packet.targets(setting.prompt);
        let mut repos = BTreeMap::new();
        repos.insert(PACKET.to_owned(), Ground::open(&packet.root, false)?);
        for repo in packet.repos.iter() {
            // A repo that is not there is no trouble until it is asked for.
            let Some(path) = repo.path.as_deref().filter(|path| path.is_dir()) else {
                continue;
            };
            let is_target = targets.iter().any(|target| target.name == repo.name);
            repos.insert(repo.name.clone(), Ground::open(path, is_target)?);
        }
        Ok(Self {
            base: Ground::open(setting.cwd(), true)?,
            repos,
            told: told::files(job),
        })
    }

    fn place<'p>(&mut self, path: &'p str) -> Result<Place<'_, 'p>, BackendError> {
        let (first, rest) = match path.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path, None),
        };
        refuse_closed(path)?;
        Ok(match (first, rest) {
            (REPOS | TOLD, None) => Place::Folder,
            (TOLD, Some(_)) => match self.told.get(path) {
                Some(text) => Place::Told(text),
                None => Place::Nowhere,
            },
            (REPOS, Some(rest)) => {
                let (name, path) = match rest.split_once('/') {
                    Some((name, path)) => (name, Some(path)),
                    None => (rest, None),
                };
                match (self.repos.get_mut(name), path) {
                    (None, _) => Place::Nowhere,
                    (Some(_), None) => Place::Folder,
                    (Some(ground), Some(path)) => {
                        ground.check(path)?;
                        Place::In(ground, path)
                    }
                }
            }
            _ => {
                self.base.check(path)?;
                Place::In(&mut self.base, path)
            }
        })
    }

    /// The folder that a path is written in.
    fn writable<'p>(&mut self, path: &'p str) -> Result<(&mut Ground, &'p str), BackendError> {
        match self.place(path)? {
            Place::In(ground, path) if ground.is_writable => Ok((ground, path)),
            _ => Err(read_only()),
        }
    }
}

impl Backend for Grounds {
    fn read(&mut self, path: &str) -> Result<Vec<u8>, BackendError> {
        match self.place(path)? {
            Place::In(ground, path) => ground.read(path),
            Place::Folder => Err(BackendError::IsADirectory),
            Place::Told(text) => Ok(text.to_vec()),
            Place::Nowhere => Err(BackendError::NotFound),
        }
    }

    fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), BackendError> {
        let (ground, path) = self.writable(path)?;
        ground.files.write(path, bytes)
    }

    fn append(&mut self, path: &str, bytes: &[u8]) -> Result<(), BackendError> {
        let (ground, path) = self.writable(path)?;
        ground.append(path, bytes)
    }

    fn remove(&mut self, path: &str) -> Result<bool, BackendError> {
        let (ground, path) = self.writable(path)?;
        ground.files.remove(path)
    }

    fn kind(&mut self, path: &str) -> Result<Option<EntryKind>, BackendError> {
        match self.place(path)? {
            Place::In(ground, path) => ground.files.kind(path),
            Place::Folder => Ok(Some(EntryKind::Directory)),
            Place::Told(_) => Ok(Some(EntryKind::File)),
            Place::Nowhere => Ok(None),
        }
    }

    fn list(&mut self, kind: EntryKind) -> Result<Vec<String>, BackendError> {
        let mut paths = self.base.files.list(kind)?;
        paths.retain(|path| refuse_closed(path).is_ok());
        Ok(paths)
    }

    fn glob(&mut self, glob: &Glob) -> Result<Vec<String>, BackendError> {
        let first = glob.pattern().split('/').next().unwrap_or_default();
        match first {
            TOLD if glob.selects_directories() => Ok(Vec::new()),
            TOLD => {
                let paths = self.told.keys().filter(|path| glob.matches(path));
                Ok(paths.cloned().collect())
            }
            REPOS => {
                let mut found = Vec::new();
                for (name, ground) in &mut self.repos {
                    let folder = format!("{REPOS}/{name}");
                    if glob.selects_directories() && glob.matches(&folder) {
                        found.push(folder.clone());
                    }
                    // What no path of this repo can match is not listed.
                    let second = glob.pattern().split('/').nth(1).unwrap_or_default();
                    if second.contains('*') || second == name {
                        found.extend(glob_in(ground, glob, &format!("{folder}/"))?);
                    }
                }
                Ok(found)
            }
            _ => glob_in(&mut self.base, glob, ""),
        }
    }
}
