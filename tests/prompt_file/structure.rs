//! Title and section tree (spec F57 to F71).

use super::*;
use ParseErrorKind::Structure;

/// Case K17, F57 to F59, F65.
#[test]
fn exactly_one_title() {
    let none = "prompt requires an H1 title";
    let more = "prompt must contain exactly one H1 title";
    let empty = "prompt H1 title must not be empty";
    for (body, message) in [
        ("Title\n\n## A\n", none),
        ("", none),
        ("#Title\n", none),
        ("> # T\n", none),
        ("BBB\n# T\nBBB\n", none),
        ("# Draft\n\nnote\n\n# T\n", more),
        ("# T\n\n## A\n\nU\n===\n", more),
        ("#\n\n# T\n", more),
        ("#\n\n## A\n", empty),
        ("# <!-- x -->\n", empty),
        ("# &nbsp;\n", empty),
    ] {
        fails(body, Structure, message, None);
    }
    assert_eq!(
        good(&file(Dialect::Runvil, "Two\nlines\n=\n")).title,
        "Two lines"
    );
}

/// Case K18, F60: notes mean nothing.
#[test]
fn notes_are_not_read() {
    for dialect in BOTH {
        let body = "## No\n\n#### nor\n\nBBBlua\nthis is ( not compiled\nBBB\n\n# T\n\n## A\n";
        let prompt = good(&file(dialect, body));
        assert_eq!(names(&prompt), ["A"]);
        assert!(!prompt.has_h1_pass());
        // A fence of the notes follows CommonMark: an inexact closing line closes it.
        let body = "BBBlua\nx\nBBB \n# T\n\n## A\n";
        assert_eq!(names(&good(&file(dialect, body))), ["A"]);
    }
}

/// Cases K19, K20; F66 to F68.
#[test]
fn orphans_and_empty_headings() {
    let orphan = |name: &str, level, parent| {
        format!("section `{name}` is an orphan H{level} heading with no parent H{parent}")
    };
    fails(
        "# T\n\n## A\n\n##### Deep\n",
        Structure,
        &orphan("Deep", 5, 3),
        Some(10),
    );
    fails("# T\n#### X\n", Structure, &orphan("X", 4, 2), Some(7));
    fails(
        "# T\n## A\n### B\n## C\n#### D\n",
        Structure,
        &orphan("D", 4, 3),
        Some(10),
    );
    let empty = "an H3 section heading must not be empty";
    fails(
        "# T\n\n## A\n\n### <!-- x -->\n",
        Structure,
        empty,
        Some(10),
    );
    fails("# T\n\n### ###\n", Structure, empty, Some(8));
}

/// Cases K21, K22; F69.
#[test]
fn duplicate_siblings() {
    let error = bad(&file(
        Dialect::PromptForge,
        "# T\n## Go\nx\n\n  ## `Go` ##\n",
    ));
    assert_eq!(
        error.message,
        "duplicate sibling section name `Go`: first declared at line 7, again at line 10; \
         sibling section names must be unique"
    );
    assert_eq!(error.kind, Structure);
    let location = error.location;
    assert_eq!(location.path.as_deref(), Some("t"));
    assert_eq!((location.line, location.column), (Some(10), Some(3)));
    let source = file(Dialect::PromptForge, "# T\n## Go\nx\n\n  ## `Go` ##\n");
    assert_eq!(
        location.span.map(|span| source[span].to_owned()).as_deref(),
        Some("## `Go` ##")
    );

    let error = bad(&file(Dialect::Runvil, "# T\n\n## S\n\n## S\n"));
    assert!(
        error.message.contains("line 8, again at line 10"),
        "{error}"
    );
    assert_eq!(
        (error.location.line, error.location.column),
        (Some(10), Some(1))
    );
    let body = "# T\n## A\n### S\n## B\n### S\n#### S\n## s\n## S\n";
    assert_eq!(
        names(&good(&file(Dialect::Runvil, body))),
        ["A", "S", "B", "S", "S", "s", "S"]
    );
}

/// Case K24, F61.
#[test]
fn heading_text() {
    for dialect in BOTH {
        let body = "# T\n\n## Run `fetch` *now* [x](y) &amp; \\# ##\n";
        assert_eq!(names(&good(&file(dialect, body))), ["Run fetch now x & #"]);
    }
    let body = "# T\n## [later] and [never]\n\n> [Later]: /url\n";
    assert_eq!(
        names(&good(&file(Dialect::Runvil, body))),
        ["later and [never]"]
    );
}

/// Case K25, F71.
#[test]
fn setext_headings_are_sections() {
    for dialect in BOTH {
        let prompt = good(&file(dialect, "# T\n\n## A\n\nIntro line\n---\n\nrest\n"));
        assert_eq!(names(&prompt), ["A", "Intro line"]);
        assert!(section(&prompt, "A").blocks.is_empty());
        assert_eq!(shape(&section(&prompt, "Intro line").blocks), ["\"rest\""]);
        assert_eq!(section(&prompt, "Intro line").line, 10);
    }
    let body = "# T\n\n## A\n\n[x]: /y\n[z]: /y\n  Name\n-\n";
    let prompt = good(&file(Dialect::Runvil, body));
    assert_eq!(
        shape(&section(&prompt, "A").blocks),
        ["\"[x]: /y\\n[z]: /y\""]
    );
    assert_eq!(section(&prompt, "Name").line, 12);
}

/// Case K26, F57.
#[test]
fn only_top_level_headings_count() {
    for dialect in BOTH {
        let prompt = good(&file(
            dialect,
            "# T\n\n## A\n\n> ## Q\n\nBBBtext\n## C\nBBB\n",
        ));
        assert_eq!(names(&prompt), ["A"]);
        assert_eq!(
            shape(&prompt.sections[0].blocks),
            ["\"> ## Q\\n\\n```text\\n## C\\n```\""]
        );
    }
    let body = "# T\n## A\n- ## x\n\n  ## y\n\n    ## z\n<div>\n## h\n\n1. a\n## B\n";
    assert_eq!(names(&good(&file(Dialect::Runvil, body))), ["A", "B"]);
}

/// F67: the tree.
#[test]
fn tree() {
    let prompt = good(&file(
        Dialect::Runvil,
        "# T\n## A\n### B\n#### C\n### D\n## E\n",
    ));
    let children = |name| {
        let ids = &section(&prompt, name).children;
        ids.iter()
            .map(|id| prompt.section(*id).name.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(children("A"), ["B", "D"]);
    assert_eq!(children("B"), ["C"]);
    assert_eq!(prompt.top.len(), 2);
    assert_eq!(section(&prompt, "D").position, 1);
    assert_eq!(section(&prompt, "D").level, 3);
    assert_eq!(prompt.siblings(prompt.top[0]), prompt.top);
}
