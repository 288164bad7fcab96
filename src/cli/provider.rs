//! What answers a host's model rounds, and the models it has (spec C2, C8, C10, M74, M75).

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, Builder};
use std::time::Duration;

use runvil::engine::model::Model;
use runvil::harness::gateway::{CatalogError, Fetched, Gateway, current_model};
use runvil::harness::model::{Abort, Broker, Terms};
use runvil::harness::yaml::{Identified, YamlError};
use runvil::harness::{CancelToken, Limits, Script};
use runvil::prompt::Dialect;

use super::args::HostArgs;
use super::config::{self, Config, ModelEntry};
use super::help::Backing;
use super::live::Live;
use super::source::{self, TEXT_CAP};
use super::status::{SetupError, Unready};

/// How often a wait for the gateway looks for a Ctrl-C.
const LOOK: Duration = Duration::from_millis(20);

/// What answers model rounds.
pub enum Provider {
    /// A script, which plays one model.
    Script {
        /// The script.
        script: Box<Script>,
        /// The id that was asked for.
        selected: Option<String>,
    },
    /// A gateway, which has many.
    Gateway {
        /// Its client.
        gateway: Box<Gateway>,
        /// The configured catalog; empty where the gateway is to be asked for its own.
        configured: Vec<Model>,
        /// The id that was asked for.
        selected: Option<String>,
    },
    /// Nothing does.
    Nothing,
}

/// The models that there are.
pub struct Catalog {
    /// The models, in the order of the catalog.
    pub models: Vec<Model>,
    /// The current one.
    pub current: Current,
}

/// The current model.
pub enum Current {
    /// It is this one of the catalog.
    Is(usize),
    /// There is none, for a reason, and a run may do without (spec M14).
    None(String),
    /// One was asked for that is not there, so nothing runs (spec M75).
    Absent(SetupError),
}

/// The file of the host configuration: the one that was named, or the one that is found (spec C2).
pub fn configuration_file(named: Option<&Path>) -> Option<PathBuf> {
    config::find(named, |name| env::var_os(name), Path::exists)
}

/// Reads the host configuration.
pub fn configuration(named: Option<&Path>) -> Result<Config, SetupError> {
    match configuration_file(named) {
        Some(file) => {
            let config = Config::from_yaml(&source::read(&file, TEXT_CAP)?);
            let folder = file.parent().unwrap_or(Path::new("")).to_owned();
            config
                .map_err(|error| misread(&file, &error))
                .map(|config| Config {
                    folder,
                    file: Some(file),
                    ..config
                })
        }
        None => Ok(Config::default()),
    }
}

/// Reads a script.
fn script(file: &Path) -> Result<Script, SetupError> {
    Script::from_yaml(&source::read(file, TEXT_CAP)?).map_err(|error| misread(file, &error))
}

fn misread(file: &Path, error: &YamlError) -> SetupError {
    SetupError(format!("{}:{error}", file.display()))
}

impl Provider {
    /// What the words, the configuration and the environment ask for. A script goes before a
    /// gateway. The dialect, which says whose variables go first, is asked for only where any are
    /// set or needed.
    pub fn new(
        args: &HostArgs,
        config: &Config,
        dialect: impl FnOnce() -> Dialect,
    ) -> Result<Self, SetupError> {
        if let Some(file) = &args.script {
            return Ok(Self::Script {
                script: Box::new(script(file)?),
                selected: args.model.clone(),
            });
        }
        let catalog = &config.models.0;
        let needed = args.model.is_some() || !catalog.is_empty();
        let variable = |name: &str| env::var_os(name);
        let wanted = config::resolve(config.gateway.as_ref(), needed, dialect, variable);
        let connection = wanted.and_then(|wanted| wanted.map(|it| it.connect()).transpose());
        let connection = connection.map_err(|error| SetupError(error.to_string()))?;
        let Some(connection) = connection else {
            return Ok(Self::Nothing);
        };
        let gateway = Gateway::new(connection, wire_names(catalog))
            .map_err(|error| SetupError(error.to_string()))?;
        Ok(Self::Gateway {
            gateway: Box::new(gateway),
            configured: catalog.iter().map(Model::from).collect(),
            selected: args.model.clone().or_else(|| config.model.clone()),
        })
    }

    /// The current model of a run (spec M8, M75). A gateway is asked for its catalog only where the
    /// prompt has roles: nothing of another depends on a model, so that it needs no network.
    /// `cancel` ends the wait for it.
    pub fn current(
        &self,
        limits: Limits,
        cancel: &CancelToken,
        has_roles: impl FnOnce() -> bool,
    ) -> Result<Option<Model>, Unready> {
        let is_asked = matches!(self, Self::Gateway { configured, .. } if configured.is_empty());
        if is_asked && !has_roles() {
            return Ok(None);
        }
        let mut catalog = self.catalog(limits, cancel)?;
        match catalog.current {
            Current::Is(at) => Ok(Some(catalog.models.swap_remove(at))),
            Current::None(_) => Ok(None),
            Current::Absent(error) => Err(error.into()),
        }
    }

    /// The models that there are, and the current one. `cancel` ends the wait for a gateway's.
    pub fn catalog(&self, limits: Limits, cancel: &CancelToken) -> Result<Catalog, Unready> {
        match self {
            Self::Script { script, selected } => Ok(of_script(script.model(), selected.as_deref())),
            Self::Gateway {
                gateway,
                configured,
                selected,
            } => of_gateway(gateway, configured, selected.as_deref(), limits, cancel),
            Self::Nothing => Ok(Catalog {
                models: Vec::new(),
                current: Current::None(
                    "there is no gateway: neither RUNVIL_GATEWAY_URL nor the configuration's \
                     `gateway.url` is set"
                        .to_owned(),
                ),
            }),
        }
    }

    /// What a failure names as having been asked.
    pub fn backing(&self) -> Backing {
        match self {
            Self::Script { .. } => Backing::Script,
            Self::Gateway { gateway, .. } => Backing::Gateway(gateway.base().to_owned()),
            Self::Nothing => Backing::Nothing,
        }
    }

    /// What answers a run's rounds. A round that no rule of a script answers is logged.
    pub fn broker(self, live: &Live) -> Option<Arc<dyn Broker>> {
        let broker: Arc<dyn Broker> = match self {
            Self::Script { script, .. } => {
                let log = live.clone();
                Arc::new(script.on_unanswered(move |round, message| {
                    log.log(&format!(
                        "the script has no rule for round {round}, whose last message is: {message}"
                    ));
                }))
            }
            Self::Gateway { gateway, .. } => Arc::new(*gateway),
            Self::Nothing => return None,
        };
        Some(live.watch(broker))
    }

    /// Checks that rounds with the model of a run that began elsewhere are answered here.
    ///
    /// # Errors
    /// Another model is played, the configured catalog does not list it, or nothing answers.
    pub fn check_serves(&self, id: &str) -> Result<(), SetupError> {
        let why = match self {
            Self::Script { script, .. } if *script.model().id == *id => return Ok(()),
            Self::Script { script, .. } => format!("the script plays `{}`", script.model().id),
            Self::Gateway { configured, .. }
                if configured.is_empty() || configured.iter().any(|model| *model.id == *id) =>
            {
                return Ok(());
            }
            Self::Gateway { .. } => "the configuration does not list it".to_owned(),
            Self::Nothing => {
                "nothing here answers for it: `--script FILE`, or a gateway in the configuration"
                    .to_owned()
            }
        };
        Err(SetupError(format!("the run's model is `{id}`, and {why}")))
    }
}

/// The names by which the wire knows models that have another id (spec C9).
pub fn wire_names(catalog: &[ModelEntry]) -> BTreeMap<Arc<str>, String> {
    let named = catalog.iter();
    named
        .filter_map(|entry| Some((entry.id().into(), entry.name.clone()?)))
        .collect()
}

fn of_script(model: &Model, selected: Option<&str>) -> Catalog {
    let current = match selected.filter(|id| **id != *model.id) {
        Some(id) => Current::Absent(SetupError(format!(
            "the selected model `{id}` is not the script's, which is `{}`",
            model.id
        ))),
        None => Current::Is(0),
    };
    Catalog {
        models: vec![model.clone()],
        current,
    }
}

/// Does what an abort ends, which a cancel sets off.
fn until_cancelled<T>(cancel: &CancelToken, abort: &Abort, deed: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        let watch = move || {
            while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if cancel.is_cancelled() {
                    return abort.abort();
                }
            }
        };
        // Where the system gives no thread, the deed ends by its own limits.
        let _ = Builder::new().spawn_scoped(scope, watch);
        let outcome = deed();
        drop(done);
        outcome
    })
}

fn of_gateway(
    gateway: &Gateway,
    configured: &[Model],
    selected: Option<&str>,
    limits: Limits,
    cancel: &CancelToken,
) -> Result<Catalog, Unready> {
    let unresolved =
        |why: String| SetupError(format!("the run's model could not be resolved: {why}"));
    let (fetched, origin) = match configured {
        [] => {
            let abort = Abort::default();
            let terms = Terms {
                // The catalog has the cap of its own that spec M75 gives it.
                response_cap: Limits::default().response_cap,
                receive_timeout: Duration::from_secs(limits.receive_timeout),
                abort: abort.clone(),
                show: None,
                tap: None,
            };
            let fetched = until_cancelled(cancel, &abort, || gateway.catalog(&terms));
            if cancel.is_cancelled() {
                return Err(Unready::Cancelled);
            }
            let fetched = fetched.map_err(|error| {
                let mut why = format!("the model catalog could not be fetched: {error}");
                if let CatalogError::Failed(failure) = &error {
                    why.extend(failure.cause.iter().map(|cause| format!(": {cause}")));
                }
                unresolved(why)
            })?;
            (fetched, "fetched")
        }
        _ => (Fetched::from(configured.to_vec()), "configured"),
    };
    let Fetched {
        models,
        without_context,
    } = fetched;
    let current = match (current_model(&models, selected), selected) {
        (Ok(Some(current)), _) => {
            let at = models.iter().position(|model| model.id == current.id);
            Current::Is(at.unwrap_or(0))
        }
        (Ok(None), Some(id)) => Current::None(format!("{id:?} cannot be a model's id")),
        (Ok(None), None) if without_context > 0 => Current::None(format!(
            "the gateway lists {without_context} without saying how large the `context` is; list \
             them under `models:` in the configuration"
        )),
        (Ok(None), None) => Current::None(format!("the {origin} catalog is empty")),
        (Err(_), id) => {
            let id = id.unwrap_or_default();
            let why = format!("the selected model `{id}` is absent from the {origin} catalog");
            Current::Absent(unresolved(why))
        }
    };
    Ok(Catalog { models, current })
}
