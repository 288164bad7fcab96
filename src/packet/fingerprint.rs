//! What a packet asks for, in one number: a run goes on only with the packet it began with (spec
//! P117).

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::packet::Packet;
use super::prompt::Prompt;

/// SHA-256 over canonical JSON of all prompts and of the manifest's `agent_control`, in lowercase
/// hex digits. No path is part of it, so that a packet that was moved keeps it.
pub fn fingerprint(packet: &Packet) -> String {
    let prompts: Vec<Value> = packet.prompts.iter().map(content).collect();
    let control = packet.manifest.keys.get("agent_control").map(json_of);
    let whole = json!({"prompts": prompts, "agent_control": control});
    digest(whole)
}

fn digest(value: Value) -> String {
    let digest = Sha256::digest(canonical(value).to_string());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 over the canonical JSON of a prompt's contract, in lowercase hex digits.
pub(super) fn contract(prompt: &Prompt) -> String {
    let verify = prompt.verify.as_ref();
    let verify = verify.map(|verify| json_of(&serde_yaml::Value::Mapping(verify.clone())));
    digest(json!(verify))
}

fn content(prompt: &Prompt) -> Value {
    let ids = prompt.depends_on.iter().map(|id| id.as_str());
    let keys = prompt.keys.iter();
    json!({
        "id": prompt.id.as_str(),
        "phase": prompt.phase,
        "sp": prompt.sp,
        "name": prompt.name,
        "body": prompt.body,
        "targets": prompt.targets,
        "commit": prompt.commit_message(),
        "depends_on": ids.collect::<Vec<_>>(),
        "keys": keys.map(|(key, value)| (name(key), json_of(value))).collect::<Map<_, _>>(),
    })
}

/// A key of frontmatter, which is text.
fn name(key: &serde_yaml::Value) -> String {
    key.as_str().unwrap_or_default().to_owned()
}

/// A value of frontmatter as JSON; what has no JSON as the text of it.
fn json_of(value: &serde_yaml::Value) -> Value {
    serde_json::to_value(value).unwrap_or_else(|_| json!(format!("{value:?}")))
}

/// The value with the keys of every map in byte order: the order in which a file has them says
/// nothing.
fn canonical(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let entries = map.into_iter();
            let mut entries: Vec<(String, Value)> = entries
                .map(|(key, value)| (key, canonical(value)))
                .collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(canonical).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::packet::config_home::ConfigHome;

    fn packet(root: &Path, manifest: &str, prompt: &str) -> String {
        fs::create_dir_all(root.join("prompts")).unwrap();
        let manifest = format!("---\n{manifest}\n---\n");
        fs::write(root.join("prompt_runner_packet.md"), manifest).unwrap();
        fs::write(root.join("prompts/01_a.prompt.md"), prompt).unwrap();
        let packet = Packet::load(root, &ConfigHome::default()).unwrap();
        fingerprint(&packet)
    }

    #[test]
    fn what_is_asked_counts_and_where_it_stands_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str, manifest: &str, prompt: &str| {
            packet(&folder.path().join(name), manifest, prompt)
        };
        let prompt = "---\nid: 1\nverify: {files_exist: a}\nsp: 2\n---\nB\n";
        let first = of("one", "provider: simulated", prompt);
        assert_eq!(first.len(), 64);
        assert_eq!(of("two", "provider: command\nname: n", prompt), first);
        let order = "---\nsp: 2\nverify: {files_exist: a}\nid: 1\n---\nB\n";
        assert_eq!(of("three", "{}", order), first);
        for other in [
            "---\nid: 1\nverify: {files_exist: a}\nsp: 2\n---\nC\n",
            "---\nid: 1\nverify: {files_exist: b}\nsp: 2\n---\nB\n",
            "---\nid: 1\nverify: {files_exist: a}\nsp: 2\ntimeout: 5\n---\nB\n",
        ] {
            assert_ne!(of("four", "{}", other), first, "{other}");
        }
        let control = "agent_control: {enabled: false}";
        assert_ne!(of("five", control, prompt), first);
    }

    #[test]
    fn of_a_contract_neither_the_order_of_keys_nor_the_rest_of_the_prompt_counts() {
        let of = |keys: &str| {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("01_a.prompt.md");
            fs::write(&file, format!("---\n{keys}\n---\nB\n")).unwrap();
            contract(&Prompt::load(file, "01_a.prompt.md".to_owned()).unwrap())
        };
        let first = of("verify: {files_exist: a, doc: {path: b, min_lines: 2}}");
        assert_eq!(
            of("sp: 2\nverify: {doc: {min_lines: 2, path: b}, files_exist: a}"),
            first
        );
        assert_ne!(
            of("verify: {files_exist: a, doc: {path: b, min_lines: 3}}"),
            first
        );
        assert_eq!(of("sp: 2"), of("sp: 3"));
        assert_ne!(of("sp: 2"), first);
    }
}
