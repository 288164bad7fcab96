//! A document that is written and read is the same document (spec P7).

use proptest::prelude::*;
use runvil::packet::{Document, Mapping, Value};

/// Texts that YAML could take for something else, among others.
fn text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "",
        " ",
        "~",
        "null",
        "true",
        "off",
        "yes",
        "1",
        "01",
        "-1",
        "0x1f",
        "1e3",
        "1.0",
        ".nan",
        "---",
        "- a",
        "a: b",
        "a #b",
        "#",
        "*a",
        "&a",
        "!t",
        "|",
        ">",
        "'",
        "\"",
        "{",
        "[",
        "%",
        "@",
        "`",
        "a\nb",
        "a\n---\nb",
        "\n",
        "\n\n",
        "a\n",
        " a",
        "a ",
        "\ta",
        "a\tb",
        "\r\n",
        "\r",
        "a\r",
        "a\r\r\nb",
        "\r\r\n",
        "\u{feff}",
        "\u{85}",
        "\u{2028}",
        "\0",
        "\u{1b}",
        "é",
        "日本",
        "😀",
        "?",
        ":",
        "<<",
        "=",
    ]);
    prop_oneof![odd.prop_map(str::to_owned), "[ -~]{0,12}", any::<String>()]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            map(inner).prop_map(Value::from),
        ]
    })
}

fn map(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Mapping> {
    let entries = prop::collection::vec((text().prop_map(Value::from), value), 0..5);
    entries.prop_map(|entries| entries.into_iter().collect())
}

/// The body that a document is written with: with one newline at its end, and LF line ends.
fn written(body: &str) -> String {
    let lines: Vec<&str> = body
        .split('\n')
        .map(|line| line.trim_end_matches('\r'))
        .collect();
    match lines.join("\n").trim_end_matches(['\r', '\n']) {
        "" => String::new(),
        body => format!("{body}\n"),
    }
}

proptest! {
    #[test]
    fn a_written_document_is_read_as_it_was(keys in map(value()), body in text()) {
        let document = Document::new(keys.clone(), &body);
        let rendered = document.render();
        prop_assert!(rendered.ends_with('\n') && !rendered.ends_with("\n\n"), "{rendered:?}");
        let read = Document::parse(&rendered, "f").map_err(|error| {
            TestCaseError::fail(format!("{error}: {rendered:?}"))
        })?;
        let (names, values): (Vec<_>, Vec<_>) = read.keys.iter().unzip();
        let (own_names, own_values): (Vec<_>, Vec<_>) = keys.iter().unzip();
        prop_assert_eq!(names, own_names, "{:?}", rendered);
        prop_assert_eq!(values, own_values, "{:?}", rendered);
        prop_assert_eq!(&read.body, &written(&body), "{:?}", rendered);
        let before = rendered.len() - read.body.len();
        prop_assert_eq!(rendered[..before].matches('\n').count() + 1, read.body_line);
        prop_assert_eq!(document.body_line, read.body_line);
        // And once more, it is the same text.
        prop_assert_eq!(read.render(), rendered);
    }

    #[test]
    fn one_key_is_changed_and_nothing_else(
        keys in map(value()),
        body in text(),
        key in text(),
        value in value(),
    ) {
        let text = Document::new(keys, &body).render();
        let document = Document::parse(&text, "f").unwrap();
        let changed = document.with_key(&text, &key, value.clone());
        let read = Document::parse(&changed, "f").unwrap();
        let mut wanted = document.keys.clone();
        wanted.insert(key.into(), value);
        prop_assert_eq!(read.keys, wanted, "{:?}", changed);
        prop_assert_eq!(read.body, document.body);
    }

    #[test]
    fn any_text_is_a_document_or_an_error_with_its_line(text in text(), yaml in text(), body in text()) {
        for text in [text, format!("---\n{yaml}\n---\n{body}")] {
            match Document::parse(&text, "f") {
                Ok(document) => prop_assert!(document.body_line >= 1),
                Err(error) => prop_assert!(error.to_string().starts_with("f:"), "{error}"),
            }
        }
    }
}
