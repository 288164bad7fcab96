//! Whether the run of a record is over (spec R14, R16).

use std::io::{self, Read, Seek, SeekFrom};

use super::line::{Kind, START};

/// How the line of an outcome begins as it is written.
const OUTCOME: &[u8] = br#"{"v":1,"t":"outcome","#;

/// How much of a record is looked at at a time.
const PIECE: u64 = 1 << 16;

/// Whether the last whole line of a record is an outcome: then its run has ended. It is looked for
/// from the end, a piece at a time, since a record may be as long as it likes, and so may the line.
/// Where the source then stands is not said.
///
/// # Errors
/// The source's own.
///
/// ```
/// use std::io::Cursor;
/// use runvil::harness::record::has_ended;
///
/// let record = "{\"v\":1,\"t\":\"outcome\",\"at\":9,\"outcome\":\"cancelled\"}\n";
/// assert!(has_ended(Cursor::new(record)).unwrap());
/// ```
pub fn has_ended(mut record: impl Read + Seek) -> io::Result<bool> {
    let length = record.seek(SeekFrom::End(0))?;
    let Some(end) = last_line_feed(&mut record, length)? else {
        return Ok(false);
    };
    let start = last_line_feed(&mut record, end)?.map_or(0, |before| before + 1);
    record.seek(SeekFrom::Start(start))?;
    let mut line = Vec::new();
    let mut record = record.take(end - start);
    (&mut record)
        .take(OUTCOME.len() as u64)
        .read_to_end(&mut line)?;
    if line.starts_with(START.as_bytes()) {
        return Ok(line == OUTCOME);
    }
    // It may be written in another way.
    record.read_to_end(&mut line)?;
    let text = str::from_utf8(&line).ok();
    Ok(text.is_some_and(|text| matches!(Kind::of(text), Ok(Kind::Outcome))))
}

/// Where the last line feed before a place is.
fn last_line_feed(mut record: impl Read + Seek, before: u64) -> io::Result<Option<u64>> {
    let (mut end, mut piece) = (before, Vec::new());
    while end > 0 {
        let start = end.saturating_sub(PIECE);
        record.seek(SeekFrom::Start(start))?;
        piece.clear();
        (&mut record).take(end - start).read_to_end(&mut piece)?;
        if let Some(at) = memchr::memrchr(b'\n', &piece) {
            return Ok(Some(start + at as u64));
        }
        end = start;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn an_ended_record_is_known_by_its_last_whole_line() {
        let ended = |text: &str| has_ended(Cursor::new(text)).expect("it can be read");
        let outcome = r#"{"v":1,"t":"outcome","at":1,"outcome":"cancelled"}"#;
        let other_form = r#"{ "t": "outcome", "at": 1, "outcome": "cancelled", "v": 1 }"#;
        let long = format!(
            r#"{{"v":1,"t":"outcome","text":"{}"}}"#,
            "x".repeat(200_000)
        );
        for before in ["", "{}\n", &format!("{long}\n")] {
            for last in [outcome, other_form, &long] {
                assert!(ended(&format!("{before}{last}\n")));
                assert!(ended(&format!("{before}{last}\ntorn")));
                assert!(!ended(&format!("{before}{{}}\n{last}")));
            }
            assert!(!ended(&format!("{before}{{}}\n")));
        }
        assert!(!ended(""));
        assert!(!ended(outcome));
    }
}
