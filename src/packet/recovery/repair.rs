//! What a repair is told (spec P97 to P99).

use serde_json::Value;

/// The most lines of an item's output that a repair is shown (spec P98).
const LINE_BUDGET: usize = 40;

/// The fields of a failed item that a repair is shown, in this order (spec P98).
const FIELDS: [&str; 5] = ["kind", "repo", "path", "command", "cwd"];

/// The part of a repair's text below the prompt's body: from `## Repair Instructions` on, without
/// a newline at its end (spec P97).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairBlock(String);

impl RepairBlock {
    /// The block for failed items of a report and the last error; an empty error is none.
    pub fn new(last_error: Option<&str>, failures: &[Value]) -> Self {
        let error = last_error.map(str::trim).filter(|error| !error.is_empty());
        let error = error.unwrap_or("n/a");
        let blocks: Vec<String> = failures.iter().map(failure_block).collect();
        let blocks = match blocks.is_empty() {
            true => "(none recorded)".to_owned(),
            false => blocks.join("\n"),
        };
        Self(format!(
            "## Repair Instructions\n\n\
             Go on from the files as they are now and change only what the failures below ask for.\n\
             Leave work that already satisfies the contract as it is.\n\n\
             Last error:\n{error}\n\n\
             Remaining verifier failures:\n\n{blocks}"
        ))
    }

    /// The block.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The whole text of a repair: the body, without the newlines at its end, and the block.
    pub fn below(&self, body: &str) -> String {
        let body = body.trim_end_matches(['\n', '\r']);
        format!("{body}\n\n{}\n", self.0)
    }
}

/// One failed item as a repair is told of it (spec P98), without a newline at its end.
pub fn failure_block(item: &Value) -> String {
    let mut out = "- failure".to_owned();
    for key in FIELDS {
        if let Some(text) = text_of(&item[key]) {
            // A field is one line, whatever the command is.
            let text = text.replace('\n', " ");
            out += &format!("\n  {key}: {text}");
        }
    }
    let details = item["details"].as_str().unwrap_or_default().trim();
    if details.is_empty() {
        return out;
    }
    out += "\n  output:";
    for line in details.lines().take(LINE_BUDGET) {
        out += &format!("\n      {line}");
    }
    match details.lines().skip(LINE_BUDGET).count() {
        0 => {}
        1 => out += "\n      [truncated: 1 more line]",
        more => out += &format!("\n      [truncated: {more} more lines]"),
    }
    out
}

/// A field's text; `None` where there is nothing to show.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
    .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// K39.
    #[test]
    fn a_repair_is_told_what_is_unmet() {
        let lines: Vec<String> = (1..=120).map(|n| format!("line {n}")).collect();
        let failures = [
            json!({"kind": "command", "repo": "app", "command": "make", "cwd": "/r",
                "details": lines.join("\n"), "pass?": false}),
            json!({"kind": "file_exists", "path": "x", "repo": null, "details": "missing"}),
        ];
        let shown: String = lines[..40]
            .iter()
            .map(|line| format!("      {line}\n"))
            .collect();
        let expected = format!(
            "# B\n\n## Repair Instructions\n\nGo on from the files as they are now and change only \
             what the failures below ask for.\nLeave work that already satisfies the contract as it \
             is.\n\nLast error:\nboom\n\nRemaining verifier failures:\n\n\
             - failure\n  kind: command\n  repo: app\n  command: make\n  cwd: /r\n  output:\n{shown}\
             \x20     [truncated: 80 more lines]\n- failure\n  kind: file_exists\n  path: x\n  output:\n\
             \x20     missing\n"
        );
        assert_eq!(
            RepairBlock::new(Some("boom"), &failures).below("# B\n"),
            expected
        );
    }

    #[test]
    fn nothing_recorded_is_said() {
        let text = RepairBlock::new(None, &[]).below("b\n\n\n");
        assert!(text.starts_with("b\n\n## Repair"), "{text}");
        assert!(
            text.ends_with("Last error:\nn/a\n\nRemaining verifier failures:\n\n(none recorded)\n")
        );
    }

    #[test]
    fn one_dropped_line_is_one_line() {
        let details = ["x"; 41].join("\n");
        let block = failure_block(&json!({"kind": "doc", "details": details}));
        assert!(
            block.ends_with("\n      [truncated: 1 more line]"),
            "{block}"
        );
        assert!(!failure_block(&json!({"kind": "doc", "details": " \n"})).contains("output"));
    }
}
