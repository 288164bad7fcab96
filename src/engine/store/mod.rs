//! The store as the language sees it: operations, path and glob rules, errors (spec part 04).

mod failure;
mod op;

pub use failure::{Reason, Rule, StoreFailure};
pub use op::{StoreOp, StoreValue};
