//! What this host gives the providers that work in this process (spec P22, P141, P146).

use std::cell::OnceCell;
use std::env;
use std::path::PathBuf;

use clap::Args;
use runvil::harness::{CancelToken, Harness, Launch};
use runvil::packet::provider::{Host, Wanted};
use runvil::prompt::Dialect;

use super::super::args::HostArgs;
use super::super::config::Config;
use super::super::live::Live;
use super::super::provider::{Provider, configuration, configuration_file};
use super::super::source::refuse_irregular;
use super::super::status::{SetupError, Unready};
use super::super::units;

/// Where models and units come from.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Host (for the providers runvil and model)")]
pub struct HostFlags {
    /// The host configuration; by default the one that `runvil run` finds
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Answer model rounds from this file, instead of a gateway; each attempt begins it anew
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

/// The host, which is made ready when a prompt needs it first.
pub struct PacketHost {
    flags: HostFlags,
    live: Live,
    ready: OnceCell<Result<Ready, String>>,
}

struct Ready {
    config: Config,
    harness: Harness,
}

impl PacketHost {
    /// The host of these flags.
    pub fn new(flags: &HostFlags) -> Self {
        Self {
            flags: flags.clone(),
            live: Live::new(false),
            ready: OnceCell::new(),
        }
    }

    /// Looks at the files that the flags name, before a prompt needs them.
    ///
    /// # Errors
    /// One that cannot be taken.
    pub fn check(&self) -> Result<(), SetupError> {
        if self.flags.config.is_some() || self.flags.script.is_some() {
            let config = &self.ready().map_err(SetupError)?.config;
            self.provider(config, None, Dialect::Runvil)?;
        }
        Ok(())
    }

    fn ready(&self) -> Result<&Ready, String> {
        let ready = self.ready.get_or_init(|| {
            let named = self.flags.config.as_deref();
            let file = configuration_file(named);
            let config = file.as_deref().map_or(Ok(()), refuse_irregular);
            let config = config.and_then(|()| configuration(named));
            let config = config.map_err(|SetupError(why)| why)?;
            let log = self.live.host_log();
            let harness = units::harness(&config, log.clone(), &log, |name| env::var_os(name));
            Ok(Ready { config, harness })
        });
        ready.as_ref().map_err(Clone::clone)
    }

    /// What answers rounds, with this model for the current one where one is given.
    fn provider(
        &self,
        config: &Config,
        model: Option<&str>,
        dialect: Dialect,
    ) -> Result<Provider, SetupError> {
        let host = HostArgs {
            config: None,
            model: model.map(str::to_owned),
            script: self.flags.script.clone(),
        };
        if let Some(script) = &host.script {
            // Each attempt reads it, while signals are held back.
            refuse_irregular(script)?;
        }
        Provider::new(&host, config, || dialect)
    }
}

impl Host for PacketHost {
    fn harness(&self) -> Result<&Harness, String> {
        self.ready().map(|ready| &ready.harness)
    }

    fn launch(&self, wanted: Wanted<'_>) -> Result<Launch, String> {
        let config = &self.ready()?.config;
        let limits = config.limits.limits();
        let said = |SetupError(why)| why;
        let provider = self.provider(config, wanted.model, wanted.dialect);
        let provider = provider.map_err(said)?;
        // The packet's own run ends the process for a signal.
        let never = CancelToken::default();
        let model = provider.current(limits, &never, || wanted.needs_model);
        let model = model.map_err(|unready| match unready {
            Unready::Setup(SetupError(why)) => why,
            Unready::Cancelled => "cancelled".to_owned(),
        });
        Ok(Launch {
            dialect: wanted.dialect,
            limits,
            model: model?,
            broker: provider.broker(&self.live),
            ..Launch::default()
        })
    }
}
