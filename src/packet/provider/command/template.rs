//! Words with placeholders, and groups of them (spec P135).

use serde_yaml::Value;

use crate::packet::keys::{items, scalar};

/// The word that the arguments of further repositories stand in the place of.
const REPO_ARGS: &str = "{repo_args}";

/// A list of words and groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Template(Vec<Item>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Word(Word),
    /// Left out where one of its placeholders has no value.
    Group(Vec<Word>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    /// Stands for several words.
    RepoArgs,
    Text(Vec<Part>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Hole(String),
}

/// What a placeholder stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// This.
    Value(String),
    /// Nothing at present.
    Nothing,
    /// There is no such placeholder.
    Unknown,
}

/// Gives placeholders their values.
pub(super) trait Values {
    /// What a placeholder stands for.
    fn value(&self, name: &str) -> Known;

    /// The words of `{repo_args}`.
    fn repo_args(&self) -> Result<Vec<String>, String>;
}

impl Template {
    /// Reads a list; `None` for what is no list of words and groups.
    pub(super) fn read(list: &Value) -> Result<Option<Self>, String> {
        let mut read = Vec::new();
        for item in items(list) {
            read.push(match item {
                Value::Sequence(group) => {
                    let Some(group) = group.iter().map(scalar).collect::<Option<Vec<_>>>() else {
                        return Ok(None);
                    };
                    let group = group.iter().map(|word| Word::read(word));
                    Item::Group(group.collect::<Result<_, _>>()?)
                }
                word => match scalar(word) {
                    Some(word) => Item::Word(Word::read(&word)?),
                    None => return Ok(None),
                },
            });
        }
        Ok(Some(Self(read)))
    }

    /// Whether a placeholder stands somewhere.
    pub(super) fn has(&self, name: &str) -> bool {
        let words = self.0.iter().flat_map(|item| match item {
            Item::Word(word) => std::slice::from_ref(word),
            Item::Group(words) => words,
        });
        let mut parts = words.flat_map(|word| match word {
            Word::RepoArgs => &[],
            Word::Text(parts) => parts.as_slice(),
        });
        parts.any(|part| matches!(part, Part::Hole(hole) if hole == name))
    }

    /// The words with their placeholders filled.
    pub(super) fn fill(&self, values: &dyn Values) -> Result<Vec<String>, String> {
        let mut out = Vec::new();
        for item in &self.0 {
            match item {
                Item::Word(word) => match word.fill(values)? {
                    Ok(words) => out.extend(words),
                    Err(hole) => return Err(no_value(hole)),
                },
                Item::Group(words) => {
                    let filled: Result<Vec<_>, String> =
                        words.iter().map(|word| word.fill(values)).collect();
                    let filled: Result<Vec<_>, &str> = filled?.into_iter().collect();
                    out.extend(filled.into_iter().flatten().flatten());
                }
            }
        }
        Ok(out)
    }
}

fn no_value(hole: &str) -> String {
    format!("command template: {{{hole}}} has no value")
}

impl Word {
    fn read(word: &str) -> Result<Self, String> {
        if word == REPO_ARGS {
            return Ok(Self::RepoArgs);
        }
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = word;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(at);
            text.push_str(before);
            if let Some(after) = brace.strip_prefix("{{") {
                text.push('{');
                rest = after;
            } else if let Some(after) = brace.strip_prefix("}}") {
                text.push('}');
                rest = after;
            } else {
                let hole = brace.strip_prefix('{').and_then(|it| it.split_once('}'));
                let (hole, after) =
                    hole.ok_or_else(|| format!("command template: lone brace in {word:?}"))?;
                parts.push(Part::Text(std::mem::take(&mut text)));
                parts.push(Part::Hole(hole.to_owned()));
                rest = after;
            }
        }
        text.push_str(rest);
        parts.push(Part::Text(text));
        Ok(Self::Text(parts))
    }

    /// The words that it stands for, or the placeholder that has no value at present; an error for
    /// one that never has.
    fn fill(&self, values: &dyn Values) -> Result<Result<Vec<String>, &str>, String> {
        let parts = match self {
            Self::RepoArgs => return values.repo_args().map(Ok),
            Self::Text(parts) => parts,
        };
        let mut out = String::new();
        let mut missing = None;
        for part in parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Hole(hole) => match values.value(hole) {
                    Known::Value(value) => out.push_str(&value),
                    Known::Nothing => missing = missing.or(Some(hole.as_str())),
                    Known::Unknown => return Err(no_value(hole)),
                },
            }
        }
        Ok(match missing {
            Some(hole) => Err(hole),
            None => Ok(vec![out]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Some2;

    impl Values for Some2 {
        fn value(&self, name: &str) -> Known {
            match name {
                "a" => Known::Value("A".to_owned()),
                "none" => Known::Nothing,
                _ => Known::Unknown,
            }
        }

        fn repo_args(&self) -> Result<Vec<String>, String> {
            Ok(vec!["--add".to_owned(), "/d".to_owned()])
        }
    }

    fn fill(yaml: &str) -> Result<Vec<String>, String> {
        let list = serde_yaml::from_str(yaml).unwrap();
        Template::read(&list)?.unwrap().fill(&Some2)
    }

    /// P135, K45.
    #[test]
    fn words_and_groups_are_filled() {
        for (yaml, expected) in [
            ("['x', '{a}', '-{a}{a}-']", &["x", "A", "-AA-"][..]),
            ("['{{a}}', '{{{a}}}', '', 7]", &["{a}", "{A}", "", "7"]),
            ("['x', ['-m', '{none}'], '-']", &["x", "-"]),
            (
                "[['-m', '{a}'], '{repo_args}']",
                &["-m", "A", "--add", "/d"],
            ),
            ("[['{none}', '{repo_args}'], x]", &["x"]),
        ] {
            assert_eq!(fill(yaml).unwrap(), expected, "{yaml}");
        }
        for (yaml, expected) in [
            ("['{none}']", "command template: {none} has no value"),
            ("['{b}']", "command template: {b} has no value"),
            // One that is not known is not forgiven in a group either.
            ("[['{none}', '{b}']]", "command template: {b} has no value"),
            ("['{a']", "command template: lone brace in \"{a\""),
            ("['a}']", "command template: lone brace in \"a}\""),
        ] {
            assert_eq!(fill(yaml).unwrap_err(), expected, "{yaml}");
        }
        assert_eq!(
            Template::read(&serde_yaml::from_str("[{a: b}]").unwrap()),
            Ok(None)
        );
    }
}
