//! Shows what happens in a packet's run: a line each on standard output, what is wrong on standard
//! error, and where the run is on a terminal.

use std::io;

use runvil::packet::provider::Event;
use runvil::packet::run::{Notice, Observer};
use runvil::packet::{LogMode, Options, Thinking, ToolOutput};

use super::super::cell;
use super::super::console;
use super::super::escape::escape;
use super::board::Board;
use super::{closing, report};

/// The most characters of a tool's output that a preview shows.
const PREVIEW: usize = 400;

/// Whoever reads along.
pub struct Show {
    board: Board,
    is_verbose: bool,
    tool_output: ToolOutput,
    thinking: Thinking,
    /// Where the run is: `[2/9] 02 Write notes`.
    place: String,
    /// The first line that standard output did not take.
    broken: Option<io::Error>,
}

impl Show {
    /// Shows as the options of a packet say.
    pub fn new(options: &Options) -> Self {
        Self {
            board: Board::new(true),
            is_verbose: options.log_mode == LogMode::Verbose,
            tool_output: options.tool_output,
            thinking: options.thinking,
            place: String::new(),
            broken: None,
        }
    }

    /// Ends the live line. What standard output did not take, if there is such.
    pub fn end(self) -> io::Result<()> {
        self.broken.map_or(Ok(()), Err)
    }

    /// Prints a line to standard output. That it takes none is no reason to end a run.
    pub fn line(&mut self, text: &str) {
        let printed = self.board.above(|| console::print(&console::lines(text)));
        if let Err(error) = printed {
            self.broken.get_or_insert(error);
        }
    }

    /// Prints lines to standard error.
    pub fn complain(&self, text: &str) {
        self.board.above(|| console::log(text));
    }

    fn error(&self, text: &str) {
        self.board.above(|| report::error(text));
    }

    fn say(&self, what: &str) {
        self.board.say(format!("{}: {what}", self.place));
    }

    fn event(&mut self, event: &Event) {
        let shown = match event {
            Event::MessageStreamed { text } | Event::MessageReceived { text }
                if self.is_verbose =>
            {
                indented("  | ", text)
            }
            Event::Other { name, data }
                if self.is_verbose && (name != "thinking" || self.thinking == Thinking::Show) =>
            {
                format!("  {name} {data}")
            }
            Event::ToolCallStarted { name, .. } => format!("  tool {}", cell::shown(name)),
            Event::ToolCallCompleted { name, output } => self.output(name, "done", output),
            Event::ToolCallFailed { name, output } => self.output(name, "failed", output),
            _ => return,
        };
        self.line(&shown);
    }

    /// A tool's answer, as much of it as is to be shown.
    fn output(&self, name: &str, end: &str, output: &str) -> String {
        let name = cell::shown(name);
        let head = format!("  tool {name} {end}: {} bytes", output.len());
        let rest = match self.tool_output {
            ToolOutput::Summary => return head,
            ToolOutput::Preview => output.chars().take(PREVIEW).collect(),
            ToolOutput::Full => output.to_owned(),
        };
        format!("{head}\n{}", indented("  | ", &rest))
    }

    fn failed(&self, message: &str, stderr: Option<&str>) {
        self.error(message);
        if let Some(stderr) = stderr {
            self.complain(&indented("  | ", stderr));
        }
    }
}

impl Observer for Show {
    fn notice(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::RunStarted { run_id, prompts } => {
                if let Some(run_id) = run_id {
                    let noun = if prompts == 1 { "prompt" } else { "prompts" };
                    self.line(&format!("Run {run_id}: {prompts} {noun}"));
                }
            }
            Notice::PromptStarted { prompt, place, of } => {
                self.place = format!("[{place}/{of}] {} {}", prompt.id, prompt.name);
                self.say("starting");
                self.line(&format!(
                    "Prompt {} ({place} of {of}): {}",
                    prompt.id, prompt.name
                ));
            }
            Notice::AttemptStarted {
                attempt,
                mode,
                provider,
                model,
                ..
            } => {
                let model = model.map_or_else(String::new, |model| format!(", model {model}"));
                self.say(&format!("attempt {attempt}, {mode}"));
                self.line(&format!(
                    "  attempt {attempt}: {mode}, provider {provider}{model}"
                ));
            }
            Notice::Event(event) => self.event(event),
            Notice::Warning(text) => self.board.above(|| report::warning(text)),
            Notice::Resuming { number, .. } => {
                self.line(&format!("  resuming the session: resume {}", number + 1));
            }
            Notice::Verifying { failure, .. } => {
                if let Some(failure) = failure {
                    let message = failure.message.lines().next().unwrap_or_default();
                    self.line(&format!(
                        "  the provider failed: {}: {message}",
                        failure.class
                    ));
                }
                self.say("checking the contract");
            }
            Notice::Verified { report, .. } => {
                if report.items.is_empty() {
                    self.line("  no contract: there is nothing to check");
                } else {
                    let held = report.items.iter().filter(|item| item.pass).count();
                    let all = report.items.len();
                    self.line(&format!("  contract: {held} of {all} items hold"));
                }
                if report.pass() {
                    self.say("committing");
                }
            }
            Notice::Overruled { .. } => {
                self.line("The provider failed, but the contract holds: completed.");
            }
            Notice::Retry {
                prompt,
                class,
                delay_ms,
            } => {
                self.say(&format!("waiting {delay_ms} ms"));
                let id = &prompt.id;
                self.line(&format!(
                    "Retry of prompt {id} after {class} in {delay_ms} ms"
                ));
            }
            Notice::Repair { prompt, unmet } => {
                let items = if unmet == 1 { "item is" } else { "items are" };
                self.line(&format!(
                    "Repair of prompt {}: {unmet} {items} unmet",
                    prompt.id
                ));
            }
            Notice::Satisfied { prompt } => self.line(&format!(
                "Prompt {} already satisfies its contract: no session was run",
                prompt.id
            )),
            Notice::Completed { prompt, commit } => {
                let commit = closing::short(commit);
                self.line(&format!("Completed prompt {} ({commit})", prompt.id));
            }
            Notice::Failed {
                message, stderr, ..
            } => self.failed(message, stderr),
            Notice::Fault { prompt, lines } => {
                self.complain(&format!(
                    "Contract of prompt {} could not be checked:\n{}\nNo repair was spent: mend the \
                     contract or the command, then run again; with --new-run, where the packet was \
                     edited.",
                    prompt.id,
                    lines.join("\n")
                ));
                self.error(&format!(
                    "contract of prompt {} could not be checked",
                    prompt.id
                ));
            }
            Notice::Blocked { prompt, by } => {
                self.error(&format!(
                    "prompt {} is blocked by {}",
                    prompt.id,
                    by.join(", ")
                ));
            }
            Notice::Interrupted { prompt } => self.complain(&match prompt {
                Some(prompt) => format!(
                    "Interrupted: prompt {} was running; continue with --remaining",
                    prompt.id
                ),
                None => "Interrupted: continue with --remaining".to_owned(),
            }),
        }
    }
}

/// Lines behind a mark.
fn indented(mark: &str, text: &str) -> String {
    let lines = text.lines().map(|line| format!("{mark}{}", escape(line)));
    lines.collect::<Vec<_>>().join("\n")
}
