//! The answer to a store operation as a record holds it (spec R21): `{"value":…}` or
//! `{"failure":{…}}`. For `#[serde(with = "…")]` on a `Result<StoreValue, StoreFailure>`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{StoreFailure, StoreValue};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form<V, F> {
    Value(V),
    Failure(F),
}

/// Writes the answer.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize<S: Serializer>(
    answer: &Result<StoreValue, StoreFailure>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match answer {
        Ok(value) => Form::Value(value),
        Err(failure) => Form::Failure(failure),
    }
    .serialize(serializer)
}

/// Reads the answer.
///
/// # Errors
///
/// Those of the deserializer, and anything that is no such answer.
pub fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Result<StoreValue, StoreFailure>, D::Error> {
    Ok(match Form::deserialize(deserializer)? {
        Form::Value(value) => Ok(value),
        Form::Failure(failure) => Err(failure),
    })
}
