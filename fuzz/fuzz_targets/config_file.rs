//! Any text as a host configuration: no panic, errors that name a line of the text, and limits that
//! a run can have.

#![no_main]

// The configuration is the binary's; it imports nothing of its neighbours, so it is built in here.
#[path = "../../src/cli/config/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the binary uses the rest")]
mod config;

use libfuzzer_sys::fuzz_target;
use runvil::engine::model::Model;

fuzz_target!(|yaml: &str| match config::Config::from_yaml(yaml) {
    Ok(config) => {
        let limits = config.limits.limits();
        assert!(limits.concurrency > 0 && limits.memory > 0 && limits.max_rounds > 0);
        let mut ids: Vec<_> = config.models.0.iter().map(|entry| Model::from(entry).id).collect();
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "an id is there twice");
    }
    Err(error) => {
        assert!(!error.message.is_empty(), "{error:?}");
        assert!((1..=yaml.len() + 1).contains(&error.line), "{error:?}");
    }
});
