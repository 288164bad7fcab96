//! What it costs to find that a packet is done: the contracts of 200 prompts with three files each,
//! before any session (spec P72). Git is asked once.

#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::process::Command;

use criterion::{Criterion, criterion_group, criterion_main};
use runvil::harness::CancelToken;
use runvil::packet::Mapping;
use runvil::packet::contract::{Preflight, Scope, Worktrees};

const PROMPTS: usize = 200;

fn preflight(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let app = root.join("app");
    fs::create_dir(&app).unwrap();
    let mut contracts = Vec::new();
    for prompt in 0..PROMPTS {
        let file = |name: &str| format!("{prompt}/{name}.md");
        fs::create_dir(app.join(prompt.to_string())).unwrap();
        for name in ["a", "b", "c"] {
            fs::write(app.join(file(name)), "# Title\n\nSome text.\n").unwrap();
        }
        let (a, b, c) = (file("a"), file("b"), file("c"));
        let verify = format!("{{files_exist: {a}, contains: {{path: {b}, text: text}}, doc: {c}}}");
        contracts.push(serde_yaml::from_str::<Mapping>(&verify).unwrap());
    }
    let script = "git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm all";
    let made = Command::new("sh")
        .args(["-c", script])
        .current_dir(&app)
        .status();
    assert!(made.unwrap().success());
    let repos = BTreeMap::from([("app".to_owned(), Some(app))]);
    let scope = Scope::new(root, repos, Some("app".to_owned()), &["app"]);
    c.bench_function("preflight of 200 prompts", |b| {
        b.iter(|| {
            let mut worktrees = Worktrees::default();
            for verify in &contracts {
                let cancel = CancelToken::default();
                let found = Preflight::check(&scope, "01", Some(verify), &mut worktrees, &cancel);
                assert!(matches!(black_box(found), Ok(Preflight::Satisfied(_))));
            }
        });
    });
}

criterion_group!(benches, preflight);
criterion_main!(benches);
