//! Emphasis: which delimiters of a text are markup (CommonMark's delimiter stack).

use super::inline::Token;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// A run of delimiters that may open or close emphasis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The run's place among the tokens.
    token: usize,
    marker: char,
    /// The run's length as written, which the rule of three goes by.
    written: usize,
    opens: bool,
    closes: bool,
}

impl Run {
    /// A run between two characters; the ends of a text count as line ends.
    pub fn new(token: usize, marker: char, written: usize, before: char, after: char) -> Self {
        let left = flanks(before, after);
        let right = flanks(after, before);
        let (opens, closes) = match marker {
            '_' => (
                left && (!right || is_punctuation(before)),
                right && (!left || is_punctuation(after)),
            ),
            _ => (left, right),
        };
        Self {
            token,
            marker,
            written,
            opens,
            closes,
        }
    }

    /// Which openers this closer looks for: no search is made twice that must fail.
    fn kind(self) -> usize {
        usize::from(self.marker == '_') * 6 + usize::from(self.opens) * 3 + self.written % 3
    }

    /// Whether the rule of three keeps this opener from that closer.
    fn refuses(self, closer: Self) -> bool {
        (self.closes || closer.opens)
            && (self.written + closer.written).is_multiple_of(3)
            && !(self.written.is_multiple_of(3) && closer.written.is_multiple_of(3))
    }
}

/// Whether a run flanks the text on its `inner` side.
fn flanks(outer: char, inner: char) -> bool {
    !inner.is_whitespace()
        && (!is_punctuation(inner) || outer.is_whitespace() || is_punctuation(outer))
}

fn is_punctuation(c: char) -> bool {
    use GeneralCategoryGroup::{Punctuation, Symbol};
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    matches!(c.general_category_group(), Punctuation | Symbol)
}

/// Matches the runs from `bottom` on, takes what is markup off their tokens, and drops the runs.
///
/// One pass with a stack of open runs. What a failed search has seen it marks as seen for its kind,
/// so every run is passed a bounded number of times.
pub(super) fn resolve(runs: &mut Vec<Run>, bottom: usize, tokens: &mut [Token]) {
    let mut open: Vec<Run> = Vec::new();
    let mut searched = [0; 12];
    for closer in runs.drain(bottom..) {
        if closer.closes {
            let kind = closer.kind();
            while tokens[closer.token].left() > 0 {
                let fits = |run: &Run| run.marker == closer.marker && !run.refuses(closer);
                let Some(above) = open[searched[kind]..].iter().rposition(fits) else {
                    searched[kind] = open.len();
                    break;
                };
                let place = searched[kind] + above;
                let opener = open[place].token;
                let strong = tokens[opener].left() >= 2 && tokens[closer.token].left() >= 2;
                let taken = if strong { 2 } else { 1 };
                tokens[opener].take(taken);
                tokens[closer.token].take(taken);
                open.truncate(place + usize::from(tokens[opener].left() > 0));
                for seen in &mut searched {
                    *seen = (*seen).min(open.len());
                }
            }
        }
        if closer.opens && tokens[closer.token].left() > 0 {
            open.push(closer);
        }
    }
}
