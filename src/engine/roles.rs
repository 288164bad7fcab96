//! Model roles as a run has them: bound to the Host's current model (spec M8, M16, M25).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::model::Model;
use crate::lua::{Data, Object, Part};
use crate::prompt::{Keyword, Prompt, Role};

/// The window of a model that is named by its raw id (spec M21).
const RAW_CONTEXT: u32 = 8192;

/// What a round runs under: a role's binding, or a model by its raw id.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Handle {
    pub(super) label: Arc<str>,
    pub(super) model: Arc<str>,
    pub(super) context: u32,
    /// The thinking switch (spec M6).
    pub(super) thinking: Option<bool>,
    pub(super) options: Options,
    description: Arc<str>,
    capabilities: Data,
}

/// The sampling options of a selection (spec M22, M23).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Options {
    pub(super) temperature: Option<f64>,
    pub(super) max_tokens: Option<u32>,
}

impl Handle {
    fn bound(label: &str, role: &Role, model: &Model) -> Self {
        let thinking = role
            .keywords
            .iter()
            .rev()
            .find_map(|keyword| match keyword {
                Keyword::Thinking => Some(true),
                Keyword::NoThinking => Some(false),
                _ => None,
            });
        let words = role.keywords.iter().map(|word| Data::text(word.word()));
        let description = role.description.as_deref().map(Arc::from);
        Self {
            label: label.into(),
            model: model.id.clone(),
            context: model.context,
            thinking,
            options: Options::default(),
            description: description.unwrap_or_else(|| model.description.clone()),
            capabilities: Data::list(words.collect::<Vec<_>>()),
        }
    }

    /// A model by its id alone, which is not looked up (spec M21).
    pub(super) fn raw(id: &str) -> Self {
        let id: Arc<str> = id.into();
        Self {
            label: id.clone(),
            model: id.clone(),
            context: RAW_CONTEXT,
            thinking: None,
            options: Options::default(),
            description: id,
            capabilities: Data::list([]),
        }
    }

    /// The same with sampling options.
    pub(super) fn with(&self, options: Options) -> Self {
        Self {
            options,
            ..self.clone()
        }
    }

    /// The handle as Lua has it (spec M25).
    pub(super) fn object(self: Rc<Self>) -> Object {
        let handle = self.clone();
        Object {
            fields: Rc::new(move |name| handle.field(name).map(Part::Data)),
            text: self.label.clone(),
            inner: self,
            noun: None,
        }
    }

    fn field(&self, name: &str) -> Option<Data> {
        let Options {
            temperature,
            max_tokens,
        } = self.options;
        let count = |count: u32| Data::Int(count.into());
        Some(match name {
            "name" | "label" => Data::Text(self.label.clone()),
            "description" => Data::Text(self.description.clone()),
            "capabilities" => self.capabilities.clone(),
            "model_id" => Data::Text(self.model.clone()),
            "context" => count(self.context),
            "thinking" => self.thinking.map_or(Data::Null, Data::Bool),
            "temperature" => temperature.map_or(Data::Null, Data::Float),
            "max_tokens" => max_tokens.map_or(Data::Null, count),
            _ => return None,
        })
    }
}

/// The roles of a run, and the prompt-wide default.
#[derive(Debug)]
pub(super) struct Roles {
    bound: BTreeMap<Arc<str>, Rc<Handle>>,
    default: RefCell<Option<Rc<Handle>>>,
}

impl Roles {
    /// Binds every role that a prompt declares to the model; none without a model (spec M9).
    pub(super) fn new(prompt: &Prompt, model: Option<&Model>) -> Self {
        let roles = prompt.contract.models.iter();
        let bound = model.map(|model| {
            let bound = roles.map(|(label, role)| Handle::bound(label, role, model));
            bound
                .map(|handle| (handle.label.clone(), Rc::new(handle)))
                .collect()
        });
        Self {
            bound: bound.unwrap_or_default(),
            default: RefCell::default(),
        }
    }

    /// The binding of a label.
    pub(super) fn get(&self, label: &str) -> Option<&Rc<Handle>> {
        self.bound.get(label)
    }

    /// The labels that are bound.
    pub(super) fn labels(&self) -> impl Iterator<Item = &Arc<str>> {
        self.bound.keys()
    }

    /// The prompt-wide default, once it was set.
    pub(super) fn default(&self) -> Option<Rc<Handle>> {
        self.default.borrow().clone()
    }

    /// Sets the prompt-wide default, once and for all (spec M19).
    ///
    /// # Errors
    /// The label it was set to before, where that is another.
    pub(super) fn set_default(&self, handle: &Rc<Handle>) -> Result<(), Arc<str>> {
        let mut default = self.default.borrow_mut();
        match &*default {
            Some(set) if set.label != handle.label => Err(set.label.clone()),
            _ => {
                *default = Some(handle.clone());
                Ok(())
            }
        }
    }
}
