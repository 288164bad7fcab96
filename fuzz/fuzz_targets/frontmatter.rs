//! Any text as frontmatter, in both dialects: no panic, and messages of the stated form.

#![no_main]

use libfuzzer_sys::fuzz_target;
use runvil::Prompt;
use runvil::prompt::{Dialect, ParseErrorKind};

fuzz_target!(|yaml: &str| {
    for dialect in [Dialect::Runvil, Dialect::PromptForge] {
        let source = format!("---\n{yaml}\n---\n# T\n");
        match Prompt::parse(&source, dialect) {
            Ok(prompt) => assert!(prompt.top.len() == prompt.sections.len() || !yaml.is_empty()),
            Err(error) if error.kind == ParseErrorKind::Frontmatter => {
                assert!(error.message.starts_with("invalid frontmatter: "), "{error}");
                assert_eq!(error.location.path.as_deref(), Some("<prompt>"));
                assert_eq!(error.location.line.is_some(), error.location.column.is_some());
            }
            Err(_) => {}
        }
    }
});
