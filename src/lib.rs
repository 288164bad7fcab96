//! Runvil runs *prompts*: Markdown files that are programs.
//!
//! A prompt file is parsed to a [`Prompt`], a [`Run`] steps it through its sections, and a
//! [`Harness`] performs what the run asks of the outside world.
//!
//! ```
//! use runvil::harness::{Harness, Launch};
//! use runvil::Outcome;
//!
//! let source = "---\nname: sum\ndescription: Adds.\nrunvil: 0\n---\n# Sum\n\n```lua\nreturn 2 + 3\n```\n";
//! let report = Harness::default().run(source, Launch::default(), &mut |_event| {});
//! assert_eq!(report.outcome, Outcome::Completed("5".to_owned()));
//! ```
//!
//! # What a host needs
//!
//! [`harness`] and [`Outcome`], and no more: [`Harness::run`] takes a prompt's text and a
//! [`Launch`](harness::Launch), shows each [`Event`] as it is reported, and gives back a
//! [`Report`](harness::Report). The other modules are for tools: [`prompt`] to read a file's tree
//! without running it, [`engine`] to step a run by hand or to answer its effects otherwise, [`lua`]
//! for what both say of values, [`packet`] for folders of prompts and their contracts.
//!
//! # The specification
//!
//! A letter and a number, such as *(spec R6)*, cites a rule of the specification in the folder
//! `spec/` of the repository; `spec/README.md` says which file holds which letter.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod engine;
pub mod harness;
pub mod lua;
pub mod packet;
pub mod prompt;

pub use engine::{Answer, Effect, Event, Outcome, Run};
pub use harness::Harness;
pub use prompt::Prompt;

/// The README's Rust, compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
