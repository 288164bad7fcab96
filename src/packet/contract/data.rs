//! `yaml` and `json` (spec P52, P53).

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};
use serde_yaml::Value as Yaml;

use super::entry::{Entry, Place, list};
use super::read;
use super::verdict::Verdict;
use crate::packet::front_matter;
use crate::packet::keys::scalar;

/// The language a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Yaml,
    Json,
}

/// The file parses, and its data is as the entry wants it.
pub(super) fn data(language: Language, entry: Entry<'_>, place: &Place) -> Verdict {
    let read = match read::read(&place.resolved) {
        Ok(bytes) => parse(language, &bytes),
        Err(error) => match error.verdict(place) {
            Some(verdict) => return finish(language, verdict, Vec::new(), None),
            None => Err(error.cause()),
        },
    };
    match read {
        Ok(data) => {
            let problems = problems(language, entry, &data);
            let verdict = Verdict::of_problems(&problems, "ok");
            finish(language, verdict, problems, Some(type_of(&data)))
        }
        Err(cause) => {
            let problem = match language {
                Language::Json => format!("JSON read/parse failed: {cause}"),
                Language::Yaml => format!("YAML parse failed: {cause}"),
            };
            finish(language, Verdict::fail(&problem), vec![problem], None)
        }
    }
}

fn finish(
    language: Language,
    verdict: Verdict,
    problems: Vec<String>,
    actual: Option<&'static str>,
) -> Verdict {
    let verdict = verdict.with("problems", problems);
    match language {
        Language::Json => verdict,
        Language::Yaml => verdict.with("root", actual),
    }
}

fn parse(language: Language, bytes: &[u8]) -> Result<Value, String> {
    match language {
        Language::Json => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
        Language::Yaml => {
            let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
            let value = front_matter::read_data(text);
            value
                .map(|value| plain(&value))
                .map_err(|error| format!("line {error}"))
        }
    }
}

/// YAML as JSON has it: keys are text, and tags are left out.
pub(in crate::packet) fn plain(value: &Yaml) -> Value {
    match value {
        Yaml::Null => Value::Null,
        Yaml::Bool(value) => Value::Bool(*value),
        Yaml::Number(number) => plain_number(number),
        Yaml::String(text) => Value::String(text.clone()),
        Yaml::Sequence(items) => items.iter().map(plain).collect(),
        Yaml::Mapping(map) => {
            let key = |key: &Yaml| scalar(key).unwrap_or_else(|| plain(key).to_string());
            let entries = map.iter().map(|(name, value)| (key(name), plain(value)));
            Value::Object(entries.collect::<Map<String, Value>>())
        }
        Yaml::Tagged(tagged) => plain(&tagged.value),
    }
}

fn plain_number(number: &serde_yaml::Number) -> Value {
    let integer = number.as_u64().map(Number::from);
    let integer = integer.or_else(|| number.as_i64().map(Number::from));
    let plain = integer.or_else(|| Number::from_f64(number.as_f64()?));
    // JSON has no number for what is none and for what is without end.
    plain.map_or_else(|| Value::String(number.to_string()), Value::Number)
}

fn type_of(data: &Value) -> &'static str {
    match data {
        Value::Object(_) => "map",
        Value::Array(_) => "list",
        _ => "scalar",
    }
}

/// Everything about the data that is not as the entry wants it.
fn problems(language: Language, entry: Entry<'_>, data: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let actual = type_of(data);
    if let Some(root) = entry.text(&["root"]).filter(|root| root != actual) {
        problems.push(match language {
            Language::Json => format!("root is not {root}"),
            Language::Yaml => format!("expected root {root}, got {actual}"),
        });
    }
    for path in entry.texts(&["required_paths"]) {
        if at(data, &path).is_none() {
            problems.push(format!("missing path {path}"));
        }
    }
    for path in entry.texts(&["non_empty_paths"]) {
        if at(data, &path).is_none_or(is_empty) {
            problems.push(format!("empty path {path}"));
        }
    }
    items_require(entry, data, &mut problems);
    none_match(entry, data, &mut problems);
    problems
}

/// What a data path leads to: keys of maps, joined with dots.
pub(in crate::packet) fn at<'a>(data: &'a Value, path: &str) -> Option<&'a Value> {
    let mut keys = path.split('.').filter(|key| !key.is_empty());
    keys.try_fold(data, |data, key| data.as_object()?.get(key))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Every item of a list has these keys.
fn items_require(entry: Entry<'_>, data: &Value, problems: &mut Vec<String>) {
    let map = match entry.get(&["array_items_require"]) {
        None => return,
        Some(Yaml::Mapping(map)) => map,
        Some(_) => return problems.push("array_items_require must be a map".to_owned()),
    };
    for (path, keys) in map {
        let path = scalar(path).unwrap_or_default();
        let Some(items) = at(data, &path).and_then(Value::as_array) else {
            problems.push(format!("{path} is not an array"));
            continue;
        };
        let keys: Vec<String> = list(Some(keys)).iter().filter_map(scalar).collect();
        let has_all = |item: &Value| {
            item.as_object()
                .is_some_and(|item| keys.iter().all(|key| item.contains_key(key)))
        };
        let lacking = items.iter().filter(|item| !has_all(item)).count();
        if lacking > 0 {
            problems.push(format!(
                "{path} has {lacking} item(s) missing required keys"
            ));
        }
    }
}

/// No item of a list has this value in this field.
fn none_match(entry: Entry<'_>, data: &Value, problems: &mut Vec<String>) {
    let rules = match entry.get(&["array_none_match"]) {
        None => return,
        Some(Yaml::Sequence(rules)) => rules,
        Some(_) => return problems.push("array_none_match must be a list".to_owned()),
    };
    for rule in rules {
        if !rule.is_mapping() {
            problems.push("array_none_match entries must be maps".to_owned());
            continue;
        }
        let rule = Entry(rule);
        let path = rule.text(&["path"]).unwrap_or_default();
        let field = rule.text(&["field"]).unwrap_or_default();
        let wanted = rule.get(&["equals"]).map_or(Value::Null, plain);
        let items = at(data, &path).and_then(Value::as_array);
        let matching = items.into_iter().flatten().filter(|item| {
            let value = item.as_object().and_then(|item| item.get(&field));
            is_equal(value.unwrap_or(&Value::Null), &wanted)
        });
        let matching = matching.count();
        if matching > 0 {
            problems.push(format!(
                "{path} has {matching} item(s) where {field}={wanted}"
            ));
        }
    }
}

/// Whether two values are the same, numbers by what they stand for.
pub(in crate::packet) fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i128(), b.as_i128()) {
            (Some(a), Some(b)) => a == b,
            _ => a.as_f64().partial_cmp(&b.as_f64()) == Some(Ordering::Equal),
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(key, value)| b.get(key).is_some_and(|other| is_equal(value, other));
            a.len() == b.len() && a.iter().all(same)
        }
        (a, b) => a == b,
    }
}
