//! What a pattern could cost at worst.

use super::class;
use super::item::{byte_at, item_end};

/// How many steps a match may take unseen: about 10 ms of them.
const STEPS: u64 = 4_000_000;

/// A pattern longer than this is not looked at closely.
pub(super) const LONG: usize = 500;

/// The bytes that an item can begin with.
pub(super) type Bytes = [bool; 256];

/// What matching the rest of a pattern may take from one place of a text of n bytes.
pub(super) struct Rest {
    /// The power of n of the steps.
    power: u32,
    /// The power of n of the steps of a match that fails.
    failing: u32,
    /// What the power is multiplied with.
    factor: u64,
    /// The bytes with which it can go on.
    first: Bytes,
    /// Whether it may match nothing.
    pub(super) is_nullable: bool,
    /// Whether it always matches.
    always: bool,
}

pub(super) enum Item {
    /// A single character, and what follows it: `*`, `+`, `-`, `?` or nothing.
    Single(Box<Bytes>, u8),
    /// A parenthesis, which takes no byte and always matches.
    Mark(u8),
    /// A frontier or the end, which take no byte and may not match.
    Place,
    /// `%b`, or a capture again: as long as the text, in one way only.
    Long,
}

/// The longest text against which a pattern can be matched unseen, from all of its places.
pub(in super::super) fn longest(pattern: &[u8]) -> usize {
    if pattern.len() > LONG {
        return 0;
    }
    let anchored = pattern.first() == Some(&b'^');
    let (items, _) = items(&pattern[usize::from(anchored)..]);
    let rest = weighed(&items);
    let power = match anchored {
        true => rest.power,
        false => rest.power.max(1 + rest.failing),
    };
    let steps = STEPS / (rest.factor * (1 + items.len() as u64)).max(1);
    match power {
        0 => usize::MAX,
        1 => steps as usize,
        2 => steps.isqrt() as usize,
        power => (steps as f64).powf(1.0 / f64::from(power)) as usize,
    }
}

/// What matching all the items may take from one place.
pub(super) fn weighed(items: &[Item]) -> Rest {
    let nothing = Rest {
        power: 0,
        failing: 0,
        factor: 1,
        first: [false; 256],
        is_nullable: true,
        always: true,
    };
    let back = items.iter().rev();
    back.fold(nothing, |rest, item| before(item, rest))
}

/// The items up to where the pattern is not well formed, which ends every match, and whether that is
/// its end.
pub(super) fn items(pattern: &[u8]) -> (Vec<Item>, bool) {
    let mut items = Vec::new();
    let mut at = 0;
    while at < pattern.len() {
        let next = byte_at(pattern, at + 1);
        let item = match (pattern[at], next) {
            (b'(' | b')', _) => {
                at += 1;
                Item::Mark(pattern[at - 1])
            }
            (b'$', _) if at + 1 == pattern.len() => {
                at += 1;
                Item::Place
            }
            (b'%', b'b') => {
                at += 4;
                Item::Long
            }
            (b'%', b'f') => match item_end(pattern, at + 2) {
                Ok(end) => {
                    at = end;
                    Item::Place
                }
                Err(_) => return (items, false),
            },
            (b'%', b'0'..=b'9') => {
                at += 2;
                Item::Long
            }
            _ => {
                let Ok(end) = item_end(pattern, at) else {
                    return (items, false);
                };
                let own = &pattern[at..end];
                let mut bytes = Box::new([false; 256]);
                match own {
                    [byte] if *byte != b'.' => bytes[usize::from(*byte)] = true,
                    _ => {
                        for (byte, is_in) in (0u8..=255).zip(bytes.iter_mut()) {
                            *is_in = class::single(byte, own);
                        }
                    }
                }
                let suffix = byte_at(pattern, end);
                at = end + usize::from(matches!(suffix, b'*' | b'+' | b'-' | b'?'));
                Item::Single(bytes, suffix)
            }
        };
        items.push(item);
    }
    (items, true)
}

/// What an item and the rest after it take together.
fn before(item: &Item, rest: Rest) -> Rest {
    let (bytes, suffix) = match item {
        Item::Mark(_) => return rest,
        Item::Place => {
            return Rest {
                always: false,
                ..rest
            };
        }
        Item::Long => {
            return Rest {
                power: rest.power.max(1),
                failing: rest.power.max(1),
                first: [true; 256],
                is_nullable: true,
                always: false,
                ..rest
            };
        }
        Item::Single(bytes, suffix) => (bytes, *suffix),
    };
    let overlaps = rest.is_nullable || (0..256).any(|byte| bytes[byte] && rest.first[byte]);
    let mut first = **bytes;
    let may_be_none = matches!(suffix, b'*' | b'-' | b'?');
    if may_be_none {
        for (own, other) in first.iter_mut().zip(rest.first) {
            *own |= other;
        }
    }
    let out = Rest {
        first,
        is_nullable: rest.is_nullable && may_be_none,
        always: rest.always && may_be_none,
        ..rest
    };
    match suffix {
        // The rest is tried twice.
        b'?' if overlaps && !rest.always => Rest {
            factor: out.factor.saturating_mul(2).min(STEPS),
            ..out
        },
        b'*' | b'+' | b'-' => {
            // Where the rest can begin inside the run, it is tried at every place of it; otherwise
            // it fails there at once.
            let power = match overlaps && !rest.always {
                true => 1 + rest.power,
                false => rest.power.max(1),
            };
            let failing = if rest.always { 0 } else { power };
            Rest {
                power,
                failing,
                ..out
            }
        }
        _ => out,
    }
}
