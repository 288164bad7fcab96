//! The run seed and its written forms.

use std::fmt;
use std::str::FromStr;

/// The run seed: 32 bytes (spec R20).
///
/// It is written as 64 lowercase hex digits. It is read from those, or from a decimal number below
/// 2^64, which stands for itself as a 32-byte big-endian integer (spec C2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub [u8; 32]);

/// A text that is no seed (spec C2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedError;

impl fmt::Display for SeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected 64 hex digits, or a decimal number below 2^64")
    }
}

impl std::error::Error for SeedError {}

impl From<u64> for Seed {
    /// The number as a 32-byte big-endian integer.
    fn from(number: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[24..].copy_from_slice(&number.to_be_bytes());
        Self(bytes)
    }
}

impl FromStr for Seed {
    type Err = SeedError;

    fn from_str(text: &str) -> Result<Self, SeedError> {
        if text.len() == 64 {
            return hex(text.as_bytes()).map(Self).ok_or(SeedError);
        }
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(SeedError);
        }
        text.parse::<u64>().map(Self::from).map_err(|_| SeedError)
    }
}

impl Seed {
    /// Draws a seed from the operating system.
    ///
    /// # Errors
    /// The system's own text, where it gives no random bytes.
    pub(super) fn draw() -> Result<Self, String> {
        let mut bytes = [0; 32];
        match getrandom::fill(&mut bytes) {
            Ok(()) => Ok(Self(bytes)),
            Err(error) => Err(format!("the run's seed could not be drawn: {error}")),
        }
    }
}

/// The 32 bytes that 64 hex digits spell.
fn hex(digits: &[u8]) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let &[high, low] = pair else { return None };
        let nibble = |digit: u8| char::from(digit).to_digit(16);
        *byte = u8::try_from(nibble(high)? << 4 | nibble(low)?).ok()?;
    }
    Some(bytes)
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_is_a_big_endian_integer() {
        let seed: Seed = "7".parse().unwrap();
        assert_eq!(seed.to_string(), format!("{}7", "0".repeat(63)));
        let seed: Seed = "18446744073709551615".parse().unwrap();
        assert_eq!(
            seed.to_string(),
            format!("{}{}", "0".repeat(48), "f".repeat(16))
        );
    }

    #[test]
    fn sixty_four_digits_are_hex_even_when_all_are_decimal() {
        let text = "1".repeat(64);
        assert_eq!(text.parse::<Seed>(), Ok(Seed([0x11; 32])));
        assert_eq!("Ab".repeat(32).parse::<Seed>(), Ok(Seed([0xab; 32])));
    }

    #[test]
    fn what_is_no_seed_is_refused() {
        let short = "a".repeat(63);
        let long = "0".repeat(65);
        let wrong = "g".repeat(64);
        let wide = "é".repeat(32);
        for text in [
            "",
            "-1",
            "+1",
            " 1",
            "1_0",
            "0x1",
            "18446744073709551616",
            &short,
            &wrong,
            &wide,
        ] {
            assert_eq!(text.parse::<Seed>(), Err(SeedError), "{text:?}");
        }
        assert_eq!(
            long.parse::<Seed>(),
            Ok(Seed([0; 32])),
            "leading zeros are a number's own"
        );
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(bytes: [u8; 32]) {
            let seed = Seed(bytes);
            prop_assert_eq!(seed.to_string().parse::<Seed>(), Ok(seed));
        }

        #[test]
        fn a_number_reads_as_itself(number: u64) {
            prop_assert_eq!(number.to_string().parse::<Seed>(), Ok(Seed::from(number)));
        }

        #[test]
        fn no_text_panics(text in ".{0,70}") {
            let _ = text.parse::<Seed>();
        }
    }
}
