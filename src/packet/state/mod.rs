//! What the runner keeps of a packet, in files that a crash leaves whole (spec P110 to P120).

mod append;
mod clock;
mod error;
mod folder;
mod generation;
mod journal;
mod lock;
mod log_file;
mod owner;
mod progress;
mod read;
mod replace;
mod session_log;
mod status;
mod store;

pub use clock::{Instant, now};
pub use error::StateError;
pub use folder::{STATE_FOLDER, StateFolder};
pub use generation::{Generation, Opening, RunEnd};
pub use journal::Journal;
pub use lock::RunLock;
pub use owner::live_owner;
pub use progress::ProgressLog;
pub use session_log::{Header, SessionLog};
pub use status::{AttemptStatus, Mode, PromptStatus};
pub use store::{Fields, Started, StateStore, Used};
