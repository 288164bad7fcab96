use std::fs;
use std::path::Path;
use std::time::Duration;

use super::{Simulated, class};
use crate::packet::config_home::ConfigHome;
use crate::packet::interrupt::Interrupt;
use crate::packet::packet::Packet;
use crate::packet::provider::{Deadline, Ended, Event, Job, Provider, Setting, Sink};
use crate::packet::state::Mode;

/// Keeps what a session reports.
#[derive(Default)]
struct Kept {
    events: Vec<Event>,
    ids: Vec<String>,
}

impl Sink for Kept {
    fn event(&mut self, event: Event) {
        self.events.push(event);
    }

    fn session_id(&mut self, id: &str) {
        self.ids.push(id.to_owned());
    }

    fn log(&mut self, _line: &str) {}

    fn warn(&mut self, _line: &str) {}
}

/// Plays attempts of a script, each with so many resumes, in a packet of its own.
fn play(
    simulate: &str,
    plays: &[(u64, u64)],
    bound: Duration,
    interrupt: &Interrupt,
) -> (tempfile::TempDir, Vec<Ended>, Kept) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("prompts")).unwrap();
    fs::create_dir_all(root.join("app")).unwrap();
    let manifest = "---\nprovider: simulated\nrepos: {app: {path: app}}\n---\n";
    fs::write(root.join("prompt_runner_packet.md"), manifest).unwrap();
    let prompt = format!("---\nid: 1\nsimulate: {simulate}\n---\n# B\n");
    fs::write(root.join("prompts/01_b.prompt.md"), prompt).unwrap();
    let packet = Packet::load(root, &ConfigHome::default()).unwrap();
    let prompt = packet.prompt("01").unwrap();
    let options = packet.options(Some(prompt), &Default::default()).unwrap();
    let mut kept = Kept::default();
    let mut ends = Vec::new();
    for &(attempt, resumes) in plays {
        let job = Job {
            setting: Setting {
                packet: &packet,
                prompt,
                options: &options,
            },
            text: "",
            repair: None,
            failures: &[],
            attempt,
            mode: Mode::Run,
            deadline: Deadline::after(bound),
            interrupt,
            files: root.join("s"),
        };
        let mut session = Simulated.open(&job).unwrap();
        ends.push(session.start(&mut kept));
        for number in 0..resumes {
            assert!(session.can_resume());
            ends.push(session.resume(number, &mut kept));
        }
    }
    (folder, ends, kept)
}

fn play_once(simulate: &str) -> (tempfile::TempDir, Ended, Kept) {
    let interrupt = Interrupt::default();
    let (folder, mut ends, kept) = play(simulate, &[(1, 0)], Duration::from_secs(60), &interrupt);
    (folder, ends.remove(0), kept)
}

fn read(root: &Path, path: &str) -> Option<String> {
    fs::read_to_string(root.join(path)).ok()
}

/// P132, K42.
#[test]
fn files_are_written_before_any_event() {
    let script = "{attempts: {writes: [{path: a, text: x}, {path: a, text: y, append: 'true'}, \
                  {text: z}, {path: deep/b, text: 1}, {repo: packet, path: c}], label: L, \
                  messages: [one, two]}}";
    let (folder, ended, kept) = play_once(script);
    assert_eq!(ended, Ended::Succeeded);
    let app = folder.path().join("app");
    assert_eq!(read(&app, "a").as_deref(), Some("xy"));
    assert_eq!(read(&app, "simulated.out").as_deref(), Some("z"));
    assert_eq!(read(&app, "deep/b").as_deref(), Some("1"));
    assert_eq!(read(folder.path(), "c").as_deref(), Some(""));
    let names: Vec<&str> = kept.events.iter().map(Event::name).collect();
    let expected = [
        "run_started",
        "message_streamed",
        "message_streamed",
        "run_completed",
    ];
    assert_eq!(names, expected);
    assert_eq!(kept.ids, ["simulated-01-1"]);
}

#[test]
fn nothing_is_written_where_one_path_leads_outside() {
    for path in ["../../../etc/x", "/tmp/x", "gone/../../../x"] {
        let script = format!("{{attempts: [{{writes: [{{path: a}}, {{path: {path}}}]}}]}}");
        let (folder, ended, _) = play_once(&script);
        let Ended::NotStarted(failure) = ended else {
            panic!("{path}: {ended:?}")
        };
        assert_eq!(failure.class.name(), "program_invalid");
        assert_eq!(read(folder.path(), "app/a"), None, "{path}");
    }
}

#[test]
fn every_attempt_and_resume_plays_its_own_step() {
    let script = "{attempts: [{error: {kind: protocol_error}}, {error: busy}], \
                  resume: [{error: {kind: transport_exit}}, {writes: {path: r}}]}";
    let interrupt = Interrupt::default();
    let plays = [(1, 3), (2, 0), (3, 0)];
    let (folder, ends, _) = play(script, &plays, Duration::from_secs(60), &interrupt);
    let classes: Vec<&str> = ends
        .iter()
        .map(|ended| match ended {
            Ended::Failed(failure) => failure.class.name(),
            _ => "ok",
        })
        .collect();
    let expected = [
        "protocol_error",
        "transport_disconnect",
        "ok",
        "ok",
        "provider_runtime_claim",
        "ok",
    ];
    assert_eq!(classes, expected);
    assert!(folder.path().join("app/r").exists());
}

/// P131.
#[test]
fn kinds_are_the_simulated_ones_alone() {
    for (kind, expected) in [
        ("rate_limit", "provider_rate_limit"),
        ("auth-error", "provider_auth_claim"),
        ("config_invalid", "provider_config_claim"),
        ("runtime_error", "provider_runtime_claim"),
        ("transport_error", "transport_disconnect"),
        ("unknown", "unknown"),
        ("program_error", "program_error"),
        ("program_invalid", "provider_runtime_claim"),
        ("provider_unavailable", "provider_runtime_claim"),
        ("anything", "provider_runtime_claim"),
    ] {
        assert_eq!(class(kind).name(), expected, "{kind}");
    }
    let (_folder, ended, _) = play_once("{attempts: {error: {kind: provider_capacity}}}");
    let Ended::Failed(failure) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!(failure.suggested_delay_ms, None);
    assert_eq!(failure.message, "simulated failure");
}

#[test]
fn a_wait_ends_with_the_time_or_the_run() {
    let script = "{attempts: {delay_ms: 60000}}";
    let interrupt = Interrupt::default();
    let (_, ends, kept) = play(script, &[(1, 0)], Duration::from_millis(20), &interrupt);
    let Some(Ended::Failed(failure)) = ends.first() else {
        panic!("{ends:?}")
    };
    assert_eq!(failure.message, "run deadline of 20 ms exceeded");
    assert_eq!(failure.class.name(), "provider_runtime_claim");
    assert_eq!(kept.events.last().unwrap().name(), "run_failed");
    interrupt.stop.cancel();
    let (_, ends, kept) = play(script, &[(1, 0)], Duration::from_secs(60), &interrupt);
    assert_eq!(ends, [Ended::Interrupted]);
    assert_eq!(kept.events.last(), Some(&Event::RunCancelled));
}
