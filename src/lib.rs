//! Runvil runs *prompts*: Markdown files that are programs.
//!
//! A prompt file is parsed to a [`Prompt`], a [`Run`] steps it through its sections, and a
//! [`Harness`] performs what the run asks of the outside world.

pub mod engine;
pub mod harness;
pub mod lua;
pub mod prompt;

pub use engine::{Answer, Effect, Event, Outcome, Run};
pub use harness::Harness;
pub use prompt::Prompt;

/// The README's Rust, compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
