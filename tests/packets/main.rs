//! What is static about packets, through the real binary (spec part 09). The cases are data:
//! `spec/cases/09-packets/static-*.yaml`.

#![allow(clippy::unwrap_used)]

mod case;
mod git_calls;
#[path = "../process/mod.rs"]
mod process;
mod properties;
mod shapes;
mod size;

use std::collections::BTreeSet;

#[test]
fn cases() {
    case::run_all();
}

/// P6, P29, P30, P32 and P33 are about runs; the clauses have cases of their own.
#[test]
fn ids_are_unique_and_every_static_rule_is_shown() {
    let cases = case::read_all();
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), cases.len(), "two cases share an id");
    let cited: BTreeSet<&str> = cases
        .iter()
        .flat_map(|case| case.rules.iter().map(String::as_str))
        .collect();
    let numbers = (1..=37).filter(|number| ![6, 29, 30, 32, 33].contains(number));
    for number in numbers.chain([41, 107, 108, 109, 115, 128, 152]) {
        let rule = format!("P{number}");
        assert!(cited.contains(rule.as_str()), "no case shows {rule}");
    }
}
