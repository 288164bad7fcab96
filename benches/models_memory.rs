//! What a streamed reply holds in memory at its peak, counted where it is allocated.

#[path = "models/server.rs"]
mod server;

use peak_alloc::PeakAlloc;

use server::{event, gateway, large, perform, reply, round, serve};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn main() {
    for events in [large(), large().split_off(2000), vec![event("Hello")]] {
        let bytes = events.iter().map(String::len).sum::<usize>();
        let (gateway, round) = (gateway(&serve(reply(&events))), round());
        drop(events);
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let reply = perform(&gateway, &round).expect("answers");
        let peak = MEMORY.peak_usage() - before;
        drop(reply);
        let kept = MEMORY.current_usage() - before;
        println!("a reply of {bytes} bytes: {peak} bytes at the peak, {kept} kept for the next");
    }
}
