//! What a Host lets a run do to its store (spec S57).

use serde::{Deserialize, Serialize};

use super::{Glob, StoreFailure, StoreOp};

/// A Host's policy: ordered rules, and whether the store is read-only. It is data, so that the
/// Engine asks it before the claims and a record holds it (spec R14).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Whether every operation that changes the store is refused.
    pub read_only: bool,
    /// The rules; the first that matches and denies an operation refuses it.
    #[serde(rename = "policy", default)]
    pub rules: Vec<PolicyRule>,
}

/// One rule of a [`Policy`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    #[serde(rename = "pattern")]
    glob: Glob,
    deny: Deny,
    reason: String,
}

/// Which operations a rule denies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deny {
    /// Every one.
    All,
    /// Those that change the store: write, append, `str_replace`, delete.
    Write,
}

impl Policy {
    /// Why a read-only store refuses.
    pub const READ_ONLY: &str = "the store is read-only";

    /// The failure of an operation the policy refuses: `permission_denied` with the rule's own
    /// text. Rules come before the read-only flag.
    pub fn refuse(&self, op: &StoreOp) -> Option<StoreFailure> {
        let target = op.target()?;
        let changes = op.changes();
        self.rules
            .iter()
            .find(|rule| (changes || rule.deny == Deny::All) && rule.covers(target))
            .map(|rule| rule.reason.as_str())
            .or_else(|| (self.read_only && changes).then_some(Self::READ_ONLY))
            .map(|reason| StoreFailure::permission_denied(target, reason))
    }
}

impl PolicyRule {
    /// A rule on the paths, and the globs' own texts, that a pattern matches; a `/` at the end of
    /// either is left out.
    ///
    /// # Errors
    ///
    /// `invalid_path` when the pattern breaks a rule of spec S37.
    pub fn new(pattern: &str, deny: Deny, reason: impl Into<String>) -> Result<Self, StoreFailure> {
        Ok(Self {
            glob: Glob::new(pattern)?,
            deny,
            reason: reason.into(),
        })
    }

    fn covers(&self, target: &str) -> bool {
        self.glob
            .matches(target.strip_suffix('/').unwrap_or(target))
    }
}
