//! What a prompt's body says of the prompt: its heading and its mission (spec P12).

/// The lines of a body that stand in no fence.
fn prose(body: &str) -> impl Iterator<Item = &str> {
    let mut fence: Option<&str> = None;
    body.lines().filter(move |line| {
        let text = line.trim_start();
        match fence {
            Some(marker) if text.starts_with(marker) => fence = None,
            Some(_) => {}
            None if text.starts_with("```") => fence = Some("```"),
            None if text.starts_with("~~~") => fence = Some("~~~"),
            None => return true,
        }
        false
    })
}

/// The text of the first `# ` heading.
pub(super) fn heading(body: &str) -> Option<&str> {
    let headings = prose(body).filter_map(|line| line.strip_prefix("# "));
    headings.map(str::trim).find(|text| !text.is_empty())
}

/// Whether there is a section of this heading, `## ` included.
pub(super) fn has_section(body: &str, heading: &str) -> bool {
    prose(body).any(|line| line.trim_end() == heading)
}

/// The first line of the first paragraph under `## Mission`; comments are none.
fn mission(body: &str) -> Option<&str> {
    let mut lines = prose(body)
        .map(str::trim)
        .skip_while(|line| *line != "## Mission");
    lines.next()?;
    let section = lines.take_while(|line| !line.starts_with("# ") && !line.starts_with("## "));
    let mut in_comment = false;
    for line in section {
        in_comment |= line.starts_with("<!--");
        if in_comment {
            in_comment = !line.contains("-->");
        } else if !line.is_empty() {
            return Some(line);
        }
    }
    None
}

/// The commit message of a prompt that has no `commit` (spec P12).
pub(super) fn commit_message(body: &str, name: &str) -> String {
    match mission(body) {
        Some(line) if line.contains(':') || line.starts_with("feat") => line.to_owned(),
        Some(line) => format!("feat: {line}"),
        None => format!("feat: {name}"),
    }
}
