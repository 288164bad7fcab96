//! What the runner itself costs.

use std::time::{Duration, Instant};

use crate::fixture::{Packet, prompt};

/// What a prompt may cost in an unoptimised build on a busy machine. On an idle one, optimised, it
/// is below 5 ms, most of it the disk's.
const MOST: Duration = Duration::from_millis(150);

/// What each of so many prompts costs that do next to nothing.
fn each_of(prompts: u32) -> Duration {
    let files: Vec<(String, String)> = (1..=prompts)
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
    let each = begun.elapsed() / prompts;
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert_eq!(packet.progress().len(), usize::try_from(prompts).unwrap());
    println!("figure: {each:?} for each of {prompts} prompts");
    each
}

/// A prompt of a long packet costs about what one of a short packet costs: the state is not made
/// anew for each.
#[test]
fn prompts_cost_little_beside_their_sessions() {
    let of_few = each_of(25);
    let of_many = each_of(200);
    assert!(of_many < MOST, "{of_many:?}");
    assert!(of_many < of_few * 4, "{of_few:?} and {of_many:?}");
}
