//! Every key with values of every type: each is taken or refused, and nothing breaks.

use std::fs;
use std::path::Path;

use runvil::packet::{ConfigHome, Mapping, Packet, PacketError, checklist, lint, readiness};

/// Values of every type, written as YAML.
const VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-1",
    "18446744073709551615",
    "99999999999999999999999999",
    "1.5",
    ".nan",
    "''",
    "text",
    "'007'",
    "'@core'",
    "'../../x'",
    "'a/b'",
    "\"\\0\"",
    "[]",
    "[null]",
    "[[a]]",
    "[a, 1, true, {b: c}]",
    "{}",
    "{a: b}",
    "{a: {path: [x], default: 1}}",
    "{path: {}, repo: [], text: 1, pattern: {}, exec: 5, args: {a: b}}",
    "[{path: {}, repo: [], run: 7, min_lines: x}, {repo: ../x, path: ../../y}]",
    "[{name: a, path: 5}]",
    "{'1': [], '2': {}, x: y}",
];

const MANIFEST_KEYS: &[&str] = &[
    "name",
    "profile",
    "prompt_template",
    "prompt_dir",
    "repos",
    "phases",
    "log_mode",
    "log_meta",
    "events_mode",
    "tool_output",
    "thinking",
    "diff",
    "failure_policy",
    "agent_control",
    "sdk_opts",
];

const SHARED_KEYS: &[&str] = &[
    "provider",
    "model",
    "reasoning_effort",
    "permission_mode",
    "allowed_tools",
    "timeout",
    "system_prompt",
    "append_system_prompt",
    "max_turns",
    "cli_confirmation",
    "command",
    "runvil",
    "recovery",
];

const PROMPT_KEYS: &[&str] = &[
    "id",
    "num",
    "phase",
    "sp",
    "name",
    "template",
    "targets",
    "commit",
    "depends_on",
    "verify",
    "simulate",
    "references",
    "validation",
];

const CLAUSES: &[&str] = &[
    "files_exist",
    "files_absent",
    "contains",
    "matches",
    "doc",
    "yaml",
    "json",
    "glob",
    "source_absent",
    "commands",
    "changed_paths_only",
    "repos_clean",
    "other",
];

const READ_BY_READINESS: &[&str] = &["repos", "targets", "provider", "model", "command"];

/// Does everything that reads a packet and nothing else, and checks what holds of any packet.
fn use_packet(root: &Path, home: &ConfigHome) -> Result<(), PacketError> {
    let packet = Packet::survey(root, home)?;
    let loose = lint::lint(&packet, false);
    let strict = lint::lint(&packet, true);
    assert_eq!(loose.findings.len(), strict.findings.len());
    assert_eq!(strict.errors, strict.findings.len());
    assert_eq!(loose.errors + loose.warnings, loose.findings.len());
    for prompt in &packet.prompts {
        let labels = checklist::labels(&packet, prompt);
        assert!(
            labels.iter().all(|label| label.contains(": ")),
            "{labels:?}"
        );
        assert!(!prompt.commit_message().is_empty());
        assert!(packet.scope(prompt).root.is_absolute());
        packet.options(Some(prompt), &Mapping::new())?;
    }
    serde_json::to_string(&loose).unwrap();
    // Each look at repositories starts git, so only what readiness reads is tried with it.
    let is_read = |keys: &Mapping| READ_BY_READINESS.iter().any(|key| keys.contains_key(key));
    if is_read(&packet.manifest.keys) || packet.prompts.iter().any(|it| is_read(&it.keys)) {
        let report = readiness::survey(&packet, &Mapping::new(), &|_, _, _| Vec::new())?;
        assert_eq!(report.is_runtime_ready, report.readiness_errors.is_empty());
        serde_json::to_string(&report).unwrap();
    }
    Packet::load(root, home).map(drop)
}

/// Writes a packet of one prompt and uses it; gives what is wrong with it.
fn tried(root: &Path, manifest: &str, prompt: &str) -> Result<(), PacketError> {
    let write = |name: &str, keys: &str| {
        let file = root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("---\n{keys}\n---\n# T\n")).unwrap();
    };
    write("prompt_runner_packet.md", manifest);
    write("prompts/01_a.prompt.md", prompt);
    use_packet(root, &ConfigHome::default())
}

#[test]
fn every_key_takes_or_refuses_every_value() {
    let folder = tempfile::tempdir().unwrap();
    let mut taken = 0;
    let mut refused = 0;
    let mut count = |what: &str, result: Result<(), PacketError>| match result {
        Ok(()) => taken += 1,
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty() && !text.contains('\n'), "{what}: {text:?}");
            refused += 1;
        }
    };
    for value in VALUES {
        for key in MANIFEST_KEYS.iter().chain(SHARED_KEYS) {
            let keys = format!("{key}: {value}");
            count(&keys, tried(folder.path(), &keys, ""));
        }
        for key in PROMPT_KEYS.iter().chain(SHARED_KEYS) {
            let keys = format!("{key}: {value}");
            count(&keys, tried(folder.path(), "", &keys));
        }
        for clause in CLAUSES {
            for entry in [(*value).to_owned(), format!("[{value}]")] {
                let keys = format!("verify: {{{clause}: {entry}}}");
                count(&keys, tried(folder.path(), "", &keys));
            }
        }
    }
    assert!(
        taken > 500 && refused > 200,
        "{taken} taken, {refused} refused"
    );
}

#[test]
fn a_wrong_type_is_refused_with_its_key_and_value() {
    let folder = tempfile::tempdir().unwrap();
    let table = [
        ("name: [a]", "", "invalid name: [\"a\"]"),
        ("repos: 5", "", "invalid repos: 5"),
        ("repos: {a: 5}", "", "invalid repos: {\"a\":5}"),
        (
            "repos: [{path: a}]",
            "",
            "invalid repos: [{\"path\":\"a\"}]",
        ),
        ("phases: [a]", "", "invalid phases: [\"a\"]: want a map"),
        ("timeout: 0", "", "invalid timeout: 0"),
        ("timeout: -5", "", "invalid timeout: -5"),
        ("timeout: 1.5", "", "invalid timeout: 1.5"),
        ("max_turns: 0", "", "invalid max_turns: 0"),
        (
            "allowed_tools: [{a: b}]",
            "",
            "invalid allowed_tools: [{\"a\":\"b\"}]",
        ),
        (
            "cli_confirmation: true",
            "",
            "invalid cli_confirmation: true",
        ),
        ("recovery: [a]", "", "invalid recovery: [\"a\"]: want a map"),
        ("provider: 5", "", "invalid provider: 5"),
        ("command: x", "", "invalid command: \"x\": want a map"),
        (
            "",
            "phase: one",
            "prompts/01_a.prompt.md: invalid phase: \"one\"",
        ),
        ("", "sp: 1.5", "prompts/01_a.prompt.md: invalid sp: 1.5"),
        (
            "",
            "verify: [a]",
            "prompts/01_a.prompt.md: invalid verify: [\"a\"]: want a map",
        ),
        (
            "",
            "simulate: a",
            "prompts/01_a.prompt.md: invalid simulate: \"a\": want a map",
        ),
        (
            "",
            "depends_on: x",
            "prompts/01_a.prompt.md: invalid depends_on: \"x\"",
        ),
        (
            "",
            "targets: {a: b}",
            "prompts/01_a.prompt.md: invalid targets: {\"a\":\"b\"}",
        ),
        (
            "",
            "commit: [a]",
            "prompts/01_a.prompt.md: invalid commit: [\"a\"]",
        ),
        (
            "",
            "id: -1",
            "prompt id \"-1\" in prompts/01_a.prompt.md is not a number",
        ),
        (
            "",
            "id: 1.5",
            "prompt id \"1.5\" in prompts/01_a.prompt.md is not a number",
        ),
        (
            "",
            "id: [1]",
            "prompt id \"[1]\" in prompts/01_a.prompt.md is not a number",
        ),
        ("", "id: 0xF", "taken"),
        (
            "",
            "id: '1234567890123456789'",
            "prompt id \"1234567890123456789\" in prompts/01_a.prompt.md is not a number",
        ),
    ];
    for (manifest, prompt, expected) in table {
        let found = tried(folder.path(), manifest, prompt);
        let found = found.map_or_else(|error| error.to_string(), |()| "taken".to_owned());
        assert_eq!(found, expected, "{manifest} {prompt}");
    }
}

/// A name stands in lines of the terminal, of logs and of commits (spec P12).
#[test]
fn a_name_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("prompts")).unwrap();
    fs::write(folder.path().join("prompt_runner_packet.md"), "---\n---\n").unwrap();
    let text = "---\nname: \"a\\r\\nCompleted prompt 02\\n\"\n---\nB\n";
    fs::write(folder.path().join("prompts/01_a.prompt.md"), text).unwrap();
    let packet = Packet::load(folder.path(), &ConfigHome::default()).unwrap();
    assert_eq!(packet.prompts[0].name, "a  Completed prompt 02 ");
}
