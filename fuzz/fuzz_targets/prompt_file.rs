//! Any text as a file and as the body of one: no panic, what a failure says of its place is in the
//! file, and the block structure is that of `pulldown-cmark`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use runvil::Prompt;
use runvil::prompt::Dialect;

#[path = "../../tests/oracle/mod.rs"]
mod oracle;

fuzz_target!(|text: &str| {
    for dialect in [Dialect::Runvil, Dialect::PromptForge] {
        check(text, dialect);
        check(&format!("---\nname: t\ndescription: d\n---\n# T\n{text}"), dialect);
    }
    let (around, plain) = oracle::around_lua(&format!("# T\n{text}"));
    assert_eq!(around, plain, "{text:?}");
    let text = oracle::normalise(text);
    assert_eq!(oracle::ours(&text), oracle::theirs(&text), "{text:?}");
});

fn check(source: &str, dialect: Dialect) {
    match Prompt::parse(source, dialect) {
        Ok(prompt) => {
            for section in &prompt.sections {
                assert!(!section.name.is_empty());
                assert!((2..=6).contains(&section.level));
            }
        }
        Err(error) => {
            let location = error.location;
            let lines = source.matches('\n').count() + 1;
            assert!(location.line.is_none_or(|line| (1..=lines).contains(&(line as usize))));
            assert!(location.span.is_none_or(|span| source.get(span).is_some()));
        }
    }
}
