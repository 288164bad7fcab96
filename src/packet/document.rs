//! Documents: YAML frontmatter, then a Markdown body (spec P4 to P7).

use std::ops::Range;
use std::path::Path;

use serde_yaml::{Mapping, Value};

use super::error::PacketError;
use super::front_matter::{self, FrontMatterError};
use super::source;

/// The line that opens and closes the frontmatter.
const DELIMITER: &str = "---";

/// A document as read, or to be written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The keys, as text at every level and in the order of the file.
    pub keys: Mapping,
    /// The body, with LF line ends.
    pub body: String,
    /// The 1-based line of the file at which the body starts.
    pub body_line: usize,
}

impl Document {
    /// A document of these keys and this body, in which CRLF counts as LF.
    #[must_use]
    pub fn new(keys: Mapping, body: &str) -> Self {
        let mut document = Self {
            keys,
            body: lf(body),
            body_line: 1,
        };
        let rendered = document.render();
        let before = rendered
            .len()
            .saturating_sub(document.rendered_body().len());
        document.body_line += rendered
            .bytes()
            .take(before)
            .filter(|b| *b == b'\n')
            .count();
        document
    }

    /// Reads a document. `name` is what messages call its file.
    ///
    /// # Errors
    /// YAML that does not parse or is no map (spec P5).
    pub fn parse(text: &str, name: &str) -> Result<Self, PacketError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let text = lf(text);
        let Some((yaml, body)) = split(&text) else {
            return Ok(Self {
                keys: Mapping::new(),
                body: text,
                body_line: 1,
            });
        };
        let keys = front_matter::read(yaml).map_err(|error| match error {
            FrontMatterError::NotAMap => PacketError::NotAMap(name.to_owned()),
            FrontMatterError::Syntax(error) => {
                let mut cause = error.message;
                if !error.path.is_empty() {
                    cause = format!("{}: {cause}", error.path);
                }
                PacketError::Syntax {
                    file: name.to_owned(),
                    line: error.line + 1,
                    cause,
                }
            }
        })?;
        let lines = yaml.bytes().filter(|byte| *byte == b'\n').count();
        Ok(Self {
            keys,
            body: body.to_owned(),
            body_line: lines + 3,
        })
    }

    /// Reads the document of a file. `name` is what messages call it.
    ///
    /// # Errors
    /// A file that cannot be read, and those of [`parse`](Self::parse).
    pub fn read(file: &Path, name: &str) -> Result<Self, PacketError> {
        Self::parse(&source::read(file, name)?, name)
    }

    /// The text of the document, with one newline at its end (spec P7).
    #[must_use]
    pub fn render(&self) -> String {
        let mut out = format!("{DELIMITER}\n");
        if !self.keys.is_empty() {
            // Text, numbers, lists and maps with text for keys always have a YAML form.
            out += &serde_yaml::to_string(&plain_keys(&self.keys)).unwrap_or_default();
        }
        out += DELIMITER;
        out.push('\n');
        out += &self.rendered_body();
        out
    }

    /// The text with one key set to another value. The other lines of `text`, which this document
    /// was read from, stay as they are where the key stands in lines of its own or is new; else all
    /// is written anew.
    #[must_use]
    pub fn with_key(&self, text: &str, key: &str, value: Value) -> String {
        self.with_key_by(|| None, text, key, value)
    }

    /// The same, in the way that `edited` has it where that comes to the same keys and body.
    pub(super) fn with_key_by(
        &self,
        edited: impl FnOnce() -> Option<String>,
        text: &str,
        key: &str,
        value: Value,
    ) -> String {
        let mut wanted = self.clone();
        wanted.keys.insert(key.into(), value.clone());
        let is_right = |edited: &String| {
            let read = Self::parse(edited, "");
            read.is_ok_and(|read| {
                read.keys == wanted.keys && read.rendered_body() == wanted.rendered_body()
            })
        };
        let whole = |text: String| text.trim_end_matches('\n').to_owned() + "\n";
        let edited = edited().map(whole).filter(is_right);
        let edited = edited.or_else(|| edit(text, key, &value).map(whole).filter(is_right));
        edited.unwrap_or_else(|| wanted.render())
    }

    /// The body with one newline at its end; nothing where there is none.
    fn rendered_body(&self) -> String {
        let body = self.body.trim_end_matches(['\r', '\n']);
        match body.is_empty() {
            true => String::new(),
            false => format!("{body}\n"),
        }
    }
}

/// The text with LF line ends. However many CR stand before an LF, none of them stays: otherwise
/// what is written would not be what is read.
fn lf(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => {
                out += line.trim_end_matches('\r');
                out.push('\n');
            }
            None => out += line,
        }
    }
    out
}

/// The YAML and the body of a text that has frontmatter.
fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix(DELIMITER)?.strip_prefix('\n')?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        let after = at + line.len();
        if line.strip_suffix('\n').unwrap_or(line) == DELIMITER {
            return Some((rest.get(..at)?, rest.get(after..)?));
        }
        at = after;
    }
    None
}

/// The text with the lines of a top-level key replaced, or with the key after the others. What comes
/// of it need not be right: flow style and anchors are not looked at.
fn edit(text: &str, key: &str, value: &Value) -> Option<String> {
    let (yaml, _) = split(text)?;
    let mut entry = Mapping::new();
    entry.insert(key.into(), value.clone());
    let lines = serde_yaml::to_string(&plain_keys(&entry)).ok()?;
    let end = text.find('\n')? + 1 + yaml.len();
    let range = lines_of(text, key).unwrap_or(end..end);
    let (before, after) = (text.get(..range.start)?, text.get(range.end..)?);
    Some(format!("{before}{lines}{after}"))
}

/// Where in a text the lines of a top-level key are.
pub(super) fn lines_of(text: &str, key: &str) -> Option<Range<usize>> {
    let (yaml, _) = split(text)?;
    let start = text.find('\n')? + 1;
    let mut range = start..start;
    let mut at = start;
    let mut is_inside = false;
    for line in yaml.split_inclusive('\n') {
        // A blank line, and a comment at the edge, belongs to what comes after it.
        let is_between = line.trim().is_empty() || line.starts_with('#');
        let goes_on = line.starts_with([' ', '-']) || is_between;
        if is_inside && !goes_on {
            break;
        }
        if is_inside {
            if !is_between {
                range.end = at + line.len();
            }
        } else if line
            .strip_prefix(key)
            .is_some_and(|rest| rest.starts_with(':'))
        {
            is_inside = true;
            range = at..at + line.len();
        }
        at += line.len();
    }
    is_inside.then_some(range)
}

/// The same map with the keys that are whole numbers written as such: they are read as the same
/// text.
fn plain_keys(map: &Mapping) -> Mapping {
    let entries = map
        .iter()
        .map(|(key, value)| (plain_key(key), plain(value)));
    entries.collect()
}

fn plain(value: &Value) -> Value {
    match value {
        Value::Mapping(map) => Value::Mapping(plain_keys(map)),
        Value::Sequence(items) => Value::Sequence(items.iter().map(plain).collect()),
        other => other.clone(),
    }
}

fn plain_key(key: &Value) -> Value {
    let number = key.as_str().and_then(|text| {
        let number = text.parse::<i64>().ok()?;
        (number.to_string() == text).then_some(number)
    });
    number.map_or_else(|| key.clone(), Value::from)
}
