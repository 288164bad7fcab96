//! Blocks and prose (spec F90 to F105).

use super::*;

/// Case K39; F90, F93, F103, F105.
#[test]
fn breaks_drop_what_is_above() {
    for dialect in BOTH {
        let body = "# T\n\n## A\n\nnotes\n\n---\n\nBBBlua\nvar.p = \
                    prose\nBBB\n\nskip\n\n***\n\nkeep\n\nBBBlua\nreturn 1\nBBB\n\ntail {{ bad\n";
        let blocks = good(&file(dialect, body)).sections[0].blocks.clone();
        assert_eq!(
            shape(&blocks),
            [
                "var.p = prose\n",
                "\"keep\"",
                "return 1\n",
                "\"tail {{ bad\""
            ]
        );
        let labels: Vec<_> = lua(&blocks).iter().map(|lua| lua.label.clone()).collect();
        assert_eq!(labels, ["section `A` prologue", "section `A` lua"]);
    }
    let body = "# T\n## A\nx\n***\n> ---\n\n* ---\n";
    let blocks = good(&file(Dialect::Runvil, body)).sections[0]
        .blocks
        .clone();
    assert_eq!(shape(&blocks), ["\"> ---\\n\\n* ---\""]);
}

/// Case K40, F90 to F92: the shapes of F91.
#[test]
fn shapes() {
    let shapes = |content: &str| {
        let blocks = good(&file(Dialect::Runvil, &format!("# T\n\n## A\n{content}"))).sections[0]
            .blocks
            .clone();
        let labels = lua(&blocks)
            .into_iter()
            .map(|lua| lua.label.replace("section `A` ", ""));
        (shape(&blocks), labels.collect::<Vec<_>>())
    };
    let case = |blocks: &[&str], labels: &[&str]| {
        let own = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>()
        };
        (own(blocks), own(labels))
    };
    let fence = "BBBlua\nx\nBBB\n";
    assert_eq!(shapes("\n \t\n"), case(&[], &[]));
    assert_eq!(shapes("p\n"), case(&["\"p\""], &[]));
    assert_eq!(shapes(fence), case(&["x\n"], &["prologue"]));
    assert_eq!(
        shapes(&format!("{fence}p")),
        case(&["x\n", "\"p\""], &["prologue"])
    );
    assert_eq!(
        shapes(&format!("p\n{fence}")),
        case(&["\"p\"", "x\n"], &["epilog"])
    );
    let two = case(&["x\n", "\"\"", "x\n"], &["prologue", "epilog"]);
    assert_eq!(shapes(&format!("{fence}   \n{fence}")), two);
    assert_eq!(shapes(&format!("{fence}{fence}")), two);
    assert_eq!(shapes(&format!("{fence}q\n\n---\n{fence}")), two);
    let three = case(&["\"p\"", "x\n", "\"q\""], &["lua"]);
    assert_eq!(shapes(&format!("p\n{fence}q\n")), three);
}

/// F16, F100: prose keeps what is inside it.
#[test]
fn prose_is_raw() {
    let body = "# T\r\n\r\n \r\n  a \r\n\r\n[x]: y\r\nb  \r\n\r\n\r\n";
    let prompt = good(&file(Dialect::Runvil, body));
    assert_eq!(prompt.description_text(), "  a \r\n\r\n[x]: y\r\nb  ");
}

/// Case K50; F63, F64, F93.
#[test]
fn the_h1_body() {
    let body = "# T\n\nBBBlua\nvar.n = 1\nBBB\n\nAsk once.\n\nBBBlua\nreturn prose\nBBB\n\nMore.\n";
    let prompt = good(&file(Dialect::Runvil, body));
    assert_eq!(prompt.description_text(), "Ask once.\n\nMore.");
    assert!(lua(&prompt.h1).iter().all(|lua| lua.label == "H1 `T` lua"));
    assert!(prompt.has_h1_pass());
    for (body, pass) in [
        ("# T\n", false),
        ("# T\nx\n***\n", false),
        ("# T\nx\n", true),
    ] {
        assert_eq!(good(&file(Dialect::Runvil, body)).has_h1_pass(), pass);
    }
    let shared = "# T\n\nBBBlua shared\nBBB\n";
    assert!(!good(&file(Dialect::PromptForge, shared)).has_h1_pass());
}

/// Case 02/CL60, L33.
#[test]
fn section_prose() {
    let body = "# T\n## S\nold\n***\none {{ x }}\nBBBlua\nBBB\nBBBlua\nBBB\ntwo\n";
    let prompt = good(&file(Dialect::Runvil, body));
    assert_eq!(prompt.section_prose(prompt.top[0]), "one {{ x }}\n\ntwo");
}

/// Case K47, as far as parsing goes; F94, F134: label and line are what a compile failure names.
#[test]
fn a_block_knows_its_label_and_line() {
    for dialect in BOTH {
        let body = "# T\n\n## A\n\nText.\n\nBBBlua\nlocal a = 1\nlocal = 2\nBBB\n";
        let prompt = good(&file(dialect, body));
        let [Block::Prose(_), Block::Lua(lua)] = prompt.sections[0].blocks.as_slice() else {
            panic!("{prompt:?}")
        };
        assert_eq!((lua.label.as_str(), lua.line), ("section `A` epilog", 13));
    }
}
