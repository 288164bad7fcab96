//! What a reply says beside its text: its model and its cost (spec M72, K188).

use serde::Deserialize;
use serde_json::Value;

use super::chunk::Object;
use crate::engine::model::{Llama, Metrics, Usage, Vllm};

/// The latest of each.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub(super) model: String,
    pub(super) usage: Option<Value>,
    pub(super) timings: Option<Value>,
    pub(super) metrics: Option<Value>,
}

impl Metadata {
    /// The parts that can be read, and what has to be said of the others.
    pub(super) fn read(&mut self) -> (Metrics, Vec<String>) {
        let mut degraded = Vec::new();
        if self.model.is_empty() {
            let text = "completion response named no string `model`; recorded as empty";
            degraded.push(text.to_owned());
        }
        let usage: Option<ProviderUsage> = part("usage", self.usage.take(), &mut degraded);
        let llama: Option<Llama> = part("timings", self.timings.take(), &mut degraded);
        let vllm: Option<Vllm> = part("metrics", self.metrics.take(), &mut degraded);
        let metrics = Metrics {
            usage: usage.map(Usage::from),
            llama,
            vllm,
            client: None,
        };
        (metrics, degraded)
    }
}

fn part<T: for<'de> Deserialize<'de>>(
    key: &str,
    value: Option<Value>,
    degraded: &mut Vec<String>,
) -> Option<T> {
    match serde_json::from_value(value?) {
        Ok(Object(part)) => Some(part),
        Err(error) => {
            let text = format!("malformed `{key}` in completion response ignored: {error}");
            degraded.push(text);
            None
        }
    }
}

/// Usage as providers write it.
#[derive(Deserialize)]
struct ProviderUsage {
    prompt_tokens: u32,
    completion_tokens: u32,
    total_tokens: u32,
    #[serde(default)]
    prompt_tokens_details: Option<Object<PromptDetails>>,
    #[serde(default)]
    completion_tokens_details: Option<Object<CompletionDetails>>,
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<u32>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    #[serde(default)]
    reasoning_tokens: Option<u32>,
}

impl From<ProviderUsage> for Usage {
    fn from(usage: ProviderUsage) -> Self {
        let (prompt, completion) = (usage.prompt_tokens_details, usage.completion_tokens_details);
        Self {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            total_tokens: usage.total_tokens,
            cached_tokens: prompt.and_then(|details| details.0.cached_tokens),
            reasoning_tokens: completion.and_then(|details| details.0.reasoning_tokens),
        }
    }
}
