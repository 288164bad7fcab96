use serde::Deserialize;

use super::*;

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map")]
struct Shelf {
    books: Distinct<Book>,
    owners: Entries<String, Located<Even>>,
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
        "2: book: unknown field `book`, expected `books` or `owners`",
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
    assert_wrong("books: []\nbooks: []\n", "1: duplicate field `books`");
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
