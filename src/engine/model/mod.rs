//! Model rounds as the engine and its outside see them (spec part 05).

mod budget;
mod compose;
mod failure;
mod list;
mod message;
mod metrics;
mod requirement;
mod round;
#[cfg(test)]
mod sample;

pub use failure::{FailureClass, ModelFailure};
pub use message::{Content, Message, Part, Role, ToolCall};
pub use metrics::{Client, Llama, Metrics, Usage, Vllm};
pub use requirement::{RoleCheck, UnmetRole, unmet_roles};
pub use round::{Body, Model, Origin, Reply, Round, Thinking, Tool, model_id_fault};

pub(in crate::engine) use budget::{Memory, overflows};
pub(in crate::engine) use compose::compose;
pub(in crate::engine) use list::{check as check_list, read as read_list};
