//! Runs a program with its answers handed in in an order of one's choosing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use runvil::engine::model::{Model, Thinking};
use runvil::engine::{Answer, Effect, EffectId, Item, Outcome, Program, Run, Setup};
use runvil::harness::Store;
use runvil::prompt::Dialect;

use super::talk;

/// How a run is driven.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// What the choices are drawn from.
    pub seed: u64,
    /// How many tasks run at once.
    pub concurrency: u32,
    /// Whether timed waits are stopped, answers repeated, and the run cancelled now and then.
    pub meddles: bool,
}

/// A run that has ended, and what it left.
pub struct Ran {
    pub items: Vec<Item>,
    pub outcome: Outcome,
    pub files: BTreeMap<String, Vec<u8>>,
    /// How many items it had put out when it was cancelled. What its chains ask for then is not
    /// served any more (spec K211).
    pub cancelled: Option<usize>,
}

/// Compiles a prompt.
pub fn program(source: &str) -> Program {
    let loaded = Program::load(source, Dialect::Runvil).program;
    loaded.unwrap_or_else(|error| panic!("the prompt does not load: {error}\n{source}"))
}

/// What runs take from outside.
pub fn setup(concurrency: u32) -> Setup {
    Setup {
        execution: "plan".into(),
        seed: [0; 32],
        when: "2026-01-01T00:00:00Z".into(),
        args: "".into(),
        memory: 64 << 20,
        concurrency,
        log_events: 100_000,
        model: Some(Model {
            id: "plan".into(),
            context: 1 << 30,
            thinking: Thinking::Never,
            description: "".into(),
        }),
        packs: Default::default(),
        max_rounds: 24,
        ui: None,
        store: Some(Default::default()),
        opens_store: false,
        cancel: Default::default(),
    }
}

/// Numbers that look random, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }
}

/// Runs a program to its end. Store operations are performed in the order they are put out; which
/// answer is handed in next is drawn.
pub fn drive(program: &Program, order: Order) -> Ran {
    let cancel = Arc::new(AtomicBool::new(false));
    let setup = Setup {
        cancel: cancel.clone().into(),
        ..setup(order.concurrency)
    };
    let ran = drive_run(Run::new(program.clone(), setup), order);
    assert_eq!(
        Arc::strong_count(&cancel),
        1,
        "the run leaves nothing behind"
    );
    ran
}

fn drive_run(mut run: Run, order: Order) -> Ran {
    let store = Store::memory();
    let mut dice = Dice(order.seed.wrapping_mul(2) | 1);
    let mut items = Vec::new();
    let mut answers: Vec<(EffectId, Answer)> = Vec::new();
    let mut cancelled = None;
    let mut withdrawn = BTreeSet::new();
    // What each task waits for: it never wants two answers at once.
    let mut wanted: BTreeMap<Arc<str>, EffectId> = BTreeMap::new();
    // The store operations and rounds of tasks, which hold their slots meanwhile (spec K125).
    let mut slots: BTreeSet<EffectId> = BTreeSet::new();
    for _ in 0..100_000 {
        let step = run.step();
        for (id, _) in step.withdrawn {
            wanted.retain(|_, other| *other != id);
            slots.remove(&id);
            assert!(withdrawn.insert(id), "{id:?} is withdrawn once");
        }
        for item in &step.items {
            let Item::Effect(issued) = item else { continue };
            let answer = match &issued.effect {
                Effect::Store { op, .. } => Answer::Store(store.perform(op)),
                Effect::Model(round) => Answer::Model(Ok(Box::new(talk::answer(round)))),
                Effect::Tool(_) => panic!("calls no tool"),
                Effect::Timer { .. } => Answer::Fired,
            };
            if !withdrawn.contains(&issued.id) {
                if !matches!(answer, Answer::Fired) && *issued.task != *"0" {
                    slots.insert(issued.id);
                }
                let other = wanted.insert(issued.task.clone(), issued.id);
                assert_eq!(other, None, "task {} waits already", issued.task);
            }
            answers.push((issued.id, answer));
        }
        let most = order.concurrency as usize;
        assert!(slots.len() <= most, "{} tasks hold a slot", slots.len());
        items.extend(step.items);
        if let Some(outcome) = step.outcome {
            assert_eq!(
                wanted.len(),
                0,
                "nothing is wanted from a run that has ended"
            );
            after_the_end(&mut run, &outcome, answers);
            let files = files(&store);
            return Ran {
                items,
                outcome,
                files,
                cancelled,
            };
        }
        if step.more {
            continue;
        }
        match dice.below(if order.meddles { 40 } else { 1 }) {
            1 => {
                run.cancel();
                cancelled = Some(items.len());
                continue;
            }
            2..=5 => {
                let ids: Vec<EffectId> = answers.iter().map(|(id, _)| *id).collect();
                run.stop(&ids);
                continue;
            }
            6 => run.answer(EffectId(u64::MAX), Answer::Fired),
            _ => {}
        }
        // An answer that is not wanted any more may be on its way already.
        if dice.below(2) == 0 {
            answers.retain(|(id, _)| !withdrawn.contains(id));
        }
        assert!(!answers.is_empty(), "the run waits for an answer");
        let (id, answer) = answers.swap_remove(dice.below(answers.len()));
        wanted.retain(|_, other| *other != id);
        slots.remove(&id);
        run.answer(id, answer);
    }
    panic!("the run does not end");
}

/// A run that has ended stays as it is, whatever it is told.
fn after_the_end(run: &mut Run, outcome: &Outcome, answers: Vec<(EffectId, Answer)>) {
    for (id, _) in answers {
        run.stop(&[id]);
        run.answer(id, Answer::Broken("late".into()));
    }
    run.cancel();
    let step = run.step();
    assert!(step.items.is_empty() && step.withdrawn.is_empty() && !step.more);
    assert_eq!(step.outcome.as_ref(), Some(outcome));
}

fn files(store: &Store) -> BTreeMap<String, Vec<u8>> {
    let paths = store.list("**").unwrap_or_default();
    paths
        .into_iter()
        .map(|path| {
            let bytes = store.read(&path).unwrap_or_default();
            (path, bytes)
        })
        .collect()
}
