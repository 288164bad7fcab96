//! What the runner itself costs.

use std::time::{Duration, Instant};

use crate::fixture::{Packet, prompt};

/// The prompts of the packet that is timed.
const PROMPTS: usize = 200;

/// What one of them may cost. It is 5 ms on an idle machine in an optimised build, where the tests
/// have neither; the bound here finds what grows with the square of the prompts.
const MOST: Duration = Duration::from_millis(60);

#[test]
fn prompts_cost_little_beside_their_sessions() {
    let files: Vec<(String, String)> = (1..=PROMPTS)
        .map(|number| {
            let id = format!("{number:03}");
            let keys =
                "simulate: {attempts: {messages: [done]}}\nverify: {files_exist: [README.md]}";
            (format!("prompts/{id}_s.prompt.md"), prompt(&id, keys))
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let packet = Packet::new(&files);
    let begun = Instant::now();
    let finished = packet.run(&["run", "--committer", "noop"]);
    let each = begun.elapsed() / u32::try_from(PROMPTS).unwrap();
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(packet.progress().len(), PROMPTS);
    println!("figure: {each:?} for each of {PROMPTS} prompts");
    assert!(each < MOST, "{each:?} for each of {PROMPTS} prompts");
}
