//! The rows of the tree that `runvil show` prints, and which of them are left out.

use std::ops::Range;

use runvil::harness::record::timeline::{State, Timeline, Track, What};

use super::amount::{number, span};
use super::label::{self, Piece};
use crate::cli::style::Tone;

/// The most rows that stand under one thing.
const MOST: usize = 24;
/// How many of them are the first ones, and the last ones, where there are more.
const FIRST: usize = 14;
const LAST: usize = 4;
/// How many between them that did not end well.
const TROUBLES: usize = 4;
/// From so many on, tasks of one section that follow each other are a group.
const GROUP: usize = 6;
/// How many of a group are shown, unless they did not end well.
const OF_GROUP: usize = 2;
/// The deepest that rows go.
const DEEPEST: usize = 40;

/// A row.
#[derive(Debug)]
pub struct Row {
    /// The lines that lead to it.
    pub guide: String,
    /// When it was; `None` for one that stands for others.
    pub time: Option<Time>,
    /// What it says.
    pub pieces: Vec<Piece>,
}

/// When something was, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    pub at: u64,
    /// When it first did something.
    pub busy: u64,
    /// `None` where the record ends before.
    pub until: Option<u64>,
}

impl Time {
    fn new(at: u64, until: Option<u64>) -> Self {
        let busy = at;
        Self { at, busy, until }
    }

    fn of(track: &Track) -> Self {
        let first = track.items.first().map(|item| item.at);
        let busy = first.or(track.end).unwrap_or(u64::MAX);
        Self {
            busy,
            ..Self::new(track.at, track.end)
        }
    }
}

/// What a row is about.
enum Node {
    /// An item of a track, by its place; what is in it follows.
    Item(usize, usize, Range<usize>),
    /// The rest of a track, whose own start is not known.
    Track(usize),
    /// Tasks of one section that were started one after the other: the track, and its items.
    Group(usize, Range<usize>),
    /// So many others.
    More(usize),
}

/// The rows of a run, and how many more there would be at least.
pub struct Rows<'a> {
    timeline: &'a Timeline,
    /// Whether nothing is left out.
    all: bool,
    pub rows: Vec<Row>,
    pub left_out: usize,
}

impl<'a> Rows<'a> {
    pub fn new(timeline: &'a Timeline, all: bool) -> Self {
        let mut rows = Self {
            timeline,
            all,
            rows: Vec::new(),
            left_out: 0,
        };
        let mut nodes = Vec::new();
        if let Some(root) = timeline.tracks.first() {
            nodes = rows.nodes(0, 0..root.items.len());
        }
        let tracks = timeline.tracks.iter().enumerate().skip(1);
        let strays = tracks.filter(|(_, track)| track.owner.is_none());
        nodes.extend(strays.map(|(place, _)| Node::Track(place)));
        rows.add_all(nodes, "", 0);
        rows
    }

    fn track(&self, place: usize) -> &'a Track {
        &self.timeline.tracks[place]
    }

    /// What stands directly in a range of a track's items.
    fn nodes(&self, place: usize, range: Range<usize>) -> Vec<Node> {
        let items = &self.track(place).items;
        let mut nodes = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let depth = items[at].depth;
            let rest = &items[at + 1..range.end];
            let within = rest.iter().take_while(|item| item.depth > depth).count();
            let end = at + 1 + within;
            let group = match self.all {
                true => at..at,
                false => self.group(place, at..range.end),
            };
            if group.len() >= GROUP {
                at = group.end;
                nodes.push(Node::Group(place, group));
                continue;
            }
            nodes.push(Node::Item(place, at, at + 1..end));
            at = end;
        }
        nodes
    }

    /// The tasks at the start of a range that were started at one section.
    fn group(&self, place: usize, range: Range<usize>) -> Range<usize> {
        let items = &self.track(place).items[range.clone()];
        let name = |at: usize| match items[at].what {
            What::Task(track) => Some(self.track(track).name.as_str()),
            _ => None,
        };
        let first = name(0);
        let depth = items[0].depth;
        let same = (0..items.len())
            .take_while(|at| items[*at].depth == depth && name(*at).is_some() && name(*at) == first)
            .count();
        range.start..range.start + same
    }

    /// Whether something did not end well.
    fn is_trouble(&self, node: &Node) -> bool {
        match node {
            Node::Item(place, at, _) => {
                let item = &self.track(*place).items[*at];
                let state = match item.what {
                    What::Task(track) => self.track(track).state,
                    _ => item.state,
                };
                !matches!(state, State::Done | State::Dropped)
            }
            _ => false,
        }
    }

    /// Leaves out the middle of a long list, but for some that did not end well.
    fn cut(&mut self, nodes: Vec<Node>, most: usize, first: usize, last: usize) -> Vec<Node> {
        if self.all || nodes.len() <= most {
            return nodes;
        }
        let after = nodes.len() - last;
        let mut troubles = 0;
        let mut kept = Vec::new();
        let mut more = 0;
        for (at, node) in nodes.into_iter().enumerate() {
            let is_trouble = at >= first && at < after && self.is_trouble(&node);
            troubles += usize::from(is_trouble);
            if at < first || at >= after || (is_trouble && troubles <= TROUBLES) {
                if more > 0 {
                    kept.push(Node::More(more));
                }
                more = 0;
                kept.push(node);
            } else {
                more += 1;
                self.left_out += 1;
            }
        }
        if more > 0 {
            kept.push(Node::More(more));
        }
        kept
    }

    fn add_all(&mut self, nodes: Vec<Node>, guide: &str, depth: usize) {
        let nodes = self.cut(nodes, MOST, FIRST, LAST);
        self.add_these(nodes, guide, depth);
    }

    fn add_these(&mut self, nodes: Vec<Node>, guide: &str, depth: usize) {
        if depth > DEEPEST {
            self.left_out += nodes.len();
            let more = vec![Node::More(nodes.len())];
            return more
                .into_iter()
                .for_each(|node| self.add(node, guide, depth, true));
        }
        let count = nodes.len();
        for (at, node) in nodes.into_iter().enumerate() {
            self.add(node, guide, depth, at + 1 == count);
        }
    }

    fn add(&mut self, node: Node, guide: &str, depth: usize, is_last: bool) {
        let (own, below) = match (depth, is_last) {
            (0, _) => (String::new(), String::new()),
            (_, true) => (format!("{guide}└ "), format!("{guide}  ")),
            (_, false) => (format!("{guide}├ "), format!("{guide}│ ")),
        };
        let timeline = self.timeline;
        match node {
            Node::Item(place, at, within) => {
                let item = &timeline.tracks[place].items[at];
                if let What::Task(track) = item.what {
                    return self.add_track(track, own, &below, depth);
                }
                self.push(
                    own,
                    Some(Time::new(item.at, item.end)),
                    label::item(timeline, item),
                );
                let nodes = self.nodes(place, within);
                self.add_all(nodes, &below, depth + 1);
            }
            Node::Track(track) => self.add_track(track, own, &below, depth),
            Node::Group(place, range) => {
                let (time, pieces) = self.summary(place, range.clone());
                self.push(own, Some(time), pieces);
                let items = range.map(|at| Node::Item(place, at, at + 1..at + 1));
                let nodes = self.cut(items.collect(), 0, OF_GROUP, 1);
                self.add_these(nodes, &below, depth + 1);
            }
            Node::More(count) => {
                let text = format!("… {} more", number(count as u64));
                self.push(own, None, vec![(Tone::Faint, text)]);
            }
        }
    }

    fn add_track(&mut self, place: usize, guide: String, below: &str, depth: usize) {
        let track = self.track(place);
        self.push(guide, Some(Time::of(track)), label::task(track));
        let items = &track.items;
        // The section that a task was started at has its name already.
        let inner = match items.first().map(|item| &item.what) {
            Some(What::Section(section))
                if section.name == track.name
                    && section.reads == 0
                    && items.iter().skip(1).all(|item| item.depth > 0) =>
            {
                1..items.len()
            }
            _ => 0..items.len(),
        };
        let nodes = self.nodes(place, inner);
        self.add_all(nodes, below, depth + 1);
    }

    fn push(&mut self, guide: String, time: Option<Time>, pieces: Vec<Piece>) {
        self.rows.push(Row {
            guide,
            time,
            pieces,
        });
    }

    /// What is said of a group.
    fn summary(&self, place: usize, range: Range<usize>) -> (Time, Vec<Piece>) {
        let items = self.track(place).items.get(range).unwrap_or_default();
        let tracks = items.iter().filter_map(|item| match item.what {
            What::Task(track) => Some(self.track(track)),
            _ => None,
        });
        let tracks: Vec<&Track> = tracks.collect();
        let ends: Option<Vec<u64>> = tracks.iter().map(|track| track.end).collect();
        let at = tracks.iter().map(|track| track.at).min().unwrap_or(0);
        let end = ends.and_then(|ends| ends.into_iter().max());
        let name = tracks.first().map_or("", |track| track.name.as_str());
        let mut pieces = vec![
            (Tone::Plain, format!("{} × ", number(tracks.len() as u64))),
            (Tone::Strong, name.to_owned()),
        ];
        let took = tracks
            .iter()
            .filter_map(|track| Some(track.end?.saturating_sub(Time::of(track).busy)));
        if let (Some(least), Some(most)) = (took.clone().min(), took.max()) {
            let text = format!("  {} to {} each", span(least), span(most));
            pieces.push((Tone::Faint, text));
        }
        let states = [
            (State::Failed, Tone::Bad),
            (State::Cancelled, Tone::Bad),
            (State::Abandoned, Tone::Bad),
            (State::Open, Tone::Bad),
        ];
        for (state, tone) in states {
            let count = tracks.iter().filter(|track| track.state == state).count();
            let word = match state {
                State::Open => "not ended",
                other => other.word(),
            };
            if count > 0 {
                pieces.push((tone, format!("  {} {word}", number(count as u64))));
            }
        }
        (Time::new(at, end), pieces)
    }
}
