//! The backend on a directory of the file system (spec S60, S61).

mod place;
mod replace;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::backend::{Backend, BackendError, EntryKind};
use crate::engine::store::{Glob, broken_rule};
use place::{Place, is_absence, is_spelled};

/// The regular files and directories under a root.
///
/// A link is followed only while it stays under the root; listing follows none. Other processes
/// are expected to leave the tree alone during an operation: a link put in place between the look
/// and the deed is followed.
#[derive(Debug)]
pub struct Directory {
    /// Without links.
    root: PathBuf,
}

impl Directory {
    /// Takes an existing directory as the root.
    ///
    /// # Errors
    ///
    /// When it is not there, cannot be reached, or is no directory. The message names it.
    pub fn open(root: &Path) -> io::Result<Self> {
        let refuse = |kind, why: &str| {
            let message = format!("cannot open the store `{}`: {why}", root.display());
            Err(io::Error::new(kind, message))
        };
        match fs::canonicalize(root) {
            Ok(root) if root.is_dir() => Ok(Self { root }),
            Ok(_) => refuse(ErrorKind::NotADirectory, "it is not a directory"),
            Err(error) => refuse(error.kind(), &error.to_string()),
        }
    }

    /// The paths of the wanted kind, below the directories `glob` can match in.
    fn walk(&self, kind: EntryKind, glob: Option<&Glob>) -> Result<Vec<String>, BackendError> {
        let mut found = Vec::new();
        let mut pending = vec![String::new()];
        while let Some(directory) = pending.pop() {
            let entries = match fs::read_dir(self.root.join(&directory)) {
                Err(error) if is_absence(&error) => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                let Some(path) = entry
                    .file_name()
                    .to_str()
                    .map(|name| below(&directory, name))
                else {
                    continue;
                };
                if broken_rule(&path).is_some() {
                    continue;
                }
                let Some(found_kind) = EntryKind::of(entry.file_type()?) else {
                    continue;
                };
                if found_kind == EntryKind::Directory && glob.is_none_or(|g| leads_into(g, &path)) {
                    pending.push(path.clone());
                }
                if found_kind == kind && glob.is_none_or(|glob| glob.matches(&path)) {
                    found.push(path);
                }
            }
        }
        Ok(found)
    }
}

impl Backend for Directory {
    fn read(&mut self, path: &str) -> Result<Vec<u8>, BackendError> {
        match place::find(&self.root, path)? {
            Place::File(real) => {
                let mut file = match File::open(real) {
                    Err(error) if is_absence(&error) => return Err(BackendError::NotFound),
                    file => file?,
                };
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes)?;
                Ok(bytes)
            }
            Place::Directory(_) => Err(BackendError::IsADirectory),
            Place::Absent { .. } | Place::BelowFile | Place::OtherSpelling => {
                Err(BackendError::NotFound)
            }
        }
    }

    fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), BackendError> {
        replace::replace(&self.root, path, replace::Keep::Nothing, bytes)
    }

    fn append(&mut self, path: &str, bytes: &[u8]) -> Result<(), BackendError> {
        replace::replace(&self.root, path, replace::Keep::Contents, bytes)
    }

    fn remove(&mut self, path: &str) -> Result<bool, BackendError> {
        let (directory, name) = match path.rsplit_once('/') {
            None => (self.root.clone(), path),
            Some((above, name)) => match place::find(&self.root, above)? {
                Place::Directory(real) => (real, name),
                _ => return Ok(false),
            },
        };
        let entry = directory.join(name);
        let metadata = match fs::symlink_metadata(&entry) {
            Err(error) if is_absence(&error) => return Ok(false),
            metadata => metadata?,
        };
        if !is_spelled(&directory, name)? {
            return Ok(false);
        }
        if metadata.is_symlink() {
            remove_link(&entry)?;
            return Ok(true);
        }
        match EntryKind::of(metadata.file_type()) {
            Some(EntryKind::File) => {
                replace::refuse_read_only(&metadata)?;
                fs::remove_file(&entry)?;
            }
            Some(EntryKind::Directory) => match fs::remove_dir(&entry) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
                    return Err(BackendError::DirectoryNotEmpty);
                }
                removed => removed?,
            },
            None => return Err(place::neither()),
        }
        Ok(true)
    }

    fn kind(&mut self, path: &str) -> Result<Option<EntryKind>, BackendError> {
        Ok(match place::find(&self.root, path)? {
            Place::File(_) => Some(EntryKind::File),
            Place::Directory(_) => Some(EntryKind::Directory),
            Place::Absent { .. } | Place::BelowFile | Place::OtherSpelling => None,
        })
    }

    fn list(&mut self, kind: EntryKind) -> Result<Vec<String>, BackendError> {
        self.walk(kind, None)
    }

    fn glob(&mut self, glob: &Glob) -> Result<Vec<String>, BackendError> {
        self.walk(EntryKind::selected_by(glob), Some(glob))
    }
}

impl EntryKind {
    /// `None` for links, pipes, sockets and devices.
    fn of(file_type: fs::FileType) -> Option<Self> {
        if file_type.is_file() {
            Some(Self::File)
        } else if file_type.is_dir() {
            Some(Self::Directory)
        } else {
            None
        }
    }
}

impl From<io::Error> for BackendError {
    fn from(error: io::Error) -> Self {
        // An error that is not the system's own may tell a path of the file system, which no
        // message names (spec S19).
        let text = match error.raw_os_error() {
            Some(_) => error.to_string(),
            None => error.kind().to_string(),
        };
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Self::PermissionDenied(text)
            }
            _ => Self::Failed(text),
        }
    }
}

fn below(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

/// Whether something below `directory` may match.
fn leads_into(glob: &Glob, directory: &str) -> bool {
    let levels = directory.split('/').count();
    let prefix = glob.literal_prefix();
    let on_the_way = match prefix.strip_prefix(directory) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => directory.starts_with(prefix),
    };
    on_the_way && glob.depth().is_none_or(|depth| levels < depth)
}

#[cfg(not(windows))]
fn remove_link(link: &Path) -> io::Result<()> {
    fs::remove_file(link)
}

/// A link to a directory is a directory here.
#[cfg(windows)]
fn remove_link(link: &Path) -> io::Result<()> {
    fs::remove_file(link).or_else(|_| fs::remove_dir(link))
}
