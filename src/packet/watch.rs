//! What can be seen of a packet from outside while it runs (spec P105, P106).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Serialize, Serializer};

use super::git::Git;
use super::packet::Packet;
use super::state::{Instant, StateFolder, live_owner, now};
use crate::harness::CancelToken;

/// Folders that say nothing of what a session does.
const SKIPPED: [&str; 5] = [".git", "_build", "deps", "node_modules", "target"];

/// One look at a packet.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// The packet's name.
    pub packet: String,
    /// Its folder.
    pub root: PathBuf,
    /// When this was.
    #[serde(serialize_with = "as_text")]
    pub timestamp: Instant,
    /// `up` while a process runs the packet, else `down`.
    pub runner: &'static str,
    /// That process.
    pub pid: Option<u32>,
    /// The prompt of the newest session.
    pub prompt: Option<String>,
    /// Whole minutes since a log or a file of a repo last changed.
    pub quiet_minutes: Option<u64>,
    /// How many repositories there are.
    pub repos: usize,
    /// The lines of their statuses.
    pub dirty: u64,
    /// The commits that lead to where they are.
    pub commits: u64,
}

fn as_text<S: Serializer>(moment: &Instant, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(moment)
}

impl Sample {
    /// Looks at a packet. Nothing is judged, and nothing is changed.
    pub fn take(packet: &Packet) -> Self {
        let state = StateFolder::of(&packet.root);
        let logs = state.logs();
        let repos = folders(packet);
        let cancel = CancelToken::default();
        let pid = live_owner(&state);
        let mut newest = newest_below(&logs);
        let (mut dirty, mut commits) = (0, 0);
        for repo in &repos {
            newest = newest.max(newest_below(repo));
            let git = Git::new(repo, &cancel);
            dirty += git.status().map_or(0, |status| {
                u64::try_from(status.changes.len()).unwrap_or(u64::MAX)
            });
            let count = git.line(&["rev-list", "--count", "HEAD"]);
            commits += count
                .ok()
                .and_then(|it| it.parse::<u64>().ok())
                .unwrap_or(0);
        }
        let age = newest.map(|newest| newest.elapsed().unwrap_or_default());
        Self {
            packet: packet.name.clone(),
            root: packet.root.clone(),
            timestamp: now(),
            runner: if pid.is_some() { "up" } else { "down" },
            pid,
            prompt: newest_prompt(&logs),
            quiet_minutes: age.map(|age| age.as_secs() / 60),
            repos: repos.len(),
            dirty,
            commits,
        }
    }

    /// The line of the sample.
    pub fn line(&self) -> String {
        let minutes = self.quiet_minutes.map(|minutes| minutes.to_string());
        format!(
            "WATCH {}Z runner={} prompt={} quiet={}min repos={} dirty={} commits={}",
            self.timestamp.hour_and_minute(),
            self.runner.to_uppercase(),
            self.prompt.as_deref().unwrap_or("none"),
            minutes.as_deref().unwrap_or("?"),
            self.repos,
            self.dirty,
            self.commits
        )
    }
}

/// The folders of the repos; the packet's where there is none.
fn folders(packet: &Packet) -> Vec<PathBuf> {
    let repos = packet.repos.iter();
    let mut folders: Vec<PathBuf> = repos.filter_map(|repo| repo.path.clone()).collect();
    if packet.repos.is_empty() {
        folders.push(packet.root.clone());
    }
    folders
}

/// When the newest file below a folder last changed. Links are not followed.
fn newest_below(folder: &Path) -> Option<SystemTime> {
    let mut newest = None;
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let Ok(known) = entry.metadata() else {
                continue;
            };
            if known.is_file() {
                newest = newest.max(known.modified().ok());
            } else if known.is_dir() && !is_skipped(&entry.file_name()) {
                left.push(entry.path());
            }
        }
    }
    newest
}

fn is_skipped(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| SKIPPED.contains(&name))
}

/// The id in the name of the transcript that changed last.
fn newest_prompt(logs: &Path) -> Option<String> {
    let entries = fs::read_dir(logs).ok()?.flatten();
    let transcripts = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let rest = name.strip_prefix("prompt-")?.strip_suffix(".log")?;
        let (id, _) = rest.split_once('-')?;
        Some((entry.metadata().ok()?.modified().ok()?, id.to_owned()))
    });
    transcripts.max().map(|(_, id)| id)
}
