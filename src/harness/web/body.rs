//! The bytes of a body, unpacked and counted (spec T138, T140).

use std::io::{self, BufRead, BufReader, Read};

use brotli_decompressor::Decompressor;
use flate2::bufread::MultiGzDecoder;

use crate::harness::http::Incoming;

/// How a body is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Identity,
    Gzip,
    Brotli,
}

/// What requests say they take.
pub(super) const ACCEPTED: &str = "gzip, br";

impl Coding {
    /// The coding that a `Content-Encoding` header names; `None` for one that was not asked for.
    pub(super) fn read(header: &str) -> Option<Self> {
        match header.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Some(Self::Identity),
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "br" => Some(Self::Brotli),
            _ => None,
        }
    }
}

/// As much of a body as was wanted.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) bytes: Vec<u8>,
    /// Whether there are more.
    pub(super) is_cut: bool,
}

/// Takes a body, but no more than `cap` bytes of what it unpacks to.
pub(super) fn take(body: Incoming, coding: Coding, cap: usize) -> io::Result<Taken> {
    // What cannot be packed at all takes hardly more room packed; a body that takes much more is
    // made of packed nothing.
    let most = cap.saturating_add(cap / 8).saturating_add(64 << 10);
    let mut packed = BufReader::new(Metered { body, left: most });
    match coding {
        Coding::Identity => within(&mut packed, cap),
        Coding::Gzip => within(&mut MultiGzDecoder::new(packed), cap),
        Coding::Brotli => {
            let first = packed.fill_buf()?.first();
            // A window larger than the web's Brotli has: up to a gibibyte.
            if first.is_some_and(|first| first & 0x7f == 0x11) {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let mut unpacked = Decompressor::new(packed, 4 << 10);
            let taken = within(&mut unpacked, cap)?;
            if !taken.is_cut {
                // The end of what is packed need not be the end of the body, which may break off.
                io::copy(&mut unpacked.into_inner(), &mut io::sink())?;
            }
            Ok(taken)
        }
    }
}

fn within(body: &mut impl Read, cap: usize) -> io::Result<Taken> {
    let mut bytes = Vec::new();
    let most = (cap as u64).saturating_add(1);
    body.take(most).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() > cap;
    bytes.truncate(cap);
    Ok(Taken { bytes, is_cut })
}

/// A body of which no more than so much is read as it comes.
struct Metered {
    body: Incoming,
    left: usize,
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.body.read(buffer)?;
        self.left = match self.left.checked_sub(count) {
            Some(left) => left,
            None => return Err(io::ErrorKind::FileTooLarge.into()),
        };
        Ok(count)
    }
}
