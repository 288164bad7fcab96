//! The gateway's list of models (spec M75).

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;
use ureq::http::Method;

use super::Gateway;
use super::exchange::Untaken;
use super::raw::{is_array, is_object, items, members, read};
use super::round::refused;
use crate::engine::model::{Model, ModelFailure, model_id_fault};
use crate::harness::model::Terms;

impl Gateway {
    /// The gateway's models, in its order; those whose context window it does not say are left out
    /// (spec M75). It waits as a round does, on this thread.
    ///
    /// # Errors
    /// The gateway could not be asked, or its answer is no catalog.
    pub fn catalog(&self, terms: &Terms) -> Result<Fetched, CatalogError> {
        let cap = terms.response_cap;
        let request = self.request(Method::GET, self.connection.models(), Vec::new());
        let mut exchange = self
            .links
            .send(&request, terms)
            .map_err(CatalogError::Failed)?;
        if let Some(length) = exchange.declared().filter(|length| *length > cap) {
            return Err(CatalogError::DeclaredTooLarge { length, cap });
        }
        if !(200..300).contains(&exchange.status()) {
            return Err(CatalogError::Failed(refused(&mut exchange, cap, |_| {})));
        }
        let body = exchange.whole().map_err(|untaken| match untaken {
            Untaken::TooLarge => CatalogError::TooLarge { cap },
            Untaken::Failed(failure) => CatalogError::Failed(failure),
        })?;
        let list: &RawValue = serde_json::from_slice(&body)?;
        let [entries] = members(list, ["data"])?;
        let entries = entries.filter(|entries| is_array(entries));
        fetched(entries.ok_or(CatalogError::NoData)?)
    }
}

/// A catalog as a gateway lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// The models, in the gateway's order.
    pub models: Vec<Model>,
    /// How many more it lists without a context window, so that no run can use them.
    pub without_context: usize,
}

impl From<Vec<Model>> for Fetched {
    fn from(models: Vec<Model>) -> Self {
        Self {
            models,
            without_context: 0,
        }
    }
}

/// Why there is no catalog. Nothing that the gateway sent is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogError {
    /// The gateway could not be asked.
    Failed(ModelFailure),
    /// Its answer is too large.
    TooLarge {
        /// The most bytes it may have.
        cap: u64,
    },
    /// It says that its answer is too large.
    DeclaredTooLarge {
        /// The bytes it has.
        length: u64,
        /// The most bytes it may have.
        cap: u64,
    },
    /// Its answer is no JSON.
    NotJson,
    /// Its answer has no list of models.
    NoData,
    /// An entry of the list is malformed.
    Entry {
        /// Which, counted from 1.
        entry: usize,
        /// What is wrong with it.
        fault: &'static str,
    },
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failure) => failure.fmt(f),
            Self::TooLarge { cap } => {
                write!(f, "model list body exceeds the {cap}-byte limit")
            }
            Self::DeclaredTooLarge { length, cap } => write!(
                f,
                "model list body of {length} bytes exceeds the {cap}-byte limit"
            ),
            Self::NotJson => f.write_str("model list response was not valid JSON"),
            Self::NoData => f.write_str("model list response had no `data` array"),
            Self::Entry { entry, fault } => write!(f, "model list entry {entry} {fault}"),
        }
    }
}

impl std::error::Error for CatalogError {}

impl From<serde_json::Error> for CatalogError {
    fn from(_: serde_json::Error) -> Self {
        Self::NotJson
    }
}

/// The current model of a catalog: the one that the Host selected, else the first (spec M75). A
/// selected id that is no valid id selects none.
///
/// # Errors
/// The catalog does not list the selected id.
pub fn current_model(models: &[Model], selected: Option<&str>) -> Result<Option<Model>, Unlisted> {
    match selected {
        None => Ok(models.first().cloned()),
        Some(id) if model_id_fault(id).is_some() => Ok(None),
        Some(id) => match models.iter().find(|model| *model.id == *id) {
            Some(model) => Ok(Some(model.clone())),
            None => Err(Unlisted(id.to_owned())),
        },
    }
}

/// The selected model is not in the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlisted(
    /// Its id.
    pub String,
);

impl fmt::Display for Unlisted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(id) = self;
        write!(
            f,
            "the selected model `{id}` is absent from the fetched catalog"
        )
    }
}

impl std::error::Error for Unlisted {}

fn fetched(entries: &RawValue) -> Result<Fetched, CatalogError> {
    let mut ids: HashSet<Arc<str>> = HashSet::new();
    let mut fetched = Fetched::default();
    let mut count = 0;
    items(entries, |entry| {
        count += 1;
        let model = model(entry)?.and_then(|model| match model {
            Some(model) if !ids.insert(model.id.clone()) => Err("repeats an id"),
            model => Ok(model),
        });
        let told = |fault| CatalogError::Entry {
            entry: count,
            fault,
        };
        match model.map_err(told)? {
            Some(model) => fetched.models.push(model),
            None => fetched.without_context += 1,
        }
        Ok::<(), CatalogError>(())
    })?;
    Ok(fetched)
}

/// A model, `None` where its context window is not told; or what is wrong with it.
type Entry = Result<Option<Model>, &'static str>;

fn model(entry: &RawValue) -> Result<Entry, serde_json::Error> {
    if !is_object(entry) {
        return Ok(Err("is not an object"));
    }
    let parts = members(entry, ["context", "id", "thinking", "description"])?;
    Ok(of_parts(parts))
}

fn of_parts([context, id, thinking, description]: [Option<&RawValue>; 4]) -> Entry {
    let Some(context) = context else {
        return Ok(None);
    };
    let context = read(context).filter(|context| *context > 0);
    let context = context.ok_or("has a `context` that is no integer in [1, 4294967295]")?;
    let id: Option<String> = id.and_then(read);
    let id = id.filter(|id| model_id_fault(id).is_none());
    let id = id.ok_or("has no valid `id`")?;
    let thinking = thinking.and_then(read).ok_or(
        "does not say whether it thinks: its `thinking` is none of never, always and switchable",
    )?;
    let description: String = match description {
        None => String::new(),
        Some(description) => read(description).ok_or("has a `description` that is no string")?,
    };
    Ok(Some(Model {
        id: id.into(),
        context,
        thinking,
        description: description.into(),
    }))
}
