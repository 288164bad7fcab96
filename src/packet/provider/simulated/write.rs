//! What a step does to files and repositories, before any event (spec P130).

use std::path::{Component, Path};

use super::step::{Place, Step};
use crate::harness::{Backend, BackendError, EntryKind};
use crate::packet::commit::commit_all;
use crate::packet::provider::Job;
use crate::packet::provider::ground::{Ground, cause};
use crate::packet::resolve::resolve;

/// Why a step was not performed.
#[derive(Debug)]
pub(super) enum NotDone {
    /// A path leads out of the packet and of every repo.
    Outside(String),
    /// A path cannot be written, or is refused.
    Failed(String),
}

/// A file that is written or deleted.
struct Target<'s> {
    ground: Ground,
    /// The path below the ground, links resolved.
    path: String,
    /// The path as the script has it.
    written: &'s str,
}

/// Writes, deletes and commits. Where one path is refused, nothing is done at all.
pub(super) fn perform(step: &Step, job: &Job<'_>) -> Result<(), NotDone> {
    let writes = step.writes.iter();
    let writes = writes.map(|write| Target::of(&write.place, End::Followed, job));
    let writes: Vec<Target<'_>> = writes.collect::<Result<_, _>>()?;
    let deletes = step.deletes.iter();
    let deletes = deletes.map(|place| Target::of(place, End::Itself, job));
    let deletes: Vec<Target<'_>> = deletes.collect::<Result<_, _>>()?;
    for (mut target, write) in writes.into_iter().zip(&step.writes) {
        let bytes = write.text.as_bytes();
        let written = match write.append {
            true => target.ground.append(&target.path, bytes),
            false => target.ground.files.write(&target.path, bytes),
        };
        written.map_err(|error| failed(target.written, error))?;
    }
    for mut target in deletes {
        let removed = target.ground.files.remove(&target.path);
        removed.map_err(|error| failed(target.written, error))?;
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

/// What a link at the end of a path stands for.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// What it leads to.
    Followed,
    /// Itself.
    Itself,
}

impl<'s> Target<'s> {
    /// What a path leads to, where that is in the packet or in a repo and may be written.
    fn of(place: &'s Place, end: End, job: &Job<'_>) -> Result<Self, NotDone> {
        let written = place.path.as_str();
        let root = root(place.repo.as_deref(), job);
        let parts = (Path::new(written).parent(), Path::new(written).file_name());
        let real = match (end, parts) {
            (End::Itself, (Some(above), Some(name))) => resolve(root, above).join(name),
            _ => resolve(root, written),
        };
        let packet = job.setting.packet;
        let repos = packet.repos.iter().filter_map(|repo| repo.path.as_deref());
        let folders = repos.chain([packet.root.as_path()]);
        let around = folders.filter(|folder| real.starts_with(folder));
        let innermost = around.max_by_key(|folder| folder.components().count());
        // What does not exist yet may still go up.
        let climbs = real.components().any(|part| part == Component::ParentDir);
        let outside = || NotDone::Outside(written.to_owned());
        let folder = innermost.filter(|_| !climbs).ok_or_else(outside)?;
        let below = real.strip_prefix(folder).unwrap_or(&real);
        let path = below.to_str().ok_or_else(outside)?.to_owned();
        let mut ground = Ground::open(folder, true).map_err(NotDone::Failed)?;
        let refused = |error| failed(written, error);
        ground.check(&path).map_err(refused)?;
        if end == End::Followed || !is_link(&real) {
            // A link that is left leads nowhere; neither that nor a FIFO is written through.
            let kind = ground.files.kind(&path).map_err(refused)?;
            if kind == Some(EntryKind::Directory) {
                return Err(refused(BackendError::IsADirectory));
            }
        }
        Ok(Self {
            ground,
            path,
            written,
        })
    }
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|known| known.is_symlink())
}

fn failed(written: &str, error: BackendError) -> NotDone {
    NotDone::Failed(format!("cannot write {written}: {}", cause(error)))
}
