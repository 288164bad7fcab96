//! The delimiters and the dialect (spec F12 to F20).

use super::*;

/// Cases K1, K2; F18 to F20.
#[test]
fn the_file_starts_with_frontmatter_that_closes() {
    let opening = "file must begin with a --- frontmatter delimiter";
    let closing = "frontmatter was not closed with ---";
    let cases = [
        ("", opening),
        ("\n---\nname: t\n---\n# T\n", opening),
        ("----\n---\n# T\n", opening),
        ("\u{feff}\u{feff}---\n---\n", opening),
        ("---\nname: t\ndescription: d\n# T\n", closing),
        ("---\nname: t\n...\n# T\n", closing),
        ("---", closing),
    ];
    for (source, message) in cases {
        let error = bad(source);
        assert_eq!(error.kind, ParseErrorKind::Frontmatter);
        assert_eq!(error.message, message);
        assert_eq!(error.location, Default::default());
    }
}

/// Case K3, F13, F14: a byte order mark, white space around delimiters, CRLF.
#[test]
fn byte_order_mark_and_crlf() {
    let source = text(
        "\u{feff} --- \r\nname: t\r\ndescription: d\r\npromptforge: 0\r\n---\t\r\n# T\r\n\r\n## \
         A\r\n\r\nBBBlua\r\nreturn 'crlf'\r\nBBB\r\n",
    );
    let prompt = good(&source);
    assert_eq!(prompt.dialect, Dialect::PromptForge);
    let blocks = lua(&prompt.sections[0].blocks);
    assert_eq!(blocks[0].source, "return 'crlf'\r\n");
    assert_eq!(blocks[0].line, 11);
}

/// F19: the trimmed comparison applies in a block scalar too.
#[test]
fn the_first_delimiter_line_closes() {
    let source = "---\nname: t\ndescription: |\n  a\n  ---\n  b\n---\n# T\n";
    let prompt = Prompt::parse(source, Dialect::Runvil);
    assert_eq!(
        prompt.map(|prompt| prompt.description),
        Ok("a\n".to_owned())
    );
}

/// F12: the version key says the dialect, else the default does.
#[test]
fn the_dialect_is_chosen_before_decoding() {
    let header = |version: &str| format!("---\nname: t\ndescription: d\n{version}\n---\n# T\n");
    let dialect = |version: &str, default| {
        Prompt::parse(&header(version), default).map(|prompt| prompt.dialect)
    };
    for default in BOTH {
        assert_eq!(dialect("runvil: 0", default), Ok(Dialect::Runvil));
        assert_eq!(
            dialect("'promptforge': 7", default),
            Ok(Dialect::PromptForge)
        );
        assert_eq!(dialect("# runvil: 0", default), Ok(default));
        let error = bad(&header("promptforge: 0\nrunvil: 0"));
        assert!(
            error
                .message
                .starts_with("invalid frontmatter: unknown field `promptforge`, ")
        );
    }
}
