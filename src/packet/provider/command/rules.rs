//! What the events of an agent mean (spec P136).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use serde_yaml::Value as Yaml;

use crate::packet::contract::data::{at, is_equal, plain};
use crate::packet::keys::scalar;

/// Every `as`, and the fields that it has.
const MEANINGS: &[(&str, &[&str])] = &[
    ("session", &["id", "model"]),
    ("message", &["text"]),
    ("tool_start", &["name", "output"]),
    ("tool_end", &["name", "output"]),
    ("tool_failed", &["name", "output"]),
    ("usage", &["input", "output", "cost_usd"]),
    ("error", &["kind", "message", "recovery"]),
    ("done", &["reason"]),
];

/// What one kind of event means.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    /// What an event must hold, by data path.
    when: Vec<(String, Value)>,
    meaning: &'static str,
    /// Where the fields are in it, by data path.
    fields: BTreeMap<&'static str, String>,
}

/// An event that a rule knows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Meant {
    /// One of [`MEANINGS`].
    pub(super) meaning: &'static str,
    fields: Map<String, Value>,
}

impl Rule {
    /// The rules of the native form: `event` says what it is, and the fields have their own names.
    pub(super) fn native() -> Vec<Self> {
        let rules = MEANINGS.iter().map(|(meaning, fields)| Self {
            when: vec![("event".to_owned(), json!(meaning))],
            meaning,
            fields: fields.iter().map(|it| (*it, (*it).to_owned())).collect(),
        });
        rules.collect()
    }

    /// Reads a list of rules; what is wrong with it otherwise.
    pub(super) fn read_all(list: &Yaml) -> Result<Vec<Self>, String> {
        let rules = list.as_sequence().ok_or("command: events must be a list")?;
        let read = rules.iter().enumerate().map(|(at, rule)| {
            Self::read(rule).map_err(|error| format!("command: events[{at}]: {error}"))
        });
        read.collect()
    }

    fn read(rule: &Yaml) -> Result<Self, String> {
        let rule = rule.as_mapping().ok_or("must be a map")?;
        let word = rule.get("as").and_then(scalar).unwrap_or_default();
        let known = MEANINGS.iter().find(|(known, _)| *known == word);
        let (meaning, names) = known.ok_or_else(|| format!("unknown as {word:?}"))?;
        let when = rule.get("when").and_then(Yaml::as_mapping);
        let when = when.ok_or("when must be a map")?.iter();
        let mut fields = BTreeMap::new();
        for (key, path) in rule {
            let key = scalar(key).unwrap_or_default();
            if key == "as" || key == "when" {
                continue;
            }
            let name = names.iter().find(|name| **name == key);
            let name = name.ok_or_else(|| format!("{meaning} has no field {key:?}"))?;
            let path = scalar(path).ok_or_else(|| format!("{key} must be a path"))?;
            fields.insert(*name, path);
        }
        Ok(Self {
            when: when
                .map(|(path, value)| (scalar(path).unwrap_or_default(), plain(value)))
                .collect(),
            meaning,
            fields,
        })
    }

    /// What an event means by the first rule that knows it.
    pub(super) fn meant(rules: &[Self], event: &Value) -> Option<Meant> {
        let holds = |(path, value): &(String, Value)| {
            at(event, path).is_some_and(|found| is_equal(found, value))
        };
        let rule = rules.iter().find(|rule| rule.when.iter().all(holds))?;
        let fields = rule.fields.iter().filter_map(|(name, path)| {
            let value = at(event, path).filter(|value| !value.is_null())?;
            Some(((*name).to_owned(), value.clone()))
        });
        Some(Meant {
            meaning: rule.meaning,
            fields: fields.collect(),
        })
    }
}

impl Meant {
    /// A field as it is.
    pub(super) fn get(&self, field: &str) -> Option<&Value> {
        self.fields.get(field)
    }

    /// A field as text, if it tells anything.
    pub(super) fn told(&self, field: &str) -> Option<String> {
        let is_empty = match self.get(field)? {
            Value::String(text) => text.trim().is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        };
        self.text(field).filter(|_| !is_empty)
    }

    /// A field as text; what is no text is written as JSON.
    pub(super) fn text(&self, field: &str) -> Option<String> {
        self.get(field).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(yaml: &str) -> Result<Vec<Rule>, String> {
        Rule::read_all(&serde_yaml::from_str(yaml).unwrap())
    }

    /// P136.
    #[test]
    fn the_first_rule_that_holds_applies() {
        let rules = "[{when: {type: item, item.kind: say}, as: message, text: item.text},
            {when: {type: item}, as: tool_end, name: item.kind, output: item},
            {when: {n: 1}, as: done}]";
        let rules = read(rules).unwrap();
        let meant = |event: Value| Rule::meant(&rules, &event);
        let said = meant(json!({"type": "item", "item": {"kind": "say", "text": "hi"}})).unwrap();
        assert_eq!(
            (said.meaning, said.text("text")),
            ("message", Some("hi".to_owned()))
        );
        let tool = meant(json!({"type": "item", "item": {"kind": "run"}})).unwrap();
        assert_eq!(tool.text("output").as_deref(), Some(r#"{"kind":"run"}"#));
        assert_eq!(meant(json!({"n": 1.0})).unwrap().meaning, "done");
        assert_eq!(meant(json!({"type": "other"})), None);
        assert_eq!(meant(json!({"type": {"a": 1}})), None);
    }

    #[test]
    fn rules_that_cannot_be_meant_are_refused() {
        for (yaml, expected) in [
            ("{a: b}", "command: events must be a list"),
            ("[x]", "command: events[0]: must be a map"),
            (
                "[{when: {}, as: say}]",
                "command: events[0]: unknown as \"say\"",
            ),
            ("[{as: done}]", "command: events[0]: when must be a map"),
            (
                "[{when: {}, as: done, text: x}]",
                "command: events[0]: done has no field \"text\"",
            ),
        ] {
            assert_eq!(read(yaml).unwrap_err(), expected, "{yaml}");
        }
    }
}
