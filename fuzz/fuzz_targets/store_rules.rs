//! The store's rules against a slow reading of them: paths, patterns, what a pattern matches,
//! lines and ranges (spec S15, S22 to S26, S34 to S37).
//!
//! The input is four parts, a line each and the rest: a pattern, a path, two bounds, a text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use runvil::engine::store::{Glob, LineRange, broken_rule};

#[path = "../../tests/store/slow.rs"]
mod slow;

fuzz_target!(|input: &str| {
    let mut parts = input.splitn(4, '\n');
    let mut part = || parts.next().unwrap_or_default();
    let (pattern, path, bounds, text) = (part(), part(), part(), part());

    let broken = broken_rule(path);
    assert_eq!(broken, slow::path_rule(path));
    match Glob::new(pattern) {
        Err(failure) => assert_eq!(failure.rule, slow::pattern_rule(pattern)),
        Ok(glob) => {
            assert_eq!(slow::pattern_rule(pattern), None);
            if broken.is_none() {
                let matches = glob.matches(path);
                assert_eq!(matches, slow::glob(pattern, path));
                let levels = path.split('/').count();
                assert!(!matches || path.starts_with(glob.literal_prefix()));
                assert!(!matches || glob.depth().is_none_or(|depth| depth == levels));
            }
        }
    }

    let mut bounds = bounds.split(' ').map(|bound| bound.parse().ok());
    let (start, end) = (bounds.next().flatten(), bounds.next().flatten());
    let range = LineRange { start, end };
    let told = |text: &str| format!("invalid line range for p: {text}");
    let read = range
        .read("p", text.to_owned())
        .map_err(|failure| failure.message);
    assert_eq!(read, slow::read(text, start, end).map_err(told));
    let numbered = range
        .read_numbered("p", text)
        .map_err(|failure| failure.message);
    assert_eq!(
        numbered,
        slow::read_numbered(text, start, end).map_err(told)
    );
});
