//! Holds that every case a part of the specification lists is kept as data.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::suite;

/// Fails with the ids that a part lists under "Cases" and no file of its directory has.
pub fn assert_complete(parts: &[&str]) {
    let mut missing = Vec::new();
    for part in parts {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("spec/{part}.md"));
        let Ok(text) = fs::read_to_string(&path) else {
            panic!("cannot read {}", path.display());
        };
        let number = part.split('-').next().unwrap_or_default();
        let kept: BTreeSet<String> = suite::load(part)
            .into_iter()
            .map(|case| case.id.split('#').next().unwrap_or_default().to_owned())
            .collect();
        let listed = listed(&text);
        assert!(!listed.is_empty(), "{} lists no cases", path.display());
        let ids = listed.into_iter().map(|id| format!("{number}/{id}"));
        missing.extend(ids.filter(|id| !kept.contains(id)));
    }
    assert!(
        missing.is_empty(),
        "cases that no file under spec/cases holds: {missing:?}"
    );
}

/// The ids under the heading "Cases": the first cell of a table's row, the bold start of a
/// paragraph, or the number of a list item.
fn listed(text: &str) -> Vec<String> {
    text.lines()
        .skip_while(|line| *line != "## Cases")
        .skip(1)
        .filter_map(|line| {
            let id = if let Some(row) = line.strip_prefix("| ") {
                row.split_once(" |")?.0
            } else if let Some(bold) = line.strip_prefix("**") {
                bold.split_once("**")?.0
            } else {
                line.split_once(". ")?.0
            };
            let last = id.rsplit('-').next().unwrap_or_default();
            let digits = last.trim_start_matches(|character: char| character.is_ascii_uppercase());
            let whole = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit());
            whole.then(|| id.to_owned())
        })
        .collect()
}

#[test]
fn ids_are_read_from_tables_paragraphs_and_lists() {
    let text = "1. no\n## Cases\n\n| Id | File |\n|---|---|\n| K1 | x |\n| M-C4 | x |\n\n**C2** (K27)\n\n| `ref` | y |\n\n3. z\n";
    assert_eq!(listed(text), ["K1", "M-C4", "C2", "3"]);
}
