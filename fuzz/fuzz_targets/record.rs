//! Bytes of any kind are read as a record and replayed without a panic (spec R14, R15). A record
//! whose prompt was changed differs in its first line, so no program runs here but those of the
//! seeds.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use runvil::harness::record::Reader;
use runvil::harness::replay;

fuzz_target!(|input: &[u8]| {
    let mut reader = Reader::new(Cursor::new(input));
    while reader.next().is_some_and(|line| line.is_ok()) {}
    assert!(reader.offset() <= input.len() as u64);
    if let Ok(replayed) = replay(Cursor::new(input), &mut |_| {}) {
        let lines = input.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(replayed.lines, lines as u64);
    }
});
