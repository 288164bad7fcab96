//! Which files are prompts, and in which order they come (spec P11, P12).

use std::cmp::Ordering;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::PacketError;
use super::source::cause;

/// The place of a file without a numeric prefix among those with one (spec P12).
const UNNUMBERED: u128 = 9999;

/// The prompt files of a folder, in packet order; none where there is no such folder. `name` is
/// what messages call the folder. Hidden files and folders are no prompts.
pub(super) fn list(folder: &Path, name: &str) -> Result<Vec<PathBuf>, PacketError> {
    let failed = |error: std::io::Error| PacketError::File {
        deed: "list",
        file: name.to_owned(),
        cause: cause(&error),
    };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut own = Vec::new();
    let mut plain = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || !name.ends_with(".md") || entry.path().is_dir() {
            continue;
        }
        if name.ends_with(".prompt.md") {
            own.push((name, entry.path()));
        } else if !name.ends_with(".checklist.md") {
            plain.push((name, entry.path()));
        }
    }
    let mut files = if own.is_empty() { plain } else { own };
    files.sort_by(|(a, _), (b, _)| packet_order(a, b));
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

/// The leading digits of a file's name; `None` for none.
#[must_use]
pub fn prefix(file_name: &str) -> Option<&str> {
    let end = file_name.bytes().take_while(u8::is_ascii_digit).count();
    file_name.get(..end).filter(|digits| !digits.is_empty())
}

fn packet_order(a: &str, b: &str) -> Ordering {
    let number = |name: &str| {
        let digits = prefix(name).map(|digits| digits.parse().unwrap_or(u128::MAX));
        digits.unwrap_or(UNNUMBERED)
    };
    number(a).cmp(&number(b)).then_with(|| a.cmp(b))
}

/// What a file's name says without prefix and extension: `_` and `-` are spaces, and words begin
/// with a capital.
pub(super) fn title(file_name: &str) -> String {
    let stem = file_name.strip_suffix(".md").unwrap_or(file_name);
    let stem = stem.strip_suffix(".prompt").unwrap_or(stem);
    let stem = stem.get(prefix(stem).map_or(0, str::len)..).unwrap_or(stem);
    let words = stem.split(['_', '-', ' ']).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let mut chars = word.chars();
        let first: String = chars
            .next()
            .into_iter()
            .flat_map(char::to_uppercase)
            .collect();
        first + chars.as_str()
    };
    words.map(capital).collect::<Vec<_>>().join(" ")
}
