//! How fast, and in how little memory, a record of a million lines is read.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, BufWriter, Write};
use std::time::Instant;

use peak_alloc::PeakAlloc;
use runvil::harness::record::Reader;

#[global_allocator]
static PEAK: PeakAlloc = PeakAlloc;

fn main() {
    // `cargo test` builds and runs benches to see that they work.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("record");
    let mut out = BufWriter::new(File::create(&file).expect("a file"));
    for at in 0..1_000_000 {
        writeln!(
            out,
            r#"{{"v":1,"t":"event","task":"0","seq":{at},"event":{{"kind":"lua","execution":"x","section":"A","message":"message {at}"}}}}"#
        )
        .expect("room");
    }
    drop(out);
    PEAK.reset_peak_usage();
    let before = PEAK.current_usage();
    let mut lines = 0;
    let start = Instant::now();
    for line in Reader::new(BufReader::new(File::open(&file).expect("a record"))) {
        lines += u64::from(black_box(line).is_ok());
    }
    let took = start.elapsed();
    assert_eq!(lines, 1_000_000);
    let peak = PEAK.peak_usage() - before;
    println!(
        "{lines} lines read in {} ms, {peak} bytes at most",
        took.as_millis()
    );
}
