//! What a reply says beside its text: its model and its cost (spec M72, K188).

use serde_json::value::RawValue;

use super::raw::{is_object, members, read};
use crate::engine::model::{Llama, Metrics, Usage, Vllm};

/// What is told of a reply's cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The tokens.
    Usage,
    /// The times of llama.cpp's server.
    Timings,
    /// The metrics of vLLM.
    Metrics,
}

/// The latest of each.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    model: String,
    usage: Option<Box<RawValue>>,
    timings: Option<Box<RawValue>>,
    metrics: Option<Box<RawValue>>,
}

/// What is wrong with a part, in words of ours: nothing that the gateway sent is in it.
type Read<T> = Result<T, String>;

impl Metadata {
    /// Takes the model's name, where it has one.
    pub(super) fn name(&mut self, model: &str) {
        if !model.is_empty() && *model != self.model {
            model.clone_into(&mut self.model);
        }
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// Keeps the latest.
    pub(super) fn keep(&mut self, kind: Kind, raw: &RawValue) {
        let kept = match kind {
            Kind::Usage => &mut self.usage,
            Kind::Timings => &mut self.timings,
            Kind::Metrics => &mut self.metrics,
        };
        *kept = Some(raw.to_owned());
    }

    /// The parts that can be read, and what has to be said of the others.
    pub(super) fn read(&self) -> (Metrics, Vec<String>) {
        let mut degraded = Vec::new();
        if self.model.is_empty() {
            let text = "completion response named no string `model`; recorded as empty";
            degraded.push(text.to_owned());
        }
        let metrics = Metrics {
            usage: part("usage", &self.usage, usage, &mut degraded),
            llama: part("timings", &self.timings, llama, &mut degraded),
            vllm: part("metrics", &self.metrics, vllm, &mut degraded),
            client: None,
        };
        (metrics, degraded)
    }
}

fn part<T>(
    key: &str,
    raw: &Option<Box<RawValue>>,
    read: impl FnOnce(&RawValue) -> Read<T>,
    degraded: &mut Vec<String>,
) -> Option<T> {
    match read(raw.as_deref()?) {
        Ok(part) => Some(part),
        Err(error) => {
            let text = format!("malformed `{key}` in completion response ignored: {error}");
            degraded.push(text);
            None
        }
    }
}

/// Usage as providers write it.
fn usage(raw: &RawValue) -> Read<Usage> {
    const DETAILS: [&str; 2] = ["prompt_tokens_details", "completion_tokens_details"];
    let parts = Fields::of(raw, ["prompt_tokens", "completion_tokens", "total_tokens"])?;
    let [prompt_details, completion_details] = Fields::of(raw, DETAILS)?.0;
    let detail = |of: (&str, Option<&RawValue>), key: &'static str| match of {
        (_, None) => Ok(None),
        (place, Some(raw)) if is_object(raw) => {
            let [(_, part)] = Fields::of(raw, [key])?.0;
            integer((&format!("{place}.{key}"), part))
        }
        (place, _) => Err(format!("`{place}` is no object")),
    };
    let [prompt_tokens, completion_tokens, total_tokens] = parts
        .each(|field| integer(field)?.ok_or_else(|| format!("missing field `{}`", field.0)))?;
    Ok(Usage {
        prompt_tokens,
        completion_tokens,
        total_tokens,
        cached_tokens: detail(prompt_details, "cached_tokens")?,
        reasoning_tokens: detail(completion_details, "reasoning_tokens")?,
    })
}

fn llama(raw: &RawValue) -> Read<Llama> {
    const COUNTS: [&str; 4] = ["prompt_n", "predicted_n", "draft_n", "draft_n_accepted"];
    const TIMES: [&str; 4] = [
        "prompt_ms",
        "prompt_per_second",
        "predicted_ms",
        "predicted_per_second",
    ];
    let counts = Fields::of(raw, COUNTS)?.each(integer)?;
    let [prompt_n, predicted_n, draft_n, draft_n_accepted] = counts;
    let times = Fields::of(raw, TIMES)?.each(number)?;
    let [
        prompt_ms,
        prompt_per_second,
        predicted_ms,
        predicted_per_second,
    ] = times;
    Ok(Llama {
        prompt_n,
        prompt_ms,
        prompt_per_second,
        predicted_n,
        predicted_ms,
        predicted_per_second,
        draft_n,
        draft_n_accepted,
    })
}

fn vllm(raw: &RawValue) -> Read<Vllm> {
    const KEYS: [&str; 5] = [
        "time_to_first_token_ms",
        "generation_time_ms",
        "queue_time_ms",
        "mean_itl_ms",
        "tokens_per_second",
    ];
    let numbers = Fields::of(raw, KEYS)?.each(number)?;
    let [
        time_to_first_token_ms,
        generation_time_ms,
        queue_time_ms,
        mean_itl_ms,
        tokens_per_second,
    ] = numbers;
    Ok(Vllm {
        time_to_first_token_ms,
        generation_time_ms,
        queue_time_ms,
        mean_itl_ms,
        tokens_per_second,
    })
}

/// A key, and what an object has under it; what is null is not there.
type Field<'k, 'a> = (&'k str, Option<&'a RawValue>);

/// Fields of an object.
struct Fields<'k, 'a, const N: usize>([Field<'k, 'a>; N]);

impl<'k, 'a, const N: usize> Fields<'k, 'a, N> {
    fn of(raw: &'a RawValue, keys: [&'k str; N]) -> Read<Self> {
        if !is_object(raw) {
            return Err("it is no object".to_owned());
        }
        let found = members(raw, keys).map_err(|_| "it has a key that is no text".to_owned())?;
        let mut found = found.into_iter();
        Ok(Self(keys.map(|key| (key, found.next().flatten()))))
    }

    /// All of them, read; or what is wrong with the first that is wrong.
    fn each<T: Copy + Default>(&self, read: impl Fn(Field<'k, 'a>) -> Read<T>) -> Read<[T; N]> {
        let mut all = [T::default(); N];
        for (to, field) in all.iter_mut().zip(self.0) {
            *to = read(field)?;
        }
        Ok(all)
    }
}

fn integer((key, raw): Field<'_, '_>) -> Read<Option<u32>> {
    let wrong = || format!("`{key}` is no integer in [0, 4294967295]");
    raw.map(|raw| read(raw).ok_or_else(wrong)).transpose()
}

fn number((key, raw): Field<'_, '_>) -> Read<Option<f64>> {
    let wrong = || format!("`{key}` is no finite number");
    raw.map(|raw| read(raw).ok_or_else(wrong)).transpose()
}
