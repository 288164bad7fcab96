//! The handle: policy, Host calls, backends of a Host's own (spec S51, S57, S58, S62).

use std::sync::{Arc, Mutex};
use std::thread;

use runvil::engine::store::{Deny, Policy, PolicyRule, Reason, StoreOp};
use runvil::harness::{Backend, BackendError, EntryKind, Store};

use super::*;

fn rule(pattern: &str, deny: Deny, reason: &str) -> PolicyRule {
    PolicyRule::new(pattern, deny, reason).unwrap()
}

fn policy() -> Policy {
    Policy {
        read_only: false,
        rules: vec![
            rule("in/**", Deny::Write, "inputs are kept"),
            rule("in/secret", Deny::All, "secrets are kept"),
            rule("**/*.key", Deny::All, "keys are kept"),
        ],
    }
}

/// S57: the first rule that matches and denies the operation refuses it.
#[test]
fn a_policy_refuses_by_its_first_rule() {
    on_each_backend(|store| {
        for path in ["in/a", "in/secret", "k.key", "out"] {
            store.write(path, "x").unwrap();
        }
        let store = store.clone().with_policy(policy());
        assert_eq!(
            message(&store, write("in/a", "")),
            "permission denied for store path in/a: inputs are kept"
        );
        assert_eq!(
            message(&store, read("in/secret")),
            "permission denied for store path in/secret: secrets are kept"
        );
        assert_eq!(
            message(&store, delete("in/secret")),
            "permission denied for store path in/secret: inputs are kept"
        );
        for op in [
            append("in/b", ""),
            replace("in/a", "x", "y"),
            exists("a/b.key"),
            glob("*.key"),
        ] {
            let failure = store.perform(&op).unwrap_err();
            assert_eq!(failure.reason, Reason::PermissionDenied, "{op:?}");
            assert_eq!(failure.path.as_deref(), op.target());
        }
        assert_eq!(store.perform(&read("in/a")), text("x"));
        assert_eq!(store.perform(&write("out", "y")), DONE);
        assert_eq!(store.perform(&glob("in/*")), list(&["in/a", "in/secret"]));
    });
}

/// S57: a glob is asked by its own text, the selecting `/` left out; and a refused operation was
/// refused by its own rules first (S40).
#[test]
fn a_policy_sees_the_pattern_of_a_glob() {
    let deny = Policy {
        rules: vec![rule("d/*/", Deny::All, "no")],
        ..Policy::default()
    };
    let store = Store::memory().with_policy(deny);
    assert_eq!(
        message(&store, glob("d/*/")),
        "permission denied for store path d/*/: no"
    );
    assert_eq!(
        message(&store, glob("d/x*")),
        "permission denied for store path d/x*: no"
    );
    assert_eq!(store.perform(&glob("**")), list(&[]));
    assert_eq!(
        store.perform(&read("d/a.")).unwrap_err().reason,
        Reason::InvalidPath
    );
    assert_eq!(
        store
            .perform(&read_lines("d/a", None, 1))
            .unwrap_err()
            .reason,
        Reason::InvalidRange
    );
    assert_eq!(
        store.perform(&read("d/a")).unwrap_err().reason,
        Reason::PermissionDenied
    );
}

/// R14: a record holds the policy, and gives it back.
#[test]
fn a_policy_is_data() {
    let policy = Policy {
        read_only: true,
        rules: vec![rule("a*", Deny::Write, "r")],
    };
    let json = r#"{"read_only":true,"policy":[{"pattern":"a*","deny":"write","reason":"r"}]}"#;
    assert_eq!(serde_json::to_string(&policy).unwrap(), json);
    assert_eq!(serde_json::from_str::<Policy>(json).unwrap(), policy);
    let broken = r#"{"read_only":true,"policy":[{"pattern":"a**","deny":"all","reason":"r"}]}"#;
    let error = serde_json::from_str::<Policy>(broken)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("invalid glob pattern \"a**\": "),
        "{error}"
    );
    assert!(PolicyRule::new("", Deny::All, "").is_err());
}

/// S62: the Host's own calls obey the path rules, and no policy rule.
#[test]
fn the_host_seeds_and_collects() {
    on_each_backend(|store| {
        let store = store.clone().with_policy(policy());
        store.write("in/secret", b"\xfe").unwrap();
        assert_eq!(store.read("in/secret").unwrap(), b"\xfe");
        assert_eq!(store.kind("in/secret").unwrap(), Some(EntryKind::File));
        assert_eq!(store.kind("in").unwrap(), Some(EntryKind::Directory));
        assert_eq!(store.kind("out").unwrap(), None);
        assert_eq!(store.list("**").unwrap(), ["in/secret"]);
        assert_eq!(store.list("*/").unwrap(), ["in"]);
        assert_eq!(
            store.read("gone").unwrap_err().message,
            "file not found in store: gone"
        );
        assert_eq!(
            store.write("../x", "").unwrap_err().reason,
            Reason::InvalidPath
        );
        assert_eq!(store.read("").unwrap_err().reason, Reason::InvalidPath);
        assert_eq!(store.kind("a/").unwrap_err().reason, Reason::InvalidPath);
        assert_eq!(store.list("a**").unwrap_err().reason, Reason::InvalidPath);
        assert_eq!(
            store.read_only().write("a", "").unwrap_err().message,
            "permission denied for store path a: the store is read-only"
        );
    });
}

/// A handle may be used from several threads; `str_replace` and `append` are atomic (S43).
#[test]
fn threads_share_a_store() {
    on_each_backend(|store| {
        store.write("count", "x").unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        store.perform(&replace("count", "x", "-x")).unwrap();
                        store.perform(&append("log", "1")).unwrap();
                    }
                });
            }
        });
        assert_eq!(
            store.perform(&read("count")),
            text(&("-".repeat(100) + "x"))
        );
        assert_eq!(store.read("log").unwrap().len(), 100);
    });
}

/// A Host's backend that fails as it is told.
#[derive(Debug)]
struct Failing {
    error: BackendError,
    opened: Arc<Mutex<Vec<String>>>,
}

impl Backend for Failing {
    fn read(&mut self, _: &str) -> Result<Vec<u8>, BackendError> {
        Err(self.error.clone())
    }

    fn write(&mut self, _: &str, _: &[u8]) -> Result<(), BackendError> {
        Err(self.error.clone())
    }

    fn append(&mut self, _: &str, _: &[u8]) -> Result<(), BackendError> {
        Err(self.error.clone())
    }

    fn remove(&mut self, _: &str) -> Result<bool, BackendError> {
        Err(self.error.clone())
    }

    fn kind(&mut self, _: &str) -> Result<Option<EntryKind>, BackendError> {
        Err(self.error.clone())
    }

    fn list(&mut self, kind: EntryKind) -> Result<Vec<String>, BackendError> {
        let paths = if kind == EntryKind::File {
            ["z", "d/b", "d/a"].as_slice()
        } else {
            &["d"]
        };
        Ok(paths.iter().map(|&path| path.into()).collect())
    }

    fn checks_open(&self) -> bool {
        true
    }

    fn open(&mut self, task: &str) -> Result<(), BackendError> {
        self.opened.lock().unwrap().push(task.to_owned());
        if task == "0" {
            Ok(())
        } else {
            Err(self.error.clone())
        }
    }
}

fn failing(error: BackendError) -> (Store, Arc<Mutex<Vec<String>>>) {
    let opened = Arc::default();
    let backend = Failing {
        error,
        opened: Arc::clone(&opened),
    };
    (Store::custom(Box::new(backend)), opened)
}

/// S47: a backend's error gets the path as the prompt wrote it.
#[test]
fn a_backend_error_is_told_with_the_path() {
    use BackendError::*;
    let told = [
        (NotFound, "file not found in store: p"),
        (IsADirectory, "is a directory in store: p"),
        (NotADirectory, "not a directory in store: p"),
        (DirectoryNotEmpty, "directory not empty in store: p"),
        (AlreadyExists, "file already exists in store: p"),
        (
            PermissionDenied("closed".into()),
            "permission denied for store path p: closed",
        ),
        (
            Unsupported("no links".into()),
            "unsupported store operation on p: no links",
        ),
        (
            Failed("disk on fire".into()),
            "store backend failure: disk on fire",
        ),
    ];
    for (error, expected) in told {
        let reason = error.reason();
        let path = if reason == Reason::Backend {
            None
        } else {
            Some("p")
        };
        let (store, _) = failing(error);
        for op in [
            read("p"),
            write("p", ""),
            append("p", ""),
            delete("p"),
            exists("p"),
        ] {
            let failure = store.perform(&op).unwrap_err();
            assert_eq!(failure.message, expected);
            assert_eq!(failure.reason, reason);
            assert_eq!(failure.path.as_deref(), path);
        }
    }
}

/// S34, S58: what a backend lists is matched and sorted.
#[test]
fn what_a_backend_lists_is_matched_and_sorted() {
    let (store, _) = failing(BackendError::NotFound);
    assert_eq!(store.perform(&glob("d/*")), list(&["d/a", "d/b"]));
    assert_eq!(store.perform(&glob("**")), list(&["d/a", "d/b", "z"]));
    assert_eq!(store.perform(&glob("**/")), list(&["d"]));
}

/// S51, S58: a backend may refuse to open for a task.
#[test]
fn a_backend_may_refuse_to_open() {
    let (store, opened) = failing(BackendError::PermissionDenied("closed".into()));
    assert!(store.checks_open());
    assert_eq!(store.perform(&StoreOp::Open { task: "0".into() }), DONE);
    let failure = store
        .perform(&StoreOp::Open { task: "0.1".into() })
        .unwrap_err();
    assert_eq!(failure.message, "store operation failed");
    assert_eq!(
        (failure.reason, failure.path),
        (Reason::PermissionDenied, None)
    );
    assert_eq!(*opened.lock().unwrap(), ["0", "0.1"]);
    on_each_backend(|store| {
        assert!(!store.checks_open());
        assert_eq!(store.perform(&StoreOp::Open { task: "0".into() }), DONE);
    });
}

#[test]
fn a_handle_is_shown_without_its_files() {
    let store = Store::memory();
    store.write("name", "contents").unwrap();
    let shown = format!("{store:?}");
    assert!(shown.contains("Memory { entries: 1 }"), "{shown}");
}
