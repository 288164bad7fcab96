//! Keeps control characters away from a terminal (spec C6).

use std::borrow::Cow;

/// The text with its control characters written as escapes: C0 except newline and tab, DEL, C1; and
/// those that would turn around what stands beside it.
pub fn escape(text: &str) -> Cow<'_, str> {
    let chosen = |char| is_harmful(char) || turns_text(char);
    replace(text, chosen, |char, out| out.extend(char.escape_default()))
}

/// As [`escape`], for a text that shares no line with another: it may turn itself around.
pub fn escape_alone(text: &str) -> Cow<'_, str> {
    replace(text, is_harmful, |char, out| {
        out.extend(char.escape_default())
    })
}

/// JSON whose strings hold no control character. JSON escapes C0 itself; DEL and C1 can stand only
/// inside a string, where `\u` is theirs too.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    replace(
        json,
        |char| ('\u{7f}'..='\u{9f}').contains(&char),
        |char, out| {
            out.push_str(&format!("\\u{:04x}", u32::from(char)));
        },
    )
}

/// Whether a character makes a terminal show what follows it in another direction, on the rest of the
/// line too, which is not the text's own.
pub fn turns_text(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character can make a terminal do something.
fn is_harmful(char: char) -> bool {
    char.is_control() && char != '\n' && char != '\t'
}

/// Writes some characters another way; text without any is borrowed.
fn replace(text: &str, chosen: fn(char) -> bool, write: fn(char, &mut String)) -> Cow<'_, str> {
    let Some(first) = text.find(chosen) else {
        return Cow::Borrowed(text);
    };
    let (clean, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(clean);
    for char in rest.chars() {
        if chosen(char) {
            write(char, &mut out);
        } else {
            out.push(char);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_control_character_but_newline_and_tab_is_shown() {
        assert_eq!(escape("a\tb\nc"), "a\tb\nc");
        assert_eq!(
            escape("\0\r\u{1b}[31m\u{7f}\u{9b}é"),
            r"\u{0}\r\u{1b}[31m\u{7f}\u{9b}é"
        );
        assert_eq!(escape("a\u{202e}b"), r"a\u{202e}b");
        assert_eq!(escape_alone("a\u{202e}\u{7}"), "a\u{202e}\\u{7}");
        assert_eq!(escape_json("\"\u{7f}\u{80}é\""), r#""\u007f\u0080é""#);
    }

    proptest! {
        #[test]
        fn nothing_harmful_is_left(text: String) {
            prop_assert!(!escape(&text).chars().any(is_harmful));
        }

        #[test]
        fn json_keeps_its_meaning(text: String) {
            let json = serde_json::to_string(&text).unwrap();
            let shown = escape_json(&json);
            prop_assert!(!shown.chars().any(char::is_control));
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }
    }
}
