//! The journal of a run: what happened to it, a line of JSON each (spec P118).

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::append::Appender;
use super::clock;
use super::error::StateError;
use super::read::read;

/// The schema of a line.
const SCHEMA: u64 = 1;

/// A journal that can be appended to.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    run_id: String,
    last_seq: u64,
    /// The bytes of whole lines, where a torn one follows them.
    torn_at: Option<usize>,
    file: Option<Appender>,
}

impl Journal {
    /// Reads the journal of a run; one that is not there is empty.
    ///
    /// # Errors
    /// [`StateError::Journal`]: a line that is bad, or a gap before it. A last line that was cut
    /// off is none: it is set aside before the next one is appended.
    pub fn open(path: PathBuf, run_id: &str) -> Result<Self, StateError> {
        let bytes = read(&path).map_err(|error| StateError::file("read", &path, &error))?;
        Self::parse(path, run_id, &bytes.unwrap_or_default())
    }

    /// The journal that the bytes of a file say; `path` is where it is written.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn parse(path: PathBuf, run_id: &str, bytes: &[u8]) -> Result<Self, StateError> {
        let mut last_seq = 0;
        let mut torn_at = None;
        let mut at = 0;
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let whole = line.strip_suffix(b"\n");
            match seq_of(whole.unwrap_or(line)) {
                Some(seq) if seq == last_seq + 1 => last_seq = seq,
                None if whole.is_none() => torn_at = Some(at),
                _ => {
                    let line = index + 1;
                    return Err(StateError::Journal { path, line });
                }
            }
            at += line.len();
        }
        Ok(Self {
            path,
            run_id: run_id.to_owned(),
            last_seq,
            torn_at,
            file: None,
        })
    }

    /// The number of the last line; 0 for none.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Appends a line.
    ///
    /// # Errors
    /// A line that cannot be written.
    pub fn append(&mut self, kind: &str, data: &Value) -> Result<(), StateError> {
        let seq = self.last_seq + 1;
        let line = json!({
            "schema": SCHEMA,
            "run_id": self.run_id,
            "seq": seq,
            "at": clock::now().to_string(),
            "type": kind,
            "data": data,
        });
        self.write(&line.to_string())
            .map_err(|error| StateError::write(&self.path, &error))?;
        self.last_seq = seq;
        Ok(())
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        if let Some(at) = self.torn_at {
            set_aside(&self.path, at)?;
            self.torn_at = None;
        }
        let mut file = match self.file.take() {
            Some(file) => file,
            None => Appender::open(&self.path)?,
        };
        let written = file.line(line);
        self.file = Some(file);
        written
    }
}

/// The number of a line; `None` for what is no line of a journal.
fn seq_of(line: &[u8]) -> Option<u64> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let is_ours = line["schema"].as_u64() == Some(SCHEMA) && line["type"].is_string();
    line["seq"].as_u64().filter(|_| is_ours)
}

/// Moves what follows the whole lines of a journal to a file of its own, which is there before it
/// is taken away here.
fn set_aside(path: &Path, at: usize) -> io::Result<()> {
    let bytes = read(path)?.unwrap_or_default();
    let (whole, torn) = bytes.split_at_checked(at).unwrap_or((&bytes, &[]));
    let mut number = 1;
    let aside = loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".torn.{number}"));
        let aside = PathBuf::from(name);
        if !aside.exists() {
            break aside;
        }
        number += 1;
    };
    super::replace::replace(&aside, torn)?;
    super::replace::replace(path, whole)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn line(seq: u64) -> String {
        format!("{{\"schema\":1,\"run_id\":\"r\",\"seq\":{seq},\"type\":\"run_running\"}}")
    }

    fn parse(text: &str) -> Result<Journal, StateError> {
        Journal::parse(PathBuf::from("j"), "r", text.as_bytes())
    }

    #[test]
    fn lines_are_counted() {
        assert_eq!(parse("").unwrap().last_seq(), 0);
        let two = format!("{}\n{}\n", line(1), line(2));
        assert_eq!(parse(&two).unwrap().last_seq(), 2);
        let without_end = two.trim_end();
        assert_eq!(parse(without_end).unwrap().last_seq(), 2);
    }

    #[test]
    fn a_bad_line_or_a_gap_is_named() {
        let at = |text: String| parse(&text).unwrap_err().to_string();
        assert_eq!(at(format!("{}\n", line(2))), "run journal is corrupt: j:1");
        let gap = format!("{}\n{}\n", line(1), line(3));
        assert_eq!(at(gap), "run journal is corrupt: j:2");
        let bad = format!("{}\n{{\n{}\n", line(1), line(2));
        assert_eq!(at(bad), "run journal is corrupt: j:2");
        assert_eq!(at("\n".to_owned()), "run journal is corrupt: j:1");
        let twice = format!("{}\n{}", line(1), line(1));
        assert_eq!(at(twice), "run journal is corrupt: j:2");
    }

    /// K34, its end.
    #[test]
    fn half_a_line_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let aside = |number| folder.path().join(format!("journal.jsonl.torn.{number}"));
        for number in 1..=2 {
            let mut text = fs::read_to_string(&path).unwrap_or_default();
            text += "{\"schema\":1,\"se";
            fs::write(&path, text).unwrap();
            let mut journal = Journal::open(path.clone(), "r").unwrap();
            journal.append("run_resumed", &json!({})).unwrap();
            assert_eq!(journal.last_seq(), number);
            assert_eq!(
                fs::read_to_string(aside(number)).unwrap(),
                "{\"schema\":1,\"se"
            );
        }
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert_eq!(Journal::open(path, "r").unwrap().last_seq(), 2);
    }
}
