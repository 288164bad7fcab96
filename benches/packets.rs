//! What is read of a packet of a thousand prompts: in this process, and by whole processes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};
use runvil::packet::{ConfigHome, Packet, lint};

const PROMPTS: usize = 1000;

/// Writes the packet: each prompt depends on the one before, half of them are completed.
fn write(root: &Path) {
    let folder = root.join("prompts");
    fs::create_dir_all(&folder).expect("a folder");
    let manifest = "---\nprofile: simulated-default\nrepos: {app: ../app}\n---\n";
    fs::write(root.join("prompt_runner_packet.md"), manifest).expect("written");
    let text = "What is to be done here, at some length. ".repeat(30);
    let mut progress = String::new();
    for id in 1..=PROMPTS {
        let dependency = match id {
            1 => String::new(),
            _ => format!("depends_on: {}\n", id - 1),
        };
        let prompt = format!(
            "---\nid: {id}\nphase: {}\ntargets: [app]\ncommit: \"chore: step {id}\"\n{dependency}\
             verify:\n  files_exist: [out/{id}.txt]\n  contains:\n    - path: out/{id}.txt\n      \
             text: step {id}\n  commands:\n    - exec: test\n      args: [-s, out/{id}.txt]\n      \
             timeout_ms: 60000\n---\n# Step {id}\n\n## Mission\n\n{text}\n",
            id / 100
        );
        fs::write(folder.join(format!("{id:04}_step.prompt.md")), prompt).expect("written");
        if id % 2 == 0 {
            progress += &format!("{id:02}:completed:2026-11-30T08:00:00Z:no_changes\n");
        }
    }
    let state = root.join(".prompt_runner");
    fs::create_dir_all(&state).expect("a folder");
    fs::write(state.join("progress.log"), progress).expect("written");
}

fn packets(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    write(root);
    let home = ConfigHome::default();
    let mut group = criterion.benchmark_group("packet of 1000 prompts");
    group.sample_size(20);
    group.bench_function("load", |bencher| {
        bencher.iter(|| Packet::load(root, &home).expect("it loads"));
    });
    let packet = Packet::survey(root, &home).expect("it loads");
    group.bench_function("look for hazards", |bencher| {
        bencher.iter(|| lint::lint(&packet, false));
    });
    for words in [&["lint"][..], &["list"], &["plan", "--remaining"]] {
        group.bench_function(format!("runvil packet {}", words.join(" ")), |bencher| {
            bencher.iter(|| {
                let status = Command::new(env!("CARGO_BIN_EXE_runvil"))
                    .arg("packet")
                    .args(words)
                    .current_dir(root)
                    .stdout(Stdio::null())
                    .status();
                assert!(status.expect("it runs").success());
            });
        });
    }
    group.finish();
}

criterion_group!(benches, packets);
criterion_main!(benches);
