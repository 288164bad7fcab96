//! Every rule of sections 9 to 12 has a case.

use std::collections::BTreeSet;

use crate::case;

/// Rules that are no contract's own: what a run does with a report.
const OF_A_RUN: [u32; 3] = [70, 71, 73];

#[test]
fn every_rule_has_a_case() {
    let cases = case::all();
    let cited: BTreeSet<&str> = cases
        .iter()
        .flat_map(|case| case.rules.iter().map(String::as_str))
        .chain(["P40", "P72"]) // preflight.rs
        .collect();
    let rules = (38..=73).filter(|rule| !OF_A_RUN.contains(rule));
    let uncited: Vec<String> = rules
        .map(|rule| format!("P{rule}"))
        .filter(|rule| !cited.contains(rule.as_str()))
        .collect();
    assert!(uncited.is_empty(), "without a case: {uncited:?}");
}
