//! A first look at the frontmatter: whether it is YAML at all, and which dialect it is in (spec F12,
//! F34).

use super::reading::{Failure, Node, Reading, Scalar, Shape};
use super::shape::{ignore_map, ignore_sequence, ignore_tagged};
use crate::prompt::tree::Dialect;
use serde::de::{EnumAccess, IgnoredAny, MapAccess, SeqAccess};

/// A document of which only the version keys are looked at.
#[derive(Clone, Copy)]
pub(super) struct Survey {
    /// The dialect of a document without a version key.
    pub default: Dialect,
}

impl<'de> Shape<'de> for Survey {
    type Value = Dialect;

    fn expected(&self) -> String {
        "any YAML document".to_owned()
    }

    fn scalar(self, _: &Reading, _: Scalar<'_>) -> Result<Dialect, Failure> {
        Ok(self.default)
    }

    fn sequence<A: SeqAccess<'de>>(self, _: &Reading, items: A) -> Result<Dialect, A::Error> {
        ignore_sequence(items).map(|()| self.default)
    }

    fn map<A: MapAccess<'de>>(self, reading: &Reading, mut map: A) -> Result<Dialect, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key_seed(Node::new(reading, VersionKey))? {
            let IgnoredAny = map.next_value()?;
            found = if key == Some(Dialect::Runvil) {
                key
            } else {
                found.or(key)
            };
        }
        Ok(found.unwrap_or(self.default))
    }

    fn tagged<A: EnumAccess<'de>>(self, _: &Reading, data: A) -> Result<Dialect, A::Error> {
        ignore_tagged(data).map(|()| self.default)
    }
}

/// A key, as the dialect whose version key it is.
struct VersionKey;

impl<'de> Shape<'de> for VersionKey {
    type Value = Option<Dialect>;

    fn expected(&self) -> String {
        "any key".to_owned()
    }

    fn scalar(self, _: &Reading, scalar: Scalar<'_>) -> Result<Self::Value, Failure> {
        let dialects = [Dialect::Runvil, Dialect::PromptForge];
        Ok(dialects
            .into_iter()
            .find(|dialect| scalar == Scalar::Text(dialect.key())))
    }

    fn sequence<A: SeqAccess<'de>>(self, _: &Reading, items: A) -> Result<Self::Value, A::Error> {
        ignore_sequence(items).map(|()| None)
    }

    fn map<A: MapAccess<'de>>(self, _: &Reading, map: A) -> Result<Self::Value, A::Error> {
        ignore_map(map).map(|()| None)
    }

    fn tagged<A: EnumAccess<'de>>(self, _: &Reading, data: A) -> Result<Self::Value, A::Error> {
        ignore_tagged(data).map(|()| None)
    }
}
