//! Store failures (spec S47).

use std::fmt;

/// The `reason` of a store failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// A failed store call: its reason, its exact message and its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreFailure {
    /// The reason.
    pub reason: Reason,
    /// The message.
    pub message: String,
    /// The path or pattern as the prompt wrote it.
    pub path: Option<String>,
    /// The anchor of a failed `str_replace`.
    pub anchor: Option<String>,
    /// How often the anchor occurs.
    pub count: Option<u64>,
    /// The broken path or pattern rule.
    pub rule: Option<Rule>,
}

impl fmt::Display for StoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StoreFailure {}
