//! What a case writes once for both dialects, and each has its own words for.

use runvil::prompt::Dialect;
use serde::Deserialize;
use serde_yaml::{Mapping, Value};

use crate::units::{OWN, whole};

/// The dialect names of a case file.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DialectName {
    Runvil,
    PromptForge,
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Self {
        match name {
            DialectName::Runvil => Self::Runvil,
            DialectName::PromptForge => Self::PromptForge,
        }
    }
}

/// A case for each of its dialects, its words filled in.
pub fn each(mut case: Mapping) -> Result<Vec<Mapping>, String> {
    let names = match case.remove("dialects") {
        Some(names) => names,
        None => Value::Sequence(vec!["promptforge".into(), "runvil".into()]),
    };
    let names: Vec<Value> = serde_yaml::from_value(names).map_err(|error| error.to_string())?;
    let declared = match case.get("declares") {
        Some(declared) => serde_yaml::from_value(declared.clone())
            .map_err(|error| format!("declares: {error}"))?,
        None => Vec::new(),
    };
    let cases = names.into_iter().map(|name| {
        let dialect: DialectName =
            serde_yaml::from_value(name.clone()).map_err(|error| format!("dialects: {error}"))?;
        let words = words(dialect.into(), &declared);
        let filled = case.clone().into_iter();
        let filled = filled.map(|(key, mut value)| {
            if key != "declares" {
                fill(&mut value, &words);
            }
            (key, value)
        });
        let own = ("dialect".into(), name);
        Ok(filled.chain([own]).collect())
    });
    cases.collect()
}

/// The words, each in braces, and what stands for them.
fn words(dialect: Dialect, declared: &[String]) -> Vec<(String, String)> {
    let own = match dialect {
        Dialect::PromptForge => ["fanout", "tools.add_local", "tools.add", "tools.always"],
        Dialect::Runvil => [
            "tasks.fanout",
            "tools.offer_local",
            "tools.offer",
            "tools.always_offer",
        ],
    };
    let named = ["{fanout}", "{local}", "{offer}", "{always}"].into_iter();
    let named = named.zip(own).map(|(word, own)| (word.into(), own.into()));
    let tools = declared.iter().filter_map(|tool| {
        let id = id(tool)?;
        let key = match dialect {
            Dialect::PromptForge => alias(id),
            Dialect::Runvil => id.to_owned(),
        };
        let whole = (format!("{{{tool}}}"), whole(tool, dialect));
        Some([(format!("{{{id}}}"), key), whole])
    });
    named.chain(tools.flatten()).collect()
}

fn fill(value: &mut Value, words: &[(String, String)]) {
    match value {
        Value::String(text) => {
            for (word, own) in words {
                if text.contains(word.as_str()) {
                    *text = text.replace(word.as_str(), own);
                }
            }
        }
        Value::Sequence(items) => items.iter_mut().for_each(|item| fill(item, words)),
        Value::Mapping(map) => map.values_mut().for_each(|value| fill(value, words)),
        _ => {}
    }
}

/// The lines of the frontmatter that declare units, and give tools their slots.
pub fn frontmatter(declared: &[String], dialect: Dialect) -> String {
    let mut units: Vec<String> = Vec::new();
    let mut slots = String::new();
    for entry in declared {
        let unit = unit(entry, dialect);
        if !units.contains(&unit) {
            units.push(unit);
        }
        if let Some(id) = id(entry) {
            slots += &format!("  {}: {}\n", alias(id), whole(entry, dialect));
        }
    }
    let units = units.join(", ");
    match dialect {
        _ if declared.is_empty() => String::new(),
        Dialect::Runvil => format!("uses: [{units}]\n"),
        Dialect::PromptForge if slots.is_empty() => format!("plugins: [{units}]\n"),
        Dialect::PromptForge => format!("plugins: [{units}]\ntools:\n{slots}"),
    }
}

/// A unit as a prompt of the dialect names it, of `vendor/unit` or `vendor/unit/tool`.
fn unit(entry: &str, dialect: Dialect) -> String {
    let mut segments = entry.split('/');
    let vendor = segments.next().unwrap_or_default();
    let name = segments.next().unwrap_or_default();
    match (vendor, dialect) {
        (OWN, Dialect::Runvil) => name.to_owned(),
        (OWN, Dialect::PromptForge) => format!("{}/{name}", dialect.key()),
        _ => format!("{vendor}/{name}"),
    }
}

/// `unit/tool` of `vendor/unit/tool`.
fn id(tool: &str) -> Option<&str> {
    let (_, id) = tool.split_once('/')?;
    id.contains('/').then_some(id)
}

/// The alias of a tool, which is what a model calls it by in either dialect (spec T67).
fn alias(id: &str) -> String {
    id.replace(['/', '.'], "_")
}

#[test]
fn words_are_filled_in_each_dialect() {
    let text = "dialects: [promptforge, runvil]\ndeclares: [acme/x/a, own/u]\nlua: \"{offer} {x/a} {acme/x/a}\"";
    let case: Mapping = serde_yaml::from_str(text).unwrap();
    let cases = each(case).unwrap();
    let lua: Vec<_> = cases.iter().map(|case| case["lua"].as_str()).collect();
    assert_eq!(
        lua,
        [Some("tools.add x_a acme/x/a"), Some("tools.offer x/a x/a")]
    );
    let declared = ["acme/x/a".to_owned(), "own/u".to_owned()];
    assert_eq!(
        frontmatter(&declared, Dialect::PromptForge),
        "plugins: [acme/x, promptforge/u]\ntools:\n  x_a: acme/x/a\n"
    );
    assert_eq!(
        frontmatter(&declared, Dialect::Runvil),
        "uses: [acme/x, u]\n"
    );
}
