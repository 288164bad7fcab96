//! Functions that read the prompt, the Host's snapshot and JSON, and wrap text (spec L30 to L34,
//! L71, L85).

use crate::engine::entry::Entry;
use crate::engine::untrusted::wrap_watched;
use crate::lua::{Call, Data, Failure, NotData, Reply, target};

/// How many values JSON text may hold that a prompt decodes: more would not fit a section VM.
const MAX_VALUES: usize = 1 << 20;

/// The items of a list section, in order (spec L30, F127, F128).
pub fn list(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let heading = target(call)?;
    let entry = call.host();
    let section = entry
        .shared
        .program
        .prompt()
        .section(entry.resolve(&heading)?);
    match &section.items {
        Some(items) => Ok(Reply::List(items.clone())),
        None => {
            let name = &section.name;
            Err(Failure::lua(format!(
                "section `{name}` has no pre-parsed items"
            )))
        }
    }
}

/// A section's prose, unrendered (spec L33).
pub fn prompt_section(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let heading = target(call)?;
    let entry = call.host();
    let id = entry.resolve(&heading)?;
    Ok(Reply::Text(entry.shared.program.prompt().section_prose(id)))
}

/// A fresh copy of the Host-state snapshot (spec L72).
pub fn ui(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    Ok(Reply::Data(
        call.host().shared.ui.clone().unwrap_or_default(),
    ))
}

/// Compact JSON text (spec L34).
pub fn json_encode(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    match call.data(0, "json.encode value") {
        Ok(data) => Ok(Reply::Text(
            data.to_json_watched(&|steps| call.step(steps))?,
        )),
        Err(NotData::Offender { type_name, .. }) => Err(Failure::lua(format!(
            "json.encode value must be JSON data, got {type_name}"
        ))),
        Err(fault) => Err(fault.failure()),
    }
}

/// The value of JSON text; null reads as nil (spec L34).
pub fn json_decode(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    let text = call.string(0, "text")?;
    Data::from_json_watched(&text, MAX_VALUES, &|steps| call.step(steps))
        .map(Reply::Data)
        .map_err(|detail| Failure::lua(format!("json.decode text is not valid JSON: {detail}")))
}

/// The run's envelope around a text (spec L85).
pub fn untrusted(call: &Call<'_, Entry>) -> Result<Reply, Failure> {
    match call.coerced_bytes(0) {
        Some(content) => {
            let nonce = &call.host().shared.nonce;
            let wrapped = wrap_watched(nonce, &content, &|steps| call.step(steps))?;
            Ok(Reply::Bytes(wrapped))
        }
        None => {
            let found = call.type_of(0);
            Err(Failure::lua(format!(
                "untrusted expects a string, got {found}"
            )))
        }
    }
}
