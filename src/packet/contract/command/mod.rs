//! `commands`: programs that must succeed (spec P59 to P68).

mod form;
mod program;
mod regenerate;

use std::process::Command as Process;
use std::time::Duration;

use serde_json::Value;

use super::Interrupted;
use super::entry::Entry;
use super::read::cause;
use super::report::{Fault, shell_reason};
use super::scope::Scope;
use super::verdict::Verdict;
use crate::harness::CancelToken;
use crate::packet::process::{self, Ended, NoEnd, Output, Stderr};
use form::{Form, Mode};
use program::Program;
use regenerate::SetAside;

/// The command exits with 0, says what it should, and makes its outputs anew.
pub(super) fn command(
    entry: Entry<'_>,
    scope: &Scope,
    cancel: &CancelToken,
) -> Result<Verdict, Interrupted> {
    let root = match entry.root(scope) {
        Ok(root) => root,
        Err((repo, verdict)) => return Ok(form::unknown(entry, verdict).of(repo)),
    };
    let verdict = match Form::read(entry, scope, &root.folder) {
        Ok(form) => {
            let ran = run(&form, cancel)?;
            ran.described(&form)
        }
        Err(verdict) => form::unknown(entry, verdict),
    };
    Ok(verdict.of(root.repo))
}

/// Puts back what a check of this entry that was killed had set aside (spec P123).
pub(super) fn roll_back(entry: Entry<'_>, scope: &Scope) {
    let Ok(root) = entry.root(scope) else {
        return;
    };
    if let Ok(form) = Form::read(entry, scope, &root.folder) {
        form.outputs_inside()
            .for_each(|path| regenerate::roll_back(path));
    }
}

/// What is known after a command, or after the attempt to run it.
struct Ran {
    verdict: Verdict,
    code: Option<i32>,
    is_cut: bool,
    regenerated: Vec<String>,
}

impl Ran {
    /// The command did not run.
    fn not(verdict: Verdict) -> Self {
        Self {
            verdict,
            code: None,
            is_cut: false,
            regenerated: Vec::new(),
        }
    }

    fn described(self, form: &Form) -> Verdict {
        let verdict = form.describe(self.verdict);
        let verdict = verdict
            .with("exit_code", self.code)
            .with_list("regenerated", self.regenerated);
        match self.is_cut {
            true => verdict.with("output_truncated", true),
            false => verdict,
        }
    }
}

fn run(form: &Form, cancel: &CancelToken) -> Result<Ran, Interrupted> {
    let program = match form.ready() {
        Ok(program) => program,
        Err(verdict) => return Ok(Ran::not(verdict)),
    };
    let mut aside = match SetAside::begin(&form.outputs) {
        Ok(aside) => aside,
        Err(details) => return Ok(Ran::not(Verdict::fault(details))),
    };
    let mut process = Process::new(&program.file);
    process
        .args(form.argv.get(1..).unwrap_or_default())
        .envs(form.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&form.cwd);
    let timeout = Duration::from_millis(form.timeout_ms);
    // Whatever ends this function early, what was set aside is put back.
    let ended = match process::run(process, Stderr::Joined, timeout, cancel) {
        Ok(ended) => ended,
        Err(NoEnd::Interrupted) => return Err(Interrupted),
        Err(NoEnd::NotStarted(error)) => {
            return Ok(Ran::not(cannot_run(&program, &cause(&error))));
        }
    };
    let (code, is_cut) = (ended.code, ended.stdout.is_cut);
    let mut judged = Judged::new(form, &ended);
    let missing = aside.missing();
    judged.note_missing(&missing);
    let mut regenerated = Vec::new();
    let settled = match judged.pass {
        true => aside.keep().map(|paths| regenerated = paths),
        false => aside.restore(),
    };
    let verdict = match settled {
        Ok(()) => judged.verdict(),
        Err(details) => Verdict::fault(details),
    };
    Ok(Ran {
        verdict,
        code,
        is_cut,
        regenerated,
    })
}

/// A program that is there and cannot be started (spec P63). One that the entry names relative to
/// the repository may be the work's own.
fn cannot_run(program: &Program, cause: &str) -> Verdict {
    let details = format!("executable cannot run: {}: {cause}", program.file.display());
    match program.is_work {
        true => Verdict::fail(details),
        false => Verdict::fault(details),
    }
}

/// The verdict on a command that has ended, in the making.
struct Judged {
    pass: bool,
    fault: Option<Fault>,
    /// The lines before the output.
    before: Vec<String>,
    output: String,
    /// The lines after it.
    after: Vec<String>,
    code: Option<i32>,
}

impl Judged {
    fn new(form: &Form, ended: &Ended) -> Self {
        let Output { bytes, .. } = &ended.stdout;
        let output = String::from_utf8_lossy(bytes);
        let mut judged = Self {
            pass: false,
            fault: None,
            before: Vec::new(),
            output: output.trim().to_owned(),
            after: Vec::new(),
            code: ended.code,
        };
        let Some(code) = ended.code else {
            judged.fault = Some(Fault::VerifierTimeout);
            let ms = form.timeout_ms;
            judged.before.push(format!("timed out after {ms} ms"));
            return judged;
        };
        match form.mode {
            Mode::Structured if form.fault_exit_codes.contains(&code) => {
                judged.fault = Some(Fault::VerifierFault);
            }
            Mode::LegacyShell if shell_reason(code.into()).is_some() => {
                let fault = match code {
                    124 => Fault::VerifierTimeout,
                    _ => Fault::VerifierFault,
                };
                let reason = shell_reason(code.into()).unwrap_or_default();
                judged.fault = Some(fault);
                judged
                    .before
                    .push(format!("{fault}: {reason} (exit {code})"));
            }
            _ if code == 0 => {
                judged.before = form.unmet(&output);
                judged.pass = judged.before.is_empty();
            }
            _ => {}
        }
        judged
    }

    /// Outputs that were not made anew make it fail.
    fn note_missing(&mut self, missing: &[String]) {
        if missing.is_empty() {
            return;
        }
        self.pass = false;
        let line = format!("output not made anew: {}", missing.join(", "));
        match self.code {
            Some(0) => self.before.push(line),
            _ => self.after.push(line),
        }
    }

    fn verdict(mut self) -> Verdict {
        if let Some(code) = self.code
            && !self.pass
            && self.output.is_empty()
            && self.before.is_empty()
        {
            self.before.push(format!("exit {code}"));
        }
        let output = Some(self.output).filter(|output| !output.is_empty());
        let lines: Vec<String> = self
            .before
            .into_iter()
            .chain(output)
            .chain(self.after)
            .collect();
        let verdict = Verdict::new(self.pass, lines.join("\n"));
        match self.fault {
            Some(fault) => verdict.because(fault),
            None => verdict,
        }
    }
}

/// Nothing, as a field.
const NONE: Value = Value::Null;
