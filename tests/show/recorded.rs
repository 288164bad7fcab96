//! Records of real runs.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use runvil::harness::record::Recorder;
use runvil::harness::{Harness, Launch, Script};

/// A record in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The record of a run, with what answers its rounds.
pub fn record(source: &str, script: Option<&str>, args: &str) -> Vec<u8> {
    let memory = Memory::default();
    let script = script.map(|text| Arc::new(Script::from_yaml(text).unwrap()));
    let launch = Launch {
        args: args.to_owned(),
        seed: Some("7".parse().unwrap()),
        started_at: Some("2026-11-30T08:00:00Z".parse().unwrap()),
        model: script.as_ref().map(|script| script.model().clone()),
        broker: script.map(|script| script as Arc<dyn runvil::harness::model::Broker>),
        record: Some(Recorder::new(memory.clone())),
        ..Launch::default()
    };
    Harness::default().run(source, launch, &mut |_| {});
    let bytes = memory.0.lock().unwrap().clone();
    assert!(!bytes.is_empty());
    bytes
}

/// The record of an example, with its script where it has one.
pub fn example(name: &str, args: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let source = fs::read_to_string(folder.join(format!("{name}.md"))).unwrap();
    let script = fs::read_to_string(folder.join(format!("{name}.script.yaml"))).ok();
    record(&source, script.as_deref(), args)
}

/// A prompt of these sections.
pub fn prompt(sections: &str) -> String {
    format!("---\nname: t\ndescription: d\nrunvil: 0\n---\n# Title\n\n{sections}")
}

/// A prompt of these sections, with a role that is the default one.
pub fn prompt_with_model(sections: &str) -> String {
    format!(
        "---\nname: t\ndescription: d\nrunvil: 0\nmodels:\n  m: {{ description: d }}\n---\n# Title\n\n\
         ```lua\nmodels.default('m')\n```\n\n{sections}"
    )
}

/// A section whose one block is this.
pub fn section(heading: &str, lua: &str) -> String {
    format!("{heading}\n\n```lua\n{lua}\n```\n\n")
}

/// A record with its times made up: every `at` is the number of the line it is in, times ten.
pub fn with_times(record: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(record).unwrap();
    let mut out = String::new();
    for (number, line) in text.lines().enumerate() {
        match line.split_once("\"at\":") {
            // Before the payload, which may hold the same letters.
            Some((head, rest)) if !head.contains("\"event\":{") && number > 0 => {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                out += &format!("{head}\"at\":{}{}\n", number * 10, &rest[digits..]);
            }
            _ => out += &format!("{line}\n"),
        }
    }
    out.into_bytes()
}
