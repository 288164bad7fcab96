//! The matcher: Lua's own, step by step, with its limits, and with looks at the cancel flag.

use super::class;
use super::item::{byte_at, item_end};

/// How deep matches may stand in each other.
const DEEPEST: u32 = 200;
const MOST_CAPTURES: usize = 32;
/// How many steps pass between two looks at the cancel flag: well under a millisecond.
const LOOK: u32 = 1 << 15;

/// Why a match was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Fault {
    /// The pattern is at fault, in Lua's words.
    Pattern(String),
    /// The run was cancelled.
    Cancelled,
}

impl From<&str> for Fault {
    fn from(text: &str) -> Self {
        Self::Pattern(text.to_owned())
    }
}

/// A capture of a match. Places are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Capture {
    /// A part of the text.
    Text(usize, usize),
    /// A place in it.
    Place(usize),
    /// It was opened and not closed.
    Open(usize),
}

/// A match: where it begins and ends.
type Found = (usize, usize);

type Step = Result<Option<usize>, Fault>;

/// A pattern at work on a text.
pub(in super::super) struct Matcher<'a> {
    text: &'a [u8],
    pattern: &'a [u8],
    is_anchored: bool,
    captures: [Capture; MOST_CAPTURES],
    level: usize,
    depth: u32,
    steps: u32,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl<'a> Matcher<'a> {
    /// A matcher that a `^` in front of the pattern anchors, where `anchors` says that it means that.
    pub(in super::super) fn new(
        text: &'a [u8],
        pattern: &'a [u8],
        anchors: bool,
        is_cancelled: &'a dyn Fn() -> bool,
    ) -> Self {
        let unanchored = pattern.strip_prefix(b"^").filter(|_| anchors);
        Self {
            text,
            pattern: unanchored.unwrap_or(pattern),
            is_anchored: unanchored.is_some(),
            captures: [Capture::Open(0); MOST_CAPTURES],
            level: 0,
            depth: 0,
            steps: 0,
            is_cancelled,
        }
    }

    /// The first match that begins at a place or after it; at no other where it is anchored.
    pub(in super::super) fn find(&mut self, from: usize) -> Result<Option<Found>, Fault> {
        for start in from..=self.text.len() {
            if let Some(end) = self.match_at(start)? {
                return Ok(Some((start, end)));
            }
            if self.is_anchored {
                break;
            }
        }
        Ok(None)
    }

    /// The next match of several, each after the last: `ended` is where that one ended, where this
    /// one may not end (spec L3).
    pub(in super::super) fn find_next(
        &mut self,
        from: usize,
        ended: Option<usize>,
    ) -> Result<Option<Found>, Fault> {
        for start in from..=self.text.len() {
            let end = self.match_at(start)?;
            if let Some(end) = end.filter(|end| Some(*end) != ended) {
                return Ok(Some((start, end)));
            }
            if self.is_anchored {
                break;
            }
        }
        Ok(None)
    }

    pub(in super::super) fn is_anchored(&self) -> bool {
        self.is_anchored
    }

    /// The captures of the last match; none stands for the whole.
    pub(in super::super) fn captures(&self) -> &[Capture] {
        &self.captures[..self.level]
    }

    fn match_at(&mut self, start: usize) -> Step {
        self.level = 0;
        self.depth = DEEPEST;
        self.step(1)?;
        self.go(start, 0)
    }

    /// Counts steps, and looks at the cancel flag now and then.
    fn step(&mut self, steps: usize) -> Result<(), Fault> {
        self.steps = self.steps.saturating_add(steps as u32);
        if self.steps >= LOOK {
            self.steps = 0;
            if (self.is_cancelled)() {
                return Err(Fault::Cancelled);
            }
        }
        Ok(())
    }

    /// Matches the pattern from a place of it against the text from a place of it.
    fn go(&mut self, s: usize, p: usize) -> Step {
        if self.depth == 0 {
            return Err("pattern too complex".into());
        }
        self.depth -= 1;
        let end = self.run(s, p)?;
        self.depth += 1;
        Ok(end)
    }

    fn run(&mut self, mut s: usize, mut p: usize) -> Step {
        let pattern = self.pattern;
        while p < pattern.len() {
            self.step(1)?;
            match (pattern[p], byte_at(pattern, p + 1)) {
                (b'(', b')') => return self.open(s, p + 2, Capture::Place(s)),
                (b'(', _) => return self.open(s, p + 1, Capture::Open(s)),
                (b')', _) => return self.close(s, p + 1),
                (b'$', _) if p + 1 == pattern.len() => {
                    return Ok((s == self.text.len()).then_some(s));
                }
                (b'%', b'b') => match self.balance(s, p + 2)? {
                    Some(end) => (s, p) = (end, p + 4),
                    None => return Ok(None),
                },
                (b'%', b'f') => {
                    p += 2;
                    if byte_at(pattern, p) != b'[' {
                        return Err("missing '[' after '%f' in pattern".into());
                    }
                    let end = item_end(pattern, p)?;
                    let set = &pattern[p..end];
                    let before = s.checked_sub(1).map_or(0, |before| self.text[before]);
                    if class::in_set(before, set) || !class::in_set(byte_at(self.text, s), set) {
                        return Ok(None);
                    }
                    p = end;
                }
                (b'%', digit @ b'0'..=b'9') => match self.again(s, digit)? {
                    Some(end) => (s, p) = (end, p + 2),
                    None => return Ok(None),
                },
                _ => {
                    let end = item_end(pattern, p)?;
                    let is_match = self.single(s, p, end);
                    match byte_at(pattern, end) {
                        b'*' | b'-' | b'?' if !is_match => p = end + 1,
                        _ if !is_match => return Ok(None),
                        b'?' => match self.go(s + 1, end + 1)? {
                            Some(end) => return Ok(Some(end)),
                            None => p = end + 1,
                        },
                        b'+' => return self.longest(s + 1, p, end),
                        b'*' => return self.longest(s, p, end),
                        b'-' => return self.shortest(s, p, end),
                        _ => (s, p) = (s + 1, end),
                    }
                }
            }
        }
        Ok(Some(s))
    }

    fn single(&self, s: usize, p: usize, end: usize) -> bool {
        match self.text.get(s) {
            Some(byte) => class::single(*byte, &self.pattern[p..end]),
            None => false,
        }
    }

    /// As many of an item as there are, and fewer where the rest does not match then.
    fn longest(&mut self, s: usize, p: usize, end: usize) -> Step {
        let mut count = 0;
        while self.single(s + count, p, end) {
            self.step(1)?;
            count += 1;
        }
        for count in (0..=count).rev() {
            if let Some(end) = self.go(s + count, end + 1)? {
                return Ok(Some(end));
            }
            self.step(1)?;
        }
        Ok(None)
    }

    /// As few of an item as will do.
    fn shortest(&mut self, mut s: usize, p: usize, end: usize) -> Step {
        loop {
            if let Some(end) = self.go(s, end + 1)? {
                return Ok(Some(end));
            }
            if !self.single(s, p, end) {
                return Ok(None);
            }
            self.step(1)?;
            s += 1;
        }
    }

    fn open(&mut self, s: usize, p: usize, capture: Capture) -> Step {
        if self.level == MOST_CAPTURES {
            return Err("too many captures".into());
        }
        self.captures[self.level] = capture;
        self.level += 1;
        let end = self.go(s, p)?;
        if end.is_none() {
            self.level -= 1;
        }
        Ok(end)
    }

    fn close(&mut self, s: usize, p: usize) -> Step {
        let open = self.captures[..self.level].iter().enumerate().rev();
        let open = open.filter_map(|(at, capture)| match capture {
            Capture::Open(start) => Some((at, *start)),
            _ => None,
        });
        let Some((at, start)) = open.into_iter().next() else {
            return Err("invalid pattern capture".into());
        };
        self.captures[at] = Capture::Text(start, s);
        let end = self.go(s, p)?;
        if end.is_none() {
            self.captures[at] = Capture::Open(start);
        }
        Ok(end)
    }

    /// A balanced part, as `%b` and two bytes say.
    fn balance(&mut self, s: usize, p: usize) -> Step {
        let (Some(&open), Some(&close)) = (self.pattern.get(p), self.pattern.get(p + 1)) else {
            return Err("malformed pattern (missing arguments to '%b')".into());
        };
        if byte_at(self.text, s) != open {
            return Ok(None);
        }
        let mut depth = 1u64;
        for at in s + 1..self.text.len() {
            self.step(1)?;
            let byte = self.text[at];
            if byte == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(at + 1));
                }
            } else if byte == open {
                depth += 1;
            }
        }
        Ok(None)
    }

    /// What an earlier capture has matched, once more.
    fn again(&mut self, s: usize, digit: u8) -> Step {
        let index = usize::from(digit).wrapping_sub(usize::from(b'1'));
        let capture = self.captures[..self.level].get(index);
        let (start, end) = match capture {
            Some(Capture::Text(start, end)) => (*start, *end),
            // A place has no length that anything could have.
            Some(Capture::Place(_)) => return Ok(None),
            _ => return Err(invalid_index(digit)),
        };
        let length = end - start;
        self.step(length / 16)?;
        let text = self.text;
        let is_match = text[s..].starts_with(&text[start..end]);
        Ok(is_match.then_some(s + length))
    }
}

/// A capture that there is none of.
pub(in super::super) fn invalid_index(digit: u8) -> Fault {
    let index = i32::from(digit) - i32::from(b'0');
    Fault::Pattern(format!("invalid capture index %{index}"))
}
