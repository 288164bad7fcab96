//! Contracts without commands, in a folder of their own: any `verify:` must end in a report, the same
//! one twice, which can be written and read back.
#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use runvil::harness::CancelToken;
use runvil::packet::{Mapping, Value};
use runvil::packet::contract::{Report, Scope, evaluate};

/// A packet with one repo, in which every file is named by one letter.
static SCOPE: LazyLock<Scope> = LazyLock::new(|| {
    let root = std::env::temp_dir().join(format!("runvil-fuzz-{}", std::process::id()));
    let app = root.join("app");
    fs::create_dir_all(app.join("d/e")).unwrap();
    fs::write(app.join("m"), "# M\n\nTODO: x\n## A\n- FIXME\n").unwrap();
    fs::write(app.join("j"), r#"{"a":{"b":[{"c":1},{"c":null},2]},"e":""}"#).unwrap();
    fs::write(app.join("y"), "a: &x {b: [1, !t 2]}\nc: *x\n").unwrap();
    fs::write(app.join("d/e/s"), b"let x = y.unwrap();\n\xff\n").unwrap();
    let app = app.canonicalize().unwrap();
    let repos = BTreeMap::from([("app".to_owned(), Some(app))]);
    Scope::new(root.canonicalize().unwrap(), repos, Some("app".to_owned()), &["app"])
});

fuzz_target!(|text: &str| {
    let Ok(mut verify) = serde_yaml::from_str::<Mapping>(text) else {
        return;
    };
    for key in ["commands", "changed_paths_only", "repos_clean"] {
        verify.remove(key);
    }
    if leaves(&Value::Mapping(verify.clone())) {
        return;
    }
    let check = || evaluate(&SCOPE, "01", Some(&verify), &CancelToken::default()).unwrap();
    let report = check();
    assert_eq!(report, check(), "two checks of one contract differ");
    let written = serde_json::to_string(&report).unwrap();
    let read: Report = serde_json::from_str(&written).unwrap();
    assert_eq!(read.items, report.items);
    for item in &report.items {
        assert!(item.fault.is_none() || !item.pass);
        assert!(item.details.len() <= (64 << 10) + 64);
    }
});

/// Whether a text in a value may lead out of the folder, where it would look through the machine: by
/// `..`, or from the top, which braces may spell too.
fn leaves(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let tops = ["..", "{/", ",/", ":/", "\\/", "}/", "./"];
            text.starts_with('/') || tops.iter().any(|top| text.contains(top))
        }
        Value::Sequence(items) => items.iter().any(leaves),
        Value::Mapping(map) => map.values().any(leaves),
        Value::Tagged(tagged) => leaves(&tagged.value),
        _ => false,
    }
}
