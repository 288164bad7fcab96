//! What a `Content-Type` header says (spec T136, T137).

/// What is done with a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    /// It is rendered as Markdown.
    Html,
    /// It is passed on whole: JSON and XML.
    Structured,
    /// It is passed on as far as it goes: any other text.
    Flat,
}

/// What is done with a body of a content type, and the label of its charset where it has one;
/// `None` where it cannot be returned as text, or the type cannot be read.
pub(super) fn read(content_type: &str) -> Option<(Media, Option<&str>)> {
    let (essence, parameters) = match content_type.split_once(';') {
        Some((essence, parameters)) => (essence, parameters),
        None => (content_type, ""),
    };
    let essence = essence.trim().to_ascii_lowercase();
    let (kind, subtype) = essence.split_once('/')?;
    if !is_token(kind) || !is_token(subtype) {
        return None;
    }
    let suffix = subtype
        .rsplit_once('+')
        .map_or(subtype, |(_, suffix)| suffix);
    let is_structured = matches!(suffix, "json" | "xml");
    let media = match (kind, subtype) {
        ("text", "html") | ("application", "xhtml+xml") => Media::Html,
        ("text" | "application", _) if is_structured => Media::Structured,
        ("text", _) => Media::Flat,
        _ => return None,
    };
    Some((media, charset(parameters)))
}

/// The charset among a content type's parameters; the first counts. One that is empty is none.
fn charset(mut parameters: &str) -> Option<&str> {
    loop {
        let (name, rest) = parameters.split_once('=')?;
        // A parameter without a value may stand before.
        let name = name.rsplit(';').next().unwrap_or_default().trim();
        let rest = rest.trim_start();
        let (value, rest) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_at(rest.find(';').unwrap_or(rest.len())),
        };
        if name.eq_ignore_ascii_case("charset") {
            return Some(value.trim()).filter(|value| !value.is_empty());
        }
        parameters = rest;
    }
}

/// Whether a text is a token of HTTP.
fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}
