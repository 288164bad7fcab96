//! What a step does to files and repositories, before any event (spec P130).

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::step::{Place, Step};
use crate::packet::commit::commit_all;
use crate::packet::provider::Job;
use crate::packet::resolve::resolve;

/// Why a step was not performed.
#[derive(Debug)]
pub(super) enum NotDone {
    /// A path leads out of the packet and of every repo.
    Outside(String),
    /// The system refused it.
    Failed(String),
}

/// Writes, deletes and commits. Where one path leads outside, nothing is done at all.
pub(super) fn perform(step: &Step, job: &Job<'_>) -> Result<(), NotDone> {
    let place = |place: &Place| inside(place, job);
    let writes: Result<Vec<PathBuf>, NotDone> = step
        .writes
        .iter()
        .map(|write| place(&write.place))
        .collect();
    let deletes: Result<Vec<PathBuf>, NotDone> = step.deletes.iter().map(place).collect();
    for (path, write) in writes?.iter().zip(&step.writes) {
        put(path, &write.text, write.append).map_err(|error| failed(path, &error))?;
    }
    for path in deletes? {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(failed(&path, &error));
            }
            _ => {}
        }
    }
    if let Some(commit) = &step.commit {
        let root = root(commit.repo.as_deref(), job);
        commit_all(root, &commit.message, &job.interrupt.kill).map_err(NotDone::Failed)?;
    }
    Ok(())
}

/// The folder of a repo; without one, or an unknown one, the working folder.
fn root<'a>(repo: Option<&str>, job: &Job<'a>) -> &'a Path {
    let named = repo.and_then(|name| job.setting.packet.folder_of(name));
    named.unwrap_or_else(|| job.setting.cwd())
}

/// Where a path leads, if that is in the packet or in a repo.
fn inside(place: &Place, job: &Job<'_>) -> Result<PathBuf, NotDone> {
    let packet = job.setting.packet;
    let path = resolve(root(place.repo.as_deref(), job), &place.path);
    let repos = packet.repos.iter().filter_map(|repo| repo.path.as_deref());
    let mut folders = repos.chain([packet.root.as_path()]);
    // What does not exist yet may still go up.
    let climbs = path
        .components()
        .any(|part| part == std::path::Component::ParentDir);
    match folders.any(|folder| path.starts_with(folder)) && !climbs {
        true => Ok(path),
        false => Err(NotDone::Outside(place.path.clone())),
    }
}

fn put(path: &Path, text: &str, append: bool) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options
        .create(true)
        .write(true)
        .append(append)
        .truncate(!append);
    options.open(path)?.write_all(text.as_bytes())
}

fn failed(path: &Path, error: &io::Error) -> NotDone {
    NotDone::Failed(format!("cannot write {}: {error}", path.display()))
}
