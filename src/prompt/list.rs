//! List sections: prose of which every line is an item (spec F120 to F123).

use nom::branch::alt;
use nom::bytes::complete::take_while1;
use nom::character::complete::{char, one_of};
use nom::combinator::{eof, value};
use nom::sequence::terminated;
use nom::{IResult, Parser};

/// What a section's prose is as a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum List {
    /// It is prose: some line has no marker.
    None,
    /// Its items, in order.
    Items(Vec<String>),
    /// It is a list, but the item at this offset has no text.
    EmptyItem(usize),
}

/// Reads a section's prose as a list.
pub(super) fn read(prose: &str) -> List {
    let mut items = Vec::new();
    let mut empty = None;
    let mut start = 0;
    for line in prose.split_inclusive('\n') {
        let text = line.trim();
        if !text.is_empty() {
            let Ok((item, ())) = marker(text) else {
                return List::None;
            };
            if item.trim().is_empty() {
                empty.get_or_insert(start + line.len() - line.trim_start().len());
            }
            items.push(item);
        }
        start += line.len();
    }
    match empty {
        Some(offset) => List::EmptyItem(offset),
        None if items.is_empty() => List::None,
        None => List::Items(items.into_iter().map(str::to_owned).collect()),
    }
}

/// A bullet or a number with its one space, or nothing but that marker (spec F121).
fn marker(line: &str) -> IResult<&str, ()> {
    let bullet = value((), one_of("-*"));
    let number = value(
        (),
        (take_while1(|c: char| c.is_ascii_digit()), one_of(".)")),
    );
    let space = alt((value((), char(' ')), value((), eof)));
    terminated(alt((bullet, number)), space).parse(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_mix_and_one_space_is_theirs() {
        let items = ["a", "b", " c", "d"].map(str::to_owned).to_vec();
        assert_eq!(
            read("- a\r\n\n7. b \n   \n    *  c\n12) d"),
            List::Items(items)
        );
    }

    #[test]
    fn a_line_without_a_marker_makes_prose() {
        for prose in ["+ a", "-\ta", "(1) a", "- a\n  more", "1 a", "-a", ""] {
            assert_eq!(read(prose), List::None, "{prose:?}");
        }
        assert_eq!(read("-\n+ b"), List::None);
    }

    #[test]
    fn an_item_needs_a_text() {
        assert_eq!(read("- a\n  -  \n- b"), List::EmptyItem(6));
        assert_eq!(read("1."), List::EmptyItem(0));
    }
}
