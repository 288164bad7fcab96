//! The command line with pages that take their time (spec T105, T136).

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
mod process;
#[allow(dead_code)]
#[path = "gateway/server.rs"]
mod server;

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use process::runvil;
use rustix::process::{Pid, Signal, kill_process};
use server::{Server, reply};

const PROMPT: &str = "---\nname: p\ndescription: d\nrunvil: 0\nuses: [web]\n---\n# P\n\n## Main\n\n\
                      ```lua\nreturn #tools.call('web/fetch', { url = 'http://localhost:PORT/' })\n\
                      ```\n";

#[test]
fn ctrl_c_does_not_wait_for_a_large_page() {
    // As large as pages may be: reading and writing it takes seconds.
    let page = "<p>Words, many of <b>them</b>.</p>".repeat(240_000);
    let server = Server::always(reply("200 OK", "text/html", page));
    let port = server.address.port();
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "search: {{ provider: searxng, url: \"http://localhost:{port}\" }}\n\
         fetch: {{ allow_private: true, schemes: [http], ports: [{port}] }}\n"
    );
    fs::write(folder.path().join("runvil.yaml"), config).unwrap();
    let prompt = PROMPT.replace("PORT", &port.to_string());
    fs::write(folder.path().join("p.md"), prompt).unwrap();
    for after in [0, 100, 300] {
        let before = server.requests().len();
        let mut command = runvil(folder.path(), ["run", "p.md", "--quiet"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        server.await_requests(before + 1);
        sleep(Duration::from_millis(after));
        if child.try_wait().unwrap().is_some() {
            panic!(
                "{after}: it is over already: {:?}",
                child.wait_with_output()
            );
        }
        let since = Instant::now();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        assert!(
            since.elapsed() < Duration::from_millis(700),
            "{after}: {:?}",
            since.elapsed()
        );
    }
}
