//! The timeline of a page: every track a band, what happened on it drawn where it was.

use runvil::harness::record::timeline::{Item, Served, State, Timeline, Track, What};

use super::anchor;
use super::markup::Markup;
use crate::cli::show::amount::span;
use crate::cli::show::label;

/// The height of a lane, in pixels, and what is left free of it.
const LANE: usize = 20;
const GAP: usize = 3;
/// What is left free between two tracks.
const PAD: usize = 8;
/// The most lanes of a track.
const LANES: usize = 12;
/// About how many marks the axis has.
const TICKS: u64 = 8;

/// What is drawn of a track.
struct Band<'a> {
    place: usize,
    track: &'a Track,
    /// The item and the lane of each.
    drawn: Vec<(usize, usize)>,
    lanes: usize,
}

/// Draws the timeline.
pub fn render(out: &mut Markup, timeline: &Timeline) {
    let bands: Vec<Band> = timeline.tracks.iter().enumerate().map(Band::new).collect();
    let height: usize = bands.iter().map(Band::height).sum();
    // What is at the very end is seen too.
    let end = timeline.end.saturating_add((timeline.end / 60).max(1));
    out.raw("<div class=chart id=chart tabindex=0 role=group aria-label=\"Timeline\"");
    out.attr("data-end", &end.to_string()).raw(">");
    out.raw("<div class=corner></div><svg class=axis height=24 aria-hidden=true>");
    for tick in ticks(end) {
        out.raw("<text y=16");
        out.attr("x", &percent(tick, end)).raw(" dx=4>");
        out.text(&span(tick)).raw("</text>");
    }
    out.raw("</svg><svg class=names width=200")
        .attr("height", &height.to_string())
        .raw(">");
    let mut top = 0;
    for band in &bands {
        name(out, band, top);
        top += band.height();
    }
    out.raw("</svg><svg class=plot")
        .attr("height", &height.to_string())
        .raw("><g class=grid>");
    for tick in ticks(end) {
        let x = percent(tick, end);
        out.raw("<line y1=0 y2=100%")
            .attr("x1", &x)
            .attr("x2", &x)
            .raw("/>");
    }
    out.raw("</g>");
    let mut top = 0;
    for band in &bands {
        draw(out, timeline, band, top, end);
        top += band.height();
    }
    for (at, _) in &timeline.marks {
        let x = percent(*at, end);
        out.raw("<line class=mark y1=0 y2=100%")
            .attr("x1", &x)
            .attr("x2", &x)
            .raw("/>");
    }
    out.raw("</svg></div>");
}

/// Round moments along the run.
fn ticks(end: u64) -> impl Iterator<Item = u64> {
    let rough = (end / TICKS).max(1);
    let power = 10_u64.pow(rough.ilog10());
    let step = [1, 2, 5, 10].map(|it: u64| it.saturating_mul(power));
    let step = step
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    // The last one would be cut.
    (0..end.saturating_sub(step / 2)).step_by(usize::try_from(step).unwrap_or(usize::MAX))
}

fn percent(at: u64, end: u64) -> String {
    format!("{:.4}%", at as f64 * 100.0 / end as f64)
}

impl<'a> Band<'a> {
    fn new((place, track): (usize, &'a Track)) -> Self {
        let mut drawn = Vec::new();
        // Until when each lane is taken.
        let mut taken: Vec<u64> = Vec::new();
        // The lanes of the sections that an item is in.
        let mut outer: Vec<usize> = Vec::new();
        for (at, item) in track.items.iter().enumerate() {
            if matches!(item.what, What::Task(_)) {
                continue;
            }
            outer.truncate(item.depth);
            let least = outer.last().map_or(0, |lane| lane + 1);
            let is_free = |lane: &usize| taken.get(*lane).is_none_or(|until| *until <= item.at);
            let lane = match is_instant(item) {
                true => least.min(LANES - 1),
                false => (least..LANES).find(is_free).unwrap_or(LANES - 1),
            };
            if taken.len() <= lane {
                taken.resize(lane + 1, 0);
            }
            if !is_instant(item) {
                taken[lane] = taken[lane].max(item.end.unwrap_or(u64::MAX));
            }
            if let What::Section(_) = item.what {
                outer.push(lane);
            }
            drawn.push((at, lane));
        }
        Self {
            place,
            track,
            drawn,
            lanes: taken.len().max(1),
        }
    }

    fn height(&self) -> usize {
        self.lanes * LANE + PAD
    }
}

/// Whether something takes no time.
fn is_instant(item: &Item) -> bool {
    match &item.what {
        What::Checkpoint(_) | What::Notice(_) | What::Write(_) => true,
        What::Call(call) => call.served == Served::Run,
        _ => false,
    }
}

fn name(out: &mut Markup, band: &Band, top: usize) {
    let track = band.track;
    out.raw("<a")
        .attr("href", &format!("#{}", anchor::track(band.place)));
    out.raw("><svg width=200").attr("y", &top.to_string());
    out.attr("height", &band.height().to_string())
        .raw("><rect class=hit width=100% height=100% />");
    out.raw("<text x=12").attr("y", &(PAD / 2 + 13).to_string());
    out.attr("class", state_class(track.state)).raw(">");
    if band.place > 0 {
        out.element("<tspan class=id>", &track.task, "</tspan> ");
    }
    out.text(&track.name);
    if let Some(item) = &track.item {
        out.element(" <tspan class=of>", &label::flat(item), "</tspan>");
    }
    out.raw("</text></svg></a>");
}

fn state_class(state: State) -> &'static str {
    match state {
        State::Done => "",
        State::Dropped => "dropped",
        _ => "bad",
    }
}

fn draw(out: &mut Markup, timeline: &Timeline, band: &Band, top: usize, end: u64) {
    out.raw("<g class=band><rect class=back x=0 width=100%")
        .attr("y", &top.to_string());
    out.attr("height", &band.height().to_string()).raw("/>");
    let track = band.track;
    let busy = track.items.first().map_or(track.end, |item| Some(item.at));
    let busy = busy.unwrap_or(end);
    if busy > track.at {
        // It has not got its turn yet.
        let y = (top + PAD / 2 + LANE / 2).to_string();
        out.raw("<line class=queued")
            .attr("x1", &percent(track.at, end));
        out.attr("x2", &percent(busy, end))
            .attr("y1", &y)
            .attr("y2", &y)
            .raw("/>");
    }
    for (at, lane) in &band.drawn {
        let item = &track.items[*at];
        let y = top + PAD / 2 + lane * LANE;
        let pieces = label::item(timeline, item);
        let said: String = pieces.into_iter().map(|(_, text)| text).collect();
        let until = item.end.unwrap_or(end).max(item.at);
        let took = match (is_instant(item), item.end) {
            (true, _) => String::new(),
            (false, Some(_)) => format!(", took {}", span(until - item.at)),
            (false, None) => ", has not ended".to_owned(),
        };
        let title = format!("{said}\nat {}{took}", span(item.at));
        out.raw("<a tabindex=-1")
            .attr("href", &format!("#{}", anchor::item(band.place, *at)));
        out.attr(
            "class",
            &format!("{} {}", kind(item), state_class(item.state)),
        );
        out.attr("data-at", &item.at.to_string()).raw(">");
        out.element("<title>", &title, "</title>");
        let x = percent(item.at, end);
        let wide = percent(until - item.at, end);
        let tall = (LANE - GAP).to_string();
        let y_text = y.to_string();
        if is_instant(item) {
            let middle = (y + (LANE - GAP) / 2).to_string();
            out.raw("<circle r=5")
                .attr("cx", &x)
                .attr("cy", &middle)
                .raw("/></a>");
            continue;
        }
        // However short, it is seen.
        out.raw("<rect width=3")
            .attr("x", &x)
            .attr("y", &y_text)
            .attr("height", &tall)
            .raw("/>");
        if until > item.at {
            out.raw("<svg").attr("x", &x).attr("y", &y_text);
            out.attr("width", &wide).attr("height", &tall);
            out.raw("><rect rx=3 width=100% height=100% /><text x=6 y=12.5>");
            out.text(&short(item)).raw("</text></svg>");
        }
        out.raw("</a>");
    }
    out.raw("</g>");
}

/// The class of an item, which gives it its colour.
pub fn kind(item: &Item) -> &'static str {
    match &item.what {
        What::Section(_) | What::Require(_) => "section",
        What::Round(_) => "round",
        What::Call(call) if call.served == Served::Operator => "operator",
        What::Call(_) => "call",
        What::Write(_) => "write",
        What::Wait(_) => "wait",
        What::Checkpoint(_) => "checkpoint",
        What::Task(_) => "task",
        What::Notice(_) => "notice",
    }
}

/// What fits into a bar.
fn short(item: &Item) -> String {
    match &item.what {
        What::Section(section) => section.name.clone(),
        What::Require(name) => name.clone(),
        What::Round(round) => match round.reply.as_ref().map(|reply| &reply.calls) {
            Some(calls) if !calls.is_empty() => {
                let names: Vec<&str> = calls.iter().map(|call| &*call.name).collect();
                format!("{} → {}", round.round, names.join(", "))
            }
            _ => round.round.to_string(),
        },
        What::Call(call) if call.served == Served::Operator => "operator".to_owned(),
        What::Call(call) => call.tool.to_string(),
        What::Wait(wait) => format!("wait {}s", wait.seconds),
        _ => String::new(),
    }
}
