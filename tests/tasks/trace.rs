//! What must hold of every run's events, and a slow model of which access comes before which.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use runvil::engine::{Effect, EventKind, Item, Outcome, RunErrorKind};

use super::drive::Ran;
use super::{slow, talk};

/// A point of a task's own order, with every point that comes before it.
type Points = Vec<BTreeSet<usize>>;

struct Access<'a> {
    task: &'a str,
    point: usize,
    call: &'a str,
    path: &'a str,
}

/// What a task is inside of: a call, of the chain once it is known, or a fanout with its arms.
enum Frame<'a> {
    Call(Option<&'a str>),
    Fanout(Vec<&'a str>),
}

/// The graph of a run so far (spec S65): program order, spawns and joins as edges.
#[derive(Default)]
struct Graph<'a> {
    points: Points,
    last: HashMap<&'a str, usize>,
    frames: HashMap<&'a str, Vec<Frame<'a>>>,
    /// The tasks that each task has started.
    started: HashMap<&'a str, Vec<&'a str>>,
    accesses: Vec<Access<'a>>,
}

impl<'a> Graph<'a> {
    /// The next point of a task, after all that the tasks it joins did.
    fn step(&mut self, task: &'a str, joins: &[&'a str]) -> usize {
        let mut before = BTreeSet::new();
        for earlier in [task].iter().chain(joins) {
            if let Some(last) = self.last.get(earlier) {
                before.insert(*last);
                before.extend(&self.points[*last]);
            }
        }
        self.points.push(before);
        let point = self.points.len() - 1;
        self.last.insert(task, point);
        point
    }

    fn spawned(&mut self, owner: &'a str, task: &'a str) {
        let point = self.step(owner, &[]);
        self.last.insert(task, point);
        self.started.entry(owner).or_default().push(task);
        let frames = self.frames.entry(owner).or_default();
        if let Some(Frame::Fanout(arms)) = frames.last_mut() {
            arms.push(task);
        }
    }

    /// A model of a task's is told of these ends.
    fn told(&mut self, task: &'a str, ends: &[String]) {
        let started = self.started.get(task).into_iter().flatten().copied();
        let told = |id: &&str| ends.iter().any(|end| end == id);
        let joins: Vec<&str> = started.filter(told).collect();
        if !joins.is_empty() {
            self.step(task, &joins);
        }
    }

    /// A task ends: all it has started is joined (spec S66, J4).
    fn ended(&mut self, task: &'a str) {
        let started = self.started.get(task).cloned().unwrap_or_default();
        self.step(task, &started);
    }

    /// A line that the program logs.
    fn logged(&mut self, task: &'a str, line: &'a str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let frames = self.frames.entry(task).or_default();
        match word {
            "at" => {
                let chain = parent(rest);
                if let Some(Frame::Call(called)) = frames.last_mut() {
                    *called = Some(chain);
                }
            }
            "call" => frames.push(Frame::Call(None)),
            "fan" => frames.push(Frame::Fanout(Vec::new())),
            "return" | "fanned" => {
                let joined = match frames.pop() {
                    Some(Frame::Call(Some(chain))) => {
                        let started = self.started.get(task).into_iter().flatten();
                        started.copied().filter(|id| parent(id) == chain).collect()
                    }
                    Some(Frame::Fanout(arms)) => arms,
                    _ => Vec::new(),
                };
                self.step(task, &joined);
            }
            "got" => {
                self.step(task, &[rest]);
            }
            call => {
                let point = self.step(task, &[]);
                self.accesses.push(Access {
                    task,
                    point,
                    call,
                    path: rest,
                });
            }
        }
    }

    /// The earlier accesses that the last one conflicts with.
    fn conflicts(&self) -> Vec<&Access<'a>> {
        let Some((new, earlier)) = self.accesses.split_last() else {
            return Vec::new();
        };
        earlier
            .iter()
            .filter(|old| {
                old.task != new.task
                    && !self.points[new.point].contains(&old.point)
                    && (clash(old, new) || clash(new, old))
            })
            .collect()
    }
}

/// The id above.
fn parent(id: &str) -> &str {
    id.rsplit_once('.').map_or("", |(above, _)| above)
}

fn claim(call: &str) -> &'static str {
    match call {
        "write" | "append" | "delete" | "str_replace" => "write",
        _ => "read",
    }
}

/// Whether an access conflicts with a change, where they are unordered (spec S72, S73).
fn clash(access: &Access<'_>, change: &Access<'_>) -> bool {
    if claim(change.call) != "write" {
        return false;
    }
    let (path, target) = (access.path, change.path);
    let mut above: Vec<&str> = Vec::new();
    let mut rest = target;
    while let Some((directory, _)) = rest.rsplit_once('/') {
        above.push(directory);
        rest = directory;
    }
    match access.call {
        "glob" => match path.strip_suffix('/') {
            Some(pattern) => {
                slow::glob(pattern, target) || above.iter().any(|d| slow::glob(pattern, d))
            }
            None => slow::glob(path, target),
        },
        _ => path == target || above.contains(&path),
    }
}

/// Checks a run: what it reports is whole and in order, and it ends for a conflict exactly when the
/// model finds one.
pub fn check(ran: &Ran) {
    check_numbers(ran);
    let mut graph = Graph::default();
    let mut live: BTreeMap<&str, &str> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    // The model's tasks that live; one that has ended and is to be told of next; those told of.
    let (mut untold, mut notice, mut told) = (BTreeSet::new(), None, BTreeSet::new());
    let mut over = false;
    let mut expected: Option<(String, Vec<String>)> = None;
    for (at, item) in ran.items.iter().enumerate() {
        let event = match item {
            Item::Event(event) => event,
            Item::Effect(issued) => {
                if let Effect::Model(round) = &issued.effect {
                    graph.told(&issued.task, &talk::told(round));
                }
                continue;
            }
        };
        assert!(!over, "{event:?} after the run's last event");
        let task = &*event.task;
        assert!(
            task == "0" || live.contains_key(task),
            "{event:?} of a task that does not live"
        );
        assert!(
            notice.is_none() || matches!(event.kind, EventKind::TaskNotice { .. }),
            "the notice of {notice:?} comes next"
        );
        match &event.kind {
            EventKind::TaskStarted(started) => {
                assert!(ids.insert(key(&started.task)), "{} is new", started.task);
                let siblings = ids.range(key(&started.task)..).skip(1);
                let above = parent(&started.task);
                let mut later = siblings.filter(|id| id.len() == key(&started.task).len());
                assert!(
                    later.all(|id| parent_key(id) != key(above)),
                    "{} is the last of its owner's",
                    started.task
                );
                live.insert(&started.task, task);
                graph.spawned(task, &started.task);
                if started.origin == "model" {
                    untold.insert(&*started.task);
                }
            }
            EventKind::TaskEnded { task: ended, .. }
            | EventKind::TaskAbandoned { task: ended, .. } => {
                assert_eq!(task, &**ended);
                assert!(live.remove(task).is_some(), "{task} ends once");
                let mut owners = live.values();
                assert!(
                    owners.all(|owner| *owner != task),
                    "what {task} owns ends first"
                );
                graph.ended(task);
                let cancelled = matches!(
                    event.kind,
                    EventKind::TaskEnded {
                        name: "task_cancelled",
                        ..
                    }
                );
                // No notice comes of a task that its model has cancelled (spec K165).
                if untold.remove(task) && !cancelled {
                    notice = Some(task);
                }
            }
            EventKind::TaskNotice { task: ended, .. } => {
                assert!(
                    notice.take().is_none_or(|task| task == &**ended),
                    "the notice of {ended}"
                );
                assert!(told.insert(&**ended), "{ended} is told of once");
            }
            EventKind::ToolResult(result) if *result.alias == *"await_tasks" => {
                graph.told(task, &talk::ended(&result.content));
            }
            EventKind::Checkpoint { .. } if ran.cancelled.is_some_and(|from| at >= from) => {}
            EventKind::Checkpoint { message } => {
                assert!(
                    expected.is_none(),
                    "{message} after the conflict {expected:?}"
                );
                graph.logged(task, message);
                let found = graph.conflicts();
                if let (false, Some(new)) = (found.is_empty(), graph.accesses.last()) {
                    let (word, path) = (claim(new.call), new.path);
                    let start = format!(
                        "store determinism violation: {word} on {path} by {task} conflicts with a "
                    );
                    let ends = found
                        .iter()
                        .map(|old| format!("{} claim by {}", claim(old.call), old.task));
                    expected = Some((start, ends.collect()));
                }
            }
            EventKind::Plain("run_succeeded" | "run_failed") => {
                assert!(live.is_empty(), "{live:?} outlive the run");
                over = true;
            }
            _ => {}
        }
    }
    assert!(over, "the run reports its end");
    match (&ran.outcome, expected) {
        (Outcome::Failed(error), Some((start, ends))) => {
            assert_eq!(error.kind, RunErrorKind::Determinism);
            let end = error.message.strip_prefix(&start);
            let end = end.unwrap_or_else(|| panic!("{} should start {start}", error.message));
            assert!(ends.iter().any(|e| e == end), "{end} is none of {ends:?}");
        }
        (Outcome::Failed(error), None) => {
            assert_ne!(error.kind, RunErrorKind::Determinism, "{}", error.message);
            assert_ne!(error.kind, RunErrorKind::Internal, "{}", error.message);
        }
        (other, expected) => assert_eq!(expected, None, "the run ended as {other:?}"),
    }
}

/// Every task's events and effects are numbered from 0 on, without a gap (spec K183).
fn check_numbers(ran: &Ran) {
    let mut next: HashMap<&str, u32> = HashMap::new();
    for item in &ran.items {
        let (task, seq) = match item {
            Item::Event(event) => (&*event.task, event.seq),
            Item::Effect(issued) => (&*issued.task, issued.seq),
        };
        let number = next.entry(task).or_default();
        assert_eq!(seq, *number, "the numbers of task {task}");
        *number += 1;
    }
}

/// An id as the numbers it is made of, whose order is the ids' own.
fn key(id: &str) -> Vec<u32> {
    id.split('.').filter_map(|part| part.parse().ok()).collect()
}

fn parent_key(id: &[u32]) -> Vec<u32> {
    id[..id.len().saturating_sub(1)].to_vec()
}

/// What each task did, by its own numbers (spec K198).
pub fn work(ran: &Ran) -> BTreeMap<String, Vec<String>> {
    let mut work: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for item in &ran.items {
        let (task, what) = match item {
            Item::Event(event) => (&event.task, format!("{:?} {}", event.kind, event.section)),
            Item::Effect(issued) => {
                let shown = match &issued.effect {
                    Effect::Model(round) => talk::shown(round),
                    Effect::Tool(_) => panic!("calls no tool"),
                    other => format!("{other:?}"),
                };
                (&issued.task, shown)
            }
        };
        work.entry(task.to_string()).or_default().push(what);
    }
    work
}
