//! Path patterns: `*`, `?`, `**`, `[…]` and `{a,b}`, and what they match below a folder (spec P54).

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::Interrupted;
use super::pattern::{self, BadPattern};
use crate::harness::CancelToken;

/// The most patterns that the braces of one may stand for.
const BRACES_CAP: usize = 1024;

/// A checked pattern.
#[derive(Clone, Debug)]
pub(in crate::packet) struct Wildcard {
    /// What its braces stand for.
    alternatives: Vec<Vec<Segment>>,
    /// Whether it ends in `/`, and so matches folders alone.
    folders: bool,
}

/// One segment of a pattern.
#[derive(Clone, Debug)]
enum Segment {
    /// A name as it is, `..` among them.
    Literal(String),
    /// `**`: any number of folders.
    Any,
    /// Names by a pattern.
    Names {
        /// The whole name.
        name: Regex,
        /// Whether a name may start with a dot.
        dotted: bool,
    },
}

/// What a pattern matched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Match {
    /// The path as the pattern has it: from its folder, or absolute.
    pub(super) path: String,
    /// Where it is.
    pub(super) file: PathBuf,
}

impl Wildcard {
    /// Checks a pattern.
    pub(in crate::packet) fn new(pattern: &str) -> Result<Self, BadPattern> {
        let mut alternatives = Vec::new();
        expand(pattern, &mut alternatives)?;
        let segments = |pattern: &String| {
            let root = pattern
                .starts_with('/')
                .then(|| Ok(Segment::Literal("/".to_owned())));
            let names = pattern
                .split('/')
                .filter(|name| !name.is_empty() && *name != ".");
            root.into_iter().chain(names.map(Segment::new)).collect()
        };
        Ok(Self {
            alternatives: alternatives
                .iter()
                .map(segments)
                .collect::<Result<_, _>>()?,
            folders: pattern.ends_with('/'),
        })
    }

    /// The files and folders that it matches below a folder, in byte order.
    pub(super) fn find(
        &self,
        folder: &Path,
        cancel: &CancelToken,
    ) -> Result<Vec<Match>, Interrupted> {
        let mut found = BTreeSet::new();
        for segments in &self.alternatives {
            let from = Match {
                path: String::new(),
                file: folder.to_owned(),
            };
            walk(segments, &from, cancel, &mut found)?;
        }
        let found = found.into_iter();
        Ok(found
            .filter(|found| !self.folders || found.file.is_dir())
            .collect())
    }

    /// Whether it matches a path, from the folder it is relative to, or a folder above that.
    pub(super) fn covers(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        let mut lengths = 1..=names.len();
        lengths.any(|length| {
            let names = names.get(..length).unwrap_or_default();
            let mut alternatives = self.alternatives.iter();
            alternatives.any(|segments| matches(segments, names))
        })
    }
}

impl Match {
    fn child(&self, name: &str) -> Self {
        let path = match self.path.as_str() {
            "" => name.to_owned(),
            "/" => format!("/{name}"),
            path => format!("{path}/{name}"),
        };
        Self {
            path,
            file: self.file.join(name),
        }
    }
}

impl Segment {
    fn new(text: &str) -> Result<Self, BadPattern> {
        if text == "**" {
            return Ok(Self::Any);
        }
        let mut chars = text.chars().peekable();
        let mut literal = String::new();
        let mut regex = String::from(r"(?s)\A");
        let mut is_literal = true;
        while let Some(char) = chars.next() {
            match char {
                '*' => regex.push_str(".*"),
                '?' => regex.push('.'),
                '[' => class(&mut chars, &mut regex)?,
                char => {
                    let escaped = (char == '\\').then(|| chars.next()).flatten();
                    let char = escaped.unwrap_or(char);
                    literal.push(char);
                    regex.push_str(&regex::escape(char.encode_utf8(&mut [0; 4])));
                    continue;
                }
            }
            is_literal = false;
        }
        if is_literal {
            return Ok(Self::Literal(literal));
        }
        regex.push_str(r"\z");
        Ok(Self::Names {
            name: pattern::compile(&regex)?,
            dotted: text.starts_with('.') || text.starts_with("\\."),
        })
    }

    /// Whether a name is one of those of the segment.
    fn has(&self, name: &str) -> bool {
        match self {
            Self::Literal(literal) => literal == name,
            Self::Any => !name.starts_with('.'),
            Self::Names {
                name: names,
                dotted,
            } => (*dotted || !name.starts_with('.')) && names.is_match(name),
        }
    }
}

/// Takes a class of characters, whose bracket has been taken, over into a regular expression.
fn class(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    regex: &mut String,
) -> Result<(), BadPattern> {
    regex.push('[');
    if chars.next_if(|char| matches!(char, '!' | '^')).is_some() {
        regex.push('^');
    }
    let mut is_first = true;
    loop {
        match chars.next() {
            None => return Err(BadPattern("unclosed character class".to_owned())),
            Some(']') if !is_first => break,
            Some('-') if !is_first && !matches!(chars.peek(), Some('-' | ']') | None) => {
                regex.push('-');
            }
            Some(char) => {
                let escaped = (char == '\\').then(|| chars.next()).flatten();
                regex.push_str(&escape_in_class(escaped.unwrap_or(char)));
            }
        }
        is_first = false;
    }
    regex.push(']');
    Ok(())
}

/// A character of a class, which may mean something else to regular expressions.
fn escape_in_class(char: char) -> String {
    match char.is_ascii_punctuation() {
        true => format!("\\{char}"),
        false => char.to_string(),
    }
}

/// Puts every choice of a pattern's braces into `out`.
fn expand(pattern: &str, out: &mut Vec<String>) -> Result<(), BadPattern> {
    let mut pending = vec![pattern.to_owned()];
    while let Some(pattern) = pending.pop() {
        let Some((open, close, commas)) = first_braces(&pattern)? else {
            out.push(pattern);
            continue;
        };
        let mut from = open + 1;
        for end in commas.into_iter().chain([close]) {
            let parts = [
                pattern.get(..open),
                pattern.get(from..end),
                pattern.get(close + 1..),
            ];
            pending.push(parts.into_iter().flatten().collect());
            from = end + 1;
        }
        if pending.len() + out.len() > BRACES_CAP {
            return Err(BadPattern(format!("more than {BRACES_CAP} alternatives")));
        }
    }
    Ok(())
}

/// Where the first braces of a pattern are: the opening one, the one that closes it, and the commas
/// between.
fn first_braces(pattern: &str) -> Result<Option<(usize, usize, Vec<usize>)>, BadPattern> {
    let mut open = None;
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    let mut chars = pattern.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => drop(chars.next()),
            '{' => {
                open = open.or(Some(at));
                depth += 1;
            }
            ',' if depth == 1 => commas.push(at),
            '}' if depth > 0 => {
                depth -= 1;
                if let Some(open) = open.filter(|_| depth == 0) {
                    return Ok(Some((open, at, commas)));
                }
            }
            _ => {}
        }
    }
    match open {
        Some(_) => Err(BadPattern("unclosed braces".to_owned())),
        None => Ok(None),
    }
}

/// Adds what the segments match below a path.
fn walk(
    segments: &[Segment],
    from: &Match,
    cancel: &CancelToken,
    found: &mut BTreeSet<Match>,
) -> Result<(), Interrupted> {
    let mut pending = vec![(segments, from.clone())];
    // Several `**` come to one place in many ways.
    let mut seen = HashSet::new();
    while let Some((segments, from)) = pending.pop() {
        if !seen.insert((segments.len(), from.path.clone())) {
            continue;
        }
        if cancel.is_cancelled() {
            return Err(Interrupted);
        }
        let Some((first, rest)) = segments.split_first() else {
            if !from.path.is_empty() && from.file.exists() {
                found.insert(from);
            }
            continue;
        };
        match first {
            Segment::Literal(name) => pending.push((rest, from.child(name))),
            Segment::Any => {
                // Any number of folders is none, or one and any number below it. The last `**`
                // stands for names too.
                if !rest.is_empty() {
                    pending.push((rest, from.clone()));
                }
                for (name, is_folder) in names(&from.file) {
                    if first.has(&name) {
                        let child = from.child(&name);
                        if rest.is_empty() {
                            pending.push((&[], child.clone()));
                        }
                        if is_folder {
                            pending.push((segments, child));
                        }
                    }
                }
            }
            Segment::Names { .. } => {
                let names = names(&from.file).into_iter();
                let names = names.filter(|(name, _)| first.has(name));
                pending.extend(names.map(|(name, _)| (rest, from.child(&name))));
            }
        }
    }
    Ok(())
}

/// The names in a folder, and of each whether it is a folder itself, and no link to one.
fn names(folder: &Path) -> Vec<(String, bool)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        Some((entry.file_name().into_string().ok()?, is_folder))
    });
    named.collect()
}

/// Whether the segments match exactly these names.
fn matches(segments: &[Segment], names: &[&str]) -> bool {
    // The numbers of names that the segments so far may have matched.
    let mut reached: BTreeSet<usize> = [0].into();
    for segment in segments {
        let mut next = BTreeSet::new();
        for &at in &reached {
            match segment {
                Segment::Any => {
                    next.insert(at);
                    let open = names.get(at..).unwrap_or_default().iter();
                    let open = open.take_while(|name| segment.has(name));
                    next.extend((at + 1..).zip(open).map(|(after, _)| after));
                }
                segment => {
                    if names.get(at).is_some_and(|name| segment.has(name)) {
                        next.insert(at + 1);
                    }
                }
            }
        }
        reached = next;
    }
    reached.contains(&names.len())
}
