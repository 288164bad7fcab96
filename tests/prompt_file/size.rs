//! What size and nesting cost.

use super::*;
use std::time::{Duration, Instant};

fn time(body: &str) -> Duration {
    let source = file(Dialect::Runvil, body);
    let start = Instant::now();
    let _ = parse(&source);
    start.elapsed()
}

/// Nothing a file nests or repeats costs more than its length, and nothing recurses on it.
#[test]
fn hostile_bodies_are_linear() {
    let n = 100_000;
    let lines = |line: &str| line.repeat(n);
    let cases = [
        format!("# T\n{}", lines("###### x\n")),
        format!("# T\n{}", "> ".repeat(n)),
        format!("# T\n{}x\n{}", "- ".repeat(n), lines("\n")),
        format!("# T\n{}x\n{}y", "- ".repeat(n), " ".repeat(2 * n)),
        format!("# T\n{}x\n{}", ">".repeat(n), lines("x\n")),
        format!("# T\n{}{}", "- ".repeat(n), " ".repeat(n)),
        format!("# T\n{}", "1. * > ".repeat(n)),
        format!("# {}", "[".repeat(n)),
        format!("# {}", "![".repeat(n) + &"[a](b)".repeat(n)),
        format!("# {}", "[a](b".repeat(n)),
        format!("# {}", "[".repeat(n) + &"]".repeat(n)),
        format!("# {}", "[a][".repeat(n)),
        format!("[a]: b\n\n# {}", "[a".repeat(n) + &"][]".repeat(n)),
        format!("# {}", "*a_".repeat(n)),
        format!("# {}", "**a *".repeat(n) + &"b** _".repeat(n)),
        format!("# {}", "a**b".repeat(n) + &"c* ".repeat(n)),
        format!("# {}", "*".repeat(n)),
        format!(
            "# {}",
            (1..400).map(|i| "`".repeat(i) + " ").collect::<String>()
        ),
        format!("# {}", "<!--".repeat(n)),
        format!("# {}", "<a b='".repeat(n)),
        format!("# {}", "<?<![CDATA[<!A".repeat(n)),
        format!("# {}", "<a".repeat(n)),
        format!("# {}", "&a".repeat(n)),
        format!("# {}", "\\\n".repeat(n)),
        format!("# T\n{}", lines("[a]: b 'c\n")),
        format!("# T\n{}", lines("[a]: b\n===\n")),
        format!("# T\n{}", lines("> [a]: b \"c\n")),
        format!("# T\n{}", lines("```lua\n")),
        format!("# T\n{}", lines("````\n```lua\n````\n")),
        format!("# T\n## L\n{}", lines("- a\n")),
        format!("# T\n{}", "-".repeat(n) + " x"),
        format!("# T\n<script>{}", lines("</")),
    ];
    for case in cases {
        let elapsed = time(&case);
        let start: String = case.chars().take(30).collect();
        assert!(elapsed < Duration::from_secs(10), "{elapsed:?} {start:?}");
    }
}

/// A hundred times the sections cost about a hundred times the time: far from the square of it.
#[test]
fn sections_are_linear() {
    let body = |n: usize| {
        let sections =
            (0..n).map(|i| format!("## S{i}\n\nProse {i}.\n\nBBBlua\nreturn {i}\nBBB\n\n"));
        format!("# T\n{}", sections.collect::<String>())
    };
    let small = (0..20).map(|_| time(&body(200))).min().unwrap_or_default();
    let large = (0..3)
        .map(|_| time(&body(20_000)))
        .min()
        .unwrap_or_default();
    assert!(large < small * 1000, "{small:?} {large:?}");
}
