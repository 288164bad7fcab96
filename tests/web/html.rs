//! Pages as Markdown, whatever is in them (spec T136).

use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use runvil::harness::model::Abort;
use runvil::harness::web::html::{self, Rendered};
use url::Url;

const LONG: &str = "long/and/longer/";

fn page() -> Url {
    Url::parse("https://a.example/dir/page?q=1").unwrap()
}

/// A page that is wanted.
fn render(html: &str, page: &Url, raw: bool) -> Rendered {
    html::render(html, page, raw, &Abort::default()).unwrap()
}

fn raw(html: &str) -> String {
    let rendered = render(html, &page(), true);
    assert!(!rendered.is_article);
    rendered.text
}

#[test]
fn t136_elements_become_their_marks() {
    for (html, markdown) in [
        (
            "<h1>A</h1><p>b <b>c</b> <i>d</i> <code>e</code></p>",
            "# A\n\nb **c** *d* `e`",
        ),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n    - c"),
        ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n> \n> b"),
        (
            "<table><tr><th>a<th>b<tr><td>c<td>d</table>",
            "| a | b |\n| - | - |\n| c | d |",
        ),
        ("a<br>b<hr>c", "a  \nb\n\n---\n\nc"),
        ("<p>a &lt;b&gt; &amp; *c*</p>", "a \\<b> & \\*c\\*"),
    ] {
        assert_eq!(raw(html), markdown, "{html}");
    }
    let code = raw("<pre><code class=language-rust>fn a() {\n  1 &lt; 2\n}</code></pre>");
    assert_eq!(code, "```rust\nfn a() {\n  1 < 2\n}\n```");
}

#[test]
fn t136_what_has_no_text_of_its_own_is_left_out() {
    for html in [
        "a<script>if (x < y) { '</p>' }</script>b",
        "a<style>p > a {}</style>b",
        "a<svg><title>no</title><svg><text>no</text></svg><path/></svg>b",
        "a<svg/>b",
        "a<template><p>no</p></template>b",
        "a<noscript>no</noscript>b",
        "a<iframe><p>no</iframe>b",
        "a<select><option>no</select>b",
        "a<textarea><p>no</textarea>b",
        "<head><title>no</title><meta name=x></head>a<!-- no -->b",
        "<!doctype html>a<?no?>b",
        "a<custom-element>b</custom-element>",
    ] {
        assert_eq!(raw(html), "ab", "{html}");
    }
}

#[test]
fn t136_links_lead_on_from_the_page() {
    for (link, full) in [
        ("x", "https://a.example/dir/x"),
        ("/x?y=1", "https://a.example/x?y=1"),
        ("//b.example", "https://b.example/"),
        ("http://c.example/p", "http://c.example/p"),
        ("#part", "#part"),
        ("mailto:me@a.example", "mailto:me@a.example"),
        (" x ", "https://a.example/dir/x"),
    ] {
        let html = format!("<a href='{link}'>t</a>");
        assert_eq!(raw(&html), format!("[t]({full})"), "{link}");
    }
    let long = format!(
        "<img alt=i src='data:{}'><a href='/{}'>t</a>",
        LONG.repeat(300),
        LONG.repeat(300)
    );
    assert_eq!(raw(&long), "t");
    let html = "<base href=/other/><base href=/third/><a href=x>t</a><img src=i.png alt=i>";
    let full = "[t](https://a.example/other/x)![i](https://a.example/other/i.png)";
    assert_eq!(raw(html), full);
}

#[test]
fn t136_tags_in_disorder_lose_no_text() {
    for html in [
        "<p>a<div>b</p>c</div>d",
        "<b>a<i>b</b>c</i>d",
        "<li>a<li>b</ul>c<td>d",
        "</p></div></table>a<tr><td>b</tr>c<caption>d",
        "<a href=x>a<a href=y>b</a>c</a>d",
        "<h1>a<h2>b</h1>c</h3>d",
        "<p title='>'>a<p b c=d =e f=\"g\" f>b</p><p/>c<p\n>d",
        "<table><caption>a<tr>b<td>c</table>d",
        "<dl><dt>a<dd>b<dt>c</dl><dd>d",
        "<table><tr><td><table><tr><td>a</table>b<td>c</table>d",
    ] {
        let text = raw(html);
        let kept = ["a", "b", "c", "d"]
            .iter()
            .all(|letter| text.contains(letter));
        assert!(kept, "{html}: {text}");
    }
    let table = "<table><caption>A<i>b</i></caption>c<tr><td>d</table>";
    assert_eq!(raw(table), "A*b*\n\nc\n\n\n|   |\n| - |\n| d |");
}

/// Renders both ways on a stack that is small, and tells how long it took.
fn timed(html: String) -> (Duration, [Rendered; 2]) {
    let began = Instant::now();
    let rendering = thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(move || [true, false].map(|raw| render(&html, &page(), raw)));
    let rendered = rendering.unwrap().join().unwrap();
    (began.elapsed(), rendered)
}

/// What made other readers of HTML take the square of its length, or more stack than there is.
fn hostile() -> Vec<(&'static str, &'static str)> {
    vec![
        ("", "<div>"),
        ("", "<span>x"),
        ("", "<b>"),
        ("", "<ul><li>"),
        ("", "<blockquote>"),
        ("", "<table><tr><td>"),
        ("<table>", "x<b>"),
        ("", "<b a1><i b2><p>x"),
        ("", "<a href=x><b></a>"),
        ("", "<b><div></b>"),
        ("", "</p>"),
        ("", "<font><p></font>"),
        ("<p ", "a=1 b "),
        ("", "<"),
        ("", "&a"),
        ("", "<!--"),
        ("<pre>", "`"),
        ("", "<a href=x>y</a> "),
        (
            "<base href='/long/long/long/long/long/long/long/long/long/long/long'>",
            "<a href=x>y",
        ),
        ("", "<h1>a</h1><h2>a</h2>"),
        ("<title>", "word "),
        ("", "<br>"),
        ("", "   <ul><font>"),
        ("", "<p>a, b, c, d, e, f, g, h, i, j, k, l, m, n.</p>"),
        ("", "<div class=comment>a, b, c</div>"),
        ("", "*_[]()#\\"),
        ("", "<svg>"),
        ("", "<script>"),
        ("", "-->\n<table>"),
        ("", "<code>*<h2>"),
    ]
}

#[test]
fn t136_hostile_pages_take_time_that_grows_as_they_do() {
    for (before, unit) in hostile() {
        let length = 60_000;
        let html = before.to_owned() + &unit.repeat(length / unit.len());
        let (took, rendered) = timed(html);
        // Only what grows far faster than the page takes so long.
        assert!(took < Duration::from_secs(15), "{unit}: {took:?}");
        for rendered in rendered {
            assert!(
                rendered.text.len() < 40 * length,
                "{unit}: {}",
                rendered.text.len()
            );
        }
    }
}

#[test]
fn t136_of_a_page_of_too_many_elements_the_first_are_kept() {
    let page_of = |count: usize| "<p>a".repeat(count) + "<p>end";
    for (count, is_cut) in [(90_000, false), (110_000, true)] {
        let rendered = render(&page_of(count), &page(), false);
        assert_eq!(rendered.is_cut, is_cut);
        assert_eq!(rendered.text.ends_with("end"), !is_cut);
        assert!(rendered.text.matches('a').count() >= 90_000);
    }
    // However large a text is, it is kept.
    let text = render(&"a b ".repeat(1 << 20), &page(), true);
    assert!(!text.is_cut && text.text.len() == (4 << 20) - 1);
}

#[test]
fn t136_a_page_that_is_not_wanted_any_more_is_not_rendered() {
    // As large as pages may be.
    let html = "<p>Words, many of <b>them</b>.</p>".repeat(240_000);
    let abort = Abort::default();
    let theirs = abort.clone();
    let rendering = thread::spawn(move || {
        let rendered = html::render(&html, &page(), false, &theirs);
        (rendered, html)
    });
    thread::sleep(Duration::from_millis(20));
    assert!(!rendering.is_finished());
    let since = Instant::now();
    abort.abort();
    let (rendered, html) = rendering.join().unwrap();
    assert_eq!(rendered, None);
    assert!(
        since.elapsed() < Duration::from_secs(1),
        "{:?}",
        since.elapsed()
    );
    assert_eq!(html::render(&html, &page(), true, &abort), None);
}

#[test]
fn t136_links_are_not_written_out_without_end() {
    let base = "x".repeat(4000);
    let html = format!("<base href=/{base}/>") + &"<a href=y>z</a>".repeat(20_000);
    let text = raw(&html);
    assert!(text.len() < 6 << 20, "{}", text.len());
    assert!(text.contains(&base) && text.ends_with("[z](y)"));
}

const PIECES: &[&str] = &[
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<b>",
    "</b>",
    "<i>",
    "</i>",
    "<a href=x>",
    "</a>",
    "<table>",
    "</table>",
    "<tr>",
    "<td>",
    "</td>",
    "<th>",
    "<caption>",
    "<tbody>",
    "<ul>",
    "</ul>",
    "<ol>",
    "<li>",
    "</li>",
    "<dl>",
    "<dt>",
    "<dd>",
    "<blockquote>",
    "</blockquote>",
    "<pre>",
    "</pre>",
    "<code>",
    "</code>",
    "<h1>",
    "</h1>",
    "<h2>",
    "<br>",
    "</br>",
    "<hr>",
    "<img src=i>",
    "<title>",
    "</title>",
    "<base href=/b/>",
    "<script>",
    "</script>",
    "<style>",
    "</style>",
    "<svg>",
    "<svg/>",
    "</svg>",
    "<section class=comment>",
    "<article>",
    "</article>",
    "<nav>",
    "<span style='display:none'>",
    "</span>",
    "<font>",
    "<!--",
    "-->",
    "&amp;",
    "&#0;",
    "&lt",
    "<![CDATA[",
    "]]>",
    "<p title=\"",
    "'",
    "\"",
    ">",
    "<",
    "/",
    "=",
    "word ",
    "1. ",
    "- ",
    "# ",
    "|",
    "`",
    "```",
    "*",
    "_",
    "\\",
    "~",
    "\n",
    "\t",
    " ",
    "\u{0}",
    "é",
    "\u{1f600}",
    "\u{a0}",
    "Long words, that are many, make an article, and so it goes on, and on, for a while. ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn t136_rendering_never_fails(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..120),
        times in 1_usize..40,
        raw: bool,
    ) {
        let html = pieces.concat().repeat(times);
        let rendered = render(&html, &page(), raw);
        prop_assert!(!raw || !rendered.is_article);
        prop_assert!(!rendered.is_article || rendered.text.len() >= 100);
        prop_assert!(rendered.text.len() <= 40 * html.len() + 100);
        prop_assert_eq!(render(&html, &page(), raw), rendered);
    }

    #[test]
    fn t136_any_text_is_a_page(html: String) {
        render(&html, &page(), false);
    }

    #[test]
    fn t136_plain_words_are_kept(words in prop::collection::vec("[a-z]{1,9}", 1..30)) {
        let html = words.iter().map(|word| format!("<div><p>{word}")).collect::<String>();
        let text = render(&html, &page(), true).text;
        prop_assert_eq!(text.split_whitespace().collect::<Vec<_>>(), words);
    }
}
