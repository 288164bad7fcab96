//! HTML entities: named ones as HTML5 lists them, and numeric ones.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The named entities that end with a semicolon, by their text.
static NAMED: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let entities = entities::ENTITIES
        .iter()
        .map(|entity| (entity.entity, entity.characters));
    entities.filter(|(text, _)| text.ends_with(';')).collect()
});

/// The longest named entity, its ampersand and semicolon included.
const LONGEST: usize = "&CounterClockwiseContourIntegral;".len();

/// What an entity stands for.
pub(super) enum Entity {
    /// A named entity's characters.
    Named(&'static str),
    /// A numeric entity's character.
    Numeric(char),
}

/// The entity that a text starts with, and its length.
pub(super) fn entity(text: &str) -> Option<(Entity, usize)> {
    let window = text.as_bytes().get(..LONGEST).unwrap_or(text.as_bytes());
    let length = window.iter().position(|byte| *byte == b';')? + 1;
    let whole = &text[..length];
    match whole.strip_prefix("&#") {
        Some(number) => numeric(&number[..number.len() - 1]).map(|c| (Entity::Numeric(c), length)),
        None => NAMED.get(whole).map(|text| (Entity::Named(text), length)),
    }
}

/// A character by number: up to seven decimal or six hexadecimal digits. A number of no character,
/// and zero, stand for U+FFFD.
fn numeric(number: &str) -> Option<char> {
    let (digits, radix, most) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 6),
        None => (number, 10, 7),
    };
    if digits.is_empty() || digits.len() > most || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let code = u32::from_str_radix(digits, radix).ok()?;
    Some(
        char::from_u32(code)
            .filter(|c| *c != '\0')
            .unwrap_or(char::REPLACEMENT_CHARACTER),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str) -> Option<String> {
        entity(text).map(|(entity, length)| match entity {
            Entity::Named(characters) => format!("{characters}{}", &text[length..]),
            Entity::Numeric(c) => format!("{c}{}", &text[length..]),
        })
    }

    #[test]
    fn named_and_numeric() {
        assert_eq!(resolve("&amp;x").as_deref(), Some("&x"));
        assert_eq!(resolve("&ngE;").as_deref(), Some("\u{2267}\u{338}"));
        assert_eq!(resolve("&#35;&#X22;").as_deref(), Some("#&#X22;"));
        assert_eq!(resolve("&#x1F600;").as_deref(), Some("\u{1F600}"));
        assert_eq!(resolve("&#0;").as_deref(), Some("\u{FFFD}"));
        for text in [
            "&amp",
            "&nosuch;",
            "&#;",
            "&#x;",
            "&#12345678;",
            "&#a;",
            "&é;",
            "&",
        ] {
            assert_eq!(resolve(text), None, "{text}");
        }
    }
}
