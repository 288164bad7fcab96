//! A Host's store that checks before it opens (spec S50, S51, S58).

#![allow(clippy::expect_used)]

use std::sync::{Arc, Mutex};

use runvil::Harness;
use runvil::engine::store::Glob;
use runvil::engine::{Outcome, RunErrorKind};
use runvil::harness::{Backend, BackendError, EntryKind, Launch, Memory, Store};

/// A store in memory that opens for all tasks but one, and notes for whom it was opened.
#[derive(Debug)]
struct Guarded {
    inner: Memory,
    refused: Option<(&'static str, usize)>,
    opened: Arc<Mutex<Vec<String>>>,
}

impl Backend for Guarded {
    fn read(&mut self, path: &str) -> Result<Vec<u8>, BackendError> {
        self.inner.read(path)
    }

    fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), BackendError> {
        self.inner.write(path, bytes)
    }

    fn append(&mut self, path: &str, bytes: &[u8]) -> Result<(), BackendError> {
        self.inner.append(path, bytes)
    }

    fn remove(&mut self, path: &str) -> Result<bool, BackendError> {
        self.inner.remove(path)
    }

    fn kind(&mut self, path: &str) -> Result<Option<EntryKind>, BackendError> {
        self.inner.kind(path)
    }

    fn list(&mut self, kind: EntryKind) -> Result<Vec<String>, BackendError> {
        self.inner.list(kind)
    }

    fn glob(&mut self, glob: &Glob) -> Result<Vec<String>, BackendError> {
        self.inner.glob(glob)
    }

    fn checks_open(&self) -> bool {
        true
    }

    fn open(&mut self, task: &str) -> Result<(), BackendError> {
        let mut opened = self.opened.lock().expect("no test panics with it");
        opened.push(task.to_owned());
        let times = opened.iter().filter(|known| *known == task).count();
        match self.refused {
            Some((refused, at)) if refused == task && at == times => {
                Err(BackendError::PermissionDenied("not for you".into()))
            }
            _ => Ok(()),
        }
    }
}

fn run(body: &str, refused: Option<(&'static str, usize)>) -> (Outcome, Vec<String>) {
    let opened = Arc::default();
    let inner = Memory::default();
    let store = Store::custom(Box::new(Guarded {
        inner,
        refused,
        opened: Arc::clone(&opened),
    }));
    let launch = Launch {
        store: Some(store),
        ..Launch::default()
    };
    let source = format!("---\nname: t\ndescription: d\nrunvil: 0\n---\n{body}");
    let report = Harness::default().run(&source, launch, &mut |_| {});
    let opened = opened.lock().expect("no test panics with it").clone();
    (report.outcome, opened)
}

const FANOUT: &str = "# T\n\n```lua\nvar.h1 = 1\n```\n\n## A\n\n```lua\n\
    local ok, r = pcall(tasks.fanout, '### W', { 'a', 'b' })\n\
    local t = tasks.spawn('### W') tasks.join({ t })\n\
    if ok then return table.concat(r, ',') .. t.task end\n\
    return r.kind .. ' ' .. tostring(r) .. ' ' .. tostring(r.path) .. ' ' .. t.task\n```\n\n\
    ### W\n\n```lua\nstore.write('out' .. sys.id, 'x')\nreturn item or 'none'\n```\n";

#[test]
fn it_is_opened_for_the_h1_pass_the_walk_and_each_task() {
    let (outcome, opened) = run(FANOUT, None);
    assert_eq!(outcome, Outcome::Completed("a,b0.2".into()));
    assert_eq!(opened, ["0", "0", "0.0", "0.1", "0.2"]);
    let (outcome, opened) = run("# T\n\n## A\n\n```lua\nreturn 'x'\n```\n", None);
    assert_eq!(outcome, Outcome::Completed("x".into()));
    assert_eq!(opened, ["0"]);
}

#[test]
fn a_store_that_does_not_open_for_the_run_ends_it() {
    for time in [1, 2] {
        let (outcome, _) = run(FANOUT, Some(("0", time)));
        let Outcome::Failed(error) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(error.kind, RunErrorKind::Vfs);
        assert_eq!(error.message, "store operation failed");
    }
}

#[test]
fn a_refused_task_is_a_store_failure_of_the_spawn() {
    // The refused arm takes no index, so the task after it gets its own.
    let (outcome, _) = run(FANOUT, Some(("0.1", 1)));
    let text = "store store operation failed nil 0.1";
    assert_eq!(outcome, Outcome::Completed(text.into()));
}
