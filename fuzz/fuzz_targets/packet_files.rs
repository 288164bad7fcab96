//! Any two texts as a packet's manifest and prompt: no panic, errors that say something on one
//! line, and a packet that is read the same after it was written. The line `=====` parts them.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use runvil::packet::{
    ConfigHome, Document, MANIFEST, Mapping, Packet, Selectors, Standing, Value, checklist,
    dependencies, lint,
};

/// The packet's folder, of this process alone.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = std::env::temp_dir().join(format!("packet-files-{}", std::process::id()));
    fs::create_dir_all(root.join("prompts")).expect("a folder");
    root
});

fuzz_target!(|text: &str| {
    let (manifest, prompt) = text.split_once("\n=====\n").unwrap_or((text, ""));
    for text in [manifest, prompt] {
        rewrite(text);
    }
    fs::write(ROOT.join(MANIFEST), manifest).expect("written");
    fs::write(ROOT.join("prompts/01_a.prompt.md"), prompt).expect("written");
    let home = ConfigHome::new(ROOT.join("home"));
    match Packet::survey(&ROOT, &home) {
        Ok(packet) => look(&packet),
        Err(error) => said(&error.to_string()),
    }
});

/// Reads a document, writes it and reads it again.
fn rewrite(text: &str) {
    let document = match Document::parse(text, "f") {
        Ok(document) => document,
        Err(error) => return said(&error.to_string()),
    };
    let written = document.render();
    let again = Document::parse(&written, "f").expect("what was written is read");
    assert_eq!(again.keys, document.keys);
    assert_eq!(again.render(), written);
    let changed = document.with_key(text, "repos", Value::from("new"));
    let again = Document::parse(&changed, "f").expect("what was changed is read");
    let mut keys = document.keys;
    keys.insert("repos".into(), "new".into());
    assert_eq!(again.keys, keys);
}

/// Does everything that a packet's files alone decide.
fn look(packet: &Packet) {
    let found = lint::lint(packet, false);
    assert_eq!(found.errors + found.warnings, found.findings.len());
    for finding in &found.findings {
        assert!(!finding.message.is_empty(), "{finding:?}");
    }
    for prompt in &packet.prompts {
        assert!(prompt.id.as_str().len() >= 2);
        assert!(!prompt.commit_message().is_empty());
        let _ = checklist::labels(packet, prompt);
        let _ = packet.scope(prompt);
        packet.options(Some(prompt), &Mapping::new()).expect("its layers were looked at");
    }
    let all = Selectors::default().select(packet, &Standing::default()).expect("all");
    assert_eq!(all.len(), packet.prompts.len());
    assert_eq!(dependencies::run_order(&all).len(), all.len());
}

/// A message has one line: what a file says is shown escaped.
fn said(message: &str) {
    assert!(!message.is_empty() && !message.contains('\n'), "{message:?}");
}
