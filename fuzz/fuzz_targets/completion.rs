//! Completions of any bytes, streamed and plain: split anywhere they come to the same as whole, and
//! what a reply holds was decoded on the way (spec M66, M66a, M67).
//!
//! The input is the form, eight bytes that say where it is split, and the body.

#![no_main]

use libfuzzer_sys::fuzz_target;
use runvil::engine::model::{Body, ModelFailure, Reply};
use runvil::harness::gateway::{Completion, Decoded, Form};

/// What the pieces come to, and the text and the reasoning that were decoded.
fn decode<'a>(
    form: Form,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Result<Box<Reply>, ModelFailure>, [String; 2]) {
    let mut decoded = [String::new(), String::new()];
    let mut take = |piece: Decoded<'_>| match piece {
        Decoded::Text(text) => decoded[0] += text,
        Decoded::Reasoning(text) => decoded[1] += text,
        Decoded::Call | Decoded::FinishReason(_) => {}
    };
    let mut completion = Completion::new(form);
    let fed = { pieces }.try_for_each(|piece| completion.feed(piece, &mut take));
    let reply = fed.and_then(|()| completion.finish(&mut take));
    (reply, decoded)
}

/// The body in pieces of lengths that the seed says, empty ones among them.
fn split(mut rest: &[u8], mut seed: u64) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let length = (seed >> 59) as usize;
        let (piece, tail) = rest.split_at(length.min(rest.len()));
        let is_over = rest.is_empty();
        rest = tail;
        (!is_over).then_some(piece)
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((head, body)) = input.split_first_chunk::<9>() else {
        return;
    };
    let form = match head[0] % 2 {
        0 => Form::Stream,
        _ => Form::Plain,
    };
    let seed = head[1..].iter().fold(0, |seed, byte| seed << 8 | u64::from(*byte));
    let (whole, decoded) = decode(form, std::iter::once(body));
    assert_eq!(decode(form, split(body, seed)), (whole.clone(), decoded.clone()));
    assert_eq!(decode(form, body.chunks(1)), (whole.clone(), decoded.clone()));
    match whole {
        Ok(reply) => {
            assert_eq!(*reply.reasoning, *decoded[1]);
            match &reply.body {
                Body::Text(text) => assert_eq!(**text, *decoded[0]),
                Body::Calls(calls) => assert!(!calls.is_empty()),
            }
        }
        Err(failure) => {
            assert!(failure.cause.is_none() && failure.status.is_none());
            assert!(failure.message.starts_with("the "));
        }
    }
});
