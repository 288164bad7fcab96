//! Packets and files that are large, or would be.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;

use runvil::packet::{ConfigHome, Document, Packet, dependencies};

fn packet(root: &Path) {
    fs::create_dir_all(root.join("prompts")).unwrap();
    fs::write(root.join("prompt_runner_packet.md"), "").unwrap();
}

fn load(root: &Path) -> Result<Packet, String> {
    Packet::load(root, &ConfigHome::default()).map_err(|error| error.to_string())
}

/// A file of NUL bytes takes no room on the disk.
#[test]
fn a_file_is_read_up_to_64_mib() {
    let folder = tempfile::tempdir().unwrap();
    packet(folder.path());
    let file = File::create(folder.path().join("prompts/01_a.prompt.md")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    let refused = "cannot read prompts/01_a.prompt.md: larger than 64 MiB";
    assert_eq!(load(folder.path()).unwrap_err(), refused);
}

#[test]
fn aliases_expand_a_document_up_to_1_mib() {
    let document = |times: usize| {
        let text = "x".repeat(20_000);
        let list = vec!["*a"; times].join(", ");
        Document::parse(&format!("---\na: &a {text}\nb: [{list}]\n---\n"), "f")
    };
    assert!(document(50).is_ok());
    let refused = document(60).unwrap_err().to_string();
    assert!(
        refused.ends_with("aliases expand the document beyond 1 MiB"),
        "{refused}"
    );
}

/// What stands in the file itself is no expansion.
#[test]
fn a_large_document_without_aliases_is_read() {
    let text = format!(
        "---\na: {}\nb: [{}]\n---\n",
        "x".repeat(3 << 20),
        "1,".repeat(100_000)
    );
    let document = Document::parse(&text, "f").unwrap();
    assert_eq!(document.keys.len(), 2);
    let escapes = format!("---\na: \"{}\"\n---\n", "\\L".repeat(1 << 20));
    assert!(Document::parse(&escapes, "f").is_ok());
}

#[test]
fn a_chain_of_dependencies_may_be_long() {
    let folder = tempfile::tempdir().unwrap();
    packet(folder.path());
    let last = 2_000;
    for id in 1..=last {
        let mut text = format!("---\nid: {id}\n");
        if id < last {
            writeln!(text, "depends_on: {}", id + 1).unwrap();
        }
        let name = format!("prompts/{id:04}_a.prompt.md");
        fs::write(folder.path().join(name), text + "---\n").unwrap();
    }
    let chain = load(folder.path()).unwrap();
    dependencies::check(&chain).unwrap();
    let all: Vec<_> = chain.prompts.iter().collect();
    let order = dependencies::run_order(&all);
    let ids: Vec<&str> = order.iter().map(|prompt| prompt.id.as_str()).collect();
    assert_eq!((ids[0], ids[1_999]), ("2000", "01"));
    let name = format!("prompts/{last:04}_a.prompt.md");
    let text = format!("---\nid: {last}\ndepends_on: 1\n---\n");
    fs::write(folder.path().join(name), text).unwrap();
    let error = dependencies::check(&load(folder.path()).unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("prompt dependency cycle: 01 -> 02 -> 03"),
        "{error:.80}"
    );
    assert!(error.ends_with("-> 1999 -> 2000"));
}
