use serde_json::{Value, json};
use std::fs;

use super::super::folder::StateFolder;
use super::{Generation, Opening, RunEnd, base64url};

fn folder() -> (tempfile::TempDir, StateFolder) {
    let packet = tempfile::tempdir().unwrap();
    let folder = StateFolder::of(packet.path());
    folder.make().unwrap();
    (packet, folder)
}

/// Opens a run for prompts of a packet; a message if it is refused.
fn open(
    folder: &StateFolder,
    fingerprint: &str,
    targets: &[&str],
    new_run: bool,
) -> Result<Generation, String> {
    let targets: Vec<String> = targets.iter().map(|id| (*id).to_owned()).collect();
    let opening = Opening {
        fingerprint,
        targets: &targets,
        selectors: &json!({}),
        new_run,
    };
    Generation::open(folder, opening).map_err(|error| error.to_string())
}

fn current(folder: &StateFolder) -> Value {
    let text = fs::read(folder.runs().join("current.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// The types of a run's journal.
fn journal(folder: &StateFolder, run_id: &str) -> Vec<String> {
    let path = folder.runs().join(run_id).join("journal.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .map(|line: Value| line["type"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_run_that_ended_is_followed_by_another() {
    let (_packet, folder) = folder();
    let run = open(&folder, "f", &["01", "02"], false).unwrap();
    let id = run.run_id().to_owned();
    assert_eq!(id.len(), 24);
    assert_eq!(current(&folder)["state"], "running");
    assert_eq!(current(&folder)["selection"]["upper_fence"], "02");
    run.end(RunEnd::Completed).unwrap();
    assert_eq!(current(&folder)["state"], "completed");
    assert_eq!(current(&folder)["last_seq"], 3);
    assert_eq!(
        journal(&folder, &id),
        ["run_created", "run_running", "run_completed"]
    );
    let next = open(&folder, "other", &["03"], false).unwrap();
    assert_ne!(next.run_id(), id);
}

/// K34.
#[test]
fn a_run_that_has_not_ended_is_resumed_or_given_up() {
    let (_packet, folder) = folder();
    let run = open(&folder, "f", &["01", "02", "03"], false).unwrap();
    let id = run.run_id().to_owned();
    run.end(RunEnd::Failed).unwrap();

    let changed = open(&folder, "g", &["01"], false).unwrap_err();
    let expected =
        format!("the packet changed since run {id} began: review the change and pass --new-run");
    assert_eq!(changed, expected);
    let more = open(&folder, "f", &["04", "02", "05"], false).unwrap_err();
    let expected = format!(
        "selection adds prompts outside run {id}: 04, 05; finish that run or pass --new-run"
    );
    assert_eq!(more, expected);

    let resumed = open(&folder, "f", &["03", "01"], false).unwrap();
    assert_eq!(resumed.run_id(), id);
    assert_eq!(resumed.targets(), ["01", "03"]);
    // The runner dies here.
    drop(resumed);
    let resumed = open(&folder, "f", &["02"], false).unwrap();
    assert_eq!(
        (resumed.run_id(), resumed.targets()),
        (id.as_str(), &["02".to_owned()][..])
    );
    resumed.end(RunEnd::Interrupted).unwrap();

    let new = open(&folder, "g", &["01"], true).unwrap();
    assert_ne!(new.run_id(), id);
    assert_eq!(journal(&folder, &id).last().unwrap(), "run_superseded");
    assert_eq!(current(&folder)["run_id"], new.run_id());
    let old = fs::read_to_string(folder.runs().join(&id).join("current.json")).unwrap();
    assert!(old.contains("superseded"), "{old}");
}

#[test]
fn a_snapshot_that_was_damaged_is_refused() {
    let (_packet, folder) = folder();
    fs::create_dir_all(folder.runs()).unwrap();
    let path = folder.runs().join("current.json");
    for (text, what) in [
        ("{", "EOF"),
        ("{\"schema\":\"x\"}", "schema \"x\" is not"),
        ("[]", "schema null is not"),
        ("{\"schema\":\"prompt_runner.run/v1\"}", "missing field"),
    ] {
        fs::write(&path, text).unwrap();
        let error = open(&folder, "f", &["01"], true).unwrap_err();
        let head = format!("run generation is invalid: {}: {what}", path.display());
        assert!(error.starts_with(&head), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    drop(open(&folder_of(&path), "f", &["01"], false).unwrap_err());
    let outside = json!({"schema": "prompt_runner.run/v1", "run_id": "../x", "state": "failed",
        "packet_fingerprint": "f", "selection": {"targets": []}, "created_at": "",
        "updated_at": "", "last_seq": 0});
    fs::write(&path, outside.to_string()).unwrap();
    let error = open(&folder, "f", &["01"], false).unwrap_err();
    assert!(error.contains("run_id \"../x\" is none"), "{error}");
}

fn folder_of(current: &std::path::Path) -> StateFolder {
    let packet = current.ancestors().nth(3).unwrap();
    StateFolder::of(packet)
}

#[test]
fn bytes_are_written_in_base64url() {
    for (bytes, expected) in [
        (&b""[..], ""),
        (b"f", "Zg"),
        (b"fo", "Zm8"),
        (b"foo", "Zm9v"),
        (&[0xfb, 0xff, 0xfe], "-__-"),
    ] {
        assert_eq!(base64url(bytes), expected);
    }
}
