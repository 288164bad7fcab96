//! What is sent (spec M63, M74).

use std::collections::BTreeMap;

use runvil::engine::model::{Message, Role, Tool};
use runvil::harness::gateway::{Connection, Gateway};
use runvil::lua::Data;

use crate::ask::{LONG, ask, gateway, perform, round, terms};
use crate::server::{Server, well};

#[test]
fn a_small_request_has_the_fields_that_are_set() {
    let server = Server::always(well());
    ask(&gateway(&server.url())).expect("answers");
    let request = &server.requests()[0];
    assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("host"), Some(&*server.address.to_string()));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.header("accept-encoding"), None);
    assert_eq!(request.header("transfer-encoding"), None);
    assert_eq!(
        request.body,
        r#"{"model":"m1","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}"#
    );
}

#[test]
fn a_full_request_has_all_fields_in_order() {
    let server = Server::always(well());
    let connection = Connection::new(&format!("{}///", server.url()), Some("sk-secret")).unwrap();
    let names = BTreeMap::from([("m1".into(), "org/model:8b".to_owned())]);
    let gateway = Gateway::new(connection, names).unwrap();
    let tool = Tool {
        name: "echo".into(),
        description: "Says it again.".into(),
        parameters: Data::object([("type", Data::text("object"))]),
    };
    let mut full = (*round()).clone();
    full.messages = vec![
        Message::text(Role::System, "é\n"),
        Message::text(Role::User, ""),
    ]
    .into();
    full.tools = vec![tool].into();
    full.temperature = Some(1.0);
    full.max_tokens = Some(u32::MAX);
    full.thinking = Some(false);
    perform(&gateway, full.into(), terms(LONG)).expect("answers");
    let request = &server.requests()[0];
    assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer sk-secret"));
    assert_eq!(
        request.body,
        concat!(
            r#"{"model":"org/model:8b","messages":[{"role":"system","content":"é\n"},"#,
            r#"{"role":"user","content":""}],"stream":true,"#,
            r#""stream_options":{"include_usage":true},"#,
            r#""tools":[{"type":"function","function":{"name":"echo","#,
            r#""description":"Says it again.","parameters":{"type":"object"}}}],"#,
            r#""tool_choice":"auto","temperature":1.0,"max_tokens":4294967295,"#,
            r#""chat_template_kwargs":{"enable_thinking":false}}"#
        )
    );
    assert!(!format!("{gateway:?}").contains("secret"));
}

#[test]
fn a_large_request_arrives_whole() {
    let server = Server::always(well());
    let text = "é\"".repeat(1 << 20);
    let mut large = (*round()).clone();
    large.messages = vec![Message::text(Role::User, &*text)].into();
    perform(&gateway(&server.url()), large.into(), terms(LONG)).expect("answers");
    let body: serde_json::Value = serde_json::from_str(&server.requests()[0].body).unwrap();
    assert_eq!(body["messages"][0]["content"], text);
}

#[test]
fn an_empty_key_and_loopback_in_any_case_need_no_authorization() {
    // case 05/M-C45
    let server = Server::always(well());
    let url = format!("http://LOCALHOST:{}/v1/", server.address.port());
    let connection = Connection::new(&url, Some("")).unwrap();
    assert!(connection.is_loopback());
    ask(&Gateway::new(connection, BTreeMap::new()).unwrap()).expect("answers");
    let request = &server.requests()[0];
    assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(request.header("authorization"), None);
}
