//! How a cancel reaches running Lua (spec L8, K171).
//!
//! Lua looks at nothing while it runs unless it has a hook, and a hook makes every instruction dearer.
//! So it runs without one, and a cancel sets it: whoever raises the flag sends a signal to the thread
//! that runs Lua, and the handler, on that very thread, sets the hook, which `lua_sethook` allows in
//! a signal handler. The signal is SIGURG: it is ignored where nobody listens, so one that comes late
//! does no harm, and handlers that a process has for it still run. Where there are no signals, or
//! none can come in, the hook stays and looks at the flag.
//!
//! All of this may happen within a signal handler: nothing here locks or allocates but the taking of
//! a slot, which is no part of it.

// Signals and Lua's own hook have no safe interface. This is the only file that needs one.
#![allow(unsafe_code)]

use std::hint;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};

use mlua::ffi::{LUA_MASKCOUNT, lua_Hook, lua_gethook, lua_sethook};
use mlua::{Lua, Thread, lua_State};

/// Lua that is running, or room for some. Slots are used again and never freed.
struct Slot {
    taken: AtomicBool,
    /// The thread that runs it.
    thread: AtomicUsize,
    /// The coroutine that runs; null while the slot is free.
    state: AtomicPtr<lua_State>,
    /// The address of the flag that its run looks at; 0 while nothing is to be sent here.
    flag: AtomicUsize,
    /// Whether its run was cancelled and the signal sent.
    called: AtomicBool,
    /// How many are about to send a signal here: the thread must not end meanwhile.
    callers: AtomicUsize,
    next: OnceLock<Box<Slot>>,
}

static FIRST: Slot = Slot::new();

/// The hook that every VM sets when it is built, taken out again, and set by a cancel.
static HOOK: OnceLock<lua_Hook> = OnceLock::new();

impl Slot {
    const fn new() -> Self {
        Self {
            taken: AtomicBool::new(false),
            thread: AtomicUsize::new(0),
            state: AtomicPtr::new(ptr::null_mut()),
            flag: AtomicUsize::new(0),
            called: AtomicBool::new(false),
            callers: AtomicUsize::new(0),
            next: OnceLock::new(),
        }
    }

    /// A slot that nobody else has.
    fn take() -> &'static Self {
        let mut slot = &FIRST;
        while slot.taken.swap(true, SeqCst) {
            slot = slot.next.get_or_init(|| Box::new(Self::new()));
        }
        slot
    }

    fn all() -> impl Iterator<Item = &'static Self> {
        std::iter::successors(Some(&FIRST), |slot| slot.next.get().map(|next| &**next))
    }
}

/// Frees its slot again, however the Lua in it ends.
struct Entered(&'static Slot);

impl Drop for Entered {
    fn drop(&mut self) {
        let slot = self.0;
        slot.flag.store(0, SeqCst);
        while slot.callers.load(SeqCst) != 0 {
            hint::spin_loop();
        }
        slot.called.store(false, SeqCst);
        slot.state.store(ptr::null_mut(), SeqCst);
        slot.taken.store(false, SeqCst);
    }
}

/// Takes out of a new VM the hook that it was given, to be set when a cancel comes. `false` says that
/// it had to stay.
pub(super) fn take_hook(lua: &Lua, can_be_told: bool) -> bool {
    // SAFETY: the state is the VM's own, which lives as long as `lua` does.
    let Some(hook) = (unsafe { lua_gethook(lua.current_thread().state()) }) else {
        return false;
    };
    HOOK.get_or_init(|| hook);
    let takes = can_be_told && signal::arrive();
    if takes {
        lua.remove_hook();
    }
    takes
}

/// Runs Lua in a coroutine, or in the main state, which is one too, so that [`call`] reaches it.
/// Where the flag is up already, its first instruction meets the hook.
pub(super) fn run<R>(thread: &Thread, flag: &AtomicBool, lua: impl FnOnce() -> R) -> R {
    let slot = Slot::take();
    slot.thread.store(signal::this_thread(), SeqCst);
    slot.state.store(thread.state(), SeqCst);
    let _entered = Entered(slot);
    slot.flag.store(address(flag), SeqCst);
    // Only now: a cancel that comes from here on finds the slot.
    if flag.load(SeqCst) {
        set_hook(thread, 1);
    }
    lua()
}

/// Has the hook called after so many instructions of a coroutine.
pub(super) fn set_hook(thread: &Thread, instructions: u32) {
    set(thread.state(), instructions.cast_signed());
}

/// Has the Lua of every run that looks at a flag meet its hook; the flag must be up. May be called
/// in a signal handler.
pub(super) fn call(flag: &AtomicBool) {
    let flag = address(flag);
    for slot in Slot::all() {
        slot.callers.fetch_add(1, SeqCst);
        if slot.flag.load(SeqCst) == flag {
            slot.called.store(true, SeqCst);
            // The thread cannot end now: it is in `run`, which waits for `callers`.
            signal::send(slot.thread.load(SeqCst));
        }
        slot.callers.fetch_sub(1, SeqCst);
    }
}

/// Sets the hook of the Lua that this thread runs and that was called.
fn called() {
    let me = signal::this_thread();
    for slot in Slot::all() {
        // In this order: a slot that another thread has is `called` only when it holds that
        // thread's name.
        if slot.called.load(SeqCst) && slot.thread.load(SeqCst) == me {
            let state = slot.state.load(SeqCst);
            if !state.is_null() {
                set(state, 1);
            }
        }
    }
}

fn set(state: *mut lua_State, instructions: i32) {
    if let Some(hook) = HOOK.get() {
        // SAFETY: the state is that of a coroutine which a caller of `run` or `set_hook` holds, and
        // this is the thread that runs it; there `lua_sethook` may be called at any moment.
        unsafe { lua_sethook(state, Some(*hook), LUA_MASKCOUNT, instructions) };
    }
}

fn address(flag: &AtomicBool) -> usize {
    ptr::from_ref(flag).addr()
}

#[cfg(unix)]
pub(super) mod signal {
    //! The signal, its handler, and the threads it goes to.

    use std::error::Error;
    use std::ptr;
    use std::sync::OnceLock;

    use signal_hook::low_level;

    /// Whether the signal is listened for, and this thread lets it in.
    pub(super) fn arrive() -> bool {
        static LISTENS: OnceLock<bool> = OnceLock::new();
        *LISTENS.get_or_init(|| on(libc::SIGURG, super::called).is_ok()) && !is_blocked()
    }

    fn is_blocked() -> bool {
        // SAFETY: no set is installed, and the one given is written before it is read.
        unsafe {
            let mut blocked = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), &raw mut blocked) != 0
                || libc::sigismember(&raw const blocked, libc::SIGURG) != 0
        }
    }

    pub(super) fn this_thread() -> usize {
        // SAFETY: it has no preconditions.
        (unsafe { libc::pthread_self() }) as usize
    }

    /// Sends the signal to a thread, which must not have ended.
    pub(super) fn send(thread: usize) {
        // SAFETY: what the caller promises.
        unsafe { libc::pthread_kill(thread as libc::pthread_t, libc::SIGURG) };
    }

    /// Has an action done at a signal, which must be one that a signal handler may do.
    ///
    /// # Errors
    /// The signal cannot be listened for.
    pub(in super::super) fn on(
        signal: i32,
        action: impl Fn() + Send + Sync + 'static,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        // SAFETY: what the caller promises.
        unsafe { low_level::register(signal, action) }?;
        Ok(())
    }
}

#[cfg(not(unix))]
pub(super) mod signal {
    //! What there is of it without signals: nothing arrives, and so nothing is sent.

    use std::error::Error;

    pub(super) fn arrive() -> bool {
        false
    }

    pub(super) fn this_thread() -> usize {
        0
    }

    pub(super) fn send(_: usize) {}

    pub(in super::super) fn on(
        _: i32,
        _: impl Fn() + Send + Sync + 'static,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        Err("there are no such signals here".into())
    }
}
