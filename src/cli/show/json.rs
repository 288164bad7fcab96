//! The object that `runvil show --json` prints (spec C16).

use runvil::engine::Outcome;
use runvil::engine::model::Metrics;
use runvil::harness::record::timeline::{
    AskedCall, Clip, Entry, Failure, Item, Mark, Served, State, Timeline, Totals, Track, What,
};
use serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::cli::json::Failure as RunFailure;

/// A run.
#[derive(serde::Serialize)]
pub struct Run<'a> {
    run: &'a str,
    run_id: &'a str,
    name: Option<&'a str>,
    prompt_hash: &'a str,
    dialect: &'static str,
    engine: &'a str,
    seed: String,
    started_at: String,
    model: Option<&'a str>,
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    failure: Option<RunFailure<'a>>,
    end: u64,
    lines: u64,
    torn: Option<u64>,
    totals: Counts,
    marks: Vec<Marked>,
    tracks: Tracks<'a>,
}

impl<'a> Run<'a> {
    pub fn new(timeline: &'a Timeline) -> Self {
        let head = &timeline.head;
        let outcome = timeline.outcome.as_ref().map(|line| &line.outcome);
        let error = match outcome {
            Some(Outcome::Failed(error)) => Some(error),
            _ => None,
        };
        Self {
            run: &head.run,
            run_id: &head.run_id,
            name: head.name.as_deref(),
            prompt_hash: &head.prompt_hash,
            dialect: head.dialect.key(),
            engine: &head.engine,
            seed: head.seed.to_string(),
            started_at: head.started_at.to_string(),
            model: head.model.as_ref().map(|model| &*model.id),
            outcome: outcome.map(|outcome| match outcome {
                Outcome::Completed(_) => "completed",
                Outcome::Cancelled => "cancelled",
                Outcome::Failed(_) => "failed",
            }),
            result: match outcome {
                Some(Outcome::Completed(result)) => Some(result),
                _ => None,
            },
            kind: error.map(|error| error.kind.name()),
            failure: error.map(RunFailure::new),
            end: timeline.end,
            lines: timeline.lines,
            torn: timeline.torn,
            totals: Counts::from(timeline.totals),
            marks: timeline.marks.iter().map(Marked::new).collect(),
            tracks: Tracks(timeline),
        }
    }
}

#[derive(serde::Serialize)]
struct Counts {
    rounds: u64,
    failed_rounds: u64,
    prompt_tokens: u64,
    cached_tokens: u64,
    completion_tokens: u64,
    calls: u64,
    failed_calls: u64,
    questions: u64,
    writes: u64,
    reads: u64,
    checkpoints: u64,
    tasks: u64,
}

impl From<Totals> for Counts {
    fn from(totals: Totals) -> Self {
        Self {
            rounds: totals.rounds,
            failed_rounds: totals.failed_rounds,
            prompt_tokens: totals.prompt_tokens,
            cached_tokens: totals.cached_tokens,
            completion_tokens: totals.completion_tokens,
            calls: totals.calls,
            failed_calls: totals.failed_calls,
            questions: totals.questions,
            writes: totals.writes,
            reads: totals.reads,
            checkpoints: totals.checkpoints,
            tasks: totals.tasks,
        }
    }
}

#[derive(serde::Serialize)]
struct Marked {
    mark: &'static str,
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    effects: Option<usize>,
}

impl Marked {
    fn new((at, mark): &(u64, Mark)) -> Self {
        let (mark, effects) = match mark {
            Mark::Cancel => ("cancel", None),
            Mark::Stop(effects) => ("stop", Some(*effects)),
        };
        Self {
            mark,
            at: *at,
            effects,
        }
    }
}

/// The tracks, made one at a time.
struct Tracks<'a>(&'a Timeline);

impl Serialize for Tracks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tracks = &self.0.tracks;
        let mut list = serializer.serialize_seq(Some(tracks.len()))?;
        for track in tracks {
            list.serialize_element(&TrackForm::new(self.0, track))?;
        }
        list.end()
    }
}

#[derive(serde::Serialize)]
struct TrackForm<'a> {
    task: &'a str,
    name: &'a str,
    owner: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    origin: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Text<'a>>,
    at: u64,
    end: Option<u64>,
    state: &'static str,
    totals: Counts,
    items: Vec<ItemForm<'a>>,
}

impl<'a> TrackForm<'a> {
    fn new(timeline: &'a Timeline, track: &'a Track) -> Self {
        let owner = track.owner.and_then(|owner| timeline.tracks.get(owner));
        Self {
            task: &track.task,
            name: &track.name,
            owner: owner.map(|owner| &*owner.task),
            origin: &track.origin,
            index: track.index,
            item: track.item.as_ref().map(Text::new),
            input: track.input.as_ref().map(Text::new),
            at: track.at,
            end: track.end,
            state: track.state.word(),
            totals: Counts::from(track.totals),
            items: track
                .items
                .iter()
                .map(|item| ItemForm::new(timeline, item))
                .collect(),
        }
    }
}

/// The start of a text, and how long all of it is.
#[derive(serde::Serialize)]
struct Text<'a> {
    text: &'a str,
    bytes: usize,
}

impl<'a> Text<'a> {
    fn new(clip: &'a Clip) -> Self {
        Self {
            text: &clip.text,
            bytes: clip.len(),
        }
    }
}

#[derive(serde::Serialize)]
struct ItemForm<'a> {
    #[serde(flatten)]
    what: Kind<'a>,
    line: u64,
    depth: usize,
    at: u64,
    end: Option<u64>,
    state: &'static str,
}

#[derive(serde::Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kind<'a> {
    Section {
        name: &'a str,
        entry: &'static str,
        reads: u64,
    },
    Require {
        name: &'a str,
    },
    Round {
        round: u64,
        origin: &'static str,
        model: &'a str,
        messages: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        reply: Option<Text<'a>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        calls: Vec<CallForm<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metrics: Option<&'a Metrics>,
        #[serde(skip_serializing_if = "Option::is_none")]
        failure: Option<FailureForm<'a>>,
    },
    Call {
        tool: &'a str,
        served: &'static str,
        by: &'static str,
        arguments: Text<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<Text<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        failure: Option<FailureForm<'a>>,
    },
    Write {
        op: &'static str,
        path: &'a str,
        contents: Text<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        failure: Option<FailureForm<'a>>,
    },
    Wait {
        timer: &'a str,
        seconds: f64,
    },
    Checkpoint {
        message: Text<'a>,
    },
    Task {
        task: &'a str,
    },
    Notice {
        text: Text<'a>,
    },
}

#[derive(serde::Serialize)]
struct CallForm<'a> {
    id: &'a str,
    name: &'a str,
    arguments: Text<'a>,
}

impl<'a> CallForm<'a> {
    fn new(call: &'a AskedCall) -> Self {
        Self {
            id: &call.id,
            name: &call.name,
            arguments: Text::new(&call.arguments),
        }
    }
}

#[derive(serde::Serialize)]
struct FailureForm<'a> {
    class: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    message: Text<'a>,
}

impl<'a> FailureForm<'a> {
    fn new(failure: &'a Failure) -> Self {
        Self {
            class: failure.class,
            status: failure.status,
            message: Text::new(&failure.message),
        }
    }
}

impl<'a> ItemForm<'a> {
    fn new(timeline: &'a Timeline, item: &'a Item) -> Self {
        Self {
            what: Kind::new(timeline, &item.what),
            line: item.line,
            depth: item.depth,
            at: item.at,
            end: item.end,
            state: match item.what {
                // Which only says that it was started.
                What::Task(_) => State::Done.word(),
                _ => item.state.word(),
            },
        }
    }
}

impl<'a> Kind<'a> {
    fn new(timeline: &'a Timeline, what: &'a What) -> Self {
        match what {
            What::Section(section) => Self::Section {
                name: &section.name,
                entry: match section.entry {
                    Entry::Title => "title",
                    Entry::Walk => "walk",
                    Entry::Jump => "jump",
                    Entry::Within => "within",
                },
                reads: section.reads,
            },
            What::Require(name) => Self::Require { name },
            What::Round(round) => {
                let reply = round.reply.as_ref();
                let calls = reply.map_or(&[][..], |reply| &reply.calls);
                let metrics = reply.map(|reply| &reply.metrics);
                Self::Round {
                    round: round.round,
                    origin: round.origin.tag(),
                    model: &round.model,
                    messages: round.messages,
                    reply: reply
                        .filter(|reply| reply.calls.is_empty())
                        .map(|reply| Text::new(&reply.text)),
                    calls: calls.iter().map(CallForm::new).collect(),
                    finish_reason: reply.and_then(|reply| reply.finish_reason.as_deref()),
                    metrics: metrics.filter(|metrics| !metrics.is_empty()),
                    failure: round.failure.as_ref().map(FailureForm::new),
                }
            }
            What::Call(call) => Self::Call {
                tool: &call.tool,
                served: match call.served {
                    Served::Unit => "unit",
                    Served::Operator => "operator",
                    Served::Run => "run",
                },
                by: if call.by_model { "model" } else { "script" },
                arguments: Text::new(&call.arguments),
                output: call.output.as_ref().map(Text::new),
                failure: call.failure.as_ref().map(FailureForm::new),
            },
            What::Write(write) => Self::Write {
                op: write.op,
                path: &write.path,
                contents: Text::new(&write.contents),
                failure: write.failure.as_ref().map(FailureForm::new),
            },
            What::Wait(wait) => Self::Wait {
                timer: &wait.timer,
                seconds: wait.seconds,
            },
            What::Checkpoint(message) => Self::Checkpoint {
                message: Text::new(message),
            },
            What::Task(track) => Self::Task {
                task: &timeline.tracks[*track].task,
            },
            What::Notice(text) => Self::Notice {
                text: Text::new(text),
            },
        }
    }
}
