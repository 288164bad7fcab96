//! The environment's proxy carries what does not go to this machine.

use std::env;
use std::process::Command;

use crate::ask::{gateway, goes_on};
use crate::server::{Server, Step, well};

/// Names the two gateways to the process that has the proxy in its environment.
const AWAY: &str = "RUNVIL_TEST_GATEWAY_AWAY";
const HERE: &str = "RUNVIL_TEST_GATEWAY_HERE";

#[test]
fn a_gateway_elsewhere_is_reached_through_it_and_one_on_this_machine_is_not() {
    if let (Ok(away), Ok(here)) = (env::var(AWAY), env::var(HERE)) {
        for url in [away, here] {
            let gateway = gateway(&url);
            goes_on(&gateway);
            goes_on(&gateway);
        }
        return;
    }
    let proxy = Server::new(|nth, _| match nth {
        0 => vec![Step::Send(b"HTTP/1.1 200 Connected\r\n\r\n".to_vec())],
        _ => vec![Step::Send(well())],
    });
    let here = Server::always(well());
    let name = "proxy::a_gateway_elsewhere_is_reached_through_it_and_one_on_this_machine_is_not";
    let output = Command::new(env::current_exe().unwrap())
        .args([name, "--exact"])
        .env(AWAY, "http://gateway.invalid/v1")
        .env(HERE, here.url())
        .env("ALL_PROXY", format!("http://{}", proxy.address))
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let lines = |server: &Server| -> Vec<String> {
        server
            .requests()
            .into_iter()
            .map(|request| request.line)
            .collect()
    };
    let round = "POST /v1/chat/completions HTTP/1.1";
    assert_eq!(
        lines(&proxy),
        ["CONNECT gateway.invalid:80 HTTP/1.1", round, round]
    );
    assert_eq!(proxy.accepted(), 1);
    assert_eq!(lines(&here), [round; 2]);
}
