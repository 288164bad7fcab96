//! Every example prints what `examples/cases.yaml` says it prints.

#![allow(clippy::unwrap_used)]

mod case;
mod process;
#[allow(dead_code)]
#[path = "gateway/server.rs"]
mod server;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use server::{Request, Server, Step, reply};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// The files of the examples, as the command line of a case names them.
fn files(end: &str) -> BTreeSet<String> {
    fs::read_dir(examples())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(end) && name != "README.md")
        .map(|name| format!("examples/{name}"))
        .collect()
}

#[test]
fn every_example_prints_what_it_should() {
    let cases = case::read(&examples().join("cases.yaml"));
    let server = Server::new(|_, request| vec![Step::Send(page(request))]);
    let port = server.address.port().to_string();
    case::run_all("examples", &cases, |folder| {
        copy(&examples(), &folder.join("examples"), &|text| {
            at_port(text, &port)
        });
    });
}

/// A text with the port of the researcher's pages changed: here any port is taken that is free.
fn at_port(text: &str, port: &str) -> String {
    let text = text.replace("localhost:8000", &format!("localhost:{port}"));
    text.replace("ports: [8000]", &format!("ports: [{port}]"))
}

/// What a server of files says, as `python3 -m http.server` does.
fn page(request: &Request) -> Vec<u8> {
    let target = request.line.split(' ').nth(1).unwrap();
    let name = target.split('?').next().unwrap().trim_start_matches('/');
    let kind = match name.ends_with(".html") {
        true => "text/html",
        false => "application/octet-stream",
    };
    let page = fs::read_to_string(examples().join("researcher").join(name));
    let port = request.header("host").unwrap().split(':').nth(1).unwrap();
    match page {
        Ok(page) => reply("200 OK", kind, at_port(&page, port)),
        Err(_) => reply("404 File not found", "text/html", "<h1>Error response</h1>"),
    }
}

/// Copies a folder's files, their texts changed.
fn copy(from: &Path, to: &Path, change: &impl Fn(&str) -> String) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        match from.is_dir() {
            true => copy(&from, &to, change),
            false => fs::write(to, change(&fs::read_to_string(from).unwrap())).unwrap(),
        }
    }
}

#[test]
fn every_example_has_a_case_and_a_line_in_the_table() {
    let cases = case::read(&examples().join("cases.yaml"));
    let ran: BTreeSet<&str> = cases
        .iter()
        .flat_map(|case| case.command.iter().map(String::as_str))
        .collect();
    let table = fs::read_to_string(examples().join("README.md")).unwrap();
    for file in files(".script.yaml").union(&files(".config.yaml")) {
        assert!(ran.contains(file.as_str()), "{file} has no case");
    }
    for prompt in files(".md") {
        assert!(ran.contains(prompt.as_str()), "{prompt} has no case");
        let name = prompt.trim_start_matches("examples/");
        assert!(
            table.contains(&format!("| [{name}]({name}) |")),
            "{name} is not in the table"
        );
    }
}
