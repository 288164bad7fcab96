//! What a prompt's body says of the prompt: its heading and its mission (spec P12, P12a).

/// The lines of a body that stand in no fence.
fn prose(body: &str) -> impl Iterator<Item = &str> {
    let mut open: Option<Fence> = None;
    body.lines().filter(move |line| {
        let Some(fence) = open else {
            open = Fence::opened_by(line);
            return open.is_none();
        };
        if fence.is_closed_by(line) {
            open = None;
        }
        false
    })
}

/// What a block of code began with.
#[derive(Clone, Copy)]
struct Fence {
    marker: char,
    length: usize,
}

impl Fence {
    /// The fence that a line opens.
    fn opened_by(line: &str) -> Option<Self> {
        let text = unindented(line)?;
        let marker = text.chars().next().filter(|it| matches!(it, '`' | '~'))?;
        let info = text.trim_start_matches(marker);
        let length = text.len() - info.len();
        // Backquotes further on make it code within a line.
        let is_fence = length >= 3 && !(marker == '`' && info.contains('`'));
        is_fence.then_some(Self { marker, length })
    }

    /// Whether a line is its end: the same mark, at least as often, and nothing else.
    fn is_closed_by(self, line: &str) -> bool {
        unindented(line).is_some_and(|text| {
            let rest = text.trim_start_matches(self.marker);
            text.len() - rest.len() >= self.length && rest.trim().is_empty()
        })
    }
}

/// A line without its indent; `None` where that is so wide that the line is code.
fn unindented(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() < 4).then_some(text)
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

/// The first line of the first paragraph under `## Mission`; comments and headings are none.
fn mission(body: &str) -> Option<&str> {
    let mut lines = prose(body).skip_while(|line| line.trim_end() != "## Mission");
    lines.next()?;
    let section = lines.take_while(|line| !line.starts_with("# ") && !line.starts_with("## "));
    let mut in_comment = false;
    for line in section.map(str::trim) {
        in_comment |= line.starts_with("<!--");
        if in_comment {
            in_comment = !line.contains("-->");
        } else if !line.is_empty() && !is_heading(line) {
            return Some(line);
        }
    }
    None
}

/// Whether a line is a heading of whatever level.
fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - text.len())) && (text.is_empty() || text.starts_with(' '))
}

/// The commit message of a prompt that has no `commit` (spec P12).
pub(super) fn commit_message(body: &str, name: &str) -> String {
    match mission(body) {
        Some(line) if line.contains(':') || line.starts_with("feat") => line.to_owned(),
        Some(line) => format!("feat: {line}"),
        None => format!("feat: {name}"),
    }
}
