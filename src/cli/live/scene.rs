//! What a run is doing, and the lines that say so (spec C3).

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runvil::Event;
use runvil::engine::EventKind;
use runvil::harness::model::Piece;

use crate::cli::cell::{end_of, start_of, width};

/// The task that the run's own chain is (spec K183).
const ROOT: &str = "0";

/// How much of a reply is kept: more than a line can show.
const KEPT: usize = 4096;

/// What a run is doing.
pub struct Scene {
    since: Instant,
    section: Arc<str>,
    tasks: HashSet<Arc<str>>,
    tool_calls: usize,
    /// The rounds that were issued.
    rounds: usize,
    /// Those that are under way, the latest last.
    under_way: Vec<Replying>,
}

/// A round whose reply is not there yet.
struct Replying {
    round: u64,
    /// When it ends, where that is known.
    ends: Option<Instant>,
    /// Whether what came last is reasoning.
    reasoning: bool,
    /// The end of what has come, its white space made single spaces.
    tail: String,
}

impl Scene {
    /// A run that begins now.
    pub fn new(now: Instant) -> Self {
        Self {
            since: now,
            section: Arc::default(),
            tasks: HashSet::new(),
            tool_calls: 0,
            rounds: 0,
            under_way: Vec::new(),
        }
    }

    /// Follows the run.
    pub fn observe(&mut self, event: &Event) {
        match &event.kind {
            EventKind::TaskStarted(started) => drop(self.tasks.insert(started.task.clone())),
            EventKind::TaskEnded { task, .. } | EventKind::TaskAbandoned { task, .. } => {
                self.tasks.remove(task);
            }
            EventKind::Plain("run_started") => self.section = event.section.clone(),
            EventKind::Plain("section_started") if &*event.task == ROOT => {
                self.section = event.section.clone();
            }
            EventKind::Plain("tool_call_succeeded" | "tool_call_failed") => self.tool_calls += 1,
            _ => {}
        }
    }

    /// A round is issued.
    pub fn begin_round(&mut self, round: u64) {
        self.rounds += 1;
        self.under_way.push(Replying {
            round,
            ends: None,
            reasoning: false,
            tail: String::new(),
        });
    }

    /// A round ends, now or at a moment that is to come.
    pub fn end_round(&mut self, round: u64, at: Instant) {
        for replying in self.under_way.iter_mut().filter(|it| it.round == round) {
            replying.ends = Some(at);
        }
    }

    /// A piece of a reply has come.
    pub fn piece(&mut self, piece: Piece<'_>) {
        let mut under_way = self.under_way.iter_mut();
        if let Some(replying) = under_way.find(|it| it.round == piece.round) {
            replying.add(piece);
        }
    }

    /// The lines of now: the section and what is going on in it, then the end of the reply that is
    /// coming in. None is wider than so many columns.
    pub fn lines(&mut self, now: Instant, columns: usize) -> Vec<String> {
        self.under_way
            .retain(|it| it.ends.is_none_or(|at| at > now));
        if self.section.is_empty() {
            return Vec::new();
        }
        let facts = self.facts(now.saturating_duration_since(self.since));
        let left = columns.saturating_sub(width(&facts)).max(1);
        let section = self.section.replace(['\t', '\n'], " ");
        let mut lines = vec![start_of(&(start_of(&section, left) + &facts), columns)];
        let mut latest = self.under_way.iter().rev();
        if let Some(replying) = latest.find(|it| !it.tail.trim().is_empty()) {
            let mark = if replying.reasoning { "  ~ " } else { "  > " };
            let left = columns.saturating_sub(mark.len());
            let line = mark.to_owned() + &end_of(replying.tail.trim(), left);
            lines.push(start_of(&line, columns));
        }
        lines
    }

    /// What is to be said beside the section, where there is anything.
    fn facts(&self, elapsed: Duration) -> String {
        let under_way = match self.under_way.len() {
            0 => String::new(),
            count => format!(", {count} under way"),
        };
        let seconds = elapsed.as_secs();
        let minutes = seconds / 60;
        [
            counted(self.tasks.len(), "task"),
            counted(self.rounds, "round").map(|rounds| rounds + &under_way),
            counted(self.tool_calls, "tool call"),
            (seconds > 0 && minutes == 0).then(|| format!("{seconds}s")),
            (minutes > 0).then(|| format!("{minutes}m {:02}s", seconds % 60)),
        ]
        .into_iter()
        .flatten()
        .map(|fact| format!(" · {fact}"))
        .collect()
    }
}

fn counted(count: usize, what: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    }
}

impl Replying {
    fn add(&mut self, piece: Piece<'_>) {
        if piece.reasoning != self.reasoning {
            self.reasoning = piece.reasoning;
            self.tail.clear();
        }
        // Only the end of a piece can still be seen.
        let from = piece.text.len().saturating_sub(KEPT);
        let from = (from..=piece.text.len()).find(|at| piece.text.is_char_boundary(*at));
        let text = piece.text.get(from.unwrap_or(0)..).unwrap_or_default();
        for char in text.chars() {
            match char.is_whitespace() {
                false => self.tail.push(char),
                true if self.tail.ends_with(' ') => {}
                true => self.tail.push(' '),
            }
        }
        if self.tail.len() > 2 * KEPT {
            let from = self.tail.len() - KEPT;
            let from = (from..self.tail.len()).find(|at| self.tail.is_char_boundary(*at));
            self.tail.drain(..from.unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: EventKind, section: &str, task: &str) -> Event {
        Event {
            kind,
            execution: "r".into(),
            section: section.into(),
            task: task.into(),
            seq: 0,
        }
    }

    fn piece(round: u64, reasoning: bool, text: &str) -> Piece<'_> {
        Piece {
            round,
            reasoning,
            text,
        }
    }

    /// A scene in a section.
    fn scene(now: Instant) -> Scene {
        let mut scene = Scene::new(now);
        scene.observe(&event(EventKind::Plain("run_started"), "Title", "0"));
        scene.observe(&event(EventKind::Plain("section_started"), "Plan", "0"));
        scene.observe(&event(EventKind::Plain("section_started"), "Arm", "0.0"));
        scene
    }

    #[test]
    fn the_section_stands_with_what_goes_on_in_it() {
        let now = Instant::now();
        assert!(Scene::new(now).lines(now, 80).is_empty());
        let mut scene = scene(now);
        assert_eq!(scene.lines(now, 80), ["Plan"]);
        scene.begin_round(0);
        scene.begin_round(1);
        scene.observe(&event(EventKind::Plain("tool_call_failed"), "Plan", "0"));
        let later = now + Duration::from_secs(61);
        let said = "Plan · 2 rounds, 2 under way · 1 tool call · 1m 01s";
        assert_eq!(scene.lines(later, 80), [said]);
        scene.end_round(0, later);
        scene.end_round(1, later + Duration::from_secs(1));
        let said = "Plan · 2 rounds, 1 under way · 1 tool call · 1m 01s";
        assert_eq!(scene.lines(later, 80), [said]);
        let over = later + Duration::from_secs(1);
        assert_eq!(scene.lines(over, 20), ["… · 2 rounds · 1 to…"]);
    }

    #[test]
    fn tasks_are_counted_while_they_run() {
        let now = Instant::now();
        let mut scene = scene(now);
        let started = runvil::engine::TaskStarted {
            task: "0.0".into(),
            target: "Arm".into(),
            origin: "author",
            input: None,
            item: None,
            index: None,
            var: runvil::lua::Data::Null,
        };
        scene.observe(&event(
            EventKind::TaskStarted(Box::new(started)),
            "Plan",
            "0",
        ));
        assert_eq!(scene.lines(now, 80), ["Plan · 1 task"]);
        let ended = EventKind::TaskEnded {
            name: "task_failed",
            task: "0.0".into(),
        };
        scene.observe(&event(ended, "Arm", "0.0"));
        assert_eq!(scene.lines(now, 80), ["Plan"]);
    }

    #[test]
    fn the_latest_reply_shows_its_end() {
        let now = Instant::now();
        let mut scene = scene(now);
        scene.begin_round(0);
        scene.begin_round(1);
        scene.piece(piece(0, false, "first"));
        assert_eq!(scene.lines(now, 80)[1], "  > first");
        scene.piece(piece(1, true, "hm\n\n"));
        assert_eq!(scene.lines(now, 80)[1], "  ~ hm");
        scene.piece(piece(1, false, "one\n  two"));
        scene.piece(piece(1, false, " \u{1b}[2J日本語"));
        assert_eq!(scene.lines(now, 80)[1], "  > one two \\u{1b}[2J日本語");
        assert_eq!(scene.lines(now, 12)[1], "  > …J日本語");
        scene.end_round(1, now);
        assert_eq!(scene.lines(now, 80)[1], "  > first");
        scene.end_round(0, now);
        assert_eq!(scene.lines(now, 80).len(), 1);
        // What comes after the end is not shown.
        scene.piece(piece(0, false, "late"));
        assert_eq!(scene.lines(now, 80).len(), 1);
    }

    #[test]
    fn a_long_reply_takes_little_room() {
        let now = Instant::now();
        let mut scene = scene(now);
        scene.begin_round(0);
        for _ in 0..100 {
            scene.piece(piece(0, false, &"é".repeat(5000)));
        }
        assert!(scene.under_way[0].tail.len() <= 2 * KEPT);
        assert_eq!(scene.lines(now, 10)[1], "  > …ééééé");
    }
}
