//! One repair of one prompt, from what is recorded of it (spec P100).

use std::time::Instant;

use serde_json::Value;

use super::context::{Asked, Context};
use super::error::RunError;
use super::notice::{Notice, Observer};
use super::report::{PromptReport, RunOutcome, RunReport};
use super::request::RepairRequest;
use super::turn_over::take_over;
use crate::packet::interrupt::Interrupt;
use crate::packet::life::{End, Life, Sent};
use crate::packet::prompt::Prompt;
use crate::packet::prompt_id::PromptId;
use crate::packet::provider::Providers;
use crate::packet::recovery::RepairBlock;
use crate::packet::state::{Fields, StateFolder, StateStore};

/// Starts one attempt of mode `repair` from the recorded state; what follows on it is decided as in
/// a run. There is no selection and no run generation.
///
/// # Errors
/// As for [`run`](super::run).
pub fn repair(
    request: RepairRequest<'_>,
    providers: &Providers,
    observer: &mut dyn Observer,
    interrupt: &Interrupt,
) -> Result<RunReport, RunError> {
    let packet = request.packet;
    packet.refuse_agent_control()?;
    let id = request.id.parse::<PromptId>();
    let prompt = id.ok().and_then(|id| packet.prompt(id.as_str()));
    let prompt = prompt.ok_or_else(|| RunError::PromptNotFound(request.id.to_owned()))?;
    let folder = StateFolder::of(&packet.root);
    folder.make()?;
    let _lock = take_over(packet, &folder)?;
    let store = StateStore::open(&folder)?;
    let sent = recorded(prompt, store.prompt(prompt.id.as_str()));
    let asked = Asked {
        packet,
        flags: request.flags,
        committer: request.committer,
    };
    let mut context = Context::new(asked, providers, observer, interrupt, (folder, store));
    let life = Life::new(&context, prompt)?;
    context.tell(Notice::RunStarted {
        run_id: None,
        prompts: 1,
    });
    context.tell(Notice::PromptStarted {
        prompt,
        place: 1,
        of: 1,
    });
    let begun = Instant::now();
    let end = life
        .attempts(&mut context, sent)
        .map_err(RunError::under_way)?;
    let outcome = match &end {
        End::Completed { .. } => RunOutcome::Completed,
        End::Failed { .. } | End::Blocked { .. } => RunOutcome::Failed,
        End::Fault => RunOutcome::Fault,
        End::Interrupted => {
            let prompt = Some(prompt);
            context.tell(Notice::Interrupted { prompt });
            RunOutcome::Interrupted
        }
    };
    Ok(RunReport {
        run_id: None,
        selected: 1,
        prompts: vec![PromptReport {
            id: prompt.id.to_string(),
            name: prompt.name.clone(),
            end,
            attempts: context.attempts_of(prompt),
            elapsed: begun.elapsed(),
        }],
        outcome,
    })
}

/// What a repair sends that knows no more than what is recorded.
fn recorded(prompt: &Prompt, fields: Option<&Fields>) -> Sent {
    let field = |names: [&str; 2]| {
        let values = names.into_iter().filter_map(|name| fields?.get(name));
        values.into_iter().find(|value| !value.is_null())
    };
    let report = field(["last_verifier", "verifier"]);
    let failures = report.and_then(|report| report["failures"].as_array());
    let failures: Vec<Value> = failures.cloned().unwrap_or_default();
    let last_error = field(["last_error", "reason"]).and_then(Value::as_str);
    Sent::repair(prompt, RepairBlock::new(last_error, &failures), failures)
}
