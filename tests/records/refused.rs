//! Records that cannot be written.

use std::fs::{self, File};
use std::io;

use runvil::Outcome;
use runvil::engine::RunErrorKind;
use runvil::harness::record::Recorder;
use runvil::harness::{Harness, Launch, replay};

use crate::made::{Memory, line_with, lines, prompt, record};
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

/// A run that waits for nobody is further than its record when that fails.
#[test]
fn a_recorder_that_fails_behind_a_run_ends_it() {
    // spec R14, R17
    let lua = "for i = 1, 5000 do store.write('f', 'some text ' .. i) end return 'done'";
    let source = prompt("", lua, "");
    let (_, whole) = record(&source, Launch::default());
    assert!(whole.len() > 1 << 20);
    for room in [4, 2].map(|part| whole.len() / part) {
        let launch = Launch {
            record: Some(Recorder::new(Full(room))),
            ..Launch::default()
        };
        let mut seen = 0;
        let report = Harness::default().run(&source, launch, &mut |_| seen += 1);
        let Outcome::Failed(error) = report.outcome else {
            panic!("{:?}", report.outcome)
        };
        let wanted = "the record cannot be written: no storage space";
        assert_eq!(
            (error.kind, error.message.as_str()),
            (RunErrorKind::Internal, wanted)
        );
        // What is on its way is bounded, so the run has not got far meanwhile.
        let ahead = 1 << 20;
        let fair = lines(&whole).len() * (room + ahead) / whole.len();
        assert!(seen < fair, "{seen} events, room for {room} bytes");
    }
}

/// What a long run hands over while it goes on is what a run hands over that waits.
#[test]
fn a_long_record_is_whole_and_the_same_again() {
    // spec R8, R13, R14, R15
    let lua = "for i = 1, 3000 do local p = 'f' .. i % 7 store.write(p, 'quo\"ted\\n' .. i) \
               store.read(p) store.exists(p) end return 'done'";
    let source = prompt("", lua, "");
    let same = |record: &[u8]| {
        let moment = regex::Regex::new(r#""at":[0-9]+|"run_id":"[0-9a-f]+"|"started_at":"[^"]+""#);
        let text = std::str::from_utf8(record).unwrap();
        moment.unwrap().replace_all(text, "").into_owned()
    };
    let (_, first) = record(&source, Launch::default());
    let (report, second) = record(&source, Launch::default());
    assert_eq!(report.outcome, Outcome::Completed("done".to_owned()));
    assert!(first.len() > 1 << 20);
    assert_eq!(same(&first), same(&second));
    let mut seen = 0_u64;
    let replayed = replay(&first[..], &mut |_| seen += 1).unwrap();
    assert_eq!(replayed.outcome, Some(report.outcome));
    assert_eq!(replayed.lines, lines(&first).len() as u64);
    // However little of it is at hand at a time.
    for room in [1, 100, 5000] {
        let source = std::io::BufReader::with_capacity(room, &first[..]);
        assert_eq!(replay(source, &mut |_| {}).unwrap().lines, replayed.lines);
    }
    let events = lines(&first)
        .iter()
        .filter(|line| line.contains(r#""t":"event""#))
        .count();
    assert_eq!(seen, events as u64);
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
        let shown = "error[Internal]: the record cannot be written: No space left on device (os \
                     error 28)\n --> src/harness/";
        assert!(finished.stderr.starts_with(shown), "{}", finished.stderr);
    }
    if fs::metadata("/sys/kernel").is_ok() {
        let finished = run("/sys/kernel/no-record");
        assert_eq!(finished.status, Some(2));
        let start = "error: cannot record to `/sys/kernel/no-record`: ";
        assert!(finished.stderr.starts_with(start), "{}", finished.stderr);
    }
}
