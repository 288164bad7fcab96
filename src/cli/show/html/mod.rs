//! A record as a page (spec C16): one file that needs nothing else, its transcript no script.

mod anchor;
mod chart;
mod csp;
mod markup;
mod round;
mod transcript;

use runvil::engine::Outcome;
use runvil::harness::record::timeline::{Clip, Detail, Mark, Timeline};

use self::markup::Markup;
use super::amount::{count, number, size, span};
use super::screen::failure_text;
use crate::cli::style::Style;

/// How much of a record a page has. More would be slow to open.
pub const DETAIL: Detail = Detail {
    items: 20_000,
    text: 100_000,
    messages: true,
};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole page.
pub fn render(timeline: &Timeline) -> String {
    let mut out = Markup::default();
    let head = &timeline.head;
    let name = head.name.as_deref().unwrap_or("prompt");
    out.raw("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n");
    out.raw("<meta http-equiv=Content-Security-Policy")
        .attr("content", &csp::policy(STYLE, SCRIPT));
    out.raw(">\n<meta name=viewport content=\"width=device-width, initial-scale=1\">\n");
    out.raw("<meta name=color-scheme content=\"light dark\">\n");
    out.element("<title>", &format!("{name} · {}", head.run), "</title>\n");
    out.raw("<style>").raw(STYLE).raw("</style>\n</head>\n<body>\n<a class=skip href=#transcript>Skip to the transcript</a>\n<header><div class=top>");
    out.element("<h1>", name, "</h1>");
    outcome_badge(&mut out, timeline);
    out.raw("</div>");
    out.element("<p class=run>run <bdi>", &head.run, "</bdi>");
    out.element(" · ", &head.started_at.to_string(), "");
    if let Some(model) = &head.model {
        out.element(" · ", &model.id, "");
    }
    out.raw("</p>");
    tiles(&mut out, timeline);
    details(&mut out, timeline);
    out.raw("</header>\n<main>\n");
    outcome(&mut out, timeline);
    notes(&mut out, timeline);
    out.raw("<section aria-labelledby=timeline><div class=bar><h2 id=timeline>Timeline</h2>");
    legend(&mut out);
    out.raw(TOOLS);
    chart::render(&mut out, timeline);
    out.raw("<p class=status id=status aria-live=polite></p></section>\n");
    out.raw("<section aria-labelledby=transcript><div class=bar>");
    out.raw("<h2 id=transcript>Transcript</h2>").raw(FILTERS);
    transcript::render(&mut out, timeline);
    out.raw("</section>\n</main>\n<script>")
        .raw(SCRIPT)
        .raw("</script>\n</body>\n</html>\n");
    out.into_string()
}

const TOOLS: &str = "<div class=tools data-script hidden><button type=button data-zoom=out \
    aria-label=\"Zoom out\">−</button><button type=button data-zoom=fit>Fit</button><button \
    type=button data-zoom=in aria-label=\"Zoom in\">+</button></div></div>";

const FILTERS: &str = "<div class=filters role=group aria-label=\"What is shown\">\
    <label><input type=checkbox id=f-round checked> rounds</label>\
    <label><input type=checkbox id=f-call checked> tools</label>\
    <label><input type=checkbox id=f-write checked> store</label>\
    <label><input type=checkbox id=f-log checked> log</label>\
    <label><input type=checkbox id=f-bad> only what went wrong</label></div>\
    <div class=tools data-script hidden><button type=button data-all=open>Open all</button>\
    <button type=button data-all=close>Close all</button></div></div>";

fn legend(out: &mut Markup) {
    out.raw(
        "<ul class=legend aria-label=\"Colours\"><li class=section>section<li class=round>round\
         <li class=call>tool<li class=operator>operator<li class=write>store write\
         <li class=checkpoint>log<li class=wait>wait</ul>",
    );
}

fn outcome_badge(out: &mut Markup, timeline: &Timeline) {
    match timeline.outcome.as_ref().map(|line| &line.outcome) {
        Some(Outcome::Completed(_)) => out.raw("<span class=\"badge good\">completed</span>"),
        Some(Outcome::Failed(_)) => out.raw("<span class=\"badge bad\">failed</span>"),
        Some(Outcome::Cancelled) => out.raw("<span class=\"badge bad\">cancelled</span>"),
        None => out.raw("<span class=\"badge bad\">not ended</span>"),
    };
}

/// The figures at the top.
fn tiles(out: &mut Markup, timeline: &Timeline) {
    let totals = &timeline.totals;
    out.raw("<dl class=tiles>");
    let mut tile = |value: &str, name: &'static str, note: Option<String>| {
        out.raw("<div><dt>").raw(name).raw("</dt>");
        out.element("<dd>", value, "");
        if let Some(note) = note {
            out.element(" <small>", &note, "</small>");
        }
        out.raw("</dd></div>");
    };
    let failed = |count: u64| (count > 0).then(|| format!("{} failed", number(count)));
    let figures = [
        (totals.rounds, "rounds", failed(totals.failed_rounds)),
        (totals.prompt_tokens, "tokens in", {
            let cached = totals.cached_tokens;
            (cached > 0).then(|| format!("{} cached", number(cached)))
        }),
        (totals.completion_tokens, "tokens out", None),
        (totals.calls, "tool calls", failed(totals.failed_calls)),
        (totals.questions, "questions", None),
        (totals.tasks, "tasks", None),
        (totals.writes, "writes", None),
        (totals.reads, "reads", None),
        (totals.checkpoints, "checkpoints", None),
    ];
    tile(&span(timeline.end), "took", None);
    for (value, name, note) in figures {
        if value > 0 {
            tile(&number(value), name, note);
        }
    }
    out.raw("</dl>");
}

/// What the run was started with.
fn details(out: &mut Markup, timeline: &Timeline) {
    let head = &timeline.head;
    out.raw("<details class=more><summary>What it was started with</summary><table>");
    let limits = head.limits;
    let packs = head.packs.as_ref();
    let units = packs.map(|packs| {
        let units = packs.units.iter().filter(|unit| unit.declared);
        units.map(|unit| unit.id()).collect::<Vec<_>>().join(", ")
    });
    let rows = [
        ("seed", head.seed.to_string()),
        ("run id", head.run_id.clone()),
        ("prompt", head.prompt_hash.clone()),
        ("dialect", head.dialect.key().to_owned()),
        ("engine", head.engine.clone()),
        ("packs", units.unwrap_or_default()),
        (
            "limits",
            format!(
                "concurrency {}, rounds {}, memory {}, log events {}, reply {}, silence {}s",
                limits.concurrency,
                limits.max_rounds,
                size(limits.memory),
                number(limits.log_events.into()),
                size(usize::try_from(limits.response_cap).unwrap_or(usize::MAX)),
                limits.receive_timeout
            ),
        ),
        ("record", count(timeline.lines, "line")),
    ];
    for (name, value) in rows {
        if !value.is_empty() {
            out.raw("<tr><th scope=row>").raw(name);
            out.element("</th><td>", &value, "</td></tr>");
        }
    }
    out.raw("</table>");
    let texts = [
        ("arguments", Some(&*head.args)),
        ("input", head.input.as_deref()),
        ("prompt file", Some(head.source.as_str())),
    ];
    for (name, text) in texts {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            out.raw("<h5>").raw(name).raw("</h5>");
            out.block(&Clip::new(text, DETAIL.text));
        }
    }
    out.raw("</details>");
}

fn outcome(out: &mut Markup, timeline: &Timeline) {
    let (title, text) = match timeline.outcome.as_ref().map(|line| &line.outcome) {
        Some(Outcome::Completed(result)) => ("Result", result.clone()),
        Some(Outcome::Failed(error)) => {
            ("Failure", failure_text(timeline, error, Style::new(false)))
        }
        Some(Outcome::Cancelled) | None => return,
    };
    out.raw("<section class=outcome><h2>")
        .raw(title)
        .raw("</h2>");
    out.block(&Clip::new(&text, DETAIL.text))
        .raw("</section>\n");
}

/// What is to be said of the record as a whole.
fn notes(out: &mut Markup, timeline: &Timeline) {
    if timeline.outcome.is_none() {
        out.raw(
            "<p class=note>The record ends before the run. <code>runvil resume</code> goes on \
                 with it.</p>",
        );
    }
    if let Some(line) = timeline.torn {
        let text = format!("Line {line} of the record was not written whole.");
        out.element("<p class=note>", &text, "</p>");
    }
    for (at, mark) in &timeline.marks {
        let text = match mark {
            Mark::Cancel => format!("Cancelled at {}.", span(*at)),
            Mark::Stop(ids) => {
                let waits = count(*ids as u64, "wait");
                format!("{waits} stopped at {}.", span(*at))
            }
        };
        out.element("<p class=note>", &text, "</p>");
    }
}
