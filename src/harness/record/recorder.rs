//! Where a run's record goes.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use super::lock::lock;

/// Takes the record of one run (spec R13, R14). A clone is the same recorder, and the first run that
/// is given it has it: that of another fails, since two runs never mix their records.
#[derive(Clone)]
pub struct Recorder(Arc<Mutex<Option<Sink>>>);

impl Recorder {
    /// Records into anything that takes bytes. Lines are handed over before the effects that they
    /// announce start, whole ones each time, and none again.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        Self::of(Sink::Writer(Box::new(out)))
    }

    /// Records into a file that is open for writing. What is in it goes once the record begins, so
    /// that a run which never does (a setup error, spec R17) leaves it as it was.
    pub fn file(file: File) -> Self {
        Self::of(Sink::File {
            file,
            is_durable: false,
            has_begun: false,
        })
    }

    /// As [`Recorder::file`], and every line is on the disk before the effects that it announces
    /// start.
    pub fn durable(file: File) -> Self {
        Self::of(Sink::File {
            file,
            is_durable: true,
            has_begun: false,
        })
    }

    /// Goes on with the record that a file holds up to where it stands.
    pub(in crate::harness) fn appending(file: File, is_durable: bool) -> Sink {
        Sink::File {
            file,
            is_durable,
            has_begun: true,
        }
    }

    fn of(sink: Sink) -> Self {
        Self(Arc::new(Mutex::new(Some(sink))))
    }

    /// Has the file be this process's to write from now on, so that it is known before the run
    /// whether it can be. What takes bytes otherwise is nobody else's.
    ///
    /// # Errors
    /// Another process is writing it.
    pub fn claim(&self) -> io::Result<()> {
        let sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sink.as_ref().map_or(Ok(()), Sink::claim)
    }

    /// The recorder, for the one run that has it.
    ///
    /// # Errors
    /// Another run has it, or another process has the file.
    pub(in crate::harness) fn take(&self) -> io::Result<Sink> {
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sink = sink
            .take()
            .ok_or_else(|| io::Error::other("the recorder is another run's"))?;
        sink.claim().map(|()| sink)
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

/// What takes the lines.
pub(in crate::harness) enum Sink {
    Writer(Box<dyn Write + Send>),
    File {
        file: File,
        is_durable: bool,
        has_begun: bool,
    },
}

impl Sink {
    fn claim(&self) -> io::Result<()> {
        match self {
            Self::File { file, .. } if lock(file).is_err() => {
                Err(io::Error::other("another process is writing it"))
            }
            _ => Ok(()),
        }
    }

    /// Hands over whole lines.
    pub(in crate::harness) fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        match self {
            Self::Writer(out) => {
                out.write_all(lines)?;
                out.flush()
            }
            Self::File {
                file,
                is_durable,
                has_begun,
            } => {
                if !*has_begun {
                    *has_begun = true;
                    let known = file.metadata()?;
                    if known.is_file() && known.len() > 0 {
                        file.set_len(0)?;
                    }
                }
                file.write_all(lines)?;
                if *is_durable {
                    file.sync_data()
                } else {
                    Ok(())
                }
            }
        }
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sink")
    }
}
