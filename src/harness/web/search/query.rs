//! The arguments of a search (spec T132, T150).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::engine::tool::{ToolClass, ToolFailure};
use crate::lua::Data;

/// A search that keeps all the rules. What was not asked for is not sent (spec T151).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SearchQuery {
    /// What is searched; not blank, at most 400 characters.
    pub query: String,
    /// How many results are wanted, 1 to 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u8>,
    /// How new they must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freshness: Option<Freshness>,
    /// The country they are for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The language they are in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_lang: Option<String>,
    /// How strictly they are filtered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safesearch: Option<SafeSearch>,
    /// The hosts that they may only be from, at most 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_domains: Option<Vec<String>>,
    /// The hosts that they must not be from, at most 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude_domains: Option<Vec<String>>,
}

/// How new results must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Freshness {
    /// Of the last day.
    #[serde(rename = "pd")]
    Day,
    /// Of the last week.
    #[serde(rename = "pw")]
    Week,
    /// Of the last month.
    #[serde(rename = "pm")]
    Month,
    /// Of the last year.
    #[serde(rename = "py")]
    Year,
}

/// How strictly results are filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SafeSearch {
    /// Not at all.
    Off,
    /// Somewhat.
    Moderate,
    /// As far as it goes.
    Strict,
}

const FIELDS: [&str; 8] = [
    "query",
    "count",
    "freshness",
    "country",
    "search_lang",
    "safesearch",
    "include_domains",
    "exclude_domains",
];
const LONGEST_QUERY: usize = 400;
const MOST_RESULTS: i64 = 20;
const LONGEST_NAME: usize = 128;
const MOST_HOSTS: usize = 20;

impl SearchQuery {
    /// Reads a call's arguments: their shape, then the rules of the fields in their order
    /// (spec T150). Messages have no prefix.
    pub(super) fn read(arguments: &Data) -> Result<Self, ToolFailure> {
        let (query, count) = shape(arguments).ok_or_else(|| refused("invalid arguments"))?;
        query.check(count)
    }

    /// This, its count checked beside the other fields.
    fn check(mut self, count: Option<i64>) -> Result<Self, ToolFailure> {
        if self.query.trim().is_empty() {
            return Err(refused("query must not be empty"));
        }
        if is_longer(&self.query, LONGEST_QUERY) {
            return Err(refused("query exceeds 400 characters"));
        }
        self.count = match count {
            None => None,
            Some(count @ 1..=MOST_RESULTS) => u8::try_from(count).ok(),
            Some(_) => return Err(refused("count must be between 1 and 20")),
        };
        for (field, name) in [
            ("country", &self.country),
            ("search_lang", &self.search_lang),
        ] {
            if name.as_ref().is_some_and(|name| !is_name(name)) {
                return Err(refused(format!("{field} must be 1..=128 characters")));
            }
        }
        let lists = [
            ("include_domains", &self.include_domains),
            ("exclude_domains", &self.exclude_domains),
        ];
        for (field, hosts) in lists {
            let hosts = hosts.as_deref().unwrap_or_default();
            if hosts.len() > MOST_HOSTS {
                return Err(refused(format!("{field} may list at most 20 hostnames")));
            }
            if !hosts.iter().all(|host| is_host(host)) {
                return Err(refused(format!("{field} contains an invalid hostname")));
            }
        }
        Ok(self)
    }
}

/// The fields as far as their types and choices go, and the count as it was given; `None` where a
/// type or a choice is wrong.
fn shape(arguments: &Data) -> Option<(SearchQuery, Option<i64>)> {
    let Data::Map(fields) = arguments else {
        return None;
    };
    if !fields.keys().all(|key| FIELDS.contains(&&**key)) {
        return None;
    }
    let fields: &BTreeMap<Arc<str>, Data> = fields;
    let given = |name| fields.get(name).filter(|value| **value != Data::Null);
    let query = SearchQuery {
        query: given("query").and_then(text)?,
        count: None,
        freshness: optional(given("freshness"), |value| match &*text(value)? {
            "pd" => Some(Freshness::Day),
            "pw" => Some(Freshness::Week),
            "pm" => Some(Freshness::Month),
            "py" => Some(Freshness::Year),
            _ => None,
        })?,
        country: optional(given("country"), text)?,
        search_lang: optional(given("search_lang"), text)?,
        safesearch: optional(given("safesearch"), |value| match &*text(value)? {
            "off" => Some(SafeSearch::Off),
            "moderate" => Some(SafeSearch::Moderate),
            "strict" => Some(SafeSearch::Strict),
            _ => None,
        })?,
        include_domains: optional(given("include_domains"), texts)?,
        exclude_domains: optional(given("exclude_domains"), texts)?,
    };
    Some((query, optional(given("count"), whole)?))
}

/// What a field that may be left out holds; `None` where it holds something wrong.
fn optional<T>(given: Option<&Data>, read: impl Fn(&Data) -> Option<T>) -> Option<Option<T>> {
    match given {
        None => Some(None),
        Some(value) => read(value).map(Some),
    }
}

fn text(value: &Data) -> Option<String> {
    match value {
        Data::Text(text) => Some(text.to_string()),
        _ => None,
    }
}

fn texts(value: &Data) -> Option<Vec<String>> {
    match value {
        Data::List(items) => items.iter().map(text).collect(),
        // An empty table of Lua is an object.
        Data::Map(entries) if entries.is_empty() => Some(Vec::new()),
        _ => None,
    }
}

/// A whole number that is not negative.
fn whole(value: &Data) -> Option<i64> {
    match value {
        Data::Int(whole @ 0..) => Some(*whole),
        Data::Float(whole) if *whole >= 0.0 && whole.fract() == 0.0 => Some(*whole as i64),
        _ => None,
    }
}

fn is_longer(text: &str, most: usize) -> bool {
    text.chars().nth(most).is_some()
}

fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && !is_longer(text, LONGEST_NAME)
}

fn is_host(text: &str) -> bool {
    let is_foreign = |part: char| part == '/' || part.is_whitespace() || part.is_control();
    is_name(text) && !text.contains(is_foreign)
}

fn refused(message: impl Into<String>) -> ToolFailure {
    ToolFailure::new(ToolClass::InvalidArguments, message)
}

/// The JSON Schema of the arguments (spec T132).
pub(in crate::harness::web) fn schema() -> Data {
    fn of_type(name: &'static str) -> (&'static str, Data) {
        ("type", Data::text(name))
    }
    let least_and_most = |most| [("minLength", Data::Int(1)), ("maxLength", Data::Int(most))];
    let string = |most| {
        let bounds = least_and_most(most);
        Data::object([of_type("string")].into_iter().chain(bounds))
    };
    let choice = |choices: &[&'static str]| {
        let choices: Vec<_> = choices.iter().map(|choice| Data::text(*choice)).collect();
        Data::object([of_type("string"), ("enum", Data::list(choices))])
    };
    let longest_name = LONGEST_NAME as i64;
    let hosts = || {
        let most = ("maxItems", Data::Int(MOST_HOSTS as i64));
        Data::object([of_type("array"), ("items", string(longest_name)), most])
    };
    let count = [
        of_type("integer"),
        ("minimum", Data::Int(1)),
        ("maximum", Data::Int(MOST_RESULTS)),
    ];
    let properties = [
        ("query", string(LONGEST_QUERY as i64)),
        ("count", Data::object(count)),
        ("freshness", choice(&["pd", "pw", "pm", "py"])),
        ("country", string(longest_name)),
        ("search_lang", string(longest_name)),
        ("safesearch", choice(&["off", "moderate", "strict"])),
        ("include_domains", hosts()),
        ("exclude_domains", hosts()),
    ];
    Data::object([
        of_type("object"),
        ("properties", Data::object(properties)),
        ("required", Data::list([Data::text("query")])),
        ("additionalProperties", Data::Bool(false)),
    ])
}
