//! Writes a run's record while it goes: what the loop that performs the run tells it (spec R13).

use std::io;
use std::time::Instant;

use super::head::Head;
use super::lines::Lines;
use super::recorder::{Recorder, Sink};
use super::write;
use crate::engine::{Answer, Effect, EffectId, Event, Item, Outcome, Step};

/// How much may wait to be handed over.
const FULL: usize = 64 << 10;

/// The record of a run, or nothing where none is kept. Its errors are the recorder's.
#[derive(Debug, Default)]
pub(in crate::harness) struct Journal(Option<Writer>);

#[derive(Debug)]
struct Writer {
    sink: Sink,
    lines: Lines,
    /// What was not handed over yet.
    text: Vec<u8>,
    start: Instant,
    /// How many milliseconds the record spans from before `start`.
    before: u64,
}

impl Journal {
    /// Begins the record of a run, where there is a recorder, with what the run was started with and
    /// the events of its parsing.
    pub(in crate::harness) fn begin(
        recorder: Option<&Recorder>,
        head: &Head,
        events: &[Event],
    ) -> io::Result<Self> {
        let Some(recorder) = recorder else {
            return Ok(Self(None));
        };
        let mut writer = Writer::new(recorder.take()?, Lines::default(), 0);
        write::head(&mut writer.text, head)?;
        for event in events {
            write::event(&mut writer.text, event)?;
        }
        writer.flush()?;
        Ok(Self(Some(writer)))
    }

    /// Goes on with a record that spans so many milliseconds. `text` are the lines that the step
    /// which it breaks off in put out beyond it.
    pub(in crate::harness) fn resume(
        sink: Sink,
        lines: Lines,
        before: u64,
        text: &[u8],
    ) -> io::Result<Self> {
        let mut writer = Writer::new(sink, lines, before);
        writer.text.extend_from_slice(text);
        writer.flush()?;
        Ok(Self(Some(writer)))
    }

    /// Writes what a step put out. `reaches_out` says of which effects something is left that
    /// outlives this process: the lines before these are handed over now, those before others when
    /// there is more, or the run waits.
    pub(in crate::harness) fn step(
        &mut self,
        step: &Step,
        reaches_out: impl Fn(&Effect) -> bool,
    ) -> io::Result<()> {
        let Some(writer) = &mut self.0 else {
            return Ok(());
        };
        let at = writer.at();
        writer.lines.step(&mut writer.text, step, at)?;
        let reaches_out = |item: &Item| match item {
            Item::Effect(issued) => reaches_out(&issued.effect),
            Item::Event(_) => false,
        };
        if writer.text.len() >= FULL || step.items.iter().any(reaches_out) {
            writer.flush()?;
        }
        Ok(())
    }

    /// Writes an answer that the run is about to be handed.
    pub(in crate::harness) fn answer(&mut self, id: EffectId, answer: &Answer) -> io::Result<()> {
        let Some(writer) = &mut self.0 else {
            return Ok(());
        };
        let at = writer.at();
        writer.lines.answer(&mut writer.text, id, answer, at)?;
        match answer {
            // What a model or a tool has answered must not be asked for again, however long the
            // step takes that comes next.
            Answer::Model(_) | Answer::Tool(_) => writer.flush(),
            Answer::Store(_) | Answer::Fired | Answer::Broken(_) => Ok(()),
        }
    }

    /// Writes a stop and the effects that it reached, if it reached any.
    pub(in crate::harness) fn stop(&mut self, reached: &[EffectId]) -> io::Result<()> {
        match &mut self.0 {
            Some(writer) if !reached.is_empty() => {
                let at = writer.at();
                write::stop(&mut writer.text, at, reached)
            }
            _ => Ok(()),
        }
    }

    /// Writes how prepare ended the run, and ends the record.
    pub(in crate::harness) fn refused(&mut self, outcome: &Outcome) -> io::Result<()> {
        if let (Some(writer), Outcome::Cancelled) = (&mut self.0, outcome) {
            let at = writer.at();
            write::cancel(&mut writer.text, at, None)?;
        }
        self.outcome(outcome)
    }

    /// Hands over all there is.
    pub(in crate::harness) fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), Writer::flush)
    }

    /// Writes how the run ended, and ends the record.
    pub(in crate::harness) fn outcome(&mut self, outcome: &Outcome) -> io::Result<()> {
        let Some(mut writer) = self.0.take() else {
            return Ok(());
        };
        let at = writer.at();
        write::outcome(&mut writer.text, at, outcome)?;
        writer.flush()
    }
}

impl Writer {
    fn new(sink: Sink, lines: Lines, before: u64) -> Self {
        Self {
            sink,
            lines,
            text: Vec::with_capacity(FULL),
            start: Instant::now(),
            before,
        }
    }

    /// Whole milliseconds since the first line.
    fn at(&self) -> u64 {
        let here = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.before.saturating_add(here)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let written = self.sink.write(&self.text);
        self.text.clear();
        // One line may be as large as a file.
        self.text.shrink_to(FULL);
        written
    }
}
