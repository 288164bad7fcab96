//! Takes a key out of a reply that echoes it (spec K188a).
//!
//! A reply need not hold the key byte for byte: JSON may escape any character of it, more than once
//! where a gateway quotes another's reply, a body may break off within it, and a stream may hold it
//! in pieces. So the key is compared character by character, each in all the ways it may be written.

use std::collections::HashMap;
use std::ops::Range;

/// The shortest key that is concealed, and the shortest start of one at the end of a text.
const SHORTEST: usize = 8;

/// What takes the place of the key.
const MARK: &str = "[key]";

/// The most backslashes before an escaped character: those of a quote in JSON that was quoted as JSON
/// three times over, and one to spare. A bound keeps a text of nothing but backslashes linear.
const DEEPEST: usize = 8;

/// A key that is not to be seen.
pub(super) struct Secret(Vec<Sign>);

/// One character of the key, in all the ways it may be written.
struct Sign {
    literal: String,
    /// What stands for it after backslashes; case is of no account there.
    escaped: Vec<String>,
}

/// How far the key goes from a place in a text.
enum Found {
    /// All of it is there, and ends here.
    Whole(usize),
    /// The text ends within it.
    Start,
    Nothing,
}

/// The values that a text's JSON gives to one name, joined: a stream's deltas of one kind.
#[derive(Default)]
struct Joined {
    text: String,
    /// Where each value begins, here and in the text it is from.
    pieces: Vec<(usize, usize)>,
}

impl Secret {
    /// A key, unless it is so short that it may be any word.
    pub(super) fn new(key: &str) -> Option<Self> {
        (key.len() >= SHORTEST).then(|| Self(key.chars().map(Sign::new).collect()))
    }

    /// The text with `[key]` in place of the key. The time it takes is linear in the text.
    pub(super) fn conceal(&self, text: String) -> String {
        let mut hits: Vec<(Range<usize>, bool)> = Vec::new();
        hits.extend(self.find(&text).into_iter().map(|hit| (hit, true)));
        for joined in values(&text).values().filter(|it| it.pieces.len() > 1) {
            for hit in self.find(&joined.text) {
                joined.places(hit, &mut hits);
            }
        }
        if hits.is_empty() {
            return text;
        }
        hits.sort_by_key(|(hit, is_marked)| (hit.start, !is_marked));
        let mut shown = String::with_capacity(text.len());
        let mut at = 0;
        for (hit, is_marked) in hits {
            if hit.start >= at {
                shown += &text[at..hit.start];
                shown += if is_marked { MARK } else { "" };
            }
            at = at.max(hit.end);
        }
        shown + &text[at..]
    }

    /// Where the key is in a text, in order, and the start of it that the text ends with.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut hits = Vec::new();
        let first = self.0.first().and_then(|sign| sign.literal.bytes().next());
        let (mut places, mut next) = (Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(byte) = text.as_bytes().get(at) {
            let found = match *byte == b'\\' || Some(*byte) == first {
                true => {
                    places.clear();
                    places.push(at);
                    self.follow(text.as_bytes(), &mut places, &mut next)
                }
                false => Found::Nothing,
            };
            let end = match found {
                Found::Whole(end) => end,
                Found::Start => text.len(),
                Found::Nothing => {
                    at += 1;
                    continue;
                }
            };
            hits.push(at..end);
            at = end;
        }
        hits
    }

    /// Follows the key from the one place on. A backslash of the key may be read in more than one way,
    /// so there may be several places where the next character begins. Both lists are kept for all
    /// starts, since taking memory would cost more than most of them.
    fn follow(&self, text: &[u8], places: &mut Vec<usize>, next: &mut Vec<usize>) -> Found {
        let mut known = 0;
        next.clear();
        for sign in &self.0 {
            let mut is_cut = false;
            for place in places.drain(..) {
                is_cut |= sign.follow(text, place, next);
            }
            if is_cut && known >= SHORTEST {
                return Found::Start;
            }
            if next.is_empty() {
                return Found::Nothing;
            }
            next.sort_unstable();
            next.dedup();
            std::mem::swap(places, next);
            known += sign.literal.len();
        }
        // The longest reading leaves no half of an escape behind.
        places
            .last()
            .map_or(Found::Nothing, |end| Found::Whole(*end))
    }
}

impl Sign {
    fn new(sign: char) -> Self {
        let mut units = [0; 2];
        let units = sign.encode_utf16(&mut units).iter();
        let units: Vec<String> = units.map(|unit| format!("u{unit:04x}")).collect();
        let short = match sign {
            '"' | '\\' | '/' => Some(sign),
            '\u{8}' => Some('b'),
            '\t' => Some('t'),
            '\n' => Some('n'),
            '\u{c}' => Some('f'),
            '\r' => Some('r'),
            _ => None,
        };
        let mut escaped = vec![units.join("\\")];
        escaped.extend(short.map(String::from));
        Self {
            literal: sign.to_string(),
            escaped,
        }
    }

    /// Adds the places after this character, where it is written at this place. Whether the text ends
    /// before that is decided.
    fn follow(&self, text: &[u8], at: usize, ends: &mut Vec<usize>) -> bool {
        let rest = &text[at..];
        if rest.starts_with(self.literal.as_bytes()) {
            ends.push(at + self.literal.len());
        }
        let mut is_cut = rest.is_empty();
        let depth = rest.iter().take(DEEPEST).take_while(|it| **it == b'\\');
        for skipped in 1..=depth.count() {
            let rest = &rest[skipped..];
            for escaped in &self.escaped {
                let shared = rest.len().min(escaped.len());
                if !rest[..shared].eq_ignore_ascii_case(&escaped.as_bytes()[..shared]) {
                    continue;
                }
                match shared == escaped.len() {
                    true => ends.push(at + skipped + shared),
                    false => is_cut = true,
                }
            }
        }
        is_cut
    }
}

impl Joined {
    /// Adds the places in the text it is from that a range of the joined one has: the first marked,
    /// so that what is left still reads as one key.
    fn places(&self, range: Range<usize>, hits: &mut Vec<(Range<usize>, bool)>) {
        let first = self.pieces.partition_point(|piece| piece.0 <= range.start);
        let mut at = range.start;
        for index in first.saturating_sub(1)..self.pieces.len() {
            let (here, there) = self.pieces[index];
            let next = self.pieces.get(index + 1).map_or(range.end, |it| it.0);
            let end = next.min(range.end);
            if at < end {
                let place = there + at - here..there + end - here;
                hits.push((place, at == range.start));
                at = end;
            }
            if at == range.end {
                return;
            }
        }
    }
}

/// The strings that a text's JSON gives to names, joined by name, as they are written. It may be one
/// document, or one in each line as in a stream, and break off; what is no JSON does no harm.
fn values(text: &str) -> HashMap<&str, Joined> {
    let mut values = HashMap::<&str, Joined>::new();
    for line in text.lines() {
        let offset = line.as_ptr() as usize - text.as_ptr() as usize;
        let (mut name, mut at) = ("", 0);
        while let Some(quote) = line[at..].find('"') {
            let start = at + quote + 1;
            let mut is_escaped = false;
            let closes = |byte: u8| {
                let is_end = byte == b'"' && !is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
                is_end
            };
            let length = line[start..].bytes().position(closes);
            let end = length.map_or(line.len(), |length| start + length);
            let string = &line[start..end];
            at = line.len().min(end + 1);
            if line[at..].trim_ascii_start().starts_with(':') {
                name = string;
                continue;
            }
            let joined = values.entry(name).or_default();
            joined.pieces.push((joined.text.len(), offset + start));
            joined.text += string;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    const KEY: &str = r#"sk-quote"key/12\34"#;

    fn shown(key: &str, text: &str) -> String {
        Secret::new(key).expect("long enough").conceal(text.into())
    }

    #[test]
    fn a_key_is_found_in_every_spelling() {
        let spellings = [
            KEY,
            r#"sk-quote\"key/12\\34"#,
            r#"sk-quote\"key\/12\\34"#,
            r"\u0073k-quote\u0022key\u002F12\u005c34",
            r#"sk\u002dquote\\\"key\\/12\\\\34"#,
            r"sk-quote\\\\u0022key/12\\u005C34",
        ];
        for spelling in spellings {
            assert_eq!(shown(KEY, &format!("a {spelling} b")), "a [key] b");
            assert_eq!(shown(KEY, &format!("{spelling}{spelling}")), "[key][key]");
            assert_eq!(shown(KEY, &format!("sk-{spelling}sk-")), "sk-[key]sk-");
        }
        for other in ["sk-quote'key/12\\34", r"sk-quote\u0023key/12\34", ""] {
            assert_eq!(shown(KEY, &format!("{other}\n")), format!("{other}\n"));
        }
        assert_eq!(shown("u0041bcdef", r"\u0041bcdef"), r"\[key]");
        assert_eq!(shown("kéy😀-1234", r"k\u00E9y\ud83d\uDE00-1234."), "[key].");
        assert!(Secret::new("1234567").is_none());
    }

    #[test]
    fn a_start_of_the_key_is_found_at_the_end_alone() {
        assert_eq!(shown(KEY, "a sk-quot"), "a sk-quot");
        let cut = [
            "sk-quote",
            r"sk-quote\",
            r"sk-quote\u00",
            r#"sk-quote\"key\"#,
            r"sk-quote\\",
            r"sk-\u0071uote\u0022key/12\u005",
        ];
        for cut in cut {
            assert_eq!(shown(KEY, &format!("a {cut}")), "a [key]");
            let text = format!("a {cut}.");
            assert_eq!(shown(KEY, &text), text);
        }
    }

    #[test]
    fn a_key_in_pieces_is_found() {
        let line = |name: &str, text: &str| {
            format!("data: {{\"a\": {{ \"{name}\" : \"{text}\"}}, \"b\":1}}\n\n")
        };
        let text = |[first, second, third]: [&str; 3]| {
            line("content", first)
                + &line("content", "")
                + &line("reasoning", "sk-quote")
                + &line("content", second)
                + ": ping \"\n\n"
                + &line("content", third)
                + &line("reasoning", "no")
        };
        assert_eq!(
            shown(
                KEY,
                &text(["so sk-q", r#"uote\"key\/1"#, r"2\u005c34 is it"])
            ),
            text(["so [key]", "", " is it"])
        );
        let unlike = text(["so sk-q", r#"uote\"key"#, "2"]);
        assert_eq!(shown(KEY, &unlike), unlike);
        // And so is its start, where the stream breaks off.
        let broken = line("content", "sk-qu") + "data: {\"content\":\"ote\\u00";
        let left = line("content", "[key]") + "data: {\"content\":\"";
        assert_eq!(shown(KEY, &broken), left);
    }

    /// A key, and the text of a JSON string in which it is written in some way.
    fn echoed() -> impl Strategy<Value = (String, String)> {
        let key = r#"[a-cu0"/\\ -]{8,14}"#;
        let way = prop::collection::vec(0..4_u8, 14);
        let around = r#"([a-cu0 -]|\\\\|\\"|\\u0061){0,6}"#;
        (key, way, around, around).prop_map(|(key, way, before, after)| {
            let signs = key.chars().zip(way).map(|(sign, way)| match (way, sign) {
                (0, _) => format!("\\u{:04x}", u32::from(sign)),
                (1, _) => format!("\\u{:04X}", u32::from(sign)),
                (2, '/') | (_, '"' | '\\') => format!("\\{sign}"),
                _ => sign.to_string(),
            });
            let text = before + &signs.collect::<String>() + &after;
            (key, text)
        })
    }

    proptest! {
        #[test]
        fn an_echoed_key_is_never_readable((key, text) in echoed(), cut in 0..60_usize) {
            let told: String = serde_json::from_str(&format!("\"{text}\"")).expect("JSON");
            prop_assert!(told.contains(&key));
            let body = format!("{{\"error\":\"{text}\"}}");
            let shown = shown(&key, &body);
            prop_assert!(!shown.contains(&key), "{shown}");
            // What is left may be no JSON where the key holds a quote, but no reading of it has the key.
            if let Ok(Value::Object(members)) = serde_json::from_str(&shown) {
                for (name, value) in members {
                    prop_assert!(!name.contains(&key));
                    prop_assert!(!value.as_str().is_some_and(|it| it.contains(&key)), "{shown}");
                }
            }
            // The same for every part of it that comes.
            let part = body.get(..cut.min(body.len())).unwrap_or_default();
            let shown = super::tests::shown(&key, part);
            prop_assert!(!shown.ends_with(&key[..8]), "{shown}");
        }

        #[test]
        fn what_holds_no_key_stays(text in r#"[a-c"\\:{}\n é]{0,40}"#) {
            prop_assert_eq!(shown("sk-012345", &text), text);
        }
    }
}
