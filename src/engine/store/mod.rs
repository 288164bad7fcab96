//! The store as the language sees it: operations, path and glob rules, errors (spec part 04).
//!
//! Nothing here touches a file. A [`StoreOp`] is [checked](StoreOp::check), asked of the Host's
//! [`Policy`], and then performed by the Harness on whatever backend the Host chose; what all
//! backends do alike ([`LineRange`], [`replace_one`], [`Glob`]) is here too.

pub mod answer;
mod edit;
mod failure;
mod glob;
mod lines;
mod op;
mod path;
mod policy;

pub use edit::replace_one;
pub use failure::{Reason, Rule, StoreFailure};
pub use glob::Glob;
pub use lines::LineRange;
pub use op::{StoreOp, StoreValue};
pub use path::{ancestors, broken_rule, check_path};
pub use policy::{Deny, Policy, PolicyRule};
