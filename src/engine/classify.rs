//! What a failure that nothing caught ends the run as (spec L95, L104, K57, K149).

use super::outcome::{Outcome, RunError, RunErrorKind};
use crate::lua::{Class, Failure, Field, Kind};
use crate::prompt::Dialect;

/// The outcome of a run whose root chain ended with `failure`. `gate` says that it was raised in a
/// block of the H1 pass.
pub(super) fn outcome(failure: Failure, gate: bool, dialect: Dialect) -> Outcome {
    let kind = match kind(&failure) {
        None => return Outcome::Cancelled,
        Some(Ends::Lua) if gate => RunErrorKind::RequirementsUnmet,
        Some(Ends::Lua | Ends::LuaAlways) => RunErrorKind::Lua,
        Some(Ends::As(kind)) => kind,
    };
    if let Class::Internal(source) = failure.class
        && kind == RunErrorKind::Internal
    {
        return Outcome::Failed(RunError::internal_at(failure.into_report(), source));
    }
    if let Class::Quota(message) = failure.class
        && kind == RunErrorKind::Quota
    {
        return Outcome::Failed(RunError::new(kind, message));
    }
    let mut message = failure.into_report();
    if kind == RunErrorKind::RequirementsUnmet && dialect == Dialect::Runvil {
        message =
            format!("the environment cannot satisfy this prompt:\n- the H1 gate failed: {message}");
    }
    Outcome::Failed(RunError::new(kind, message))
}

enum Ends {
    /// As `Lua`, or `RequirementsUnmet` in the H1 pass.
    Lua,
    /// As `Lua`, in the H1 pass too.
    LuaAlways,
    As(RunErrorKind),
}

/// `None` is the cancelled outcome.
fn kind(failure: &Failure) -> Option<Ends> {
    let rebuilt = failure.rebuilt;
    let has = |name: &str| failure.field(name).is_some();
    Some(match failure.kind {
        Kind::Cancelled if !rebuilt && has("task") => Ends::LuaAlways,
        Kind::Cancelled => return None,
        Kind::ContextExhausted if has("reason") => Ends::As(RunErrorKind::ContextExhausted),
        Kind::EmptyModelReply => Ends::As(RunErrorKind::Completion),
        Kind::ToolLoopExhausted | Kind::Tool => Ends::As(RunErrorKind::Tool),
        Kind::Store if !rebuilt || store_fields(failure) => Ends::As(RunErrorKind::Vfs),
        Kind::TaskNotOwned | Kind::TaskConsumed if has("task") => Ends::LuaAlways,
        _ if rebuilt => Ends::Lua,
        Kind::TasksLive => Ends::LuaAlways,
        Kind::OutOfScopeTool | Kind::UnboundTool => Ends::As(RunErrorKind::Tool),
        Kind::Lua if matches!(failure.class, Class::Quota(_)) => Ends::As(RunErrorKind::Quota),
        Kind::Internal => Ends::As(match failure.class {
            Class::Binding => RunErrorKind::Binding,
            Class::Completion => RunErrorKind::Completion,
            _ => RunErrorKind::Internal,
        }),
        _ => Ends::Lua,
    })
}

/// Whether a store value still has the fields that its reason needs (spec S49).
fn store_fields(failure: &Failure) -> bool {
    let has = |name: &str| failure.field(name).is_some();
    let counted = || {
        failure
            .fields
            .iter()
            .any(|(name, value)| *name == "count" && matches!(value, Field::Count(_)))
    };
    match failure.field("reason") {
        None => false,
        Some("backend") => true,
        Some("anchor") => has("path") && has("anchor") && counted(),
        Some("invalid_path") => has("path") && has("rule"),
        Some(_) => has("path"),
    }
}
