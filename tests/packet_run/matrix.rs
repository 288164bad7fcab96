//! Every cell of the outcome matrix (spec P91, P92): `spec/cases/09-packets/matrix.yaml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use runvil::packet::failure::{Failure, FailureClass};
use runvil::packet::recovery::{Action, RecoverySettings, Situation, Trigger, Verdict, decide};
use runvil::packet::state::Mode;
use serde::Deserialize;
use serde_yaml::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Matrix {
    rows: BTreeMap<String, Row>,
    outcomes: BTreeMap<String, Vec<Outcome>>,
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    action: String,
    trigger: Option<String>,
    attempt: String,
    prompt: String,
}

/// A class of the table, or a claim.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Outcome {
    Class(String),
    Claim(serde_json::Map<String, serde_json::Value>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cell {
    row: String,
    outcome: Option<Value>,
    verdict: Option<Value>,
    mode: Option<Value>,
    chained: Option<bool>,
    retries: Option<String>,
    progress: Option<bool>,
    repair: Option<String>,
}

/// Whether a key of a cell names a word; one that is not there names all.
fn names(key: &Option<Value>, word: &str) -> bool {
    match key {
        None => true,
        Some(Value::Sequence(words)) => words.iter().any(|it| it.as_str() == Some(word)),
        Some(one) => one.as_str() == Some(word),
    }
}

/// Why a repair may not be ready, and that it is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Repair {
    Ready,
    Disabled,
    Spent,
    TriggerOff,
}

#[derive(Debug)]
struct Combination<'a> {
    line: &'a str,
    outcome: &'a Outcome,
    verdict: (&'a str, Verdict),
    mode: Mode,
    chained: bool,
    retries_left: bool,
    progress: bool,
    repair: Repair,
}

#[test]
fn every_cell_is_as_the_matrix_has_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec/cases/09-packets/matrix.yaml");
    let matrix: Matrix = serde_yaml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut used = vec![0; matrix.cells.len()];
    let mut rows = BTreeSet::new();
    for combination in combinations(&matrix) {
        let cells = matrix.cells.iter().enumerate();
        let holding: Vec<usize> = cells
            .filter(|(_, cell)| cell.holds(&combination))
            .map(|(at, _)| at)
            .collect();
        let &[at] = holding.as_slice() else {
            panic!("cells {holding:?} hold for {combination:?}");
        };
        used[at] += 1;
        let cell = &matrix.cells[at];
        let row = &matrix.rows[&cell.row];
        rows.insert(cell.row.clone());
        check(&combination, &cell.row, row);
    }
    assert!(
        used.iter().all(|count| *count > 0),
        "a cell never holds: {used:?}"
    );
    assert_eq!(rows.len(), matrix.rows.len(), "a row is never reached");
    println!("matrix: {} passed", used.iter().sum::<i32>());
}

/// Every class of P74 is in the matrix.
#[test]
fn no_class_is_left_out() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec/cases/09-packets/matrix.yaml");
    let matrix: Matrix = serde_yaml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let outcomes = matrix.outcomes.values().flatten();
    let named: BTreeSet<&str> = outcomes
        .filter_map(|outcome| match outcome {
            Outcome::Class(name) => Some(name.as_str()),
            Outcome::Claim(_) => None,
        })
        .collect();
    for class in FailureClass::all() {
        assert!(named.contains(class.name()), "{class}");
    }
}

impl Cell {
    fn holds(&self, combination: &Combination<'_>) -> bool {
        let retries = if combination.retries_left {
            "left"
        } else {
            "spent"
        };
        let repair = match combination.repair {
            Repair::Ready => "ready",
            Repair::Disabled | Repair::Spent | Repair::TriggerOff => "not",
        };
        names(&self.outcome, combination.line)
            && names(&self.verdict, combination.verdict.0)
            && names(&self.mode, combination.mode.name())
            && self
                .chained
                .is_none_or(|chained| chained == combination.chained)
            && self.retries.as_deref().is_none_or(|word| word == retries)
            && self
                .progress
                .is_none_or(|progress| progress == combination.progress)
            && self.repair.as_deref().is_none_or(|word| word == repair)
    }
}

fn combinations(matrix: &Matrix) -> Vec<Combination<'_>> {
    let verdicts = [
        ("pass", Verdict::Pass),
        ("fail", Verdict::Fail),
        ("empty", Verdict::Empty),
        ("fault", Verdict::Fault),
    ];
    let mut all = Vec::new();
    for (line, outcomes) in &matrix.outcomes {
        for outcome in outcomes {
            for verdict in verdicts {
                for mode in [Mode::Run, Mode::Retry, Mode::Repair] {
                    for bits in 0..8 {
                        let bit = |place: u32| bits >> place & 1 == 1;
                        let repairs = [
                            Repair::Ready,
                            Repair::Disabled,
                            Repair::Spent,
                            Repair::TriggerOff,
                        ];
                        all.extend(repairs.map(|repair| Combination {
                            line,
                            outcome,
                            verdict,
                            mode,
                            chained: bit(0),
                            retries_left: bit(1),
                            progress: bit(2),
                            repair,
                        }));
                    }
                }
            }
        }
    }
    all
}

fn check(combination: &Combination<'_>, name: &str, row: &Row) {
    let failure = match combination.outcome {
        Outcome::Class(class) if class == "ok" => None,
        Outcome::Class(class) => Some(Failure::new(FailureClass::known(class).unwrap(), "x")),
        Outcome::Claim(claim) => Some(Failure::claimed(claim, "x")),
    };
    let trigger_on = combination.repair != Repair::TriggerOff;
    let settings = RecoverySettings {
        repair_enabled: combination.repair != Repair::Disabled,
        repair_max_attempts: 2,
        on_nominal_success: trigger_on,
        on_provider_failure: trigger_on,
        on_retry_exhaustion: trigger_on,
        consecutive: combination.chained,
        ..RecoverySettings::default()
    };
    let limit = failure
        .as_ref()
        .map_or(3, |failure| settings.retry_limit(failure));
    let mut asked = 0;
    let decision = decide(
        Situation {
            failure: failure.as_ref(),
            verdict: combination.verdict.1,
            mode: combination.mode,
            retries_used: if combination.retries_left {
                limit - 1
            } else {
                limit
            },
            repairs_used: if combination.repair == Repair::Spent {
                2
            } else {
                1
            },
            settings: &settings,
        },
        || {
            asked += 1;
            combination.progress
        },
    );
    let action = match decision.action {
        Action::Halt => ("halt", None),
        Action::Complete => ("complete", None),
        Action::Fail => ("fail", None),
        Action::Retry => ("retry", None),
        Action::Repair(trigger) => {
            let trigger = match trigger {
                Trigger::NominalSuccess => "nominal_success",
                Trigger::ProviderFailure => "provider_failure",
                Trigger::RetryExhaustion => "retry_exhaustion",
            };
            ("repair", Some(trigger))
        }
    };
    assert_eq!(format!("{:?}", decision.row), name, "{combination:?}");
    assert_eq!(
        action,
        (row.action.as_str(), row.trigger.as_deref()),
        "{combination:?}"
    );
    assert_eq!(decision.attempt.name(), row.attempt, "{combination:?}");
    assert_eq!(decision.prompt.name(), row.prompt, "{combination:?}");
    assert!(asked <= 1, "progress was asked {asked} times");
}
