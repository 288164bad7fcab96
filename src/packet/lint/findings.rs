//! Gathers findings about one file.

use super::finding::{Finding, Severity};
use crate::packet::prompt::Prompt;

/// The findings so far, and what the next ones are about.
pub(super) struct Findings<'a> {
    pub found: &'a mut Vec<Finding>,
    pub prompt: Option<&'a Prompt>,
    pub file: Option<&'a str>,
}

impl Findings<'_> {
    /// Adds an error.
    pub(super) fn error(&mut self, kind: &'static str, message: impl Into<String>) {
        self.add(kind, Severity::Error, message.into(), None);
    }

    /// Adds a warning.
    pub(super) fn warning(&mut self, kind: &'static str, message: impl Into<String>) {
        self.add(kind, Severity::Warning, message.into(), None);
    }

    /// Adds a warning about a key.
    pub(super) fn about_key(&mut self, kind: &'static str, key: &str, message: String) {
        self.add(kind, Severity::Warning, message, Some(key.to_owned()));
    }

    fn add(
        &mut self,
        kind: &'static str,
        severity: Severity,
        message: String,
        key: Option<String>,
    ) {
        self.found.push(Finding {
            kind,
            severity,
            prompt_id: self.prompt.map(|prompt| prompt.id.to_string()),
            file: self.file.map(str::to_owned),
            message,
            key,
        });
    }
}
