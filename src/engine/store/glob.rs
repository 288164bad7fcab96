//! Glob patterns: their grammar and how they match (spec S34 to S38).

use serde::{Deserialize, Serialize};

use super::path::{MAX_BYTES, forbidden_byte};
use super::{Rule, StoreFailure};

/// A checked pattern, ready to match any number of paths.
///
/// A pattern is a row of pieces with wildcards between them, at two levels: runs of segments
/// between `**`s, and literals between the `*`s of one segment. At both levels the first piece
/// stands at the start, the last at the end, and each in between at the leftmost place after the
/// one before it, which leaves most room for the rest. So no piece is ever placed twice, and time
/// is bounded by the pattern's length times the path's (spec S36).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Glob {
    pattern: String,
    directories: bool,
    /// The segments before the first `**`; all of them where there is none.
    head: Run,
    /// The runs of segments after each `**`.
    rest: Vec<Run>,
}

/// Neighbouring segments of a pattern.
type Run = Vec<Segment>;

/// One segment of a pattern: literals with a `*` between each and the next.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    first: String,
    rest: Vec<String>,
}

impl Glob {
    /// Checks a pattern and makes it ready to match.
    ///
    /// # Errors
    ///
    /// `invalid_path` with the first rule of spec S37 that is broken.
    pub fn new(pattern: &str) -> Result<Self, StoreFailure> {
        Self::check(pattern)?;
        let body = pattern.strip_suffix('/');
        let mut head = Run::new();
        let mut rest: Vec<Run> = Vec::new();
        for segment in body.unwrap_or(pattern).split('/') {
            match (segment, rest.last_mut()) {
                ("**", _) => rest.push(Run::new()),
                (_, Some(run)) => run.push(Segment::new(segment)),
                (_, None) => head.push(Segment::new(segment)),
            }
        }
        // Neighbouring `**`s are one. A `**` at the end stands for at least one segment: `a/**`
        // is everything below `a` and not `a`.
        let open_end = rest.last().is_some_and(Vec::is_empty);
        rest.retain(|run| !run.is_empty());
        if open_end {
            rest.push(vec![Segment::new("*")]);
        }
        Ok(Self {
            pattern: pattern.to_owned(),
            directories: body.is_some(),
            head,
            rest,
        })
    }

    /// Checks a pattern without making it ready (spec S37).
    ///
    /// # Errors
    ///
    /// `invalid_path` with the first rule that is broken.
    pub fn check(pattern: &str) -> Result<(), StoreFailure> {
        match broken_rule(pattern) {
            None => Ok(()),
            Some(rule) => Err(StoreFailure::invalid_pattern(pattern, rule)),
        }
    }

    /// The pattern as it was given.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether a trailing `/` makes the pattern select directories, not files (spec S34).
    pub fn selects_directories(&self) -> bool {
        self.directories
    }

    /// The bytes every matching path starts with.
    pub fn literal_prefix(&self) -> &str {
        let body = self.pattern.strip_suffix('/').unwrap_or(&self.pattern);
        body.split_once('*').map_or(body, |(literal, _)| literal)
    }

    /// The number of segments of every matching path; `None` where a `**` leaves it open.
    pub fn depth(&self) -> Option<usize> {
        self.rest.is_empty().then_some(self.head.len())
    }

    /// Whether the pattern, without a trailing `/`, matches a path.
    pub fn matches(&self, path: &str) -> bool {
        let Some(mut path) = after_run(&self.head, Some(path)) else {
            return false;
        };
        let Some((last, between)) = self.rest.split_last() else {
            return path.is_none();
        };
        for run in between {
            match after_leftmost(run, path) {
                Some(after) => path = after,
                None => return false,
            }
        }
        path.is_some_and(|path| ends_with_run(last, path))
    }
}

impl TryFrom<String> for Glob {
    type Error = StoreFailure;

    fn try_from(pattern: String) -> Result<Self, StoreFailure> {
        Self::new(&pattern)
    }
}

impl From<Glob> for String {
    fn from(glob: Glob) -> Self {
        glob.pattern
    }
}

/// What is left of a path: `None` when no segment is.
type Left<'a> = Option<&'a str>;

/// What is left after `run` is matched at the start of `path`.
fn after_run<'a>(run: &[Segment], path: Left<'a>) -> Option<Left<'a>> {
    run.iter().try_fold(path, |path, segment| {
        let (name, left) = pop_first(path?);
        segment.matches(name).then_some(left)
    })
}

/// What is left after `run` is matched at the leftmost place in `path`.
fn after_leftmost<'a>(run: &[Segment], mut path: Left<'a>) -> Option<Left<'a>> {
    loop {
        let after = after_run(run, path);
        if after.is_some() {
            return after;
        }
        (_, path) = pop_first(path?);
    }
}

/// Whether the last segments of `path` match `run`.
fn ends_with_run(run: &[Segment], path: &str) -> bool {
    let mut names = path.rsplit('/');
    run.iter()
        .rev()
        .all(|segment| names.next().is_some_and(|name| segment.matches(name)))
}

fn pop_first(path: &str) -> (&str, Left<'_>) {
    path.split_once('/')
        .map_or((path, None), |(name, left)| (name, Some(left)))
}

impl Segment {
    fn new(text: &str) -> Self {
        let mut literals = text.split('*').map(str::to_owned);
        let first = literals.next().unwrap_or_default();
        Self {
            first,
            rest: literals.collect(),
        }
    }

    fn matches(&self, name: &str) -> bool {
        let Some(mut name) = name.strip_prefix(self.first.as_str()) else {
            return false;
        };
        let Some((last, between)) = self.rest.split_last() else {
            return name.is_empty();
        };
        for literal in between {
            match name.split_once(literal.as_str()) {
                Some((_, after)) => name = after,
                None => return false,
            }
        }
        name.ends_with(last.as_str())
    }
}

/// The first rule of spec S37 that `pattern` breaks.
fn broken_rule(pattern: &str) -> Option<Rule> {
    if pattern.is_empty() {
        Some(Rule::Empty)
    } else if pattern.len() > MAX_BYTES {
        Some(Rule::TooLong)
    } else if let Some(rule) = forbidden_byte(pattern) {
        Some(rule)
    } else if pattern
        .split('/')
        .any(|segment| segment.contains("**") && segment != "**")
    {
        Some(Rule::Wildcard)
    } else {
        None
    }
}
