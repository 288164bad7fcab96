//! Pieces of a text that no match of a pattern can cross.

use super::cost::{Bytes, Item, LONG, items, longest, weighed};

/// How many pieces are cut at once.
const MANY: usize = 64;
/// Texts are not cut into pieces shorter than this: that would take longer than it spares.
const SHORTEST: usize = 256;

/// A pattern whose matches lie between the bytes that it has no item for.
struct Cut {
    /// The bytes that an item can take.
    takes: Bytes,
    captures: usize,
    /// How long a piece may be.
    most: usize,
}

impl Cut {
    /// `None` where a match may be empty, or depends on what stands around it.
    fn new(pattern: &[u8]) -> Option<Self> {
        // A place is counted from the text's beginning.
        if pattern.len() > LONG || pattern.windows(2).any(|pair| pair == b"()") {
            return None;
        }
        let (items, true) = items(pattern) else {
            return None;
        };
        let (mut takes, mut captures, mut open) = ([false; 256], 0, 0usize);
        for item in &items {
            match item {
                Item::Single(bytes, _) => {
                    for (all, own) in takes.iter_mut().zip(bytes.iter()) {
                        *all |= own;
                    }
                }
                Item::Mark(b'(') => {
                    captures += 1;
                    open += 1;
                }
                Item::Mark(_) => open = open.checked_sub(1)?,
                Item::Place | Item::Long => return None,
            }
        }
        let most = longest(pattern);
        let is_good = open == 0 && captures <= 32 && most >= SHORTEST;
        (is_good && !weighed(&items).is_nullable).then_some(Self {
            takes,
            captures,
            most,
        })
    }
}

/// How many captures a pattern has, where a text can be cut into pieces for it.
pub(in super::super) fn captures_in_pieces(pattern: &[u8]) -> Option<usize> {
    // A `^` in front may be an anchor.
    match pattern.first() {
        Some(b'^') => None,
        _ => Cut::new(pattern).map(|cut| cut.captures),
    }
}

/// Where the next pieces end that begin at a place, counted from 0; none where the first of them
/// would be too long to be matched unseen.
pub(in super::super) fn pieces(text: &[u8], pattern: &[u8], mut from: usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let Some(cut) = Cut::new(pattern) else {
        return ends;
    };
    while ends.len() < MANY && from < text.len() {
        let rest = &text[from..];
        let end = match rest.len() <= cut.most {
            true => Some(rest.len()),
            false => rest[..cut.most]
                .iter()
                .rposition(|byte| !cut.takes[usize::from(*byte)])
                .map(|at| at + 1),
        };
        let Some(end) = end else {
            break;
        };
        from += end;
        ends.push(from);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_behind_a_byte_that_nothing_takes() {
        let text = b"key=value; ".repeat(1000);
        let pattern = b"(%w+)=(%w+)";
        assert_eq!(captures_in_pieces(pattern), Some(2));
        let mut from = 0;
        while from < text.len() {
            let ends = pieces(&text, pattern, from);
            for end in ends {
                assert!(end - from <= longest(pattern) && end > from);
                assert!(end == text.len() || matches!(text[end - 1], b';' | b' '));
                from = end;
            }
        }
        assert!(pieces(&[b'a'; 10_000], pattern, 0).is_empty());
    }

    #[test]
    fn patterns_whose_matches_look_around_are_not_cut_for() {
        for pattern in [
            "a*",
            "%f[%w]%w+",
            "%w+$",
            "^%w+",
            "()%w+",
            "%b()",
            "(a)%1",
            "(a",
            "a)",
            "[a",
            "%",
        ] {
            assert_eq!(captures_in_pieces(pattern.as_bytes()), None, "{pattern}");
        }
        for (pattern, captures) in [("a+", 0), ("(a(b))c", 2), ("[^%s=]-=%d+", 0), ("%(%)x", 0)] {
            assert_eq!(
                captures_in_pieces(pattern.as_bytes()),
                Some(captures),
                "{pattern}"
            );
        }
    }
}
