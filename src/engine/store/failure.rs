//! Store failures (spec S47).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The `reason` of a store failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The file is not there.
    NotFound,
    /// The path or pattern breaks a rule.
    InvalidPath,
    /// The line range makes no sense.
    InvalidRange,
    /// `str_replace` found no match, or several.
    Anchor,
    /// The directory still holds something.
    DirectoryNotEmpty,
    /// A directory stands where a file is wanted.
    IsADirectory,
    /// A file stands where a directory is wanted.
    NotADirectory,
    /// The file's bytes are not UTF-8.
    NotUtf8,
    /// A file of another spelling is there.
    AlreadyExists,
    /// A policy or the system refuses.
    PermissionDenied,
    /// The backend cannot do this.
    Unsupported,
    /// The backend failed.
    Backend,
}

impl Reason {
    /// The tag as Lua and records see it.
    pub fn tag(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::InvalidPath => "invalid_path",
            Self::InvalidRange => "invalid_range",
            Self::Anchor => "anchor",
            Self::DirectoryNotEmpty => "directory_not_empty",
            Self::IsADirectory => "is_a_directory",
            Self::NotADirectory => "not_a_directory",
            Self::NotUtf8 => "not_utf8",
            Self::AlreadyExists => "already_exists",
            Self::PermissionDenied => "permission_denied",
            Self::Unsupported => "unsupported",
            Self::Backend => "backend",
        }
    }
}

/// The rule of spec S15 or S37 that a path or pattern breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Zero bytes.
    Empty,
    /// More than 1024 bytes.
    TooLong,
    /// A leading `/`.
    Absolute,
    /// A control character.
    Control,
    /// A backslash.
    Backslash,
    /// A trailing `/` or `//`.
    EmptySegment,
    /// A segment `.` or `..`.
    Traversal,
    /// A segment that ends in a dot or a space.
    UnsafeSuffix,
    /// A reserved device name.
    ReservedName,
    /// Wildcards a pattern may not hold.
    Wildcard,
}

impl Rule {
    /// The tag as Lua sees it in `err.rule`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLong => "too_long",
            Self::Absolute => "absolute",
            Self::Control => "control",
            Self::Backslash => "backslash",
            Self::EmptySegment => "empty_segment",
            Self::Traversal => "traversal",
            Self::UnsafeSuffix => "unsafe_suffix",
            Self::ReservedName => "reserved_name",
            Self::Wildcard => "wildcard",
        }
    }

    /// What the rule says in a message.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Empty => "path is empty",
            Self::TooLong => "path is too long",
            Self::Absolute => "path is absolute",
            Self::Control => "path contains a control character",
            Self::Backslash => "path contains a backslash",
            Self::EmptySegment => "path contains an empty segment",
            Self::Traversal => "path contains a traversal segment",
            Self::UnsafeSuffix => "path segment ends in an unsafe character",
            Self::ReservedName => "path contains a reserved device name",
            Self::Wildcard => "pattern contains invalid wildcard grammar",
        }
    }
}

/// A failed store call: its reason, its exact message and its fields. The fields stand in the
/// order of a record's `failure` (spec R21); one without a value is left out there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreFailure {
    /// The reason.
    pub reason: Reason,
    /// The message.
    pub message: String,
    /// The path or pattern as the prompt wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The anchor of a failed `str_replace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// How often the anchor occurs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The broken path or pattern rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// One constructor for each row of spec S47 and each text of spec S26 and S30.
impl StoreFailure {
    /// The file is not there.
    pub fn not_found(path: &str) -> Self {
        Self::at(
            Reason::NotFound,
            path,
            format!("file not found in store: {path}"),
        )
    }

    /// The path breaks a rule (spec S17).
    pub fn invalid_path(path: &str, rule: Rule) -> Self {
        let message = format!("invalid path {path:?}: {}", rule.phrase());
        Self {
            rule: Some(rule),
            ..Self::at(Reason::InvalidPath, path, message)
        }
    }

    /// The pattern breaks a rule (spec S38). Its text is not escaped.
    pub fn invalid_pattern(pattern: &str, rule: Rule) -> Self {
        let message = format!("invalid glob pattern \"{pattern}\": {}", rule.phrase());
        Self {
            rule: Some(rule),
            ..Self::at(Reason::InvalidPath, pattern, message)
        }
    }

    /// The line range makes no sense (spec S27).
    pub fn invalid_range(path: &str, text: &str) -> Self {
        let message = format!("invalid line range for {path}: {text}");
        Self::at(Reason::InvalidRange, path, message)
    }

    /// `str_replace` was given an empty anchor.
    pub fn empty_anchor(path: &str) -> Self {
        let message = format!("str_replace requires a non-empty anchor: {path}");
        Self::anchor(path, "", 0, message)
    }

    /// The anchor is not in the file.
    pub fn anchor_missing(path: &str, anchor: &str) -> Self {
        let message = format!("anchor \"{anchor}\" was not found in {path}, expected exactly one");
        Self::anchor(path, anchor, 0, message)
    }

    /// The anchor is in the file more than once.
    pub fn anchor_repeated(path: &str, anchor: &str, count: u64) -> Self {
        let message = format!(
            "anchor \"{anchor}\" occurs {count} times in {path}, expected exactly one; \
             include more surrounding text so it matches once"
        );
        Self::anchor(path, anchor, count, message)
    }

    /// The directory to be deleted still holds something.
    pub fn directory_not_empty(path: &str) -> Self {
        let message = format!("directory not empty in store: {path}");
        Self::at(Reason::DirectoryNotEmpty, path, message)
    }

    /// A directory stands where a file is wanted.
    pub fn is_a_directory(path: &str) -> Self {
        Self::at(
            Reason::IsADirectory,
            path,
            format!("is a directory in store: {path}"),
        )
    }

    /// A file stands where a directory is wanted. The path is the one written, not the
    /// ancestor's (spec S29).
    pub fn not_a_directory(path: &str) -> Self {
        Self::at(
            Reason::NotADirectory,
            path,
            format!("not a directory in store: {path}"),
        )
    }

    /// The file's bytes are not UTF-8.
    pub fn not_utf8(path: &str) -> Self {
        Self::at(
            Reason::NotUtf8,
            path,
            format!("file in store is not UTF-8: {path}"),
        )
    }

    /// A file of another spelling is there (spec S61).
    pub fn already_exists(path: &str) -> Self {
        Self::at(
            Reason::AlreadyExists,
            path,
            format!("file already exists in store: {path}"),
        )
    }

    /// A policy or the system refuses, for this reason.
    pub fn permission_denied(path: &str, reason: &str) -> Self {
        let message = format!("permission denied for store path {path}: {reason}");
        Self::at(Reason::PermissionDenied, path, message)
    }

    /// The backend cannot do this.
    pub fn unsupported(path: &str, detail: &str) -> Self {
        let message = format!("unsupported store operation on {path}: {detail}");
        Self::at(Reason::Unsupported, path, message)
    }

    /// The backend failed. Names no path (spec S19).
    pub fn backend(message: &str) -> Self {
        Self::bare(Reason::Backend, format!("store backend failure: {message}"))
    }

    /// The handle declares no store, or its backend refused to open (spec S50, S51). Names no
    /// path.
    pub fn not_opened(reason: Reason) -> Self {
        Self::bare(reason, "store operation failed".to_owned())
    }

    fn bare(reason: Reason, message: String) -> Self {
        Self {
            reason,
            message,
            path: None,
            anchor: None,
            count: None,
            rule: None,
        }
    }

    fn at(reason: Reason, path: &str, message: String) -> Self {
        Self {
            path: Some(path.to_owned()),
            ..Self::bare(reason, message)
        }
    }

    fn anchor(path: &str, anchor: &str, count: u64, message: String) -> Self {
        Self {
            anchor: Some(anchor.to_owned()),
            count: Some(count),
            ..Self::at(Reason::Anchor, path, message)
        }
    }
}

impl fmt::Display for StoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StoreFailure {}
