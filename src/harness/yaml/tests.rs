use serde::Deserialize;

use crate::lua::Data;

use super::*;

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
struct Shelf {
    books: Distinct<Book>,
    owners: Entries<String, Located<Even>>,
    best: Option<Located<Book>>,
    notes: Option<Data>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map")]
struct Book {
    id: String,
    pages: Option<u8>,
}

impl Identified for Book {
    fn id(&self) -> &str {
        &self.id
    }
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(try_from = "i64")]
struct Even(i64);

impl TryFrom<i64> for Even {
    type Error = &'static str;

    fn try_from(number: i64) -> Result<Self, Self::Error> {
        match number % 2 {
            0 => Ok(Self(number)),
            _ => Err("odd"),
        }
    }
}

#[track_caller]
fn assert_wrong(text: &str, expected: &str) {
    let error = read::<Shelf>(text).unwrap_err();
    assert_eq!(error.to_string(), expected, "{text}");
}

#[test]
fn a_document_without_anything_is_the_default() {
    for text in ["", "# nothing\n", "---\n\n# nothing\n", "{}"] {
        assert_eq!(read::<Shelf>(text), Ok(Shelf::default()), "{text:?}");
    }
}

#[test]
fn a_document_is_read() {
    let shelf = read::<Shelf>("books: [{id: a, pages: 1}, {id: b}]\nowners: {x: 2, 'y.z': 4}\n");
    let shelf = shelf.unwrap();
    assert_eq!(shelf.books.0.len(), 2);
    let owners: Vec<(&str, i64)> = shelf.owners.0.iter().map(|(k, v)| (&**k, v.0.0)).collect();
    assert_eq!(owners, [("x", 2), ("y.z", 4)]);
}

#[test]
fn what_is_wrong_has_its_line_and_its_key() {
    assert_wrong(
        "\nbook: 1\n",
        "2: book: unknown field `book`, expected one of `books`, `owners`, `best`, `notes`",
    );
    assert_wrong(
        "books:\n  - id: a\n    page: 1\n",
        "3: books[0].page: unknown field `page`, expected `id` or `pages`",
    );
    assert_wrong(
        "books:\n  - {id: a, pages: 256}\n",
        "2: books[0].pages: invalid value: integer `256`, expected u8",
    );
    assert_wrong("books:\n  - {}\n", "2: books[0]: missing field `id`");
    assert_wrong(
        "books: 1\n",
        "1: books: invalid type: integer `1`, expected a list",
    );
    assert_wrong(
        "books: [1]\n",
        "1: books[0]: invalid type: integer `1`, expected a map",
    );
    assert_wrong("- 1\n", "1: invalid type: sequence, expected a map");
}

#[test]
fn what_is_wrong_only_as_a_whole_has_its_own_line() {
    assert_wrong(
        "books:\n  - id: a\n  - id: b\n  - id: a\n",
        "4: books[2]: the id `a` is there twice",
    );
    assert_wrong(
        "owners:\n  x: 2\n  x: 4\n",
        "3: owners.x: `x` is there twice",
    );
    assert_wrong("owners:\n  x: 2\n  y.z: 3\n", "3: owners.y.z: odd");
    assert_wrong("books: []\nbooks: []\n", "2: books: `books` is there twice");
}

#[test]
fn a_list_is_no_map() {
    assert_wrong(
        "best: [a, 1]\n",
        "1: best: invalid type: sequence, expected a map",
    );
    assert_wrong(
        "books:\n  - [a, 1]\n",
        "2: books[0]: invalid type: sequence, expected a map",
    );
    assert!(read::<Shelf>("best: {id: a}\nnotes: [[1]]\n").is_ok());
}

#[test]
fn a_key_stands_once_in_whatever_map() {
    assert_wrong(
        "notes:\n  - a: 1\n    b: {c: 1,\n        c: 2}\n",
        "4: notes[0].b.c: `c` is there twice",
    );
    assert_wrong("notes: {1: a, '1': b}\n", "1: notes.1: `1` is there twice");
    assert_wrong(
        "notes: {~: a,\n null: b}\n",
        "2: notes: `null` is there twice",
    );
    assert_wrong(
        "best:\n  id: a\n  id: b\n",
        "3: best.id: `id` is there twice",
    );
    let same = "notes: [{a: &x {b: 1}}, {a: *x, b: *x}, 1e999]\n";
    assert!(read::<Shelf>(same).is_ok());
}

#[test]
fn a_value_has_no_tag() {
    let message = "a tagged value is not supported";
    for (text, place) in [
        ("books:\n  - id: !foo bar\n", "2: books[0].id"),
        ("notes:\n  a: !foo [1]\n", "2: notes.a"),
        ("notes: !foo {a: 1}\n", "1: notes"),
        ("notes: !foo\n", "1: notes"),
        ("notes:\n  !foo a: 1\n", "2: notes"),
    ] {
        assert_wrong(text, &format!("{place}: {message}"));
    }
    assert_wrong("!foo {}\n", &format!("1: {message}"));
    let plain = read::<Shelf>("notes: !!str 5\n").unwrap();
    assert_eq!(plain.notes, Some(Data::text("5")));
}

#[test]
fn text_that_is_no_yaml_has_its_line() {
    assert_wrong(
        "books: []\nowners: {\n",
        "3: owners: did not find expected node content at line 3 column 1, while parsing a flow node",
    );
    assert_wrong(
        "books: []\nowners: \u{1}\n",
        "2: control characters are not allowed at position 18",
    );
    let deep = format!("books:\n{}", "[".repeat(100_000));
    assert_wrong(&deep, "2: recursion limit exceeded");
    assert_wrong(
        "books: []\n---\n{}\n",
        "1: deserializing from YAML containing more than one document is not supported",
    );
}
