//! List sections (spec F120 to F125).

use super::*;

fn items(body: &str) -> Option<Vec<String>> {
    let body = format!("# T\n\n- h\n\n## L\n{body}");
    let prompt = good(&file(Dialect::Runvil, &body));
    section(&prompt, "L").items.clone()
}

fn of(items: &[&str]) -> Option<Vec<String>> {
    Some(items.iter().map(|item| (*item).to_owned()).collect())
}

/// Cases K43, K45; F120 to F122, F125.
#[test]
fn items_of_list_sections() {
    assert_eq!(
        items("\n- a\n\n7. b \n   \n    *  c\n12) d\n"),
        of(&["a", "b", " c", "d"])
    );
    assert_eq!(
        items("\n- a\n---\n1. b\n\n## M\n\n- x\n\n---\n"),
        of(&["b"])
    );
    assert_eq!(items("- a\r\n- {{ b }} *c*\r\n"), of(&["a", "{{ b }} *c*"]));
    assert_eq!(items("- - -\n- a\n"), of(&["a"]));
    assert_eq!(items("- x\n\n---\n"), None);
    assert_eq!(items("- a\n  more\n"), None);
    assert_eq!(items("- a\nBBBlua\nBBB\n"), None);
    assert_eq!(items(""), None);
}

/// Case K44, F123, F133.
#[test]
fn an_item_needs_a_text() {
    let message = "empty bullet item in list section `L`";
    fails(
        "# T\n\n## L\n\n- a\n-\n- b\n",
        ParseErrorKind::List,
        message,
        Some(11),
    );
    fails(
        "# T\n## L\nx\n***\n\n  1.  \n",
        ParseErrorKind::List,
        message,
        Some(11),
    );
    assert_eq!(items("\n- a\n-\n+ b\n"), None);
}
