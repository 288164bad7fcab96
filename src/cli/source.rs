//! Reads the texts that the command line names: prompts, input and argument strings.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use super::status::SetupError;

/// The largest prompt file that is read (spec C1).
pub const PROMPT_CAP: u64 = 64 << 20;

/// The largest input text or argument string that is read (spec C1).
pub const TEXT_CAP: u64 = 1 << 30;

/// Whether a file name means standard input.
pub fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Refuses a command that names standard input more than once: it can be read only once.
pub fn claim_stdin<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<(), SetupError> {
    if files.into_iter().filter(|file| is_stdin(file)).count() > 1 {
        let message = "`-` is given more than once, but standard input can be read only once";
        return Err(SetupError(message.to_owned()));
    }
    Ok(())
}

/// Reads a file, or standard input for `-`, as UTF-8 text of at most `cap` bytes.
pub fn read(file: &Path, cap: u64) -> Result<String, SetupError> {
    let bytes = if is_stdin(file) {
        read_capped(io::stdin().lock(), cap)
    } else {
        File::open(file).and_then(|opened| read_capped(opened, cap))
    };
    let reason = match bytes {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => return Ok(text),
            Err(error) => not_utf8(error.as_bytes(), error.utf8_error().valid_up_to()),
        },
        Err(error) => reason(&error, file, cap),
    };
    Err(SetupError(format!(
        "cannot read `{}`: {reason}",
        file.display()
    )))
}

/// Refuses what may wait for somebody when it is read, such as a FIFO.
pub fn refuse_irregular(file: &Path) -> Result<(), SetupError> {
    match fs::metadata(file) {
        Ok(known) if !known.is_file() => Err(SetupError(format!(
            "cannot read `{}`: it is not a regular file",
            file.display()
        ))),
        // What else is the matter is said by whoever reads it.
        _ => Ok(()),
    }
}

/// Reads to the end; a source that goes on past the cap is an error, however long it is.
fn read_capped(source: impl Read, cap: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(cap + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= cap) {
        Ok(bytes)
    } else {
        Err(ErrorKind::FileTooLarge.into())
    }
}

/// Why a file could not be read, in words that need no knowledge of the system.
fn reason(error: &io::Error, file: &Path, cap: u64) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        _ if file.is_dir() => "it is a folder".to_owned(),
        ErrorKind::FileTooLarge => format!("it is larger than {} MiB", cap >> 20),
        _ => error.to_string(),
    }
}

fn not_utf8(bytes: &[u8], valid: usize) -> String {
    let lines = bytes
        .iter()
        .take(valid)
        .filter(|&&byte| byte == b'\n')
        .count();
    format!(
        "it is not UTF-8 text: line {} holds a byte that cannot be read",
        lines + 1
    )
}
