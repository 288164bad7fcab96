//! Every case is recorded and replayed (case 07/2): no difference, and the same events and outcome.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use runvil::harness::record::{Line, Reader};
use runvil::harness::{Report, replay};
use serde_json::Value;

/// A record in memory.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    pub fn bytes(&self) -> Vec<u8> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.clone()
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Replays what a run recorded, and looks at its lines.
///
/// # Errors
/// What differs.
pub fn check(record: &[u8], report: &Report, events: &[Value]) -> Result<(), String> {
    if report.is_setup_error() {
        return match record {
            [] => Ok(()),
            _ => Err("a setup error has a record".to_owned()),
        };
    }
    let mut seen = Vec::new();
    let replayed = replay(record, &mut |event| {
        seen.push(serde_json::to_value(event).unwrap_or_default());
    })
    .map_err(|error| format!("its record cannot be replayed: {error}"))?;
    if replayed.is_torn || replayed.outcome.as_ref() != Some(&report.outcome) {
        return Err(format!(
            "its replay ended as {:?}, not as {:?}",
            replayed.outcome, report.outcome
        ));
    }
    if seen != events {
        return Err("its replay had other events".to_owned());
    }
    answered_once(record)
}

/// Every effect of a finished record has exactly one answer line, with its coordinates (spec R14).
fn answered_once(record: &[u8]) -> Result<(), String> {
    let mut open = std::collections::BTreeMap::new();
    let mut ids = 0..;
    for line in Reader::new(record) {
        match line.map_err(|error| error.to_string())?.1 {
            Line::Effect(line) => {
                if ids.next() != Some(line.id.0) {
                    return Err(format!("{:?} is not the next id", line.id));
                }
                open.insert(line.id, (line.task, line.seq));
            }
            Line::Answer(line) if open.remove(&line.id) != Some((line.task.clone(), line.seq)) => {
                return Err(format!("{:?} is answered again, or elsewhere", line.id));
            }
            _ => {}
        }
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(format!("the record has no answers to {open:?}")),
    }
}
