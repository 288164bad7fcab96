//! Fences (spec F78 to F89, F117, F118).

use super::*;
use ParseErrorKind::Fence;

/// Case K27, F81: what is no Lua fence is prose.
#[test]
fn other_fences_are_prose() {
    for prose in [
        "BBBlua ⏎return 1⏎BBB",
        "BBB lua⏎return 1⏎BBB",
        "BBBLua⏎return 1⏎BBB",
        "BBBlua x⏎return 1⏎BBB",
        " BBBlua⏎return 1⏎ BBB",
        "BBBBlua⏎return 1⏎BBBB",
        "~~~lua⏎return 1⏎~~~",
        "> BBBlua⏎> return 1⏎> BBB",
        "- a⏎⏎  BBBlua⏎  BBB",
        "<div>⏎BBBlua⏎BBB⏎</div>",
    ] {
        for dialect in BOTH {
            let body = format!("# T\n\n## A\n\n{prose}\n\nBBBlua\nreturn prose\nBBB\n");
            assert_eq!(prose_before_last_fence(&file(dialect, &body)), text(prose));
        }
    }
}

/// Cases K28, K29, K37; F79, F82.
#[test]
fn nested_openings_are_text() {
    for prose in [
        "BBBBmarkdown⏎BBBlua⏎return 1⏎BBB⏎BBBB",
        "<!--⏎BBBlua⏎error('no')⏎BBB⏎-->",
    ] {
        for dialect in BOTH {
            let body = format!("# T\n\n## A\n\n{prose}\n\nBBBlua\nreturn prose\nBBB\n");
            assert_eq!(prose_before_last_fence(&file(dialect, &body)), text(prose));
        }
    }
    let body = "# T\n\nBBBlua shared\nf(\nBBB\n\nBBBlua\nreturn prose\nBBB\n";
    let prompt = good(&file(Dialect::Runvil, body));
    assert_eq!(
        shape(&prompt.h1),
        ["\"```lua shared\\nf(\\n```\"", "return prose\n"]
    );
}

/// F78: an exact opening interrupts a paragraph and closes quotes and lists.
#[test]
fn an_exact_opening_interrupts() {
    let body =
        "# T\n## A\n> - quoted\nBBBlua\nx\nBBB\n    - ## in code\n- item\n\n  para\nBBBlua\nBBB\n";
    let prompt = good(&file(Dialect::Runvil, body));
    let expected = [
        "\"> - quoted\"",
        "x\n",
        "\"    - ## in code\\n- item\\n\\n  para\"",
        "",
    ];
    assert_eq!(shape(&prompt.sections[0].blocks), expected);
}

/// Case K30, F80, F85.
#[test]
fn lua_source_is_opaque() {
    for dialect in BOTH {
        let body = "# T\n\n## A\n\nBBBlua\nreturn [[\nBBBB\n## B\nBBBB\n]]\nBBB\n\n## B\n";
        let prompt = good(&file(dialect, body));
        assert_eq!(names(&prompt), ["A", "B"]);
        assert_eq!(
            shape(&prompt.sections[0].blocks),
            ["return [[\n````\n## B\n````\n]]\n"]
        );
    }
}

/// Cases K31 to K35; F86 to F88, F133.
#[test]
fn unclosed_fences() {
    let inexact = "section `A` `lua` fence is not closed exactly";
    for middle in ["Text.", "## B"] {
        let body =
            format!("# T\n\n## A\n\nBBBlua\nx = 1\nBBB \n\n{middle}\n\nBBBlua\nreturn 2\nBBB\n");
        fails(&body, Fence, inexact, Some(10));
    }
    let forgotten = "# T\n\n## A\n\nBBBlua\nx = 1\n\nText.\n\nBBBlua\nreturn 2\nBBB\n";
    let blocks = good(&file(Dialect::Runvil, forgotten)).sections[0]
        .blocks
        .clone();
    assert_eq!(shape(&blocks), ["x = 1\n\nText.\n\n```lua\nreturn 2\n"]);
    assert_eq!(lua(&blocks)[0].line, 11);
    let open = |place: &str| format!("section `{place} `lua` fence is not closed");
    fails(
        "# T\n\n## A\n\nBBBlua\nx = 1\n",
        Fence,
        &open("A` prologue"),
        Some(10),
    );
    fails(
        "# T\n\n## A\n\np\n\nBBBlua\nx = 1\n~~~\n",
        Fence,
        &open("A` epilog"),
        Some(12),
    );
    fails(
        "# My T\n\nIntro.\n\nBBBlua\nx = 1\n",
        Fence,
        &open("My T` epilog"),
        Some(10),
    );
    fails(
        "# T\n\n## A\n\nBBBlua\nBBB\n\nBBBlua\nx = 1\nBBBB\n\nBBBlua\ny = 1\nBBBB\n",
        Fence,
        &open("A`"),
        Some(13),
    );
    let shared = "prompt `lua shared` fence is not closed";
    fails_in(
        Dialect::PromptForge,
        "# T\n\nBBBlua shared\nx = 1\n",
        Fence,
        shared,
        Some(8),
    );
    let body = "# T\n\n## A\n\nBBBlua\nx = 1\n BBB\n\nText.\n";
    fails(body, Fence, &open("A` prologue"), Some(10));
    // An inexact closing without a later opening is Lua source.
    let body = "# T\n\n## A\n\nBBBlua\nx = 1\nBBBB\n    BBB\nBBB\n";
    assert_eq!(
        good(&file(Dialect::Runvil, body)).sections[0].blocks.len(),
        1
    );
}

/// Case K36, F117, F118.
#[test]
fn shared_fences() {
    let pf = Dialect::PromptForge;
    let one = "prompt allows at most one `lua shared` fence";
    let h1 = "`lua shared` fence is allowed only in H1";
    let fence = "BBBlua shared\nBBB\n";
    fails_in(
        pf,
        &format!("# T\n\n{fence}\n## A\n\n{fence}"),
        Fence,
        one,
        Some(13),
    );
    fails_in(pf, &format!("{fence}\n# T\n"), Fence, h1, Some(6));
    fails_in(pf, &format!("# T\n\n## A\n\n{fence}"), Fence, h1, Some(10));
    fails_in(
        pf,
        &format!("{fence}\n# T\n\n{fence}"),
        Fence,
        one,
        Some(11),
    );
    let nested = format!("# T\n\nBBBB\n{fence}BBBB\n\n{fence}");
    let prompt = good(&file(pf, &nested));
    assert_eq!(
        prompt.library.map(|library| library.label).as_deref(),
        Some("prompt shared library")
    );
}

/// Case K38, F101: a shared fence does not split prose.
#[test]
fn a_shared_fence_leaves_one_prose() {
    let body = "# T\n\nAbove.\n\n---\n\nOne.\n\nBBBlua shared\nfunction f() return 1 \
                end\nBBB\n\nTwo.\n\nBBBlua\nreturn prose\nBBB\n";
    let prompt = good(&file(Dialect::PromptForge, body));
    assert_eq!(
        shape(&prompt.h1),
        ["\"One.\\n\\n\\nTwo.\"", "return prose\n"]
    );
    assert_eq!(prompt.library.map(|library| library.line), Some(15));
}

/// F130: the order of failures of different kinds.
#[test]
fn order() {
    let body = "# T\n## L\n-\n## A\nBBBlua\n";
    let message = "section `A` prologue `lua` fence is not closed";
    fails(body, Fence, message, Some(10));
    let body = "# T\nBBBlua shared\nBBB\n## A\nBBBlua shared\nBBB\n#### X\n";
    let orphan = "section `X` is an orphan H4 heading with no parent H3";
    fails_in(
        Dialect::PromptForge,
        body,
        ParseErrorKind::Structure,
        orphan,
        Some(12),
    );
}
