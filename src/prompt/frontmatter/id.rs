//! The ids of Plugins, Packs and tools (spec F50, T7 to T11).

/// The kinds of id, which differ in their counts and their words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IdKind {
    Plugin,
    Tool,
    Pack,
}

/// Why a segment is none.
enum BadSegment {
    Empty,
    Control,
    Character,
}

const EMPTY: &str = "segments must not be empty";
const CONTROL: &str = "segments must not contain a control character";
const CHARACTER: &str = "segments may contain only lowercase ASCII letters, digits, '-', '_', '.'";

/// Checks segments from left to right: for each, that it is not empty, then its first bad
/// character.
fn check_segments(segments: &[&str]) -> Result<(), BadSegment> {
    for segment in segments {
        if segment.is_empty() {
            return Err(BadSegment::Empty);
        }
        let good = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_' | '.');
        match segment.chars().find(|c| !good(*c)) {
            Some(c) if c.is_ascii_control() => return Err(BadSegment::Control),
            Some(_) => return Err(BadSegment::Character),
            None => {}
        }
    }
    Ok(())
}

impl BadSegment {
    fn reason(self, kind: IdKind) -> &'static str {
        match self {
            Self::Empty => EMPTY,
            Self::Control if kind != IdKind::Tool => CONTROL,
            Self::Control | Self::Character => CHARACTER,
        }
    }
}

/// Checks a Plugin id; the error is the message.
pub(super) fn check_plugin(text: &str) -> Result<(), String> {
    let segments: Vec<_> = text.split('/').collect();
    let reason = if !matches!(segments.len(), 2 | 3) {
        "must have exactly 2 segments (namespace/plugin) or 3 (namespace/plugin/name)"
    } else if let Err(bad) = check_segments(&segments) {
        bad.reason(IdKind::Plugin)
    } else if segments.len() == 3 {
        return Err(format!(
            "invalid Plugin id `{text}`: a Plugin id has exactly 2 segments (namespace/plugin)"
        ));
    } else {
        return Ok(());
    };
    Err(format!(
        "invalid Plugin id `{text}`: invalid global name: {reason}"
    ))
}

/// Checks a tool path; the error is the message.
pub(super) fn check_tool(text: &str) -> Result<(), String> {
    const COUNT: &str = "a tool id must have exactly 3 segments (namespace/plugin/name)";
    let segments: Vec<_> = text.split('/').collect();
    let reason = if !matches!(segments.len(), 2 | 3) {
        COUNT
    } else if let Err(bad) = check_segments(&segments) {
        bad.reason(IdKind::Tool)
    } else if segments.len() == 2 {
        COUNT
    } else {
        return Ok(());
    };
    Err(format!(
        "invalid exact tool path `{text}`: invalid tool id: {reason}"
    ))
}

/// Splits a `uses` entry into vendor and Pack id; the error is the message.
pub(super) fn split_pack(text: &str) -> Result<(Option<&str>, &str), String> {
    let segments: Vec<_> = text.split('/').collect();
    let (vendor, name) = match segments.as_slice() {
        [name] => (None, *name),
        [vendor, name] => (Some(*vendor), *name),
        _ => {
            return Err(format!(
                "invalid Pack id `{text}`: must have exactly 1 segment (pack) or 2 (vendor/pack)"
            ));
        }
    };
    match check_segments(&segments) {
        Ok(()) => Ok((vendor, name)),
        Err(bad) => Err(format!(
            "invalid Pack id `{text}`: {}",
            bad.reason(IdKind::Pack)
        )),
    }
}

/// The Plugin that a tool path belongs to.
pub(super) fn plugin_of(tool: &str) -> &str {
    tool.rsplit_once('/').map_or(tool, |(plugin, _)| plugin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugin_ids() {
        let reason = |text| check_plugin(text).err();
        let global = |text, reason| {
            Some(format!(
                "invalid Plugin id `{text}`: invalid global name: {reason}"
            ))
        };
        let count = "must have exactly 2 segments (namespace/plugin) or 3 (namespace/plugin/name)";
        assert_eq!(reason("a/b.c-d_9"), None);
        for text in ["", "web", "a/b/c/d"] {
            assert_eq!(reason(text), global(text, count));
        }
        assert_eq!(reason("/B"), global("/B", EMPTY));
        assert_eq!(reason("A/"), global("A/", CHARACTER));
        assert_eq!(reason("a\t/b"), global("a\t/b", CONTROL));
        assert_eq!(reason("a/é\u{7f}"), global("a/é\u{7f}", CHARACTER));
        assert_eq!(
            reason("a/b/c").as_deref(),
            Some(
                "invalid Plugin id `a/b/c`: a Plugin id has exactly 2 segments (namespace/plugin)"
            )
        );
        assert_eq!(reason("a/b/C"), global("a/b/C", CHARACTER));
    }

    #[test]
    fn tool_paths() {
        let reason = |text| check_tool(text).err();
        let tool = |text, reason| {
            Some(format!(
                "invalid exact tool path `{text}`: invalid tool id: {reason}"
            ))
        };
        let count = "a tool id must have exactly 3 segments (namespace/plugin/name)";
        assert_eq!(reason("a/b/c"), None);
        assert_eq!(reason("a/b"), tool("a/b", count));
        assert_eq!(reason("a/B"), tool("a/B", CHARACTER));
        assert_eq!(reason("a"), tool("a", count));
        assert_eq!(reason("a//\u{1}"), tool("a//\u{1}", EMPTY));
        assert_eq!(reason("a/b/\u{1}"), tool("a/b/\u{1}", CHARACTER));
    }

    #[test]
    fn pack_ids() {
        assert_eq!(split_pack("web"), Ok((None, "web")));
        assert_eq!(split_pack("acme/web"), Ok((Some("acme"), "web")));
        assert_eq!(split_pack(""), Err(format!("invalid Pack id ``: {EMPTY}")));
        assert_eq!(
            split_pack("W\u{1}"),
            Err(format!("invalid Pack id `W\u{1}`: {CHARACTER}"))
        );
        assert_eq!(
            split_pack("a/b/c").err().as_deref(),
            Some("invalid Pack id `a/b/c`: must have exactly 1 segment (pack) or 2 (vendor/pack)")
        );
    }
}
