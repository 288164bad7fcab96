//! Any reference from anywhere in any tree: it resolves to exactly the sections of the visible set
//! that a plain search finds.

#![no_main]

use libfuzzer_sys::fuzz_target;
use runvil::Prompt;
use runvil::prompt::{Dialect, Scope, SectionId};

fuzz_target!(|input: (&str, &str)| {
    let (reference, headings) = input;
    let source = format!("---\nname: t\ndescription: d\n---\n# T\n{headings}");
    let Ok(prompt) = Prompt::parse(&source, Dialect::Runvil) else { return };
    check(&prompt, Scope::H1, reference);
    for id in (0..prompt.sections.len().min(50)).map(|id| SectionId(id as u32)) {
        check(&prompt, Scope::Section(id), reference);
        let name = &prompt.section(id).name;
        let own = format!("{} {name}", "#".repeat(prompt.section(id).level.into()));
        check(&prompt, Scope::Section(id), &own);
        check(&prompt, Scope::H1, &own);
        if let Some(parent) = prompt.section(id).parent {
            assert_eq!(prompt.resolve(Scope::Section(parent), &own), Ok(id), "{own:?}");
        }
    }
});

fn check(prompt: &Prompt, from: Scope, reference: &str) {
    let visible: Vec<SectionId> = match from {
        Scope::H1 => prompt.top.clone(),
        Scope::Section(id) => {
            let others = prompt.siblings(id).iter().filter(|sibling| **sibling != id);
            others.chain(&prompt.section(id).children).copied().collect()
        }
    };
    let names = |id: &&SectionId| {
        let section = prompt.section(**id);
        let rest = reference.trim().strip_prefix(&"#".repeat(section.level.into()));
        let name = rest.filter(|rest| rest.starts_with(char::is_whitespace)).map(str::trim);
        name == Some(section.name.as_str())
    };
    let expected = visible.iter().find(names).copied();
    let found = prompt.resolve(from, reference);
    assert_eq!(found.clone().ok(), expected);
    if let Err(error) = found {
        assert!(error.to_string().starts_with("section heading "));
    }
}
