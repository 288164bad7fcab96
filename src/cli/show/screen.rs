//! A record as a person sees it on a terminal (spec C16).

use runvil::engine::{Outcome, RunError};
use runvil::harness::record::timeline::{Mark, Timeline, Totals, What};

use super::amount::{count, number, span};
use super::label::Piece;
use super::rows::{Row, Rows, Time};
use crate::cli::cell::{shown, start_of, width};
use crate::cli::failure::{self, Subject};
use crate::cli::help::Backing;
use crate::cli::style::{Style, Tone};

/// The columns that a moment and a span take.
const TIME: usize = 8;

/// How many lines of a result or a failure are shown.
const OUTCOME_LINES: usize = 12;

/// How a record is shown.
#[derive(Clone, Copy)]
pub struct Screen {
    pub style: Style,
    /// The columns that there are.
    pub columns: usize,
    /// Whether nothing is left out.
    pub all: bool,
}

impl Screen {
    /// The whole text.
    pub fn render(self, timeline: &Timeline) -> String {
        let rows = Rows::new(timeline, self.all);
        let mut out = self.head(timeline);
        out.push('\n');
        if !rows.rows.is_empty() {
            let bar = self.bar_columns();
            let head = format!("{:>TIME$} {:>TIME$}", "start", "took");
            out += &self.line(&[(Tone::Faint, head)]);
            for row in &rows.rows {
                out += &self.row(row, bar, timeline.end);
            }
            out.push('\n');
        }
        out += &self.outcome(timeline);
        let items: u64 = timeline.tracks.iter().map(|track| track.left_out).sum();
        let left_out = rows.left_out as u64 + items;
        if left_out > 0 {
            let text = format!(
                "{} left out, with all that is in them; --all shows them",
                count(left_out, "row")
            );
            out += &self.line(&[(Tone::Faint, text)]);
        }
        out
    }

    fn head(self, timeline: &Timeline) -> String {
        let head = &timeline.head;
        let name = head.name.as_deref().unwrap_or("prompt");
        let took = span(timeline.end);
        let (tone, ending) = match timeline.outcome.as_ref().map(|line| &line.outcome) {
            Some(Outcome::Completed(_)) => (Tone::Good, format!("completed in {took}")),
            Some(Outcome::Failed(error)) => {
                let kind = error.kind.name();
                (Tone::Bad, format!("failed ({kind}) after {took}"))
            }
            Some(Outcome::Cancelled) => (Tone::Bad, format!("cancelled after {took}")),
            None => (Tone::Bad, format!("not ended; {took} are recorded")),
        };
        let mut out = self.line(&[
            (Tone::Strong, name.to_owned()),
            (Tone::Plain, "  ".to_owned()),
            (tone, ending),
        ]);
        let mut facts = vec![format!("run {}", head.run), head.started_at.to_string()];
        facts.extend(head.model.as_ref().map(|it| format!("model {}", it.id)));
        facts.push(format!("seed {}", short_seed(&head.seed.to_string())));
        out += &self.facts(&facts);
        out += &self.facts(&totals(&timeline.totals));
        for (at, mark) in &timeline.marks {
            let text = match mark {
                Mark::Cancel => format!("cancelled at {}", span(*at)),
                Mark::Stop(ids) => {
                    format!("stopped {} at {}", count(*ids as u64, "wait"), span(*at))
                }
            };
            out += &self.line(&[(Tone::Bad, text)]);
        }
        out
    }

    /// Facts beside each other, on as many lines as they need; none is cut.
    fn facts(self, facts: &[String]) -> String {
        let whole = Self {
            columns: usize::MAX,
            ..self
        };
        let mut out = String::new();
        let mut line = String::new();
        for fact in facts {
            if !line.is_empty() && width(&line) + 3 + width(fact) > self.columns {
                out += &whole.line(&[(Tone::Faint, std::mem::take(&mut line))]);
            }
            if !line.is_empty() {
                line += " · ";
            }
            line += fact;
        }
        match line.is_empty() {
            true => out,
            false => out + &whole.line(&[(Tone::Faint, line)]),
        }
    }

    /// How many columns show when something was, within the run.
    fn bar_columns(self) -> usize {
        match self.columns {
            0..76 => 0,
            76..110 => 12,
            _ => 24,
        }
    }

    fn row(self, row: &Row, bar: usize, end: u64) -> String {
        let (at, took) = match row.time {
            Some(Time { at, until, .. }) if until == Some(at) => (span(at), String::new()),
            Some(Time { at, until, .. }) => {
                let took = until.map(|until| span(until.saturating_sub(at)));
                (span(at), took.unwrap_or_else(|| "…".to_owned()))
            }
            None => (String::new(), String::new()),
        };
        let mut pieces = vec![
            (Tone::Faint, format!("{at:>TIME$} ")),
            (Tone::Plain, format!("{took:>TIME$}  ")),
        ];
        if bar > 0 {
            let shown = row
                .time
                .map_or_else(String::new, |time| strip(time, end, bar));
            let rest = " ".repeat(bar - width(&shown) + 2);
            pieces.push((Tone::Frame, shown));
            pieces.push((Tone::Plain, rest));
        }
        pieces.push((Tone::Faint, row.guide.clone()));
        pieces.extend(row.pieces.iter().cloned());
        self.line(&pieces)
    }

    fn outcome(self, timeline: &Timeline) -> String {
        let mut out = match timeline.outcome.as_ref().map(|line| &line.outcome) {
            Some(Outcome::Completed(result)) => self.text(Tone::Good, "result", result),
            Some(Outcome::Failed(error)) => failure_text(timeline, error, self.style),
            Some(Outcome::Cancelled) => String::new(),
            None => {
                let text = "the record ends before the run; `runvil resume` goes on with it";
                self.line(&[(Tone::Bad, text.to_owned())])
            }
        };
        if let Some(line) = timeline.torn {
            let text = format!("line {line} was not written whole");
            out += &self.line(&[(Tone::Bad, text)]);
        }
        out
    }

    /// A text of several lines under what it is.
    fn text(self, tone: Tone, what: &str, text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let most = if self.all { usize::MAX } else { OUTCOME_LINES };
        if let [line] = lines[..] {
            let head = (tone, format!("{what}: "));
            return self.line(&[head, (Tone::Plain, line.to_owned())]);
        }
        let mut out = self.line(&[(tone, format!("{what}:"))]);
        for line in lines.iter().take(most) {
            out += &self.line(&[(Tone::Plain, format!("  {line}"))]);
        }
        if let Some(more @ 1..) = lines.len().checked_sub(most) {
            let text = format!("  … {}", count(more as u64, "more line"));
            out += &self.line(&[(Tone::Faint, text)]);
        }
        out
    }

    /// One line, cut where the columns end, without anything a terminal could take for its own.
    fn line(self, pieces: &[Piece]) -> String {
        let mut left = match self.all {
            true => usize::MAX,
            false => self.columns,
        };
        let mut out = String::new();
        for (tone, text) in pieces {
            let wide = width(text);
            if wide <= left {
                out += &self.style.tone(*tone, &shown(text));
                left -= wide;
                continue;
            }
            out += &self.style.tone(*tone, &start_of(text, left));
            break;
        }
        let mut out = out.trim_end().to_owned();
        out.push('\n');
        out
    }
}

/// A failure as `run` shows it, but for advice, which would be about this host.
pub fn failure_text(timeline: &Timeline, error: &RunError, style: Style) -> String {
    let head = &timeline.head;
    let reached = timeline.tracks.first().and_then(|root| {
        let mut outer = root.items.iter().rev().filter(|item| item.depth == 0);
        outer.find_map(|item| match &item.what {
            What::Section(section) => Some(section.name.as_str()),
            _ => None,
        })
    });
    let subject = Subject {
        file: head.name.as_deref().unwrap_or("prompt"),
        source: &head.source,
        dialect: head.dialect,
        reached,
        answered: None,
        backing: Backing::Nothing,
    };
    let mut diagnostic = failure::explain(error, &subject);
    diagnostic.help = None;
    diagnostic.render(&head.source, style)
}

/// A seed without the zeros that most of a small one is.
fn short_seed(digits: &str) -> String {
    let number = digits.trim_start_matches('0');
    match number.len() {
        0 => "0".to_owned(),
        1..=16 => {
            u64::from_str_radix(number, 16).map_or_else(|_| digits.to_owned(), |n| n.to_string())
        }
        _ => digits.to_owned(),
    }
}

/// What there was, as facts.
pub fn totals(totals: &Totals) -> Vec<String> {
    let some = |number: u64, text: String| (number > 0).then_some(text);
    let failed = |number: u64| match number {
        0 => String::new(),
        _ => format!(" ({} failed)", self::number(number)),
    };
    let facts = [
        some(
            totals.rounds,
            count(totals.rounds, "round") + &failed(totals.failed_rounds),
        ),
        some(
            totals.prompt_tokens + totals.completion_tokens,
            format!(
                "{} → {} tokens",
                number(totals.prompt_tokens),
                number(totals.completion_tokens)
            ),
        ),
        some(
            totals.calls,
            count(totals.calls, "tool call") + &failed(totals.failed_calls),
        ),
        some(totals.questions, count(totals.questions, "question")),
        some(totals.tasks, count(totals.tasks, "task")),
        some(totals.writes, count(totals.writes, "write")),
        some(totals.reads, count(totals.reads, "read")),
        some(totals.checkpoints, count(totals.checkpoints, "checkpoint")),
    ];
    facts.into_iter().flatten().collect()
}

/// Where a span lies within the run: so many columns, the later ones left away. A task that has not
/// got its turn yet is a thinner line.
fn strip(time: Time, end: u64, columns: usize) -> String {
    let end = end.max(1);
    let place = |moment: u64| {
        let place = u128::from(moment) * columns as u128 / u128::from(end);
        usize::try_from(place).unwrap_or(columns).min(columns)
    };
    let from = place(time.at).min(columns - 1);
    if time.until == Some(time.at) {
        return " ".repeat(from) + "╵";
    }
    let to = place(time.until.unwrap_or(end)).max(from + 1);
    let busy = place(time.busy).clamp(from, to - 1);
    " ".repeat(from) + &"╌".repeat(busy - from) + &"━".repeat(to - busy)
}
