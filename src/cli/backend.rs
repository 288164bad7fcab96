//! What answers a host's model rounds, and the models it has (spec C2, C8, C10, M74, M75).

use std::env;
use std::path::Path;
use std::sync::Arc;

use runvil::engine::model::Model;
use runvil::harness::Script;
use runvil::harness::model::Broker;
use runvil::harness::yaml::YamlError;

use super::args::HostArgs;
use super::config::{self, Config};
use super::live::Live;
use super::source::{self, TEXT_CAP};
use super::status::SetupError;

/// What answers model rounds.
pub enum Backend {
    /// A script, which plays one model.
    Script(Script),
    /// Nothing does.
    Nothing,
}

/// The models that there are.
pub struct Catalog {
    /// The models, in the order of the catalog, and what the wire calls each.
    pub models: Vec<(Model, String)>,
    /// The current one.
    pub current: Current,
}

/// The current model.
pub enum Current {
    /// It is this one of the catalog.
    Is(usize),
    /// There is none, for a reason, and a run may do without (spec M14).
    None(String),
    /// One was selected that is not there, so nothing runs (spec M75).
    Absent(SetupError),
}

/// Reads the host configuration: the file that was named, or the one that is found (spec C2).
pub fn configuration(args: &HostArgs) -> Result<Config, SetupError> {
    let variable = |name: &str| env::var_os(name);
    match config::find(args.config.as_deref(), variable, Path::exists) {
        Some(file) => Config::from_yaml(&source::read(&file, TEXT_CAP)?)
            .map_err(|error| misread(&file, &error)),
        None => Ok(Config::default()),
    }
}

fn script(file: &Path) -> Result<Script, SetupError> {
    Script::from_yaml(&source::read(file, TEXT_CAP)?).map_err(|error| misread(file, &error))
}

fn misread(file: &Path, error: &YamlError) -> SetupError {
    SetupError(format!("{}:{error}", file.display()))
}

impl Backend {
    /// What the words and the configuration ask for. A script goes before a gateway.
    pub fn new(args: &HostArgs) -> Result<Self, SetupError> {
        match &args.script {
            Some(file) => script(file).map(Self::Script),
            None => Ok(Self::Nothing),
        }
    }

    /// The models that there are, and the one that is selected.
    pub fn catalog(&self, args: &HostArgs, config: &Config) -> Result<Catalog, SetupError> {
        match self {
            Self::Script(script) => {
                let model = script.model().clone();
                let selected = args.model.as_deref();
                let current = match selected.filter(|id| **id != *model.id) {
                    Some(id) => Current::Absent(SetupError(format!(
                        "the selected model `{id}` is not the script's, which is `{}`",
                        model.id
                    ))),
                    None => Current::Is(0),
                };
                let name = model.id.to_string();
                Ok(Catalog {
                    models: vec![(model, name)],
                    current,
                })
            }
            Self::Nothing => Ok(Catalog {
                models: Vec::new(),
                current: Current::None(
                    "there is no gateway: neither RUNVIL_GATEWAY_URL nor `gateway.url` of the \
                     configuration is set"
                        .to_owned(),
                ),
            }),
        }
    }

    /// What answers a run's rounds; what no rule of a script answers is logged.
    pub fn broker(self, live: &Live) -> Option<Arc<dyn Broker>> {
        match self {
            Self::Script(script) => {
                let live_too = live.clone();
                let script = script.on_unanswered(move |round, message| {
                    live_too.log(&format!(
                        "the script has no rule for round {round}, whose last message is: {message}"
                    ));
                });
                Some(live.watch(Arc::new(script)))
            }
            Self::Nothing => None,
        }
    }
}

impl Catalog {
    /// The current model, where a run may begin.
    pub fn into_current(mut self) -> Result<Option<Model>, SetupError> {
        match self.current {
            Current::Is(at) if at < self.models.len() => Ok(Some(self.models.swap_remove(at).0)),
            Current::Is(_) | Current::None(_) => Ok(None),
            Current::Absent(error) => Err(error),
        }
    }
}
