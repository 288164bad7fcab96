//! What only a directory has: links, pipes, permissions, other processes' files (spec S39, S60).

use std::fs;
use std::path::Path;

use runvil::engine::store::Reason;
use runvil::harness::Store;
use tempfile::TempDir;

use super::*;

fn directory() -> (TempDir, Store) {
    let root = tempfile::tempdir().unwrap();
    let store = Store::directory(root.path()).unwrap();
    (root, store)
}

/// The names in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_root_must_be_a_directory() {
    let root = tempfile::tempdir().unwrap();
    let missing = root.path().join("missing");
    let error = Store::directory(&missing).unwrap_err().to_string();
    let start = format!("cannot open the store `{}`: ", missing.display());
    assert!(error.starts_with(&start), "{error}");
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(
        Store::directory(&file).unwrap_err().to_string(),
        format!(
            "cannot open the store `{}`: it is not a directory",
            file.display()
        )
    );
}

#[test]
fn paths_are_names_under_the_root() {
    let (root, store) = directory();
    store.perform(&write("a/b.txt", "x")).unwrap();
    assert_eq!(
        fs::read_to_string(root.path().join("a").join("b.txt")).unwrap(),
        "x"
    );
    fs::create_dir(root.path().join("made")).unwrap();
    fs::write(root.path().join("made").join("by hand"), "y").unwrap();
    assert_eq!(store.perform(&read("made/by hand")), text("y"));
    assert_eq!(
        store.perform(&glob("**")),
        list(&["a/b.txt", "made/by hand"])
    );
}

/// S60: a failed write leaves no directory and no temporary file.
#[test]
fn a_failed_write_changes_nothing() {
    let (root, store) = directory();
    store.perform(&write("kept/f", "1")).unwrap();
    let name = "n".repeat(300);
    for op in [
        write(&format!("new/er/{name}"), "x"),
        append(&format!("kept/{name}"), "x"),
    ] {
        let failure = store.perform(&op).unwrap_err();
        assert_eq!(failure.reason, Reason::Backend);
        assert!(
            failure.message.starts_with("store backend failure: "),
            "{failure}"
        );
        assert!(
            !failure.message.contains(root.path().to_str().unwrap()),
            "{failure}"
        );
    }
    assert_eq!(names(root.path()), ["kept"]);
    assert_eq!(names(&root.path().join("kept")), ["f"]);
    assert_eq!(store.perform(&exists(&name)), truth(false));
    assert_eq!(
        message(&store, read(&name)),
        format!("file not found in store: {name}")
    );
    assert_eq!(store.perform(&delete(&name)), DONE);
}

/// S19: not even the system's own failures name a path of the file system.
#[test]
fn a_failure_names_no_path_of_the_file_system() {
    let (root, store) = directory();
    let path = root.path().to_owned();
    root.close().unwrap();
    let failure = store.perform(&write("f", "x")).unwrap_err();
    assert_eq!(failure.reason, Reason::Backend);
    assert!(
        !failure.message.contains(path.to_str().unwrap()),
        "{failure}"
    );
}

/// S60: a write puts a new file in the old one's place, so that no reader sees half of it.
#[test]
fn a_write_is_a_rename() {
    let (root, store) = directory();
    store.perform(&write("f", "old")).unwrap();
    fs::hard_link(root.path().join("f"), root.path().join("twin")).unwrap();
    store.perform(&write("f", "new")).unwrap();
    store.perform(&append("f", "er")).unwrap();
    assert_eq!(store.perform(&read("f")), text("newer"));
    assert_eq!(store.perform(&read("twin")), text("old"));
    assert_eq!(names(root.path()), ["f", "twin"]);
}

/// What a crash leaves behind is not listed.
#[test]
fn names_that_break_the_rules_are_not_listed() {
    let (root, store) = directory();
    for name in [".runvil-x.", "nul.txt", "a\\b", "tab\t"] {
        fs::write(root.path().join(name), "").unwrap();
    }
    fs::create_dir(root.path().join("dots..")).unwrap();
    fs::write(root.path().join("dots..").join("f"), "").unwrap();
    store.perform(&write("seen", "")).unwrap();
    assert_eq!(store.perform(&glob("**")), list(&["seen"]));
    assert_eq!(store.perform(&glob("**/")), list(&[]));
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::process::Command;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Every operation that reaches for one path.
    fn each_on(path: &str) -> [StoreOp; 6] {
        [
            read(path),
            number(path, 1, None),
            write(path, "new"),
            append(path, "new"),
            replace(path, "a", "b"),
            exists(path),
        ]
    }

    /// S60: a link that leaves the root is refused, by itself and on the way.
    #[test]
    fn a_link_out_of_the_root_is_refused() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("f"), "secret").unwrap();
        let (root, store) = directory();
        symlink(outside.path().join("f"), root.path().join("file")).unwrap();
        symlink(outside.path(), root.path().join("dir")).unwrap();
        symlink("..", root.path().join("up")).unwrap();
        for path in [
            "file",
            "dir",
            "dir/f",
            "dir/new",
            "dir/sub/new",
            "up",
            "up/x",
        ] {
            for op in each_on(path) {
                let failure = store.perform(&op).unwrap_err();
                assert_eq!(failure.reason, Reason::PermissionDenied, "{op:?}");
                assert_eq!(
                    failure.message,
                    format!(
                        "permission denied for store path {path}: {path} escapes the store root"
                    )
                );
            }
        }
        assert_eq!(
            store.perform(&delete("dir/f")).unwrap_err().reason,
            Reason::PermissionDenied
        );
        assert_eq!(names(outside.path()), ["f"]);
        assert_eq!(
            fs::read_to_string(outside.path().join("f")).unwrap(),
            "secret"
        );
        assert_eq!(store.perform(&glob("**")), list(&[]));
        assert_eq!(store.perform(&glob("**/")), list(&[]));
    }

    /// S60: a link that leads nowhere is refused, and a write does not make its target.
    #[test]
    fn a_dangling_link_is_refused() {
        let (root, store) = directory();
        symlink("gone", root.path().join("link")).unwrap();
        for path in ["link", "link/x"] {
            for op in each_on(path) {
                assert_eq!(
                    message(&store, op),
                    format!(
                        "permission denied for store path {path}: \
                         {path} passes through a dangling link"
                    )
                );
            }
        }
        symlink("loop", root.path().join("loop")).unwrap();
        assert_eq!(
            store.perform(&read("loop")).unwrap_err().reason,
            Reason::Backend
        );
        assert_eq!(names(root.path()), ["link", "loop"]);
    }

    /// S60: links under the root lead where they lead; S39: they are not listed.
    #[test]
    fn a_link_within_the_root_is_followed() {
        let (root, store) = directory();
        store.perform(&write("real/f", "1")).unwrap();
        symlink("real", root.path().join("dir")).unwrap();
        symlink("real/f", root.path().join("file")).unwrap();
        symlink(".", root.path().join("self")).unwrap();
        assert_eq!(store.perform(&read("dir/f")), text("1"));
        assert_eq!(store.perform(&read("self/self/dir/f")), text("1"));
        assert_eq!(store.perform(&append("file", "2")), DONE);
        assert_eq!(store.perform(&read("real/f")), text("12"));
        assert!(
            fs::symlink_metadata(root.path().join("file"))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(store.perform(&write("dir/g", "3")), DONE);
        assert_eq!(store.perform(&read("real/g")), text("3"));
        assert_eq!(message(&store, read("dir")), "is a directory in store: dir");
        assert_eq!(store.perform(&glob("**")), list(&["real/f", "real/g"]));
        assert_eq!(store.perform(&glob("**/")), list(&["real"]));
    }

    /// S60: deleting a link removes the link alone, wherever it leads.
    #[test]
    fn deleting_a_link_removes_the_link() {
        let outside = tempfile::tempdir().unwrap();
        let (root, store) = directory();
        store.perform(&write("real/f", "1")).unwrap();
        for (link, target) in [
            ("in", Path::new("real")),
            ("out", outside.path()),
            ("gone", Path::new("nowhere")),
        ] {
            symlink(target, root.path().join(link)).unwrap();
            assert_eq!(store.perform(&delete(link)), DONE);
        }
        assert_eq!(names(root.path()), ["real"]);
        assert_eq!(store.perform(&read("real/f")), text("1"));
        assert!(outside.path().exists());
    }

    /// The root itself may be a link.
    #[test]
    fn the_root_may_be_reached_by_a_link() {
        let (root, _) = directory();
        let real = root.path().join("real");
        fs::create_dir(&real).unwrap();
        symlink(&real, root.path().join("link")).unwrap();
        let store = Store::directory(root.path().join("link")).unwrap();
        store.perform(&write("d/f", "1")).unwrap();
        assert_eq!(store.perform(&read("d/f")), text("1"));
        assert_eq!(store.perform(&glob("**")), list(&["d/f"]));
        assert!(real.join("d").join("f").exists());
    }

    /// Neither pipes nor sockets nor devices are opened, so nothing hangs.
    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let (root, store) = directory();
        let made = Command::new("mkfifo")
            .arg(root.path().join("pipe"))
            .status()
            .unwrap();
        assert!(made.success());
        let _listener = UnixListener::bind(root.path().join("socket")).unwrap();
        let (sender, receiver) = mpsc::channel();
        let shared = store.clone();
        thread::spawn(move || {
            for path in ["pipe", "socket"] {
                for op in each_on(path).into_iter().chain([delete(path)]) {
                    sender.send((path, shared.perform(&op))).unwrap();
                }
            }
        });
        for _ in 0..14 {
            let (path, answer) = receiver.recv_timeout(Duration::from_secs(20)).unwrap();
            let failure = answer.unwrap_err();
            assert_eq!(failure.reason, Reason::Unsupported);
            assert_eq!(
                failure.message,
                format!(
                    "unsupported store operation on {path}: it is neither a file nor a directory"
                )
            );
        }
        assert_eq!(
            message(&store, write("pipe/x", "")),
            "not a directory in store: pipe/x"
        );
        assert_eq!(store.perform(&exists("pipe/x")), truth(false));
        assert_eq!(store.perform(&glob("**")), list(&[]));
        assert_eq!(names(root.path()), ["pipe", "socket"]);
    }

    /// A file marked read-only is neither replaced nor removed.
    #[test]
    fn a_read_only_file_is_kept() {
        let (root, store) = directory();
        store.perform(&write("f", "a")).unwrap();
        let file = root.path().join("f");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        for op in [
            write("f", "b"),
            append("f", "b"),
            replace("f", "a", "b"),
            delete("f"),
        ] {
            assert_eq!(
                message(&store, op),
                "permission denied for store path f: the file is read-only"
            );
        }
        assert_eq!(store.perform(&read("f")), text("a"));
    }

    /// The system's refusals are `permission_denied`. Where the system refuses nothing (its
    /// administrator runs the tests), the write succeeds and leaves the mode alone.
    #[test]
    fn a_closed_directory_refuses_writes() {
        let (root, store) = directory();
        store.perform(&write("d/f", "1")).unwrap();
        let closed = root.path().join("d");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
        let answers = [
            store.perform(&write("d/g", "2")),
            store.perform(&write("d/f", "2")),
        ];
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
        for answer in answers {
            match answer {
                Ok(value) => assert_eq!(Ok(value), DONE),
                Err(failure) => assert_eq!(failure.reason, Reason::PermissionDenied),
            }
        }
    }

    /// A rewritten file keeps its mode; a new one has the usual one, not a temporary file's.
    #[test]
    fn a_file_keeps_its_mode() {
        let (root, store) = directory();
        let mode = |name: &str| {
            fs::metadata(root.path().join(name))
                .unwrap()
                .permissions()
                .mode()
                & 0o777
        };
        fs::write(root.path().join("usual"), "").unwrap();
        store.perform(&write("new", "")).unwrap();
        assert_eq!(mode("new"), mode("usual"));
        fs::set_permissions(root.path().join("new"), fs::Permissions::from_mode(0o750)).unwrap();
        store.perform(&write("new", "x")).unwrap();
        store.perform(&append("new", "x")).unwrap();
        assert_eq!(mode("new"), 0o750);
    }

    /// S39: a name that is not UTF-8 is not listed.
    #[test]
    fn a_name_that_is_no_text_is_not_listed() {
        let (root, store) = directory();
        fs::write(root.path().join(OsStr::from_bytes(b"\xff")), "").unwrap();
        fs::create_dir(root.path().join(OsStr::from_bytes(b"d\xff"))).unwrap();
        assert_eq!(store.perform(&glob("**")), list(&[]));
        assert_eq!(store.perform(&glob("**/")), list(&[]));
    }
}

/// S61: what is spelled otherwise is absent for reads and in the way of writes, or another file
/// where the file system tells them apart.
#[test]
fn a_file_has_one_spelling() {
    let (root, store) = directory();
    store.perform(&write("Dir/Name", "1")).unwrap();
    assert_eq!(store.perform(&read("Dir/Name")), text("1"));
    for path in ["dir/Name", "Dir/name", "DIR/NAME"] {
        assert_eq!(store.perform(&exists(path)), truth(false));
        assert_eq!(
            store.perform(&read(path)).unwrap_err().reason,
            Reason::NotFound
        );
        assert_eq!(store.perform(&delete(path)), DONE);
    }
    if root.path().join("dir").exists() {
        assert_eq!(
            message(&store, write("dir/x", "")),
            "file already exists in store: dir/x"
        );
    } else {
        assert_eq!(store.perform(&write("dir/x", "")), DONE);
        assert_eq!(store.perform(&glob("**")), list(&["Dir/Name", "dir/x"]));
    }
    assert_eq!(store.perform(&read("Dir/Name")), text("1"));
}
