//! The signals that end a packet's run (spec P121).

use std::io;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::{self, Builder};
use std::time::Duration;

use runvil::packet::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::super::status::Status;

/// How long the run has to end by itself after a second signal.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Listens for signals until the process ends.
pub struct Listener {
    /// What is raised by the first signal, and by the second.
    pub interrupt: Interrupt,
    first: Arc<AtomicI32>,
}

impl Listener {
    /// From here on the first SIGINT, SIGTERM or SIGHUP interrupts the run. A second one kills what
    /// is left of it, and ends the process.
    pub fn start() -> io::Result<Self> {
        let listener = Self {
            interrupt: Interrupt::default(),
            first: Arc::default(),
        };
        let mut listened = vec![SIGINT, SIGTERM];
        // `nohup` has SIGHUP ignored, and means it.
        listened.extend((!is_ignored(SIGHUP)).then_some(SIGHUP));
        let mut signals = Signals::new(listened)?;
        let (interrupt, first) = (listener.interrupt.clone(), listener.first.clone());
        Builder::new()
            .name("runvil-signals".to_owned())
            .spawn(move || {
                for signal in signals.forever() {
                    let is_first = first
                        .compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst)
                        .is_ok();
                    if is_first {
                        interrupt.stop.cancel();
                        continue;
                    }
                    interrupt.kill.cancel();
                    thread::sleep(LAST_WORDS);
                    process::exit(128 + first.load(Ordering::SeqCst));
                }
            })?;
        Ok(listener)
    }

    /// The status of a run that the first signal ended.
    pub fn status(&self) -> Status {
        match u8::try_from(self.first.load(Ordering::SeqCst)) {
            Ok(signal) if signal > 0 => Status::Signal(signal),
            _ => Status::Cancelled,
        }
    }
}

/// Whether whoever started this process has a signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
