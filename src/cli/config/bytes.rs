//! Numbers of bytes as people write them (spec C2, C9).

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

const EXPECTED: &str = "a number of bytes above 0, such as 67108864 or 64M";

/// A number of bytes: digits, after which `K`, `M` or `G` in either case stands for 1024, 1024² or
/// 1024³ times as many. Not 0, which Lua takes for a heap without a ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(NonZeroU64);

impl Bytes {
    pub fn get(self) -> u64 {
        self.0.get()
    }

    /// As many as this machine can address.
    pub fn size(self) -> usize {
        usize::try_from(self.get()).unwrap_or(usize::MAX)
    }
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = match text.char_indices().last() {
            Some((at, 'K' | 'k')) => (text.get(..at), 1 << 10),
            Some((at, 'M' | 'm')) => (text.get(..at), 1 << 20),
            Some((at, 'G' | 'g')) => (text.get(..at), 1 << 30),
            _ => (Some(text), 1),
        };
        number
            .and_then(|number| NonZeroU64::new(number.parse::<u64>().ok()?.checked_mul(unit)?))
            .map(Self)
            .ok_or_else(|| format!("expected {EXPECTED}"))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;

        impl Visitor<'_> for Number {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Bytes, E> {
                let bytes = NonZeroU64::new(number).map(Bytes);
                bytes.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
                text.parse()
                    .map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_bytes_may_have_a_unit() {
        // spec C2
        let read = |text: &str| text.parse::<Bytes>().ok().map(Bytes::get);
        assert_eq!(read("1"), Some(1));
        assert_eq!(read("2k"), Some(2048));
        assert_eq!(read("64M"), Some(64 << 20));
        assert_eq!(read("3G"), Some(3 << 30));
        for bad in [
            "",
            "0",
            "0M",
            "M",
            "-1",
            "1.5M",
            "1 M",
            "1MB",
            "1T",
            "16777216T",
            "9999999999999G",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
