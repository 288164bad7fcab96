//! What must be completed before what (spec P28).

use std::collections::{BTreeSet, HashMap};

use super::error::PacketError;
use super::packet::Packet;
use super::prompt::Prompt;
use super::prompt_id::PromptId;

/// Checks the dependencies of a whole packet.
///
/// # Errors
/// The first dependency that is no prompt of the packet, else a cycle.
pub fn check(packet: &Packet) -> Result<(), PacketError> {
    if let Some((prompt, dependency)) = unknown(packet).into_iter().next() {
        return Err(PacketError::UnknownDependency {
            prompt: prompt.id.clone(),
            dependency: dependency.clone(),
        });
    }
    match cycle(packet) {
        Some(ids) => Err(PacketError::DependencyCycle(ids)),
        None => Ok(()),
    }
}

/// Dependencies that are no prompts of the packet, in packet order.
pub(super) fn unknown(packet: &Packet) -> Vec<(&Prompt, &PromptId)> {
    let known: BTreeSet<&PromptId> = packet.prompts.iter().map(|prompt| &prompt.id).collect();
    let pairs = packet.prompts.iter().flat_map(|prompt| {
        let dependencies = prompt.depends_on.iter();
        dependencies.map(move |dependency| (prompt, dependency))
    });
    pairs.filter(|(_, id)| !known.contains(id)).collect()
}

/// A cycle, if there is one: it begins with its earliest prompt in packet order, and each depends
/// on the next.
pub(super) fn cycle(packet: &Packet) -> Option<Vec<PromptId>> {
    let ids = packet.prompts.iter().map(|prompt| &prompt.id);
    let index: HashMap<&PromptId, usize> = ids.enumerate().map(|(at, id)| (id, at)).collect();
    let edges: Vec<Vec<usize>> = packet
        .prompts
        .iter()
        .map(|prompt| {
            let dependencies = prompt.depends_on.iter();
            dependencies
                .filter_map(|id| index.get(id).copied())
                .collect()
        })
        .collect();
    let mut found = first_cycle(&edges)?;
    let earliest = found.iter().enumerate().min_by_key(|(_, prompt)| **prompt);
    let earliest = earliest.map_or(0, |(at, _)| at);
    found.rotate_left(earliest);
    let prompts = found.into_iter().filter_map(|at| packet.prompts.get(at));
    Some(prompts.map(|prompt| prompt.id.clone()).collect())
}

/// A cycle of a graph. It is walked without recursion, since a chain may be as long as a packet.
fn first_cycle(edges: &[Vec<usize>]) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; edges.len()];
    for start in 0..edges.len() {
        // The nodes from the start to here, each with the edges that are left of it.
        let mut path: Vec<(usize, std::slice::Iter<'_, usize>)> = Vec::new();
        let mut enter = (marks.get(start) == Some(&Mark::New)).then_some(start);
        loop {
            if let Some(node) = enter.take() {
                *marks.get_mut(node)? = Mark::Open;
                path.push((node, edges.get(node)?.iter()));
            }
            let Some((node, left)) = path.last_mut() else {
                break;
            };
            match left.next() {
                Some(&next) => match marks.get(next)? {
                    Mark::New => enter = Some(next),
                    Mark::Open => {
                        let nodes = path.iter().map(|(node, _)| *node);
                        return Some(nodes.skip_while(|node| *node != next).collect());
                    }
                    Mark::Done => {}
                },
                None => {
                    *marks.get_mut(*node)? = Mark::Done;
                    path.pop();
                }
            }
        }
    }
    None
}

/// The order in which selected prompts run: a topological sort that always takes the earliest one
/// of the selection that is ready. Dependencies outside the selection do not count, and neither
/// does a cycle, which [`check`] refuses: its prompts go last.
#[must_use]
pub fn run_order<'p>(selection: &[&'p Prompt]) -> Vec<&'p Prompt> {
    let ids = selection.iter().map(|prompt| &prompt.id);
    let index: HashMap<&PromptId, usize> = ids.enumerate().map(|(at, id)| (id, at)).collect();
    let mut waits: Vec<usize> = Vec::with_capacity(selection.len());
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); selection.len()];
    for (at, prompt) in selection.iter().enumerate() {
        let inside = prompt.depends_on.iter().filter_map(|id| index.get(id));
        let mut count = 0;
        for dependency in inside {
            if let Some(list) = dependents.get_mut(*dependency) {
                list.push(at);
            }
            count += 1;
        }
        waits.push(count);
    }
    let mut ready: BTreeSet<usize> = (0..selection.len())
        .filter(|at| waits.get(*at) == Some(&0))
        .collect();
    let mut order = Vec::with_capacity(selection.len());
    while let Some(at) = ready.pop_first() {
        order.push(at);
        for dependent in dependents.get(at).into_iter().flatten() {
            if let Some(left) = waits.get_mut(*dependent) {
                *left -= 1;
                if *left == 0 {
                    ready.insert(*dependent);
                }
            }
        }
    }
    let taken: BTreeSet<usize> = order.iter().copied().collect();
    order.extend((0..selection.len()).filter(|at| !taken.contains(at)));
    let prompts = order.into_iter().filter_map(|at| selection.get(at));
    prompts.copied().collect()
}
