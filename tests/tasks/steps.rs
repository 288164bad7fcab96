//! What one step hands over (spec K204).

use runvil::engine::{Effect, Item, Run, Step};

use super::drive::{program, setup};

/// A fanout of three arms, each with this block.
fn fanout(block: &str) -> Run {
    let source = format!(
        "---\nname: steps\ndescription: Steps.\nrunvil: 0\nmodels: {{ asker: {{}} }}\n---\n\n\
         # Steps\n\n```lua\nmodels.default('asker')\n```\n\n## Main\n\n```lua\n\
         tasks.fanout('### Ask', {{ 1, 2, 3 }})\n```\n\n### Ask\n\n```lua\n{block}\n```\n"
    );
    Run::new(program(&source), setup(3))
}

fn rounds(step: &Step) -> usize {
    let asks = |item: &&Item| matches!(item, Item::Effect(issued) if matches!(issued.effect, Effect::Model(_)));
    step.items.iter().filter(asks).count()
}

fn sections_started(step: &Step) -> usize {
    let starts =
        |item: &&Item| matches!(item, Item::Event(event) if event.kind.name() == "section_started");
    step.items.iter().filter(starts).count()
}

#[test]
fn a_round_is_handed_over_before_the_next_chain_takes_its_turn() {
    // spec K204
    let mut run = fanout("return models.infer('Say hello.')");
    for (arm, more) in [true, true, false].into_iter().enumerate() {
        let step = run.step();
        assert_eq!(rounds(&step), 1, "arm {arm}");
        // The first step has the main section too.
        let sections = if arm == 0 { 2 } else { 1 };
        assert_eq!(sections_started(&step), sections, "arm {arm}");
        assert_eq!(step.more, more, "arm {arm}");
        assert_eq!(step.outcome, None);
    }
}

#[test]
fn chains_that_ask_for_nothing_share_a_step() {
    // spec K204
    let mut run = fanout("return 'hello'");
    let step = run.step();
    assert_eq!(sections_started(&step), 4);
    assert!(!step.more && step.outcome.is_some());
}
