//! Writes a run's record while it goes: what the loop that performs the run tells it (spec R13).

use std::io;

use super::clock::Clock;
use super::head::Head;
use super::lines::Lines;
use super::out::Out;
use super::recorder::{Recorder, Sink};
use super::write;
use crate::engine::{Answer, EffectId, Event, Outcome, Step};

/// How much may wait to be handed over.
const FULL: usize = 128 << 10;

/// The record of a run, or nothing where none is kept. Its errors are the recorder's.
#[derive(Debug, Default)]
pub(in crate::harness) struct Journal(Option<Writer>);

#[derive(Debug)]
struct Writer {
    out: Out,
    lines: Lines,
    /// What was not handed over yet.
    text: Vec<u8>,
    clock: Clock,
    /// Whether the run went on at once since the clock was last looked at.
    hurries: bool,
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

    /// Writes what a step put out. Where there is much to be handed over, that begins now, and the
    /// run goes on meanwhile.
    pub(in crate::harness) fn step(&mut self, step: &Step) -> io::Result<()> {
        let Some(writer) = &mut self.0 else {
            return Ok(());
        };
        let at = match writer.hurries {
            true => writer.clock.tick(),
            false => writer.clock.now(),
        };
        writer.lines.step(&mut writer.text, step, at)?;
        match writer.text.len() >= FULL {
            true => writer.out.write_behind(&mut writer.text),
            false => Ok(()),
        }
    }

    /// Writes an answer that the run is about to be handed. One that came at once has the moment of
    /// the step before it, since to ask for the time takes longer than it took.
    pub(in crate::harness) fn answer(
        &mut self,
        id: EffectId,
        answer: &Answer,
        at_once: bool,
    ) -> io::Result<()> {
        let Some(writer) = &mut self.0 else {
            return Ok(());
        };
        writer.hurries = at_once;
        let at = match at_once {
            true => writer.clock.last(),
            false => writer.clock.now(),
        };
        writer.lines.answer(&mut writer.text, id, answer, at)?;
        Ok(())
    }

    /// Writes a stop and the effects that it reached, if it reached any.
    pub(in crate::harness) fn stop(&mut self, reached: &[EffectId]) -> io::Result<()> {
        match &mut self.0 {
            Some(writer) if !reached.is_empty() => {
                let at = writer.clock.now();
                write::stop(&mut writer.text, at, reached)
            }
            _ => Ok(()),
        }
    }

    /// Writes how prepare ended the run, and ends the record.
    pub(in crate::harness) fn refused(&mut self, outcome: &Outcome) -> io::Result<()> {
        if let (Some(writer), Outcome::Cancelled) = (&mut self.0, outcome) {
            let at = writer.clock.now();
            write::cancel(&mut writer.text, at, None)?;
        }
        self.outcome(outcome)
    }

    /// Hands over all there is, and waits until it is: before anything is done of which something
    /// is left that outlives this process, before the run waits, and before it goes on with an
    /// answer that must not be asked for again.
    pub(in crate::harness) fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), Writer::flush)
    }

    /// Writes how the run ended, and ends the record.
    pub(in crate::harness) fn outcome(&mut self, outcome: &Outcome) -> io::Result<()> {
        let Some(mut writer) = self.0.take() else {
            return Ok(());
        };
        let at = writer.clock.now();
        write::outcome(&mut writer.text, at, outcome)?;
        writer.flush()
    }
}

impl Writer {
    fn new(sink: Sink, lines: Lines, before: u64) -> Self {
        Self {
            out: Out::new(sink),
            lines,
            text: Vec::new(),
            clock: Clock::new(before),
            hurries: false,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.out.write(&mut self.text);
        // One line may be as large as a file.
        self.text.shrink_to(2 * FULL);
        written
    }
}
