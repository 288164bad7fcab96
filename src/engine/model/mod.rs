//! Model rounds as the engine and its outside see them (spec part 05).

#[cfg_attr(not(test), expect(dead_code, reason = "`models.loop` is to use it"))]
pub(in crate::engine) mod budget;
#[cfg_attr(not(test), expect(dead_code, reason = "`models.loop` is to use it"))]
pub(in crate::engine) mod compose;
mod failure;
#[cfg_attr(not(test), expect(dead_code, reason = "`models.loop` is to use it"))]
pub(in crate::engine) mod list;
mod message;
mod metrics;
mod round;
#[cfg(test)]
mod sample;

pub use failure::{FailureClass, ModelFailure};
pub use message::{Content, Message, Part, Role, ToolCall};
pub use metrics::{Client, Llama, Metrics, Usage, Vllm};
pub use round::{Body, Model, Origin, Reply, Round, Thinking, Tool};
