//! The provider that talks to a model, which works with file tools until it is done (spec P146 to
//! P150).

mod asking;
mod files;
mod session;
mod toolbox;

use std::rc::Rc;

use self::session::Talk;
use super::{Host, Job, Provider, Session, Setting, Wanted};
use crate::packet::failure::{Failure, FailureClass};
use crate::packet::words::ProviderKind;
use crate::prompt::Dialect;

/// Has conversations with the host's model.
pub struct Conversations {
    host: Rc<dyn Host>,
}

impl Conversations {
    /// Has them with the models of this host.
    pub fn new(host: Rc<dyn Host>) -> Self {
        Self { host }
    }
}

impl Provider for Conversations {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Model
    }

    /// A gateway that is there is not asked: whether it knows the model is seen by the session.
    fn problems(&self, setting: Setting<'_>) -> Vec<String> {
        let wanted = Wanted {
            dialect: Dialect::Runvil,
            needs_model: false,
            model: setting.options.model.as_deref(),
        };
        match self.host.launch(wanted) {
            Ok(launch) if launch.broker.is_none() => vec![NO_GATEWAY.to_owned()],
            Ok(_) => Vec::new(),
            Err(problem) => vec![problem],
        }
    }

    fn open<'a>(&'a self, job: &'a Job<'a>) -> Result<Box<dyn Session + 'a>, Box<Failure>> {
        let refuse = |class, message: String| Box::new(Failure::new(class, message));
        let unavailable = |message| refuse(FailureClass::PROVIDER_UNAVAILABLE, message);
        let wanted = Wanted {
            dialect: Dialect::Runvil,
            needs_model: true,
            model: job.setting.options.model.as_deref(),
        };
        let launch = self.host.launch(wanted).map_err(unavailable)?;
        let (Some(model), Some(broker)) = (launch.model, launch.broker) else {
            return Err(unavailable(NO_GATEWAY.to_owned()));
        };
        let talk = Talk::new(job, model, broker, launch.limits);
        Ok(Box::new(talk.map_err(unavailable)?))
    }
}

/// What is said where nothing answers.
const NO_GATEWAY: &str = "provider model has no model: there is no gateway and no script";
