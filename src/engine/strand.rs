//! A strand: one task's stack of chains, run a slice at a time (spec K201).

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::admission::ChainKey;
use super::chain::{Chain, Ending, Running, Stage};
use super::entry::{Entry, LogQuota, Request, Shared, resolve};
use super::event::EventKind;
use super::outbox::Task;
use super::program::Program;
use super::task::TaskKey;
use super::toolbox::Toolbox;
use crate::lua::{Cancel, Class, Failure, Flow, Kind, Reply, Seeds, Vm};
use crate::prompt::{Dialect, SectionId};

/// A task and the chains it is running, a called chain above its caller.
pub(super) struct Strand {
    pub(super) task: Rc<Task>,
    shared: Rc<Shared>,
    cancel: Cancel,
    memory: usize,
    chains: Vec<Chain>,
    /// The section to enter after a pause.
    paused: Option<SectionId>,
    /// Whether the store is to be opened before the next section (spec S58).
    reopens: bool,
}

/// Where a slice stopped.
pub(super) enum Slice {
    /// The running block asks for something.
    Asked(Request),
    /// The top chain has ended; nothing of it runs any more.
    Ended(Ended),
    /// Enough was put out for one step; the strand can go on at once.
    Paused,
    /// The H1 pass is over and the walk begins, for which the store is opened again.
    Walk,
    /// The run is cancelled, and with it the strand.
    Cancelled,
}

/// How a chain ended: with its result, or off the end of its walk, or failed.
pub(super) type Ended = Result<Option<String>, Stopped>;

/// Why a chain ended without a result.
pub(super) struct Stopped {
    pub(super) failure: Failure,
    /// Whether a block of the H1 pass raised it, which makes it the gate's (spec L104).
    pub(super) gate: bool,
}

impl Stopped {
    pub(super) fn plain(failure: Failure) -> Self {
        Self {
            failure,
            gate: false,
        }
    }
}

/// What a chain does next.
enum Next {
    /// Starts the stage of the running entry that is due.
    Stage,
    /// Ends the running entry.
    Close(Ending),
    /// Enters a section, or ends where there is none.
    Enter(Option<SectionId>),
    /// Looks at what the running block did.
    Flow(Flow<Request>),
    /// Ends the chain.
    End(Ended),
}

impl Strand {
    pub(super) fn new(
        shared: Rc<Shared>,
        task: Rc<Task>,
        cancel: Cancel,
        memory: usize,
        chain: Chain,
    ) -> Self {
        Self {
            task,
            shared,
            cancel,
            memory,
            chains: vec![chain],
            paused: None,
            reopens: false,
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_raised()
    }

    /// Starts the root chain: the H1 pass, where there is one, then the first section.
    pub(super) fn start_root(&mut self) -> Slice {
        let next = match self.shared.program.parts(None).is_empty() {
            false => {
                self.reopens = self.shared.opens_store;
                self.open(None)
            }
            true => self.after_h1(),
        };
        self.run(next)
    }

    /// Starts a task's chain at its target.
    pub(super) fn start(&mut self) -> Slice {
        let program = &self.shared.program;
        let target = self.chains.last().and_then(|chain| chain.current(program));
        self.run(Next::Enter(target))
    }

    /// Goes on after a pause.
    pub(super) fn go_on(&mut self) -> Slice {
        let section = self.paused.take();
        self.run(Next::Enter(section))
    }

    /// Goes on with the block that waits, its call answered at once.
    pub(super) fn answer(&mut self, answer: Result<Reply, Failure>) -> Slice {
        let next = match self.vm() {
            Some(vm) => Next::Flow(vm.resume(answer)),
            None => Next::End(Err(Stopped::plain(lost()))),
        };
        self.run(next)
    }

    /// Goes on with the block that waits, the strand having parked meanwhile (spec K147).
    pub(super) fn resume(&mut self, answer: Result<Reply, Failure>) -> Slice {
        // Every chain of the stack has waited, the callers below too.
        for chain in &mut self.chains {
            chain.waited = true;
        }
        if let Some(vm) = self.vm() {
            vm.waited();
        }
        self.answer(answer)
    }

    /// Starts a called chain; it goes on in the same slice.
    pub(super) fn call(&mut self, chain: Chain) -> Slice {
        self.chains.push(chain);
        self.start()
    }

    /// Takes away the top chain, which has ended. `Some` hands its caller what it gave; `None`
    /// says that it was the strand's last.
    pub(super) fn return_to_caller(&mut self, result: Ended) -> Result<Slice, Ended> {
        let ended = self.chains.pop();
        if self.chains.is_empty() {
            return Err(result);
        }
        let answer = match result {
            Ok(text) => Ok(Reply::Text(text.unwrap_or_default())),
            Err(stopped) => Err(stopped.failure),
        };
        if ended.is_some_and(|chain| chain.waited)
            && let Some(vm) = self.vm()
        {
            vm.waited();
        }
        Ok(self.answer(answer))
    }

    /// Resumes the waiting block once with the interrupted error. Whatever it does then, it is not
    /// settled (spec K211).
    pub(super) fn interrupt(&mut self) {
        if let Some(vm) = self.vm() {
            vm.waited();
            drop(vm.resume(Err(Failure::interrupted())));
        }
    }

    /// The chain that runs, above its callers.
    pub(super) fn top(&self) -> Option<&Chain> {
        self.chains.last()
    }

    pub(super) fn top_mut(&mut self) -> Option<&mut Chain> {
        self.chains.last_mut()
    }

    /// The task's own chain, below those it has called.
    pub(super) fn bottom(&self) -> Option<&Chain> {
        self.chains.first()
    }

    /// Whether the task's own chain is inside a called one.
    pub(super) fn is_calling(&self) -> bool {
        self.chains.len() > 1
    }

    /// Whether the shared library is loading.
    pub(super) fn is_loading(&self) -> bool {
        let running = self.chains.last().and_then(|chain| chain.running.as_ref());
        running.is_some_and(|running| running.stage == Stage::Library)
    }

    /// The section under which the strand reports.
    pub(super) fn section(&self) -> Arc<str> {
        let section = self
            .chains
            .last()
            .and_then(|chain| chain.running.as_ref()?.section);
        self.shared.program.name(section).clone()
    }

    /// Takes what each chain owns, the innermost chain first.
    pub(super) fn take_owned(&mut self) -> Vec<(ChainKey, Vec<(u32, TaskKey)>)> {
        let chains = self.chains.iter_mut().rev();
        chains
            .map(|chain| (chain.key, std::mem::take(&mut chain.owned)))
            .collect()
    }

    /// Tears down every VM, innermost first.
    pub(super) fn tear_down_all(&mut self) {
        while let Some(mut chain) = self.chains.pop() {
            if let Some(running) = chain.running.take() {
                self.tear_down(running);
            }
        }
    }

    /// Reports under the section that the strand is in.
    pub(super) fn report_event(&self, kind: EventKind) {
        let section = self.section();
        self.shared.outbox.report(&self.task, &section, kind);
    }

    fn vm(&mut self) -> Option<&mut Vm<Entry>> {
        running(&mut self.chains)?.vm.as_mut()
    }

    fn report(&self, section: Option<SectionId>, kind: &'static str) {
        self.shared
            .outbox
            .plain(&self.task, self.shared.program.name(section), kind);
    }

    /// Runs until the strand waits or ends.
    fn run(&mut self, mut next: Next) -> Slice {
        loop {
            if self.is_cancelled() {
                return Slice::Cancelled;
            }
            next = match next {
                Next::Stage => self.stage(),
                Next::Close(ending) => self.close(ending),
                Next::Enter(Some(section)) if self.shared.outbox.is_due() => {
                    self.paused = Some(section);
                    return Slice::Paused;
                }
                Next::Enter(Some(section)) if std::mem::take(&mut self.reopens) => {
                    self.paused = Some(section);
                    return Slice::Walk;
                }
                Next::Enter(Some(section)) => self.open(Some(section)),
                Next::Enter(None) => Next::End(Ok(None)),
                Next::Flow(Flow::Asked(request)) => return Slice::Asked(request),
                Next::Flow(Flow::Ended(end)) => self.block_ended(end),
                Next::End(result) => {
                    let running = self.top_mut().and_then(|chain| chain.running.take());
                    if let Some(running) = running {
                        self.tear_down(running);
                    }
                    return Slice::Ended(result);
                }
            };
        }
    }

    /// Opens a section entry, or the H1 pass.
    fn open(&mut self, section: Option<SectionId>) -> Next {
        if section.is_some() {
            self.report(section, "section_started");
        }
        let Some(chain) = self.chains.last_mut() else {
            return Next::End(Err(no_chain()));
        };
        let index = chain.entries;
        chain.entries = chain.entries.saturating_add(1);
        chain.talk.section.set(section);
        let program = &self.shared.program;
        let promptforge = program.dialect() == Dialect::PromptForge;
        let has_library = promptforge && program.library().is_some();
        let has_blocks = !program.parts(section).is_empty();
        let vm = if has_blocks || has_library {
            let entry = Entry {
                shared: self.shared.clone(),
                task: self.task.clone(),
                section,
                chain: chain.id.clone(),
                index,
                depth: chain.depth,
                input: chain.input.clone(),
                item: chain.item.take(),
                sys_index: chain.sys_index.take(),
                loading: Cell::new(has_library),
                jump: RefCell::new(None),
                log: Cell::new(LogQuota::new(self.shared.log_events)),
                selection: RefCell::default(),
                tool_model: RefCell::default(),
                toolbox: Toolbox::default(),
                talk: chain.talk.clone(),
                tool_call: RefCell::default(),
                own: Cell::new(None),
            };
            let seeds = Seeds {
                dialect: program.dialect(),
                memory: self.memory,
                cancel: self.cancel.clone(),
                argv: chain.input.argv.clone(),
                h1: section.is_none(),
                state: self.shared.ahead.take(),
            };
            let built = Vm::new(entry, seeds, chain.var.clone());
            let built = built.map_err(|failure| in_setup(program, section, failure));
            let ready = built.and_then(|vm| {
                self.shared.preludes.run(&vm)?;
                if !has_library {
                    self.shared.declare(&vm)?;
                }
                Ok(vm)
            });
            match ready {
                Ok(vm) => Some(vm),
                Err(failure) => {
                    self.report(section, "lua_teardown_started");
                    self.report(section, "lua_teardown_succeeded");
                    return Next::End(Err(Stopped::plain(failure)));
                }
            }
        } else {
            None
        };
        let stage = if has_library {
            Stage::Library
        } else {
            Stage::Block(0)
        };
        chain.running = Some(Running { section, vm, stage });
        if promptforge {
            self.report(section, "lua_shared_load_started");
            if !has_library {
                self.report(section, "lua_shared_load_succeeded");
            }
        }
        Next::Stage
    }

    /// Starts what is due in the running entry, or closes it.
    fn stage(&mut self) -> Next {
        let program = &self.shared.program;
        let Some(running) = running(&mut self.chains) else {
            return Next::End(Err(no_chain()));
        };
        let Some((code, prose)) = running.code(program) else {
            return Next::Close(Ending::FellThrough);
        };
        let section = running.section;
        if prose.is_some() {
            self.report(section, "lua_chunk_started");
        }
        match self.vm() {
            Some(vm) => Next::Flow(vm.start(&code, prose)),
            None => Next::End(Err(Stopped::plain(lost()))),
        }
    }

    /// A block, or the library, came to its end.
    fn block_ended(&mut self, end: Result<Option<String>, Failure>) -> Next {
        let Some(running) = running(&mut self.chains) else {
            return Next::End(Err(no_chain()));
        };
        let (section, stage) = (running.section, running.stage);
        let Some(vm) = &running.vm else {
            return Next::End(Err(Stopped::plain(lost())));
        };
        let Stage::Block(at) = stage else {
            vm.host().loading.set(false);
            running.stage = Stage::Block(0);
            return match end.and_then(|_| self.shared.declare(vm)) {
                Ok(()) => {
                    self.report(section, "lua_shared_load_succeeded");
                    Next::Stage
                }
                Err(failure) => {
                    self.report(section, "lua_shared_load_failed");
                    let failure = in_setup(&self.shared.program, section, failure);
                    self.fail(Stopped::plain(failure))
                }
            };
        };
        let jump = vm.host().jump.take();
        let var = vm.check_var();
        running.stage = Stage::Block(at + 1);
        let ending = match (jump, end) {
            (Some(heading), _) => Some(Ending::Jumped(heading)),
            (None, Ok(None)) => None,
            (None, Ok(Some(text))) => Some(Ending::Returned(text)),
            (None, Err(failure)) => {
                self.report(section, "lua_chunk_failed");
                return self.fail(Stopped {
                    failure,
                    gate: section.is_none(),
                });
            }
        };
        self.report(section, "lua_chunk_succeeded");
        match (var, ending) {
            (Err(failure), _) => self.fail(Stopped::plain(failure)),
            (Ok(()), None) => Next::Stage,
            (Ok(()), Some(ending)) => Next::Close(ending),
        }
    }

    /// Ends the running entry well: its `var` goes on, its VM is torn down, and the walk moves.
    fn close(&mut self, ending: Ending) -> Next {
        let Some(chain) = self.chains.last_mut() else {
            return Next::End(Err(no_chain()));
        };
        let Some(running) = chain.running.take() else {
            return Next::End(Err(no_chain()));
        };
        let section = running.section;
        let mut left = Ok(());
        if let Some(vm) = &running.vm {
            left = vm.var().map(|var| chain.var = var);
            // A result starts no walk, so nothing will read `argv` (spec L125).
            if section.is_none() && !matches!(ending, Ending::Returned(_)) {
                left = left.and_then(|()| vm.argv().map(|argv| chain.input.argv = argv));
            }
        }
        self.tear_down(running);
        if let Err(failure) = left {
            return Next::End(Err(Stopped::plain(failure)));
        }
        if section.is_some() {
            self.report(section, "section_finished");
        }
        match ending {
            Ending::Returned(text) => Next::End(Ok(Some(text))),
            Ending::FellThrough if section.is_none() => self.after_h1(),
            Ending::FellThrough => {
                let program = &self.shared.program;
                Next::Enter(
                    self.chains
                        .last_mut()
                        .and_then(|chain| chain.advance(program)),
                )
            }
            Ending::Jumped(heading) => self.jump(section, &heading),
        }
    }

    /// Starts the walk at the first section; the H1 pass has taken entry 0, there or not.
    fn after_h1(&mut self) -> Next {
        let program = &self.shared.program;
        let Some(chain) = self.chains.last_mut() else {
            return Next::End(Err(no_chain()));
        };
        chain.entries = 1;
        match program.prompt().top.first() {
            Some(first) => {
                chain.go_to(program, *first);
                Next::Enter(Some(*first))
            }
            None => Next::Enter(None),
        }
    }

    fn jump(&mut self, from: Option<SectionId>, heading: &str) -> Next {
        let program = &self.shared.program;
        let Some(chain) = self.chains.last_mut() else {
            return Next::End(Err(no_chain()));
        };
        match resolve(program, from, heading) {
            Ok(target) => {
                chain.go_to(program, target);
                Next::Enter(Some(target))
            }
            Err(failure) => Next::End(Err(Stopped::plain(failure))),
        }
    }

    /// Ends the chain with a failure, its VM torn down first.
    fn fail(&mut self, stopped: Stopped) -> Next {
        if let Some(running) = self
            .chains
            .last_mut()
            .and_then(|chain| chain.running.take())
        {
            self.tear_down(running);
        }
        Next::End(Err(stopped))
    }

    fn tear_down(&self, running: Running) {
        let section = running.section;
        self.report(section, "lua_teardown_started");
        drop(running);
        self.report(section, "lua_teardown_succeeded");
    }
}

/// A failure while a section's VM was being set up names the section (spec L15, F116).
fn in_setup(program: &Program, section: Option<SectionId>, mut failure: Failure) -> Failure {
    if failure.kind == Kind::Lua && matches!(failure.class, Class::Kind | Class::Exact) {
        let name = program.name(section);
        let place = match section {
            Some(_) => format!("section `{name}`: "),
            None => format!("H1 `{name}`: "),
        };
        failure.report = Some(format!("{place}{}", failure.clone().into_report()));
        failure.message = format!("{place}{}", failure.message);
    }
    failure
}

/// The entry that the innermost chain is in.
fn running(chains: &mut [Chain]) -> Option<&mut Running> {
    chains.last_mut()?.running.as_mut()
}

fn lost() -> Failure {
    Failure::internal("a running block lost its section VM")
}

fn no_chain() -> Stopped {
    Stopped::plain(Failure::internal("a strand without a chain was run"))
}
