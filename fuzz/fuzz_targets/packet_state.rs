//! Any bytes as the files of a packet's state: no panic, refusals that name the file, and what is
//! taken is written so that it is read again as it was (spec P112, P113, P118).

#![no_main]

use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use runvil::packet::state::{Journal, StateStore, now};

fuzz_target!(|bytes: &[u8]| {
    match StateStore::parse(PathBuf::from("state.json"), bytes) {
        Ok(mut store) => {
            let at = now();
            let whole = store.to_json(at);
            let text = store.render(at);
            let read: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
            assert_eq!(read, whole);
            let path = PathBuf::from("state.json");
            let again = StateStore::parse(path, text.as_bytes()).expect("it is a state");
            assert_eq!(again.to_json(at), whole);
            let prompts = whole["prompts"].as_object().expect("it is a map");
            for id in prompts.keys() {
                let used = store.used(id);
                let attempts = prompts[id]["attempts"].as_array().map_or(0, Vec::len);
                assert!(used.retries + used.repairs <= attempts as u64);
            }
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("state store is invalid: state.json: "), "{message}");
        }
    }
    match Journal::parse(PathBuf::from("j"), "r", bytes) {
        Ok(journal) => {
            let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
            assert!(journal.last_seq() <= lines);
        }
        Err(error) => {
            let message = error.to_string();
            let line = message.strip_prefix("run journal is corrupt: j:").expect("it names a line");
            let line: usize = line.parse().expect("it is a number");
            assert!(line >= 1 && line <= bytes.split(|byte| *byte == b'\n').count());
        }
    }
});
