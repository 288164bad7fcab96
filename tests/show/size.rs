//! Records of many lines.

use std::io::Write;
use std::process::Stdio;

use super::process::runvil;
use super::recorded::example;

/// A record of a million lines is shown in memory that does not follow its size: `cargo test --test
/// show million -- --ignored`, half a minute without optimisation.
#[test]
#[ignore = "slow"]
#[cfg(target_os = "linux")]
fn a_million_lines_are_shown_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let hello = String::from_utf8(example("hello", "")).unwrap();
    let file = std::fs::File::create(folder.path().join("r.jsonl")).unwrap();
    let mut file = std::io::BufWriter::new(file);
    writeln!(file, "{}", hello.lines().next().unwrap()).unwrap();
    let text = "x".repeat(300);
    for id in 0..500_000 {
        writeln!(
            file,
            "{{\"v\":1,\"t\":\"effect\",\"task\":\"0\",\"seq\":{id},\"id\":{id},\"at\":{id},\"effect\":\
             {{\"kind\":\"store\",\"op\":\"write\",\"path\":\"a.md\",\"contents\":\"{text}\"}}}}"
        )
        .unwrap();
        writeln!(
            file,
            "{{\"v\":1,\"t\":\"answer\",\"task\":\"0\",\"seq\":{id},\"id\":{id},\"at\":{id},\"answer\":\
             {{\"value\":null}}}}"
        )
        .unwrap();
    }
    file.flush().unwrap();
    let mut child = runvil(folder.path(), ["show", "r.jsonl"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut peak = 0;
    let status = format!("/proc/{}/status", child.id());
    let ended = loop {
        if let Ok(text) = std::fs::read_to_string(&status) {
            let line = text.lines().find(|line| line.starts_with("VmHWM:"));
            let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
            peak = peak.max(kib.unwrap_or(0));
        }
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert!(ended.success());
    let length = std::fs::metadata(folder.path().join("r.jsonl"))
        .unwrap()
        .len();
    println!("a record of {length} bytes took {peak} KiB");
    assert!(peak < 100 << 10, "{peak} KiB");
}
