use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::super::clock;
use super::super::folder::StateFolder;
use super::super::status::{Mode, PromptStatus};
use super::{Fields, Started, StateStore, Used};

fn store() -> (tempfile::TempDir, StateFolder, StateStore) {
    let packet = tempfile::tempdir().unwrap();
    let folder = StateFolder::of(packet.path());
    folder.make().unwrap();
    let store = StateStore::open(&folder).unwrap();
    (packet, folder, store)
}

fn fields(value: Value) -> Fields {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn start(store: &mut StateStore, attempt: u64, mode: Mode) {
    let started = Started {
        attempt,
        mode,
        prompt_name: "Step",
        run_id: Some("r"),
    };
    store.start_attempt("01", started).unwrap();
}

fn end(store: &mut StateStore, attempt: u64, result: Value, status: PromptStatus, more: Value) {
    let (result, more) = (fields(result), fields(more));
    store
        .end_attempt("01", attempt, result, status, more)
        .unwrap();
}

/// What is on disk, times left out.
fn on_disk(folder: &StateFolder) -> Value {
    let mut value: Value = serde_json::from_slice(&fs::read(folder.state()).unwrap()).unwrap();
    value.as_object_mut().unwrap().remove("updated_at").unwrap();
    for prompt in value["prompts"].as_object_mut().unwrap().values_mut() {
        prompt.as_object_mut().unwrap().remove("updated_at");
        for attempt in prompt["attempts"].as_array_mut().unwrap() {
            let attempt = attempt.as_object_mut().unwrap();
            attempt.remove("started_at").unwrap();
            attempt.remove("completed_at");
        }
    }
    value
}

#[test]
fn an_attempt_is_recorded_from_start_to_end() {
    let (_packet, folder, mut store) = store();
    start(&mut store, 1, Mode::Run);
    let running = on_disk(&folder);
    assert_eq!(running["prompts"]["01"]["status"], "running");
    assert_eq!(running["prompts"]["01"]["attempts"][0]["status"], "running");
    let result = json!({"status": "failed", "reason": "full", "failure_class": "x", "resumes": 1});
    let more = json!({"retry_delay_ms": 5});
    end(&mut store, 1, result, PromptStatus::RetryScheduled, more);
    let path = folder.state().to_string_lossy().into_owned();
    assert_eq!(
        on_disk(&folder),
        json!({"version": 1, "state_path": path, "prompts": {"01": {
            "status": "retry_scheduled", "last_attempt": 1, "reason": "full",
            "failure_class": "x", "retry_delay_ms": 5, "attempts": [{"attempt": 1, "mode": "run",
                "prompt_name": "Step", "run_id": "r", "status": "failed", "reason": "full",
                "failure_class": "x", "resumes": 1}]}}})
    );
    start(&mut store, 2, Mode::Retry);
    let prompt = &on_disk(&folder)["prompts"]["01"];
    assert_eq!(prompt["last_attempt"], 2);
    for gone in ["reason", "failure_class", "retry_delay_ms"] {
        assert_eq!(prompt.get(gone), None, "{gone}");
    }
}

/// P81, and P123's attempt without a farewell.
#[test]
fn budgets_count_from_the_newest_first_attempt() {
    let (_packet, folder, mut store) = store();
    let done = || json!({"status": "failed"});
    for (attempt, mode) in [(1, Mode::Run), (2, Mode::Retry), (3, Mode::Repair)] {
        start(&mut store, attempt, mode);
        end(&mut store, attempt, done(), PromptStatus::Failed, json!({}));
    }
    let used = Used {
        retries: 1,
        repairs: 1,
    };
    assert_eq!(store.used("01"), used);
    start(&mut store, 1, Mode::Repair);
    let used = Used {
        retries: 0,
        repairs: 1,
    };
    assert_eq!(store.used("01"), used);
    assert_eq!(store.used("02"), Used::default());
    // The runner dies; another one begins.
    let mut store = StateStore::open(&folder).unwrap();
    start(&mut store, 1, Mode::Run);
    let attempts = &on_disk(&folder)["prompts"]["01"]["attempts"];
    assert_eq!(attempts[3]["status"], "interrupted");
    assert_eq!(attempts[4]["status"], "running");
    assert_eq!(attempts.as_array().unwrap().len(), 5);
}

#[test]
fn what_is_not_known_is_kept() {
    let (_packet, folder, _) = store();
    let text = json!({"version": 1, "prompts": {"01": {"mine": [1], "attempts": [
        {"attempt": 1, "mode": "run", "status": "completed", "started_at": "", "own": {"a": 1}}]}},
        "note": "x"});
    fs::write(folder.state(), text.to_string()).unwrap();
    let mut store = StateStore::open(&folder).unwrap();
    start(&mut store, 1, Mode::Run);
    let disk = on_disk(&folder);
    assert_eq!(disk["note"], "x");
    assert_eq!(disk["prompts"]["01"]["mine"], json!([1]));
    assert_eq!(disk["prompts"]["01"]["attempts"][0]["own"], json!({"a": 1}));
}

#[test]
fn what_is_no_state_is_refused_and_stays() {
    for (text, cause) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        (
            "{\"version\": 1,\n",
            "EOF while parsing a value at line 2 column 0",
        ),
        (
            "[]",
            "invalid type: sequence, expected a map at line 1 column 0",
        ),
        ("{}", "version null is not 1"),
        ("{\"version\": 2}", "version 2 is not 1"),
        ("{\"version\": 1, \"prompts\": 3}", "prompts is not a map"),
        (
            "{\"version\": 1, \"prompts\": {\"01\": 3}}",
            "prompts.01 is not a map",
        ),
        (
            "{\"version\": 1, \"prompts\": {\"01\": {\"attempts\": {}}}}",
            "prompts.01.attempts is not a list",
        ),
        (
            "{\"version\": 1, \"prompts\": {\"01\": {\"attempts\": [1]}}}",
            "prompts.01.attempts[0] is not a map",
        ),
    ] {
        let error = StateStore::parse(PathBuf::from("s"), text.as_bytes()).unwrap_err();
        let expected = format!("state store is invalid: s: {cause}");
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn what_is_written_is_what_is_in_memory() {
    let (_packet, _folder, mut store) = store();
    start(&mut store, 1, Mode::Run);
    store
        .change("02", PromptStatus::Failed, Map::new())
        .unwrap();
    start(&mut store, 2, Mode::Repair);
    let now = clock::now();
    let text: Value = serde_json::from_str(&store.render(now)).unwrap();
    assert_eq!(text, store.to_json(now));
}
