//! Names that become parts of paths: of repos, profiles, templates and aliases.

/// The name of the packet's folder among the repos (spec P9).
pub const PACKET: &str = "packet";

/// Whether a text is a name: `[A-Za-z0-9_][A-Za-z0-9_.-]*`. No such name leaves a folder.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let first = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let rest = |byte: u8| first(byte) || byte == b'.' || byte == b'-';
    text.bytes().next().is_some_and(first) && text.bytes().all(rest)
}
