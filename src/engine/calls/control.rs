//! `call` and `jump` (spec part 03, sections 3 to 5).

use crate::engine::entry::{Entry, Request};
use crate::lua::{Call, Failure, Reply, target};

/// The deepest a chain may run; the root is at 0 (spec K52, K53).
const DEPTH_CAP: u32 = 8;

/// Checks a `call`, in the order of spec K39.
pub fn call(call: &Call<'_, Entry>) -> Result<Request, Failure> {
    let heading = target(call)?;
    let input = match call.is_nil(1) {
        true => None,
        false => Some(call.string(1, "input")?),
    };
    let entry = call.host();
    entry.outside_library()?;
    let var = call.var()?;
    let target = entry.resolve(&heading)?;
    entry.goes_deeper("call")?;
    Ok(Request::Call { target, input, var })
}

/// Records where to go and unwinds the block; the heading is looked up once the section has closed
/// (spec K25, K33).
pub fn jump(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let entry = call.host();
    if entry.loading.get() {
        return Err(Failure::lua(
            "jump is not available during shared library load",
        ));
    }
    if call.is_requiring() {
        return Err(Failure::lua("jump is not available while a library loads"));
    }
    if entry.toolbox.is_running() {
        return Err(Failure::lua(
            "jump is unavailable inside a local tool handler: return a value from the handler and \
             call jump from the block after the tool call returns",
        ));
    }
    *entry.jump.borrow_mut() = Some(target(call)?);
    // Only a `pcall` of the prompt's own ever shows this.
    Err(Failure::lua("jump ends the block"))
}

impl Entry {
    /// A chain under this one is to start.
    ///
    /// # Errors
    /// It would be too deep (spec K53); `what` is what starts it.
    pub(super) fn goes_deeper(&self, what: &str) -> Result<(), Failure> {
        match self.depth < DEPTH_CAP {
            true => Ok(()),
            false => Err(Failure::exact(format!(
                "{what} recursion exceeded cap of {DEPTH_CAP}"
            ))),
        }
    }

    /// While the shared library loads, nothing but a store call can wait (spec K36).
    pub(super) fn outside_library(&self) -> Result<(), Failure> {
        match self.loading.get() {
            true => Err(Failure::lua("attempt to yield from outside a coroutine")),
            false => Ok(()),
        }
    }
}
