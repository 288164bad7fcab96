//! Model rounds as the engine and its outside see them (spec part 05).

mod failure;
mod message;
mod metrics;
mod round;

pub use failure::{FailureClass, ModelFailure};
pub use message::{Content, Message, Part, Role, ToolCall};
pub use metrics::{Client, Llama, Metrics, Usage, Vllm};
pub use round::{Body, Model, Origin, Reply, Round, Thinking, Tool};
