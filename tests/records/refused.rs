//! Records that cannot be written.

use std::fs::{self, File};
use std::io;

use runvil::Outcome;
use runvil::engine::RunErrorKind;
use runvil::harness::record::Recorder;
use runvil::harness::{Harness, Launch};

use crate::made::{Memory, line_with, lines, prompt};
use crate::process::{finish, runvil};

/// Fails from a byte on, as a disk that is full does.
struct Full(usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn outcome(recorder: Recorder) -> (Outcome, Vec<String>, bool) {
    let lua = "for i = 1, 100 do store.write('f' .. i, 'x') log('x') end return 'done'";
    let folder = tempfile::tempdir().unwrap();
    let launch = Launch {
        record: Some(recorder),
        store: Some(runvil::harness::Store::directory(folder.path()).unwrap()),
        ..Launch::default()
    };
    let mut events = Vec::new();
    let report = Harness::default().run(&prompt("", lua, ""), launch, &mut |event| {
        events.push(event.kind.name().to_owned());
    });
    let wrote = folder.path().join("f1").exists();
    (report.outcome, events, wrote)
}

#[test]
fn a_recorder_that_fails_ends_the_run() {
    // spec R17
    let memory = Memory::default();
    outcome(Recorder::new(memory.clone()));
    let whole = memory.bytes();
    let start = |of: &str| {
        let (at, _) = line_with(&whole, &[of]);
        lines(&whole)
            .iter()
            .take(at)
            .map(|line| line.len() + 1)
            .sum()
    };
    let (head, first): (usize, usize) = (start("parse_started"), start(r#""t":"effect""#));
    for (room, begins, writes) in [
        (head - 40, false, false),
        // A moment takes more digits or fewer.
        (first - 40, true, false),
        (first + 40, true, true),
    ] {
        let (outcome, events, wrote) = outcome(Recorder::new(Full(room)));
        let Outcome::Failed(error) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(error.kind, RunErrorKind::Internal);
        assert_eq!(
            error.message,
            "the record cannot be written: no storage space"
        );
        assert_eq!(events.contains(&"run_failed".to_owned()), begins, "{room}");
        assert_eq!(wrote, writes, "nothing is done that is not recorded");
    }
}

#[test]
fn a_pipe_that_nobody_reads_ends_the_run() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let (outcome, ..) = outcome(Recorder::new(writer));
    assert!(
        matches!(&outcome, Outcome::Failed(error) if error.message.contains("Broken pipe")),
        "{outcome:?}"
    );
}

#[test]
fn two_runs_never_share_a_recorder() {
    // spec R18
    let recorder = Recorder::new(io::sink());
    let (first, ..) = outcome(recorder.clone());
    assert_eq!(first, Outcome::Completed("done".to_owned()));
    let (second, ..) = outcome(recorder);
    assert!(
        matches!(&second, Outcome::Failed(error) if error.message.contains("another run's")),
        "{second:?}"
    );
}

#[test]
fn a_record_is_one_processs_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r");
    let held = File::create(&file).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let opened = File::options().write(true).open(&file).unwrap();
    let (outcome, ..) = outcome(Recorder::file(opened));
    assert!(
        matches!(&outcome, Outcome::Failed(error) if error.message.contains("another process")),
        "{outcome:?}"
    );
}

#[test]
fn a_full_disk_and_a_folder_that_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.md"), prompt("", "return 'x'", "")).unwrap();
    let run = |record: &str| {
        let words = ["run", "p.md", "--record", record];
        finish(
            runvil(folder.path(), words)
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped()),
            "",
        )
    };
    if fs::metadata("/dev/full").is_ok() {
        let finished = run("/dev/full");
        assert_eq!((finished.status, finished.stdout.as_str()), (Some(1), ""));
        assert_eq!(
            finished.stderr,
            "error[Internal]: the record cannot be written: No space left on device (os error 28)\n"
        );
    }
    if fs::metadata("/sys/kernel").is_ok() {
        let finished = run("/sys/kernel/no-record");
        assert_eq!(finished.status, Some(2));
        let start = "error: cannot record to `/sys/kernel/no-record`: ";
        assert!(finished.stderr.starts_with(start), "{}", finished.stderr);
    }
}
