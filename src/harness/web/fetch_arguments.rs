//! The arguments of a fetch (spec T132, T133).

use super::fetch_failure::FetchFailure;
use crate::lua::Data;

/// The arguments of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FetchArguments {
    pub(super) url: String,
    pub(super) max_chars: usize,
    pub(super) raw: bool,
}

impl FetchArguments {
    /// Reads a call's arguments; more characters than the most are not asked for (spec T133).
    pub(super) fn read(arguments: &Data, most: usize) -> Result<Self, FetchFailure> {
        let argument = |name| match arguments.get(name) {
            None | Some(Data::Null) => None,
            given => given,
        };
        let Some(Data::Text(url)) = argument("url") else {
            return Err(FetchFailure::Argument("missing url argument"));
        };
        let max_chars = match argument("max_chars") {
            None => Some(most),
            Some(Data::Int(chars @ 1..)) => Some(usize::try_from(*chars).unwrap_or(most)),
            // A float that is too large for an integer is none that says less than the most.
            Some(Data::Float(chars)) if *chars >= 1.0 && chars.fract() == 0.0 => {
                Some(*chars as usize)
            }
            Some(_) => None,
        };
        let raw = match argument("raw") {
            None => Some(false),
            Some(Data::Bool(raw)) => Some(*raw),
            Some(_) => None,
        };
        let not_positive = FetchFailure::Argument("max_chars must be a positive integer");
        Ok(Self {
            url: url.to_string(),
            max_chars: max_chars.ok_or(not_positive)?.min(most),
            raw: raw.ok_or(FetchFailure::Argument("raw must be a boolean"))?,
        })
    }

    /// The JSON Schema of the arguments (spec T132).
    pub(super) fn schema(most: usize) -> Data {
        let of_type = |name: &'static str| ("type", Data::text(name));
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let max_chars = [
            of_type("integer"),
            ("minimum", Data::Int(1)),
            ("maximum", Data::Int(most)),
        ];
        let properties = [
            ("url", Data::object([of_type("string")])),
            ("max_chars", Data::object(max_chars)),
            ("raw", Data::object([of_type("boolean")])),
        ];
        Data::object([
            of_type("object"),
            ("properties", Data::object(properties)),
            ("required", Data::list([Data::text("url")])),
        ])
    }
}
