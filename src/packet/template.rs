//! Templates of prompts (spec P18 to P20).

use std::path::{Path, PathBuf};

use serde_yaml::{Mapping, Value};

use super::config_home::ConfigHome;
use super::document::Document;
use super::error::PacketError;
use super::merge::merge;
use super::name::is_name;
use super::resolve::resolve;

/// The templates that are built in, by name.
const BUILT_IN: &[(&str, &str)] = &[
    ("default", include_str!("templates/default.prompt.md")),
    ("from-adr", include_str!("templates/from-adr.prompt.md")),
];

/// The ending of a template's file.
const ENDING: &str = ".prompt.md";

/// Where a template comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateSource {
    /// A file.
    File(PathBuf),
    /// It is built in.
    BuiltIn,
}

/// A template.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The name it was asked for by.
    pub name: String,
    /// Where it comes from.
    pub source: TemplateSource,
    /// Its keys and its body, with places to fill.
    pub document: Document,
}

/// What the places of a template are filled with.
#[derive(Clone, Copy, Debug)]
pub struct Filling<'a> {
    /// `{{id}}`
    pub id: &'a str,
    /// `{{phase}}`
    pub phase: &'a str,
    /// `{{name}}`
    pub name: &'a str,
    /// `{{commit}}`
    pub commit: &'a str,
    /// `{{targets_csv}}` and `{{targets_bullets}}`
    pub targets: &'a [String],
}

impl Template {
    /// Finds a template: a file that the name is the path of, from `base`; else one of the packet,
    /// of the config home, or built in (spec P18).
    ///
    /// # Errors
    /// No template of this name; a file that cannot be taken.
    pub fn find(
        name: &str,
        root: &Path,
        base: &Path,
        home: &ConfigHome,
    ) -> Result<Self, PacketError> {
        let not_found = || PacketError::TemplateNotFound(name.to_owned());
        let is_path = name.contains('/') || name.ends_with(".md") || Path::new(name).is_absolute();
        let file = if is_path {
            let file = resolve(base, name);
            if !file.exists() {
                return Err(not_found());
            }
            Some(file)
        } else if is_name(name) {
            let local = folder(root).join(format!("{name}{ENDING}"));
            let mut files = [Some(local), home.join(&format!("templates/{name}{ENDING}"))]
                .into_iter()
                .flatten();
            files.find(|file| file.exists())
        } else {
            return Err(not_found());
        };
        let (source, document) = match file {
            Some(file) => {
                let shown = file.display().to_string();
                let document = Document::read(&file, &shown)?;
                (TemplateSource::File(file), document)
            }
            None => {
                let mut known = BUILT_IN.iter();
                let (_, text) = known
                    .find(|(known, _)| *known == name)
                    .ok_or_else(not_found)?;
                (TemplateSource::BuiltIn, Document::parse(text, name)?)
            }
        };
        Ok(Self {
            name: name.to_owned(),
            source,
            document,
        })
    }

    /// The names of templates and where they come from, by name: of several of one name, the one
    /// that [`find`](Self::find) takes. Without a packet there are none of its own.
    #[must_use]
    pub fn list(root: Option<&Path>, home: &ConfigHome) -> Vec<(String, TemplateSource)> {
        let folders = [root.map(folder), home.join("templates")];
        let mut found: Vec<(String, TemplateSource)> = Vec::new();
        for folder in folders.into_iter().flatten() {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            for entry in entries {
                let name = entry.file_name().to_string_lossy().into_owned();
                let name = name.strip_suffix(ENDING).filter(|name| is_name(name));
                if let Some(name) = name
                    && entry.path().is_file()
                    && found.iter().all(|(known, _)| known != name)
                {
                    found.push((name.to_owned(), TemplateSource::File(entry.path())));
                }
            }
        }
        for (name, _) in BUILT_IN {
            if found.iter().all(|(known, _)| known != name) {
                found.push(((*name).to_owned(), TemplateSource::BuiltIn));
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        found
    }

    /// The prompt that the template makes of these keys (spec P19). They come first in it.
    #[must_use]
    pub fn render(&self, keys: &Mapping, filling: Filling<'_>) -> Document {
        let mut merged = self.document.keys.clone();
        merge(&mut merged, keys);
        if !merged.contains_key("template") {
            merged.insert("template".into(), self.name.as_str().into());
        }
        let mut ordered = Mapping::new();
        for key in keys.keys().chain(merged.keys()) {
            if let Some(value) = merged.get(key) {
                ordered.insert(key.clone(), value.clone());
            }
        }
        if ordered.get("verify").is_none_or(Value::is_null) {
            ordered.insert("verify".into(), Value::Mapping(Mapping::new()));
        }
        Document::new(ordered, &filling.fill(&self.document.body))
    }
}

impl Filling<'_> {
    /// Fills the places of a text, each once: what is filled in is not looked at again.
    fn fill(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            out += before;
            let place = after.split_once("}}");
            match place.and_then(|(name, after)| Some((self.value(name)?, after))) {
                Some((value, after)) => {
                    out += &value;
                    rest = after;
                }
                None => {
                    out += "{{";
                    rest = after;
                }
            }
        }
        out + rest
    }

    fn value(self, place: &str) -> Option<String> {
        Some(match place {
            "id" => self.id.to_owned(),
            "phase" => self.phase.to_owned(),
            "name" => self.name.to_owned(),
            "commit" => self.commit.to_owned(),
            "targets_csv" => self.targets.join(", "),
            "targets_bullets" if self.targets.is_empty() => "- Add target repos here.".to_owned(),
            "targets_bullets" => {
                let bullets = self.targets.iter().map(|target| format!("- `{target}`"));
                bullets.collect::<Vec<_>>().join("\n")
            }
            _ => return None,
        })
    }
}

/// The folder of a packet's own templates.
fn folder(root: &Path) -> PathBuf {
    root.join("templates")
}
