//! A round in a page's transcript.

use runvil::harness::record::timeline::{AskedCall, Reply, Round, Said, Track, What};

use super::anchor;
use super::markup::Markup;
use super::transcript::{failure, start};
use crate::cli::show::amount::{count, number};

/// What is seen of a round that is not open.
pub fn head(out: &mut Markup, round: &Round) {
    let number_of = format!("round {}", round.round);
    out.element("<span class=kind>", &number_of, "</span> ");
    if let Some(reply) = &round.reply {
        match reply.calls.is_empty() {
            true => out.element("<bdi class=start>", &start(&reply.text), "</bdi>"),
            false => {
                let names: Vec<&str> = reply.calls.iter().map(|call| &*call.name).collect();
                out.raw("<span class=start>calls ");
                out.element("<b>", &names.join(", "), "</b></span>")
            }
        };
        if let Some(usage) = reply.metrics.usage {
            let tokens = format!(
                "{} → {}",
                number(usage.prompt_tokens.into()),
                number(usage.completion_tokens.into())
            );
            out.element("<span class=facts>", &tokens, " tokens</span>");
        }
    }
    if let Some(failure) = &round.failure {
        out.element("<bdi class=start>", &start(&failure.message), "</bdi>");
    }
}

/// What is seen of one that is open.
pub fn body(out: &mut Markup, round: &Round, track: &Track, at: usize, place: usize) {
    out.element("<p class=facts>", &facts(round).join(" · "), "</p>");
    if !round.offered.is_empty() {
        let names: Vec<&str> = round.offered.iter().map(|name| &**name).collect();
        out.element("<p class=facts>tools on offer: ", &names.join(", "), "</p>");
    }
    if round.repeated > 0 {
        repeated(out, round, track, at, place);
    }
    for said in &round.added {
        message(out, said);
    }
    if let Some(it) = &round.reply {
        reply(out, it);
    }
    if let Some(it) = &round.failure {
        failure(out, it);
    }
}

fn facts(round: &Round) -> Vec<String> {
    let mut facts = vec![
        format!("asked {}", round.model),
        match round.origin {
            runvil::engine::model::Origin::Chat => "in models.loop".to_owned(),
            runvil::engine::model::Origin::Infer => "by models.infer".to_owned(),
        },
        count(round.messages as u64, "message"),
    ];
    facts.extend(round.temperature.map(|it| format!("temperature {it}")));
    facts.extend(
        round
            .max_tokens
            .map(|it| format!("{} tokens at most", number(it.into()))),
    );
    facts.extend(round.thinking.map(|it| match it {
        true => "with thinking".to_owned(),
        false => "without thinking".to_owned(),
    }));
    facts
}

/// Says where the messages stand that were sent before.
fn repeated(out: &mut Markup, round: &Round, track: &Track, at: usize, place: usize) {
    let mut before = track.items.iter().enumerate().take(at).rev();
    let before = before.find_map(|(at, item)| match &item.what {
        What::Round(before) => Some((at, before.round)),
        _ => None,
    });
    let text = format!("{} before, as in ", count(round.repeated as u64, "message"));
    out.element("<p class=repeated>", &text, "");
    if let Some((at, before)) = before {
        out.raw("<a")
            .attr("href", &format!("#{}", anchor::item(place, at)))
            .raw(">");
        out.text(&format!("round {before}")).raw("</a>");
    }
    out.raw("</p>");
}

fn message(out: &mut Markup, said: &Said) {
    out.raw("<div")
        .attr("class", &format!("message {}", said.role.name()))
        .raw("><h5>");
    out.text(said.role.name());
    if let Some(id) = &said.call_id {
        out.element(" <span class=facts>", id, "</span>");
    }
    out.raw("</h5>");
    if !said.text.is_empty() || said.calls.is_empty() {
        out.block(&said.text);
    }
    if said.images > 0 {
        let images = count(said.images as u64, "image");
        out.element("<p class=facts>", &images, "</p>");
    }
    calls(out, &said.calls);
    out.raw("</div>");
}

fn reply(out: &mut Markup, reply: &Reply) {
    out.raw("<div class=\"message reply\"><h5>reply");
    if !reply.model.is_empty() {
        out.element(" <span class=facts>", &reply.model, "</span>");
    }
    out.raw("</h5>");
    if !reply.reasoning.is_empty() {
        out.raw("<details class=reasoning><summary>reasoning</summary>");
        out.block(&reply.reasoning).raw("</details>");
    }
    if reply.calls.is_empty() {
        out.block(&reply.text);
    }
    calls(out, &reply.calls);
    let mut facts = Vec::new();
    facts.extend(
        reply
            .finish_reason
            .as_ref()
            .map(|it| format!("finish reason {it}")),
    );
    if let Some(usage) = reply.metrics.usage {
        facts.push(format!(
            "{} tokens in all",
            number(usage.total_tokens.into())
        ));
        facts.extend(
            usage
                .cached_tokens
                .map(|it| format!("{} cached", number(it.into()))),
        );
        let reasoning = usage.reasoning_tokens;
        facts.extend(reasoning.map(|it| format!("{} of reasoning", number(it.into()))));
    }
    if let Some(client) = reply.metrics.client {
        facts.extend(
            client
                .ttft_ms
                .map(|it| format!("first piece after {it:.0}ms")),
        );
    }
    facts.extend(reply.degraded.iter().cloned());
    if !facts.is_empty() {
        out.element("<p class=facts>", &facts.join(" · "), "</p>");
    }
    out.raw("</div>");
}

fn calls(out: &mut Markup, calls: &[AskedCall]) {
    for call in calls {
        out.raw("<div class=asked><span class=kind>calls</span> ");
        out.element("<b>", &call.name, "</b> ");
        out.element("<span class=facts>", &call.id, "</span>");
        out.block(&call.arguments).raw("</div>");
    }
}
