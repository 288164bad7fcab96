//! `runvil packet run --dry-run` (spec P26).

use runvil::packet::{
    Mapping, Packet, PacketError, Prompt, Repo, Selectors, Standing, dependencies,
};

/// How many lines of a commit message are shown.
const MESSAGE_LINES: usize = 10;

/// What a run would do with each selected prompt; `None` where nothing is selected. Nothing is
/// written, and no lock is taken.
pub fn text(
    packet: &Packet,
    flags: &Mapping,
    selectors: &Selectors,
    no_commit: bool,
) -> Result<Option<String>, PacketError> {
    packet.refuse_agent_control()?;
    packet.options(None, flags)?;
    dependencies::check(packet)?;
    let recorded = match selectors.needs_progress() {
        true => Standing::read(&packet.root)?,
        false => Standing::default(),
    };
    let selected = selectors.select(packet, &recorded)?;
    let mut out = String::new();
    for prompt in dependencies::run_order(&selected) {
        out += &of_prompt(packet, prompt, flags, no_commit)?;
    }
    Ok((!out.is_empty()).then_some(out))
}

fn of_prompt(
    packet: &Packet,
    prompt: &Prompt,
    flags: &Mapping,
    no_commit: bool,
) -> Result<String, PacketError> {
    let options = packet.options(Some(prompt), flags)?;
    let targets: Vec<String> = packet.targets(prompt).into_iter().map(target).collect();
    let targets = match targets.is_empty() {
        true => "none".to_owned(),
        false => targets.join(", "),
    };
    let commit = match no_commit {
        true => " SKIPPED (--no-commit)\n".to_owned(),
        false => {
            let message = prompt.commit_message();
            let lines = message.lines().take(MESSAGE_LINES);
            let lines: String = lines.map(|line| format!("    {line}\n")).collect();
            format!("\n{lines}")
        }
    };
    Ok(format!(
        "Prompt {} - {}\n  file: {}\n  body: {} lines, {} bytes\n  provider: {}\n  model: {}\n  \
         folder: {}\n  permission mode: {}\n  targets: {targets}\n  commit:{commit}",
        prompt.id,
        prompt.name,
        prompt.file,
        prompt.body.lines().count(),
        prompt.body.len(),
        options.provider()?.name,
        options.model.as_deref().unwrap_or("none"),
        packet.scope(prompt).root.display(),
        options.permission_mode.word(),
    ))
}

fn target(repo: &Repo) -> String {
    let path = repo.path.as_ref().map(|path| path.display().to_string());
    format!("{} ({})", repo.name, path.as_deref().unwrap_or("no path"))
}
