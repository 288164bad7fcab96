//! Content types, charsets and the shape of a result (spec T135 to T137, T139).

use crate::ask::{content, fetched, fetched_with};
use crate::server::reply;

const LONG: &str = "Bees dance to tell others where to fly, and others watch them, then they fly. ";

fn page() -> String {
    let article = format!("<p>{}</p>", LONG.repeat(8));
    format!(
        "<title>Bees</title><nav><a href=/home>Home</a></nav><article>{article}{article}</article>\
         <footer>Imprint</footer>"
    )
}

#[test]
fn t135_a_result_has_three_lines_and_its_content() {
    let result = fetched(reply("200 OK", "text/plain", "one\n\ntwo\n")).unwrap();
    let expected =
        "url: http://a.example/p?q=1\ntruncated: false\nextraction: plain\n\none\n\ntwo\n";
    assert_eq!(result, expected);
    let empty = fetched(reply("200 OK", "text/plain", "")).unwrap();
    assert!(empty.ends_with("extraction: plain\n\n"));
}

#[test]
fn t136_html_becomes_markdown() {
    for kind in [
        "text/html",
        "application/xhtml+xml",
        "TEXT/HTML; charset=utf-8",
        "text/html;",
    ] {
        let result = fetched(reply("200 OK", kind, page())).unwrap();
        assert!(result.contains("\nextraction: readability\n"), "{result}");
        let (text, _) = content(&result);
        assert!(text.starts_with("# Bees\n\nBees dance to tell"), "{text}");
        assert!(
            !text.contains("Imprint") && !text.contains("Home"),
            "{text}"
        );
    }
    let raw = fetched_with(
        |_| {},
        r#"{"raw":true}"#,
        reply("200 OK", "text/html", page()),
    );
    let raw = raw.unwrap();
    assert!(raw.contains("\nextraction: raw-html\n"));
    assert!(raw.contains("[Home](http://a.example/home)") && raw.contains("Imprint"));
}

#[test]
fn t136_a_short_article_is_the_whole_page() {
    // case 06/C48
    let html = |length| {
        let text = "x,y".repeat(length / 3) + &"z".repeat(length % 3);
        assert_eq!(text.len(), length);
        format!("<body><p>{text}</p></body>")
    };
    for (length, extraction) in [(100, "readability"), (99, "raw-html"), (0, "raw-html")] {
        let result = fetched(reply("200 OK", "text/html", html(length))).unwrap();
        let (text, _) = content(&result);
        assert_eq!(text.len(), length);
        assert!(
            result.contains(&format!("extraction: {extraction}\n")),
            "{length}: {result}"
        );
    }
}

#[test]
fn t136_structured_and_flat_text_is_verbatim() {
    for kind in [
        "application/json",
        "application/xml",
        "text/xml",
        "text/json",
        "application/ld+json",
        "application/atom+xml; charset=UTF-8",
        "text/x+json",
        "TEXT/Plain",
        "text/csv",
        "text/markdown",
        "text/javascript",
        "text/x-anything.really",
    ] {
        let body = " <b>{\"a\":1}</b>\r\n";
        let given = r#"{"raw":true}"#;
        let result = fetched_with(|_| {}, given, reply("200 OK", kind, body)).unwrap();
        assert!(result.contains("extraction: plain\n"), "{kind}");
        assert_eq!(content(&result), (body, false), "{kind}");
    }
}

#[test]
fn t136_other_types_are_refused_with_the_header_as_it_is() {
    for kind in [
        "application/pdf",
        "application/octet-stream",
        "application/javascript",
        "image/svg+xml",
        "image/png",
        "audio/mpeg",
        "video/mp4",
        "application/zip",
        "model/x+json",
        "application/json5",
        "html",
        "text/",
        "/html",
        "text html",
        "te xt/html",
        "text/html/x",
        "*",
    ] {
        let result = fetched(reply("200 OK", kind, "x")).unwrap();
        let message = format!(
            "content type {kind} from http://a.example/p cannot be returned as text; try an HTML \
             version of the page or a different URL"
        );
        assert_eq!(result, message);
    }
}

#[test]
fn t137_the_charset_is_the_headers() {
    let fetched_as = |charset: &str, body: &[u8]| {
        let kind = format!("text/plain{charset}");
        fetched(reply("200 OK", &kind, body)).unwrap()
    };
    let latin: &[u8] = b"caf\xe9";
    for (charset, body, text) in [
        ("", latin, "caf\u{fffd}"),
        ("; charset=UTF-8", latin, "caf\u{fffd}"),
        ("; charset=", latin, "caf\u{fffd}"),
        ("; charset=latin1", latin, "café"),
        (";CHARSET=\"ISO-8859-1\"", latin, "café"),
        ("; format=flowed; charset=windows-1252 ", latin, "café"),
        ("; x; charset=latin1", latin, "café"),
        (
            "; boundary=\"a; charset=utf-8\"; charset=latin1",
            latin,
            "café",
        ),
        ("; charset=latin1; charset=utf-8", latin, "café"),
        ("; charset=shift_jis", b"\x93\xfa\x96{", "日本"),
        ("; charset=utf-16le", b"a\0b\0", "ab"),
        ("; charset=utf-16be", b"\xfe\xff\0a", "a"),
        ("; charset=utf-8", b"\xef\xbb\xbfa", "a"),
        // A mark of another encoding changes nothing.
        ("; charset=latin1", b"\xff\xfea", "ÿþa"),
        ("; charset=utf-8", b"\xf0\x9f\x98", "\u{fffd}"),
    ] {
        assert_eq!(content(&fetched_as(charset, body)).0, text, "{charset}");
    }
    for label in ["nope", "iso-2022-kr", "utf-7", "utf8x"] {
        let message = format!(
            "response from http://a.example/p declared unknown charset {label}; cannot decode its \
             text"
        );
        assert_eq!(fetched_as(&format!("; charset={label}"), b"abc"), message);
    }
}

#[test]
fn t137_a_page_does_not_choose_its_own_charset() {
    let html = b"<meta charset=latin1><p>caf\xe9</p>";
    let result = fetched(reply("200 OK", "text/html", html)).unwrap();
    assert_eq!(content(&result).0, "caf\u{fffd}");
}

#[test]
fn t139_the_text_is_cut_to_so_many_characters() {
    let fetched_within = |given: &str, body: &str| {
        let reply = reply("200 OK", "text/plain; charset=utf-8", body);
        let result = fetched_with(|policy| policy.max_chars = 6, given, reply).unwrap();
        let (text, is_cut) = content(&result);
        (text.to_owned(), is_cut)
    };
    let text = "éa😀bcdefg";
    for (given, cut) in [
        ("{}", "éa😀bcd"),
        (r#"{"max_chars":null}"#, "éa😀bcd"),
        (r#"{"max_chars":100}"#, "éa😀bcd"),
        (r#"{"max_chars":3.0}"#, "éa😀"),
        (r#"{"max_chars":1e300}"#, "éa😀bcd"),
        (r#"{"max_chars":9223372036854775807}"#, "éa😀bcd"),
        (r#"{"max_chars":1}"#, "é"),
    ] {
        assert_eq!(
            fetched_within(given, text),
            (cut.to_owned(), true),
            "{given}"
        );
    }
    assert_eq!(
        fetched_within("{}", "éa😀bcd"),
        ("éa😀bcd".to_owned(), false)
    );
    assert_eq!(fetched_within("{}", ""), (String::new(), false));
}

#[test]
fn t139_extraction_comes_before_the_cut() {
    let html = format!("<script>{}</script><p>abc</p>", "x".repeat(100));
    let given = r#"{"max_chars":2}"#;
    let result = fetched_with(|_| {}, given, reply("200 OK", "text/html", html)).unwrap();
    assert_eq!(content(&result), ("ab", true));
}
