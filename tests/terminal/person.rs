//! A person at a terminal, who waits for what the process says and types.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use crate::process::{Finished, runvil};
use crate::terminal;

/// A process whose standard input and standard error are a terminal.
pub struct Person {
    pub child: Child,
    hands: File,
    seen: Arc<Mutex<Vec<u8>>>,
    eyes: JoinHandle<()>,
}

impl Person {
    /// Starts a command in a folder.
    pub fn start(folder: &Path, words: &[&str]) -> Self {
        let (person, process) = terminal();
        let mut command = runvil(folder, words);
        command
            .env("TERM", "xterm")
            .stdin(process.try_clone().unwrap())
            .stdout(Stdio::piped())
            .stderr(process);
        let child = command.spawn().unwrap();
        // The command holds the process's end of the terminal.
        drop(command);
        let hands = File::from(person);
        let seen = Arc::<Mutex<Vec<u8>>>::default();
        let (mut watched, seeing) = (hands.try_clone().unwrap(), seen.clone());
        let eyes = thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = watched.read(&mut chunk) {
                seeing.lock().unwrap().extend_from_slice(&chunk[..count]);
            }
        });
        Self {
            child,
            hands,
            seen,
            eyes,
        }
    }

    /// All that has appeared so far.
    pub fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    /// Waits until what has appeared ends so.
    #[track_caller]
    pub fn wait_for(&self, end: &str) {
        let begun = Instant::now();
        while !self.seen().ends_with(end) {
            let seen = self.seen();
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "no {end:?} in {seen:?}"
            );
            sleep(Duration::from_millis(2));
        }
    }

    pub fn types(&mut self, keys: &str) {
        self.hands.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end; standard error is what appeared on the terminal.
    pub fn finish(mut self) -> Finished {
        let mut stdout = String::new();
        let mut pipe = self.child.stdout.take().unwrap();
        pipe.read_to_string(&mut stdout).unwrap();
        let status = self.child.wait().unwrap().code();
        self.eyes.join().unwrap();
        let stderr = String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned();
        Finished {
            status,
            stdout,
            stderr,
        }
    }
}
