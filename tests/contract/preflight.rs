//! Reports as they are written, and what they mean before a session (spec P40, P72).

use runvil::harness::CancelToken;
use runvil::packet::contract::{Preflight, Report, Worktrees};
use serde_json::json;

use crate::fixture::{Fixture, contract};

/// The name of what is decided about a contract.
fn decided(fixture: &Fixture, verify: &str, worktrees: &mut Worktrees) -> &'static str {
    let verify = contract(verify);
    let cancel = CancelToken::default();
    let decided = Preflight::check(&fixture.scope, "01", Some(&verify), worktrees, &cancel);
    match decided.unwrap() {
        Preflight::NotEvaluated => "not evaluated",
        Preflight::Fault(_) => "fault",
        Preflight::Empty(_) => "empty",
        Preflight::Unmet(_) => "unmet",
        Preflight::Uncommitted(_) => "uncommitted",
        Preflight::Satisfied(_) => "satisfied",
    }
}

/// The same, nothing being known.
fn fresh(fixture: &Fixture, verify: &str) -> &'static str {
    decided(fixture, verify, &mut Worktrees::default())
}

#[test]
fn a_report_is_written_and_read_back() {
    let fixture = Fixture::app();
    let report = fixture.check("{files_exist: [README.md, gone], commands: no-such-tool}");
    let written = serde_json::to_value(&report).unwrap();
    let path = |name: &str| fixture.scope.folder.join(name);
    let missing = json!({
        "kind": "file_exists", "repo": "app", "pass?": false, "details": "missing",
        "fault": null, "path": "gone", "resolved_path": path("gone"),
    });
    assert_eq!(written["prompt_id"], "01");
    assert_eq!(written["pass?"], false);
    assert_eq!(written["items"].as_array().unwrap().len(), 3);
    assert_eq!(written["items"][1], missing);
    assert_eq!(written["failures"][0], missing);
    assert_eq!(written["failures"][1], written["items"][2]);
    assert_eq!(written["faults"], json!([written["items"][2]]));
    assert_eq!(written["items"][2]["fault"], "verifier_fault");
    let read: Report = serde_json::from_value(written).unwrap();
    assert_eq!(read, report);
}

#[test]
fn an_empty_contract_passes_with_no_items() {
    let report = Fixture::app().check("{}");
    let written = serde_json::to_value(&report).unwrap();
    let expected =
        json!({"prompt_id": "01", "pass?": true, "items": [], "failures": [], "faults": []});
    assert_eq!(written, expected, "spec P40");
}

#[test]
fn every_row_of_the_table() {
    let fixture = Fixture::app();
    let met = "files_exist: README.md";
    assert_eq!(fresh(&fixture, met), "satisfied");
    let vacuous = "{files_exist: README.md, changed_paths_only: []}";
    assert_eq!(fresh(&fixture, vacuous), "not evaluated");
    let null = "{files_exist: README.md, changed_paths_only: null}";
    assert_eq!(fresh(&fixture, null), "not evaluated");
    assert_eq!(fresh(&fixture, "commands: no-such-tool"), "fault");
    let both = "{commands: no-such-tool, files_exist: gone}";
    assert_eq!(fresh(&fixture, both), "fault");
    assert_eq!(fresh(&fixture, "{}"), "empty");
    assert_eq!(fresh(&fixture, "files_exist: []"), "empty");
    assert_eq!(fresh(&fixture, "files_exist: [README.md, gone]"), "unmet");
    assert_eq!(fresh(&fixture, "commands: {exec: 'true'}"), "satisfied");
    assert_eq!(fresh(&fixture, "repos_clean: app"), "satisfied");
    fixture.write("app/README.md", "changed");
    assert_eq!(fresh(&fixture, met), "uncommitted");
    assert_eq!(fresh(&fixture, "commands: {exec: 'true'}"), "satisfied");
    let absent = "source_absent: {path: src, pattern: x}";
    fixture.write("app/src/a.rs", "y");
    assert_eq!(fresh(&fixture, absent), "uncommitted");
    fixture.shell("cd app && git add -A && git commit -qm all");
    assert_eq!(fresh(&fixture, absent), "satisfied");
    fixture.shell("cd app && git rm -q --cached src/a.rs");
    assert_eq!(fresh(&fixture, absent), "uncommitted");
}

#[test]
fn what_is_uncommitted_concerns_whose_path_it_is() {
    let fixture = Fixture::app();
    fixture.shell(
        "cd app && mkdir -p d/in old && echo x > d/in/f && echo x > old/gone && echo x > from\n\
         echo '*.log' > .gitignore && git add -A && git commit -qm more\n\
         echo x > d/in/new && echo x > d/a.log && rm old/gone && git mv from to",
    );
    let cases = [
        ("files_exist: README.md", "satisfied"),
        ("files_exist: d/in/new", "uncommitted"),
        ("files_exist: d/in/f", "satisfied"),
        ("files_exist: d", "uncommitted"),
        ("files_exist: d/a.log", "satisfied"),
        ("files_absent: old/gone", "uncommitted"),
        ("files_absent: d/in/ne", "satisfied"),
        ("files_exist: to", "uncommitted"),
        ("files_absent: from", "uncommitted"),
        ("files_exist: .", "uncommitted"),
        ("glob: 'd/in/n*'", "uncommitted"),
        ("glob: '*.md'", "satisfied"),
        ("glob: 'd/*'", "uncommitted"),
        ("glob: {path: 'old/*', min_matches: 0}", "uncommitted"),
        ("glob: 'd/in/f*'", "satisfied"),
        ("files_absent: ../outside", "satisfied"),
        ("files_absent: packet:x", "satisfied"),
    ];
    for (verify, expected) in cases {
        assert_eq!(fresh(&fixture, verify), expected, "{verify}");
    }
}

#[test]
fn the_repo_of_an_item_counts_and_one_without_git_does_not() {
    let fixture = Fixture::new(&["app".to_owned(), "docs".to_owned()], &["app".to_owned()]);
    fixture.write("docs/new", "x");
    fixture.write("packet/new", "x");
    assert_eq!(fresh(&fixture, "files_exist: README.md"), "satisfied");
    assert_eq!(fresh(&fixture, "files_exist: docs:new"), "uncommitted");
    assert_eq!(fresh(&fixture, "files_exist: ../docs/new"), "satisfied");
    assert_eq!(fresh(&fixture, "files_exist: packet:new"), "satisfied");
    fixture.shell("cd packet && git init -q");
    assert_eq!(fresh(&fixture, "files_exist: packet:new"), "uncommitted");
}

#[test]
fn a_repository_is_asked_once_until_that_is_forgotten() {
    let fixture = Fixture::app();
    let met = "files_exist: README.md";
    let mut worktrees = Worktrees::default();
    assert_eq!(decided(&fixture, met, &mut worktrees), "satisfied");
    fixture.write("app/README.md", "changed");
    assert_eq!(decided(&fixture, met, &mut worktrees), "satisfied");
    worktrees.forget();
    assert_eq!(decided(&fixture, met, &mut worktrees), "uncommitted");
    fixture.shell("cd app && git commit -qam changed");
    // A contract's own commands may change what was known.
    let command = "{files_exist: README.md, commands: {exec: 'true'}}";
    assert_eq!(decided(&fixture, command, &mut worktrees), "satisfied");
}
