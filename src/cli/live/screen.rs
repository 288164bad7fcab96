//! Draws a block of lines over the one that was drawn before.

/// Stops the terminal from wrapping a line that is wider than it says.
const OPEN: &str = "\r\u{1b}[?7l";

/// Lets it wrap again.
const CLOSE: &str = "\u{1b}[?7h";

/// The end of a line that wipes what an earlier, longer text left.
const WIPE: &str = "\u{1b}[K";

/// Wipes all below.
const WIPE_BELOW: &str = "\u{1b}[J";

/// What is written to turn a block of so many lines, with the cursor in the last of them, into
/// these. It is written in one go, and wipes nothing that it does not write over at once, so that
/// nothing flickers.
pub fn redraw(before: usize, lines: &[String]) -> String {
    let mut out = OPEN.to_owned();
    if before > 1 {
        out += &format!("\u{1b}[{}A", before - 1);
    }
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out += line;
        out += WIPE;
    }
    if lines.len() < before {
        out += WIPE_BELOW;
    }
    out + CLOSE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines<const N: usize>(lines: [&str; N]) -> Vec<String> {
        lines.map(str::to_owned).to_vec()
    }

    #[test]
    fn a_block_is_drawn_over_the_one_before() {
        let (open, close) = ("\r\u{1b}[?7l", "\u{1b}[?7h");
        let of = |before, after: &[String]| {
            let drawn = redraw(before, after);
            let inner = drawn
                .strip_prefix(open)
                .and_then(|it| it.strip_suffix(close));
            inner.unwrap().to_owned()
        };
        assert_eq!(of(0, &lines(["a"])), "a\u{1b}[K");
        assert_eq!(of(1, &lines(["a", "b"])), "a\u{1b}[K\nb\u{1b}[K");
        assert_eq!(of(2, &lines(["c"])), "\u{1b}[1Ac\u{1b}[K\u{1b}[J");
        assert_eq!(of(2, &[]), "\u{1b}[1A\u{1b}[J");
    }
}
