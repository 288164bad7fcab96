//! The gateway's list of models (spec M75).

use runvil::engine::model::{FailureClass, Model, ModelFailure, Thinking};
use runvil::harness::gateway::{CatalogError, Fetched, Unlisted, current_model};
use runvil::harness::model::Terms;

use crate::ask::{LONG, SHORT, gateway, terms};
use crate::server::{STREAM, Server, Step, chunk, reply};

fn model(id: &str, context: u32, thinking: Thinking, description: &str) -> Model {
    Model {
        id: id.into(),
        context,
        thinking,
        description: description.into(),
    }
}

fn list(entries: &str) -> Vec<u8> {
    let body = format!(r#"{{"object":"list","data":[{entries}]}}"#);
    reply("200 OK", "application/json", body)
}

fn catalog_of(sent: Vec<u8>, terms: &Terms) -> Result<Fetched, CatalogError> {
    let server = Server::new(move |_, _| vec![Step::Send(sent.clone()), Step::Close]);
    gateway(&server.url()).catalog(terms)
}

#[test]
fn models_come_in_order_and_those_without_a_context_are_left_out() {
    let server = Server::always(list(
        r#"{"id":"b","context":32000,"thinking":"switchable","description":"B","more":1},
           {"id":"","thinking":5},{"id":"b","context":null},
           {"id":"a/é:1","context":1,"thinking":"never","description":null},
           {"id":"c","context":4294967295,"thinking":"always"}"#,
    ));
    let fetched = gateway(&server.url()).catalog(&terms(LONG)).expect("lists");
    assert_eq!(fetched.without_context, 2);
    let models = fetched.models;
    let expected = [
        model("b", 32000, Thinking::Switchable, "B"),
        model("a/é:1", 1, Thinking::Never, ""),
        model("c", u32::MAX, Thinking::Always, ""),
    ];
    assert_eq!(models, expected);
    let request = &server.requests()[0];
    assert_eq!(request.line, "GET /v1/models HTTP/1.1");
    assert_eq!(request.header("content-type"), None);

    assert_eq!(current_model(&models, None), Ok(Some(expected[0].clone())));
    assert_eq!(
        current_model(&models, Some("c")),
        Ok(Some(expected[2].clone()))
    );
    for none in ["", "a\nb"] {
        assert_eq!(current_model(&models, Some(none)), Ok(None));
    }
    assert_eq!(current_model(&[], None), Ok(None));
    let unlisted = current_model(&models, Some("x")).expect_err("not listed");
    assert_eq!(unlisted, Unlisted("x".to_owned()));
    assert_eq!(
        unlisted.to_string(),
        "the selected model `x` is absent from the fetched catalog"
    );
}

#[test]
fn a_malformed_list_is_told_without_quoting_it() {
    const ENTRY: &str = r#""id":"SECRET","context":1,"thinking":"never""#;
    let entry = |entry: &str| list(&format!(r#"{{{ENTRY}}},{{{entry}}}"#));
    let context = "model list entry 2 has a `context` that is no integer in [1, 4294967295]";
    let thinking = "model list entry 2 does not say whether it thinks: its `thinking` is none of \
                    never, always and switchable";
    let cases = [
        (list("SECRET"), "model list response was not valid JSON"),
        (
            reply("200 OK", "text/html", "<html>SECRET"),
            "model list response was not valid JSON",
        ),
        (
            reply("204 No Content", "text/html", ""),
            "model list response was not valid JSON",
        ),
        (
            reply("200 OK", "", r#"["SECRET"]"#),
            "model list response had no `data` array",
        ),
        (
            reply("200 OK", "", r#"{"data":"SECRET"}"#),
            "model list response had no `data` array",
        ),
        (
            list(&format!(r#"{{{ENTRY}}},"SECRET""#)),
            "model list entry 2 is not an object",
        ),
        (entry(r#""id":"a","context":0,"thinking":"never""#), context),
        (
            entry(r#""id":"a","context":4294967296,"thinking":"never""#),
            context,
        ),
        (
            entry(r#""id":"a","context":1.0,"thinking":"never""#),
            context,
        ),
        (
            entry(r#""id":"a","context":"SECRET","thinking":"never""#),
            context,
        ),
        (entry(r#""id":"a","context":1"#), thinking),
        (
            entry(r#""id":"a","context":1,"thinking":"SECRET""#),
            thinking,
        ),
        (entry(r#""id":"a","context":1,"thinking":true"#), thinking),
        (
            entry(r#""context":1,"thinking":"never""#),
            "model list entry 2 has no valid `id`",
        ),
        (
            entry(r#""id":"","context":1,"thinking":"never""#),
            "model list entry 2 has no valid `id`",
        ),
        (
            entry(r#""id":"a\u0007","context":1,"thinking":"never""#),
            "model list entry 2 has no valid `id`",
        ),
        (
            entry(r#""id":"SECRET","context":1,"thinking":"never""#),
            "model list entry 2 repeats an id",
        ),
        (
            entry(r#""id":"a","context":1,"thinking":"never","description":5"#),
            "model list entry 2 has a `description` that is no string",
        ),
    ];
    for (sent, message) in cases {
        let error = catalog_of(sent.clone(), &terms(LONG)).expect_err(message);
        assert_eq!(
            error.to_string(),
            message,
            "{}",
            String::from_utf8_lossy(&sent)
        );
        assert!(!format!("{error:?}").contains("SECRET"));
    }
}

#[test]
fn a_list_has_a_cap() {
    let capped = |cap| Terms {
        response_cap: cap,
        ..terms(LONG)
    };
    let whole = list("");
    let length = 27;
    assert!(String::from_utf8_lossy(&whole).contains("Content-Length: 27"));
    assert_eq!(
        catalog_of(whole.clone(), &capped(length)),
        Ok(Fetched::default())
    );
    assert_eq!(
        catalog_of(whole, &capped(length - 1))
            .expect_err("too large")
            .to_string(),
        "model list body of 27 bytes exceeds the 26-byte limit"
    );
    let streamed = [STREAM.as_bytes(), &chunk([b' '; 27]), &chunk("")].concat();
    assert_eq!(
        catalog_of(streamed, &capped(26))
            .expect_err("too large")
            .to_string(),
        "model list body exceeds the 26-byte limit"
    );
}

#[test]
fn failures_are_those_of_rounds() {
    let refused = catalog_of(reply("401 No", "", "SECRET"), &terms(LONG));
    let failure = ModelFailure::new(FailureClass::Credentials, Some(401));
    assert_eq!(refused, Err(CatalogError::Failed(failure)));
    let server = Server::first(vec![Step::Stall]);
    let silent = gateway(&server.url()).catalog(&terms(SHORT));
    let failure = ModelFailure::new(FailureClass::Timeout, None);
    assert_eq!(silent, Err(CatalogError::Failed(failure)));
}
