//! The transcript of a page: what happened on every track, in order, with all texts.

use runvil::harness::record::timeline::{
    Call, Clip, Failure, Item, Section, Served, State, Timeline, Track, What, Write,
};

use super::markup::Markup;
use super::{anchor, chart, round};
use crate::cli::show::amount::{count, number, size, span};
use crate::cli::show::label::flat;
use crate::cli::show::screen::totals;

/// Up to so many tracks are open from the start.
const OPEN: usize = 12;
/// From so many on, tasks that follow each other stand beside each other.
const GROUP: usize = 6;
/// The deepest that sections nest.
const DEEPEST: usize = 24;

/// All tracks.
pub fn render(out: &mut Markup, timeline: &Timeline) {
    for (place, track) in timeline.tracks.iter().enumerate() {
        let is_open = place == 0 || timeline.tracks.len() <= OPEN;
        out.raw("<details class=track")
            .raw(if is_open { " open" } else { "" })
            .raw("><summary>");
        track_head(out, timeline, place, track);
        out.raw("</summary><div class=body")
            .attr("id", &anchor::track(place))
            .raw(">");
        items(out, timeline, place, track);
        out.raw("</div></details>");
    }
}

fn track_head(out: &mut Markup, timeline: &Timeline, place: usize, track: &Track) {
    out.raw("<h3>");
    if place > 0 {
        out.element("<span class=id>task ", &track.task, "</span> ");
    }
    out.text(&track.name).raw("</h3>");
    if let Some(item) = &track.item {
        out.element("<bdi class=of>", &flat(item), "</bdi>");
    }
    state(out, track.state);
    let mut facts = Vec::new();
    if let Some(owner) = track.owner.and_then(|owner| timeline.tracks.get(owner)) {
        let by = if track.origin == "model" {
            " by a model"
        } else {
            ""
        };
        facts.push(format!(
            "started at {}{by} in {}",
            span(track.at),
            owner.task
        ));
    }
    facts.extend(
        track
            .end
            .map(|end| format!("took {}", span(end.saturating_sub(track.at)))),
    );
    facts.extend(totals(&track.totals));
    out.element("<span class=facts>", &facts.join(" · "), "</span>");
}

/// How something ended, unless all is well.
fn state(out: &mut Markup, state: State) {
    match state {
        State::Done => {}
        State::Open => drop(out.raw("<span class=\"badge bad\">not ended</span>")),
        State::Dropped => drop(out.raw("<span class=badge>dropped</span>")),
        other => drop(out.element("<span class=\"badge bad\">", other.word(), "</span>")),
    }
}

fn items(out: &mut Markup, timeline: &Timeline, place: usize, track: &Track) {
    let mut open = 0;
    // Up to where tasks stand that were shown beside the first of them.
    let mut shown = 0;
    for (at, item) in track.items.iter().enumerate() {
        if at < shown {
            continue;
        }
        while open > item.depth.min(DEEPEST) {
            out.raw("</div></section>");
            open -= 1;
        }
        let id = anchor::item(place, at);
        match &item.what {
            What::Section(section) => {
                out.raw("<section class=part").attr("id", &id).raw(">");
                section_head(out, item, section);
                out.raw("<div class=inner>");
                open += 1;
                if open > DEEPEST {
                    out.raw("</div></section>");
                    open -= 1;
                }
            }
            What::Task(task) => {
                let run = tasks(&track.items[at..]);
                match run.len() {
                    0..GROUP => task_link(out, timeline, *task, &id),
                    _ => task_group(out, timeline, &run),
                }
                if run.len() >= GROUP {
                    shown = at + run.len();
                }
            }
            What::Round(it) => {
                begin(out, item, true);
                round::head(out, it);
                state_of(out, item);
                out.raw("</summary>");
                body(out, &id);
                round::body(out, it, track, at, place);
                out.raw("</div></details>");
            }
            What::Call(call) => call_item(out, item, call, &id),
            What::Write(write) => write_item(out, item, write, &id),
            What::Checkpoint(text) => text_item(out, item, "log", text, &id),
            What::Notice(text) => text_item(out, item, "notice", text, &id),
            What::Wait(wait) => {
                let text = format!("{}s at most", wait.seconds);
                line(out, item, "wait", &text, &id);
            }
            What::Require(name) => line(out, item, "require", name, &id),
        }
    }
    while open > 0 {
        out.raw("</div></section>");
        open -= 1;
    }
    if track.left_out > 0 {
        let more = format!("{} more are in the record", number(track.left_out));
        out.element("<p class=cut>… ", &more, "</p>");
    }
}

fn section_head(out: &mut Markup, item: &Item, section: &Section) {
    use runvil::harness::record::timeline::Entry;
    out.raw("<h4>");
    when(out, item);
    match section.entry {
        Entry::Jump => drop(out.raw("<span class=how>jump to</span> ")),
        Entry::Title => drop(out.raw("<span class=how>title</span> ")),
        Entry::Walk | Entry::Within => {}
    }
    out.text(&section.name);
    state(out, item.state);
    if section.reads > 0 {
        let reads = count(section.reads, "read");
        out.element("<span class=facts>", &reads, "</span>");
    }
    out.raw("</h4>");
}

/// When an item began, and how long it took.
fn when(out: &mut Markup, item: &Item) {
    times(out, item.at, item.end);
}

fn times(out: &mut Markup, at: u64, end: Option<u64>) {
    out.element("<span class=at>", &span(at), "</span>");
    let took = match end {
        Some(end) if end > at => span(end - at),
        Some(_) => String::new(),
        None => "…".to_owned(),
    };
    out.element("<span class=took>", &took, "</span>");
}

/// Begins an item that can be opened, or one that has nothing more to show.
fn begin(out: &mut Markup, item: &Item, opens: bool) {
    out.raw(if opens { "<details" } else { "<div" });
    let class = match item.state {
        State::Done | State::Dropped => "item",
        _ => "item bad",
    };
    out.attr("class", &format!("{class} {}", chart::kind(item)))
        .raw(">");
    out.raw(if opens { "<summary>" } else { "" });
    when(out, item);
}

/// Begins what is seen of an item that is open. Who comes to its id opens it.
fn body(out: &mut Markup, id: &str) {
    out.raw("<div class=body").attr("id", id).raw(">");
}

fn state_of(out: &mut Markup, item: &Item) {
    match (&item.what, item.state) {
        // It was done all the same (spec S44).
        (What::Write(_), State::Dropped) => {}
        (_, other) => state(out, other),
    }
}

fn line(out: &mut Markup, item: &Item, kind: &'static str, text: &str, id: &str) {
    begin(out, item, false);
    out.raw("<span class=kind")
        .attr("id", id)
        .raw(">")
        .raw(kind)
        .raw("</span> ");
    out.element("<bdi>", text, "</bdi>");
    state_of(out, item);
    out.raw("</div>");
}

fn text_item(out: &mut Markup, item: &Item, kind: &'static str, text: &Clip, id: &str) {
    let is_short = text.text.len() < 120 && !text.text.contains('\n');
    if is_short {
        return line(out, item, kind, &text.text, id);
    }
    begin(out, item, true);
    out.raw("<span class=kind>").raw(kind).raw("</span> ");
    out.element("<bdi class=start>", &start(text), "</bdi></summary>");
    body(out, id);
    out.block(text).raw("</div></details>");
}

/// The tasks that a list of items begins with.
fn tasks(items: &[Item]) -> Vec<usize> {
    let tasks = items.iter().map_while(|item| match item.what {
        What::Task(track) if item.depth == items[0].depth => Some(track),
        _ => None,
    });
    tasks.collect()
}

fn task_link(out: &mut Markup, timeline: &Timeline, task: usize, id: &str) {
    let track = &timeline.tracks[task];
    task_line(out, track.state, track.at, track.end);
    out.raw("<span class=kind")
        .attr("id", id)
        .raw(">task</span> <a");
    out.attr("href", &format!("#{}", anchor::track(task)))
        .raw(">");
    out.text(&format!("{} {}", track.task, track.name))
        .raw("</a> ");
    if let Some(item) = &track.item {
        out.element("<bdi class=of>", &flat(item), "</bdi>");
    }
    state(out, track.state);
    out.raw("</div>");
}

/// Many tasks, beside each other.
fn task_group(out: &mut Markup, timeline: &Timeline, tasks: &[usize]) {
    let tracks = || tasks.iter().map(|task| &timeline.tracks[*task]);
    let is_bad = |track: &&Track| track.state != State::Done;
    let state = tracks().find(is_bad).map_or(State::Done, |it| it.state);
    let at = tracks().map(|track| track.at).min().unwrap_or(0);
    let ends: Option<Vec<u64>> = tracks().map(|track| track.end).collect();
    task_line(out, state, at, ends.and_then(|ends| ends.into_iter().max()));
    let kind = count(tasks.len() as u64, "task");
    out.element("<span class=kind>", &kind, "</span></div><ul class=group>");
    for task in tasks {
        let track = &timeline.tracks[*task];
        let class = if is_bad(&track) { "bad" } else { "" };
        out.raw("<li><a").attr("class", class);
        out.attr("href", &format!("#{}", anchor::track(*task)))
            .raw(">");
        out.text(&format!("{} {}", track.task, track.name))
            .raw("</a>");
        if let Some(item) = &track.item {
            out.element(" <bdi class=of>", &start(item), "</bdi>");
        }
    }
    out.raw("</ul>");
}

/// Begins the line of a task, whose times are its track's.
fn task_line(out: &mut Markup, state: State, at: u64, end: Option<u64>) {
    let class = match state {
        State::Done => "item task",
        _ => "item task bad",
    };
    out.raw("<div").attr("class", class).raw(">");
    times(out, at, end);
}

fn call_item(out: &mut Markup, item: &Item, call: &Call, id: &str) {
    begin(out, item, true);
    match call.served {
        Served::Operator => out.raw("<span class=kind>operator</span> "),
        Served::Unit | Served::Run => out.raw("<span class=kind>tool</span> "),
    };
    if call.served != Served::Operator {
        out.element("<b>", &call.tool, "</b> ");
    }
    let shown = call
        .output
        .as_ref()
        .or(call.failure.as_ref().map(|it| &it.message));
    out.element(
        "<bdi class=start>",
        &shown.map(start).unwrap_or_default(),
        "</bdi>",
    );
    state_of(out, item);
    out.raw("</summary>");
    body(out, id);
    let by = match (call.by_model, call.served) {
        (true, _) => "Called by the model",
        (false, _) => "Called by the script",
    };
    out.element("<p class=facts>", by, "</p>");
    if call.served != Served::Operator && !call.arguments.is_empty() {
        out.raw("<h5>arguments</h5>").block(&call.arguments);
    }
    if let Some(output) = &call.output {
        out.raw("<h5>output</h5>").block(output);
    }
    if let Some(it) = &call.failure {
        failure(out, it);
    }
    out.raw("</div></details>");
}

fn write_item(out: &mut Markup, item: &Item, write: &Write, id: &str) {
    begin(out, item, true);
    out.element("<span class=kind>", write.op, "</span> ");
    out.element("<b>", &write.path, "</b> ");
    if write.op != "delete" {
        out.element("<span class=facts>", &size(write.contents.len()), "</span>");
    }
    state_of(out, item);
    out.raw("</summary>");
    body(out, id);
    match &write.failure {
        Some(it) => failure(out, it),
        None if write.op == "delete" => drop(out.raw("<p class=facts>Deleted</p>")),
        None => drop(out.block(&write.contents)),
    }
    out.raw("</div></details>");
}

/// Why something failed.
pub fn failure(out: &mut Markup, failure: &Failure) {
    out.raw("<div class=failure><b>").text(failure.class);
    if let Some(status) = failure.status {
        out.text(&format!(" {status}"));
    }
    out.raw("</b>").block(&failure.message).raw("</div>");
}

/// The start of a text, for a line that has room for no more.
pub fn start(text: &Clip) -> String {
    const CHARS: usize = 160;
    let start: String = text.text.chars().take(CHARS).collect();
    let cut = start.len() < text.text.len();
    let flat = start.split_whitespace().collect::<Vec<_>>().join(" ");
    if cut { flat + "…" } else { flat }
}
