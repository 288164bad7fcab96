//! The values of a run that look random, all drawn from its seed (spec R20).

use sha2::{Digest, Sha256};

/// Draws from a run's seed.
#[derive(Clone, Copy, Debug)]
pub struct Seeded([u8; 32]);

impl Seeded {
    /// Draws from the given seed.
    pub fn new(seed: [u8; 32]) -> Self {
        Self(seed)
    }

    /// `H(label, text)`.
    fn hash(&self, label: &str, text: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(label.as_bytes());
        hash.update([0]);
        hash.update(self.0);
        hash.update(text.as_bytes());
        hash.finalize().into()
    }

    /// The run's envelope nonce: 32 lowercase hex digits (spec L86).
    pub fn nonce(&self) -> String {
        hex(&self.hash("runvil nonce", "")[..16])
    }

    /// The short id of a run's default name: 4 lowercase hex digits (spec C2).
    pub fn short_id(&self) -> String {
        hex(&self.hash("runvil name", "")[..2])
    }

    /// The two halves with which a section VM seeds `math.random` for the `n`th time.
    pub fn random(&self, entry: &str, n: u64) -> (i64, i64) {
        let hash = self.hash("runvil random", &format!("{entry}#{n}"));
        let half = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&hash[at..at + 8]);
            i64::from_le_bytes(bytes)
        };
        (half(0), half(8))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_seven_gives_what_the_specification_states() {
        // case 07/6
        let mut seed = [0; 32];
        seed[31] = 7;
        let seeded = Seeded::new(seed);
        assert_eq!(seeded.nonce(), "9d45956cbb297f5239676e0c046ed178");
        assert_eq!(seeded.short_id(), "2d22");
        let first = (-7_313_199_179_536_251_788, -2_970_027_200_043_549_711);
        assert_eq!(seeded.random("0.1", 0), first);
        let second = (117_055_983_454_592_338, -8_910_372_793_174_694_854);
        assert_eq!(seeded.random("0.1", 1), second);
    }
}
