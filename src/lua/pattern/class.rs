//! Which bytes a class of a pattern stands for.

/// Whether a byte is in the class that a letter after `%` names; another byte stands for itself.
pub(super) fn named(byte: u8, name: u8) -> bool {
    let is_in = match name.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'g' => byte.is_ascii_graphic(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => matches!(byte, b' ' | 0x09..=0x0d),
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return name == byte,
    };
    is_in == name.is_ascii_lowercase()
}

/// Whether a byte is in a set, given from its `[` up to its closing `]`.
pub(super) fn in_set(byte: u8, set: &[u8]) -> bool {
    let at = |i: usize| set.get(i).copied().unwrap_or_default();
    let end = set.len() - 1;
    let mut i = 0;
    let is_positive = at(1) != b'^';
    if !is_positive {
        i = 1;
    }
    loop {
        i += 1;
        if i >= end {
            return !is_positive;
        }
        let is_in = if at(i) == b'%' {
            i += 1;
            named(byte, at(i))
        } else if at(i + 1) == b'-' && i + 2 < end {
            i += 2;
            (at(i - 2)..=at(i)).contains(&byte)
        } else {
            at(i) == byte
        };
        if is_in {
            return is_positive;
        }
    }
}

/// Whether a byte is what a single-character item stands for.
pub(super) fn single(byte: u8, item: &[u8]) -> bool {
    match item {
        [b'.', ..] => true,
        [b'%', name, ..] => named(byte, *name),
        [b'[', ..] => in_set(byte, item),
        [own, ..] => *own == byte,
        [] => false,
    }
}
