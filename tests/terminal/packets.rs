//! Reports about packets on a terminal (spec P21).

use std::fs;
use std::process::{Command, Stdio};
use std::thread;

use crate::process::{finish, runvil};
use crate::{terminal, watch};

/// What a command about an empty packet prints: on a terminal, and elsewhere.
fn printed(words: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "---\nname: p\nprovider: simulated\n---\n";
    fs::write(folder.path().join("prompt_runner_packet.md"), manifest).unwrap();
    let command = || -> Command { runvil(folder.path(), ["packet"].iter().chain(words)) };
    let (person, process) = terminal();
    let mut shown = command();
    shown.stdout(process).stderr(Stdio::piped());
    let seen = thread::spawn(move || watch(person));
    finish(&mut shown, "");
    // The command holds the process's end of the terminal.
    drop(shown);
    let mut piped = command();
    let piped = finish(piped.stdout(Stdio::piped()).stderr(Stdio::piped()), "");
    (seen.join().unwrap(), piped.stdout)
}

#[test]
fn a_person_is_shown_text_and_a_program_json() {
    for (words, told) in [
        (["status"], "0/0 completed\r\n"),
        (["doctor"], "  provider simulated, no model\r\n"),
        (["preflight"], "  0 prompts\r\nnot ready to run"),
    ] {
        let (seen, piped) = printed(&words);
        assert!(seen.contains(told), "{seen}");
        assert!(piped.starts_with("{\n  \""), "{piped}");
        let (seen, piped) = printed(&[words[0], "--json"]);
        assert!(seen.starts_with("{\"") && seen.ends_with("}\r\n"), "{seen}");
        assert_eq!(seen.lines().count(), 1);
        assert_eq!(piped.lines().count(), 1);
    }
}
