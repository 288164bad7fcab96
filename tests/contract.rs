//! Contracts of packets: the cases of spec part 09, sections 9 to 12, as data under
//! `spec/cases/09-packets/contract-*.yaml`, with real repositories and real programs; and what no
//! data can express. What processes are left is told by `/proc`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "contract/bounds.rs"]
mod bounds;
#[path = "contract/case.rs"]
mod case;
#[path = "contract/command_line.rs"]
mod command_line;
#[path = "contract/fixture.rs"]
mod fixture;
#[path = "contract/interrupts.rs"]
mod interrupts;
#[path = "contract/preflight.rs"]
mod preflight;
#[path = "contract/rules.rs"]
mod rules;
