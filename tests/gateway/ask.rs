//! Rounds and what they come to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use runvil::engine::model::{
    Body, FailureClass, Message, ModelFailure, Origin, Reply, Role, Round,
};
use runvil::harness::gateway::{Connection, Gateway};
use runvil::harness::model::{Abort, Answered, Broker, Taken, Terms};

use crate::server::{Server, Step};

/// Long enough never to be the reason.
pub const LONG: Duration = Duration::from_secs(20);
/// The receive timeout where it is to strike.
pub const SHORT: Duration = Duration::from_millis(300);

pub fn round() -> Arc<Round> {
    Arc::new(Round {
        round: 7,
        origin: Origin::Chat,
        model: "m1".into(),
        messages: vec![Message::text(Role::User, "hi")].into(),
        tools: Vec::new().into(),
        temperature: None,
        max_tokens: None,
        thinking: None,
    })
}

pub fn terms(receive_timeout: Duration) -> Terms {
    Terms {
        response_cap: 16 << 20,
        receive_timeout,
        abort: Abort::default(),
        show: None,
        tap: None,
    }
}

pub fn gateway(url: &str) -> Gateway {
    let connection = Connection::new(url, None).unwrap();
    Gateway::new(connection, BTreeMap::new()).unwrap()
}

/// Performs a round on this thread.
pub fn perform(gateway: &Gateway, round: Arc<Round>, terms: Terms) -> Answered {
    match gateway.take(round, terms) {
        Taken::Deed(deed) => deed(),
        Taken::Known(..) => panic!("the answer cannot be known"),
    }
}

pub fn ask(gateway: &Gateway) -> Answered {
    perform(gateway, round(), terms(LONG))
}

/// The text of a reply that is text.
#[track_caller]
pub fn said(reply: &Reply) -> &str {
    match &reply.body {
        Body::Text(text) => text,
        Body::Calls(calls) => panic!("calls tools: {calls:?}"),
    }
}

/// Asks well: the reply is `well`.
#[track_caller]
pub fn goes_on(gateway: &Gateway) {
    assert_eq!(said(&ask(gateway).expect("answers")), "well");
}

/// The failure of a round whose server does so; the next round on the same gateway goes well.
#[track_caller]
pub fn failure(steps: Vec<Step>, terms: Terms) -> ModelFailure {
    let server = Server::first(steps);
    let gateway = gateway(&server.url());
    let failure = perform(&gateway, round(), terms).expect_err("fails");
    goes_on(&gateway);
    failure
}

/// What a server's bytes come to.
pub fn answer(reply: Vec<u8>) -> Answered {
    let server = Server::always(reply);
    ask(&gateway(&server.url()))
}

/// What was wrong with a server's bytes.
#[track_caller]
pub fn malformed(reply: Vec<u8>) -> String {
    what(&failure(vec![Step::Send(reply), Step::Close], terms(LONG)))
}

/// The text of spec M70 in a failure.
#[track_caller]
pub fn what(failure: &ModelFailure) -> String {
    assert_eq!(failure.class, FailureClass::Malformed, "{failure:?}");
    assert_eq!((failure.status, &failure.cause), (None, &None));
    let phrase = "the model backend sent a reply that could not be understood: ";
    failure
        .message
        .strip_prefix(phrase)
        .expect("the phrase")
        .to_owned()
}
