//! A server that runs: its process, how far it has got, and the calls it has not answered.

use std::collections::HashMap;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};

use super::catalog::Catalog;
use super::config::McpConfig;
use super::handshake::{Handshake, Listing};
use super::message::{Outcome, notification, request};
use super::outbox::Outbox;
use super::process::Process;
use super::{deadline, left, reader, seconds};
use crate::harness::model::Abort;
use crate::harness::{CancelToken, Log};
use crate::lua::Data;

/// Why a start failed, where the process has just ended (spec T163).
const UNREADY: &str = "the server process ended before it was ready";

/// How often one who waits looks whether he should go on.
const TICK: Duration = Duration::from_millis(20);
/// How long what a process said last may be on its way after its end.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A server that runs, or has run.
#[derive(Debug)]
pub(super) struct Session {
    config: Arc<McpConfig>,
    log: Log,
    process: Process,
    outbox: Outbox,
    state: Mutex<State>,
    /// Notified when the phase changes.
    changed: Condvar,
    /// Set once it is ready.
    catalog: OnceLock<Catalog>,
    ready_by: Option<Instant>,
    /// Whether anybody has waited for it to get ready.
    met: AtomicBool,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    next_id: u64,
    pending: HashMap<u64, Sender<News>>,
    /// Since when the process is known to have ended by itself.
    ended: Option<Instant>,
}

#[derive(Debug)]
enum Phase {
    Starting,
    Ready,
    /// Nothing more comes; with the reason, if it was never ready.
    Over(String),
}

/// What a caller waits for.
#[derive(Debug)]
enum News {
    Reply(Outcome),
    Over,
    Aborted,
}

/// Why a call has no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// The process has ended.
    Over,
    /// There was none in time.
    Late,
    /// It is not wanted any more.
    Aborted,
}

impl Session {
    /// Starts a server. The error is the reason (spec T163).
    pub(super) fn start(config: &Arc<McpConfig>, log: &Log) -> Result<Arc<Self>, String> {
        Self::begin(config, log)
            .map_err(|error| format!("cannot start {}: {error}", config.command))
    }

    fn begin(config: &Arc<McpConfig>, log: &Log) -> io::Result<Arc<Self>> {
        let (process, streams) = Process::start(config)?;
        let session = Arc::new(Self {
            config: config.clone(),
            log: log.clone(),
            process,
            outbox: Outbox::new(streams.stdin),
            state: Mutex::new(State {
                phase: Phase::Starting,
                next_id: 0,
                pending: HashMap::new(),
                ended: None,
            }),
            changed: Condvar::new(),
            catalog: OnceLock::new(),
            ready_by: deadline(Instant::now(), config.ready_timeout),
            met: AtomicBool::new(false),
            threads: Mutex::default(),
        });
        let (id, log) = (config.id(), log.clone());
        let note = move |line: &str| log.line(&format!("{id}: {line}"));
        let stderr = Builder::new()
            .name("runvil-mcp-err".to_owned())
            .spawn(move || reader::listen(streams.stderr, note))?;
        let (handshake, hello) = Handshake::begin();
        session.outbox.send(&hello);
        let reading = session.clone();
        let stdout = Builder::new()
            .name("runvil-mcp".to_owned())
            .spawn(move || {
                let read = || reader::read(&reading, streams.stdout, handshake);
                let reason = catch_unwind(AssertUnwindSafe(read)).ok().flatten();
                reading.over(reason.as_deref().unwrap_or(UNREADY));
                reading.close_down();
            })?;
        session.threads().extend([stderr, stdout]);
        Ok(session)
    }

    /// Waits until it is ready, no longer than it may take, or the run is cancelled. The error is
    /// the reason (spec T163).
    pub(super) fn ready(self: &Arc<Self>, cancel: &CancelToken) -> Result<(), String> {
        self.met.store(true, Ordering::Relaxed);
        loop {
            self.check();
            let state = self.state();
            match &state.phase {
                Phase::Ready => return Ok(()),
                Phase::Over(reason) => return Err(reason.clone()),
                Phase::Starting if cancel.is_cancelled() => return Err(CANCELLED.to_owned()),
                Phase::Starting => {}
            }
            drop(self.changed.wait_timeout(state, left(self.ready_by, TICK)));
        }
    }

    /// Whether it is ready or may still get ready, or nobody knows yet why it will not.
    pub(super) fn is_alive(self: &Arc<Self>) -> bool {
        self.check();
        !self.met.load(Ordering::Relaxed) || !matches!(self.state().phase, Phase::Over(_))
    }

    /// Whether nothing of it is left.
    pub(super) fn is_gone(&self) -> bool {
        self.process.is_gone()
    }

    /// Its tools, once it is ready.
    pub(super) fn catalog(&self) -> Option<&Catalog> {
        self.catalog.get()
    }

    /// Calls a tool by the server's own name of it (spec T166).
    pub(super) fn call(
        self: &Arc<Self>,
        tool: &str,
        arguments: &Data,
        abort: &Abort,
    ) -> Result<Outcome, Lost> {
        if abort.is_aborted() {
            return Err(Lost::Aborted);
        }
        let (news, heard) = bounded(1);
        let id = self.await_reply(news.clone()).ok_or(Lost::Over)?;
        abort.on_abort(move || drop(news.try_send(News::Aborted)));
        let params = Data::object([("name", Data::text(tool)), ("arguments", arguments.clone())]);
        if !self.outbox.send(&request(id, "tools/call", &params)) {
            self.give_up(UNREADY);
        }
        let late = deadline(Instant::now(), self.config.call_timeout);
        let lost = loop {
            let wait = left(late, TICK);
            match heard.recv_timeout(wait) {
                Ok(News::Reply(outcome)) => {
                    abort.clear();
                    return Ok(outcome);
                }
                Ok(News::Over) => break Lost::Over,
                Ok(News::Aborted) => break Lost::Aborted,
                Err(_) if wait.is_zero() => break Lost::Late,
                Err(_) => self.check(),
            }
        };
        abort.clear();
        if self.state().pending.remove(&id).is_some() {
            let params = Data::object([(
                "requestId",
                Data::Int(i64::try_from(id).unwrap_or(i64::MAX)),
            )]);
            self.outbox
                .send(&notification("notifications/cancelled", &params));
        }
        Err(lost)
    }

    /// Takes down who waits for a reply, under an id; `None` where none will come.
    fn await_reply(&self, news: Sender<News>) -> Option<u64> {
        let mut state = self.state();
        if !matches!(state.phase, Phase::Ready) {
            return None;
        }
        let id = state.next_id;
        state.next_id += 1;
        state.pending.insert(id, news);
        Some(id)
    }

    /// Hands a reply to who waits for it; one that nobody waits for is dropped.
    pub(super) fn reply(&self, id: u64, outcome: Outcome) {
        let news = self.state().pending.remove(&id);
        if let Some(news) = news {
            // Where there is no room the call was aborted.
            let _ = news.try_send(News::Reply(outcome));
        }
    }

    /// It is ready, and these are its tools. Its calls have ids from `next_id` on.
    pub(super) fn serve(&self, listing: Listing, next_id: u64) {
        let catalog = Catalog::new(listing, &self.config, |line| self.note(&line));
        // It gets ready once.
        let _ = self.catalog.set(catalog);
        let mut state = self.state();
        if let Phase::Starting = state.phase {
            state.phase = Phase::Ready;
            state.next_id = next_id;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Sends lines. A closed pipe is met by who waits.
    pub(super) fn send(&self, lines: &[u8]) {
        self.outbox.send(lines);
    }

    /// Sends the answer to a request of the server's own.
    pub(super) fn send_answer(&self, line: &[u8]) {
        self.outbox.send_answer(line);
    }

    /// Writes a line about it to the host log.
    pub(super) fn note(&self, line: &str) {
        self.log.line(&format!("{}: {line}", self.config.id()));
    }

    /// Looks for what its stream cannot tell: a start that takes too long, a pipe that broke, and
    /// a process that ended while something it started goes on holding its streams.
    fn check(self: &Arc<Self>) {
        let is_starting = match self.state().phase {
            Phase::Over(_) => return,
            Phase::Starting => true,
            Phase::Ready => false,
        };
        if is_starting && left(self.ready_by, TICK).is_zero() {
            let span = seconds(self.config.ready_timeout);
            return self.give_up(&format!("not ready within {span} seconds"));
        }
        if self.outbox.is_closed() {
            return self.give_up(UNREADY);
        }
        if self.process.has_ended() {
            self.process.end_rest();
            let ended = *self.state().ended.get_or_insert_with(Instant::now);
            if ended.elapsed() > LAST_WORDS {
                self.give_up(UNREADY);
            }
        }
    }

    /// Ends it without waiting for that.
    fn give_up(self: &Arc<Self>, reason: &str) {
        self.over(reason);
        let session = self.clone();
        let end = Builder::new().name("runvil-mcp-end".to_owned());
        if end.spawn(move || session.close_down()).is_err() {
            self.close_down();
        }
    }

    /// Nothing more comes: who waits is told. Of several reasons the first one counts.
    fn over(&self, reason: &str) {
        let mut state = self.state();
        if !matches!(state.phase, Phase::Over(_)) {
            state.phase = Phase::Over(reason.to_owned());
        }
        let pending = mem::take(&mut state.pending);
        drop(state);
        for news in pending.into_values() {
            // Where there is no room the call was aborted.
            let _ = news.try_send(News::Over);
        }
        self.changed.notify_all();
    }

    /// Ends the process, and all that it started (spec T167).
    fn close_down(&self) {
        self.outbox.close();
        self.process.end();
    }

    /// Ends it and waits for that, the threads that read what it said last included.
    pub(super) fn end(&self) {
        self.over(UNREADY);
        self.close_down();
        let by = deadline(Instant::now(), LAST_WORDS);
        for thread in mem::take(&mut *self.threads()) {
            // A stream that a stray process holds is left alone.
            while !thread.is_finished() && !left(by, LAST_WORDS).is_zero() {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a server is not ready, where nobody waits for it any more.
pub(super) const CANCELLED: &str = "it was not ready when the run was cancelled";
