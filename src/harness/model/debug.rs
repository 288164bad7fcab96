//! The debug events of rounds: what is asked of a model and what comes back, word for word, for the
//! Host alone (spec K188a).

use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

/// What a round says or is told, word for word. It has its round's coordinates and no number, and is
/// in no record (spec K188a). All of it is text from outside but the coordinates (spec K190).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DebugEvent<'a> {
    /// What was said.
    pub kind: DebugKind<'a>,
    /// The run's name.
    pub execution: &'a str,
    /// The heading text of the section that the round's other events are reported under.
    pub section: &'a str,
    /// The id of the nearest task.
    pub task: &'a str,
    /// The round's number in its task, from 1.
    pub turn: u32,
}

/// The kinds of debug event, with the fields each adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugKind<'a> {
    /// `request`: a round goes out.
    Request {
        /// The request's body, JSON.
        body: &'a str,
    },
    /// `response`: a round has come back.
    Response {
        /// The reply's body as it came, a stream's framing included: no more of it than the response
        /// cap (spec M71). What is no UTF-8 in it is replaced, and so is the gateway's key.
        body: &'a str,
        /// The last reason to finish that was decoded from it.
        finish_reason: Option<&'a str>,
        /// The reasoning that was decoded from it, where there is any.
        reasoning_content: Option<&'a str>,
    },
}

impl DebugKind<'_> {
    /// The kind's name as it is written.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Request { .. } => "request",
            Self::Response { .. } => "response",
        }
    }
}

impl Serialize for DebugEvent<'_> {
    /// As an event is written (spec K182), its `provenance` without `seq`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Provenance<'a> {
            task: &'a str,
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", self.kind.name())?;
        map.serialize_entry("execution", self.execution)?;
        map.serialize_entry("section", self.section)?;
        map.serialize_entry("provenance", &Provenance { task: self.task })?;
        map.serialize_entry("turn", &self.turn)?;
        match self.kind {
            DebugKind::Request { body } => map.serialize_entry("body", body)?,
            DebugKind::Response {
                body,
                finish_reason,
                reasoning_content,
            } => {
                map.serialize_entry("body", body)?;
                if let Some(reason) = finish_reason {
                    map.serialize_entry("finish_reason", reason)?;
                }
                if let Some(reasoning) = reasoning_content {
                    map.serialize_entry("reasoning_content", reasoning)?;
                }
            }
        }
        map.end()
    }
}

/// Where a run's debug events go: a function that is called on the run's own thread, as its observer
/// is, between the events before the round and those after it (spec K188).
///
/// ```
/// use runvil::harness::Launch;
/// use runvil::harness::model::{DebugEvents, DebugKind};
///
/// let (tell, told) = std::sync::mpsc::channel();
/// let debug = DebugEvents::new(move |event| {
///     if let DebugKind::Request { body } = event.kind {
///         let _ = tell.send(format!("{} asks: {body}", event.task));
///     }
/// });
/// let launch = Launch { debug: Some(debug), ..Launch::default() };
/// # drop((launch, told));
/// ```
#[derive(Clone)]
pub struct DebugEvents(Arc<dyn Fn(DebugEvent<'_>) + Send + Sync>);

impl DebugEvents {
    /// Gives them to a function.
    pub fn new(observe: impl Fn(DebugEvent<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observe))
    }

    /// Hands one over.
    pub(in crate::harness) fn give(&self, event: DebugEvent<'_>) {
        (self.0)(event);
    }
}

impl fmt::Debug for DebugEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DebugEvents")
    }
}
