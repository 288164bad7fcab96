//! The operator (spec T121 to T128).

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use runvil::engine::{EventKind, Outcome};
use runvil::harness::unit::{Answers, Operator, Question};
use runvil::harness::{CancelToken, Harness, Launch, StopToken};
use runvil::prompt::Dialect::{self, PromptForge, Runvil};

use crate::fake::{prompt, result, run, run_with};

const USES: &str = "uses: [user-input]";
const PLUGIN: &str = "plugins: [promptforge/user-input]";
const OPTIONAL: &str = "plugins: [{ref: promptforge/user-input, optional: true}]";

/// A launch with these answers.
fn answering(answers: &[&str]) -> Launch {
    Launch {
        operator: Some(Arc::new(Answers::new(answers.iter().copied()))),
        ..Launch::default()
    }
}

#[track_caller]
fn ask(dialect: Dialect, frontmatter: &str, answers: &[&str], lua: &str) -> String {
    let source = prompt(dialect, frontmatter, lua);
    result(run_with(&Harness::default(), &source, answering(answers)))
}

#[test]
fn an_answer_comes_back_byte_for_byte() {
    // spec T122, T123
    let lua = "local text, available = input.ask() \
               return ('%q %s %s'):format(text, available, input.connected())";
    for (dialect, frontmatter) in [
        (Runvil, USES),
        (PromptForge, PLUGIN),
        (PromptForge, OPTIONAL),
    ] {
        let text = " <b>\u{7f} ü ";
        let expected = format!("\"{}\" true true", text.replace('\u{7f}', "\\127"));
        assert_eq!(ask(dialect, frontmatter, &[text], lua), expected);
        assert_eq!(ask(dialect, frontmatter, &[""], lua), "\"\" true true");
    }
}

#[test]
fn an_ask_is_a_tool_call() {
    // spec T122, T110
    let lua = "input.ask() return tools.calls['user-input/ask']";
    let mut results = Vec::new();
    let source = prompt(Runvil, USES, lua);
    let report = Harness::default().run(&source, answering(&["yes"]), &mut |event| {
        if let EventKind::ToolResult(result) = &event.kind {
            results.push((
                result.alias.to_string(),
                result.content.to_string(),
                result.trusted,
            ));
        }
    });
    assert_eq!(result(report), "1");
    let expected = ("user-input/ask".to_owned(), "yes".to_owned(), true);
    assert_eq!(results, [expected]);
}

#[test]
fn arguments_are_refused_and_nothing_is_asked() {
    // spec T122, case C28
    let lua = "local ok, e = pcall(input.ask, 'Topic?') return tostring(e) .. '|' .. input.ask()";
    for (dialect, frontmatter) in [(Runvil, USES), (PromptForge, PLUGIN)] {
        let said = ask(dialect, frontmatter, &["first"], lua);
        assert_eq!(said, "input.ask takes no arguments|first");
    }
}

#[test]
fn without_an_operator_only_an_optional_plugin_runs() {
    // spec T125, T126, case C27
    let lua = "local text, available = input.ask() \
               return tostring(available) .. tostring(input.connected()) .. ':' .. text";
    let host = Harness::default();
    let said = result(run(&host, &prompt(PromptForge, OPTIONAL, lua)));
    assert_eq!(
        said,
        "falsefalse:User input is unavailable in this host; continue without it."
    );
    let notice = |dialect, frontmatter| {
        let report = run(&host, &prompt(dialect, frontmatter, lua));
        report.requirements.notice(dialect)
    };
    assert_eq!(
        notice(Runvil, USES),
        "the environment cannot satisfy this prompt:\n\
         - user-input needs runvil/input-broker, and the environment provides none"
    );
    assert_eq!(
        notice(PromptForge, PLUGIN),
        "the environment cannot satisfy this prompt:\n\
         - promptforge/user-input needs promptforge/input-broker, and this host provides none"
    );
}

#[test]
fn an_undeclared_operator_can_be_asked_by_the_tool_alone() {
    // spec T121
    let lua = "return type(input) .. tools.call('user-input/ask')";
    assert_eq!(ask(Runvil, "", &["x"], lua), "nilx");
}

#[test]
fn no_answer_is_a_failed_tool_call() {
    // spec T127
    let lua = "input.ask() local ok, e = pcall(input.ask) return e.kind .. ': ' .. e.message";
    let said = ask(Runvil, USES, &["only"], lua);
    assert_eq!(said, "tool: tool call failure: no operator answer is left");
    let source = prompt(Runvil, USES, "return (input.ask())");
    let report = run_with(&Harness::default(), &source, answering(&[]));
    let Outcome::Failed(error) = report.outcome else {
        panic!("{:?}", report.outcome)
    };
    assert_eq!(error.kind.name(), "Tool");
    assert_eq!(
        error.message,
        "tool call failure: no operator answer is left"
    );
}

#[test]
fn answers_are_given_out_in_the_order_of_the_questions() {
    let lua = "return table.concat(tasks.fanout('### W', {1, 2, 3, 4, 5, 6, 7, 8}))\n```\n\n### W\n\n```lua\n\
               return (input.ask())";
    let answers = ["1", "2", "3", "4", "5", "6", "7", "8"];
    for _ in 0..20 {
        assert_eq!(ask(Runvil, USES, &answers, lua), answers.concat());
    }
}

/// An operator who answers when he is told to, or when nobody wants to know any more.
#[derive(Debug, Default)]
struct Slow {
    asked: Mutex<Vec<String>>,
    answer: Mutex<Option<String>>,
    given_up: Mutex<usize>,
}

impl Operator for Slow {
    fn ask(&self, question: &Question) -> Result<String, String> {
        self.asked.lock().unwrap().push(question.task.to_string());
        loop {
            if question.abort.is_aborted() {
                *self.given_up.lock().unwrap() += 1;
                return Err("nobody wants to know".to_owned());
            }
            if let Some(answer) = self.answer.lock().unwrap().take() {
                return Ok(answer);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Slow {
    fn wait_until_asked(&self) {
        while self.asked.lock().unwrap().is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn a_question_stays_open_through_a_stop() {
    // spec T105
    let operator = Arc::<Slow>::default();
    let stop = StopToken::default();
    let launch = Launch {
        operator: Some(operator.clone()),
        stop: stop.clone(),
        ..Launch::default()
    };
    let source = prompt(Runvil, USES, "return (input.ask())");
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            operator.wait_until_asked();
            stop.stop();
            thread::sleep(Duration::from_millis(50));
            *operator.answer.lock().unwrap() = Some("after all".to_owned());
        });
        run_with(&Harness::default(), &source, launch)
    });
    assert_eq!(result(report), "after all");
    assert_eq!(*operator.asked.lock().unwrap(), ["0"]);
}

#[test]
fn a_cancel_withdraws_the_question() {
    // spec T127
    let operator = Arc::<Slow>::default();
    let cancel = CancelToken::default();
    let launch = Launch {
        operator: Some(operator.clone()),
        cancel: cancel.clone(),
        ..Launch::default()
    };
    let source = prompt(Runvil, USES, "return (input.ask())");
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            operator.wait_until_asked();
            cancel.cancel();
        });
        run_with(&Harness::default(), &source, launch)
    });
    assert_eq!(report.outcome, Outcome::Cancelled);
    while *operator.given_up.lock().unwrap() == 0 {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_model_may_ask_the_operator() {
    // spec T128
    use runvil::harness::Script;
    let script = "rounds:\n\
                  - { calls: [{ name: user-input_ask, arguments: { topic: x } }], times: 1 }\n\
                  - { when: { tool_result: user-input_ask, matches: '^blue$' }, reply: Blue it is. }\n";
    let script = Script::from_yaml(script).unwrap();
    let launch = Launch {
        model: Some(script.model().clone()),
        broker: Some(Arc::new(script)),
        ..answering(&["blue"])
    };
    let frontmatter = format!("{USES}\nmodels: {{any: {{}}}}");
    let lua = "packs.offer('user-input') local talk = messages.new():user('which?') \
               models.loop(any, talk) return talk[3].content .. '|' .. talk[4].content";
    let report = run_with(
        &Harness::default(),
        &prompt(Runvil, &frontmatter, lua),
        launch,
    );
    assert_eq!(result(report), "blue|Blue it is.");
}
