//! The command line with a model gateway (spec C9 to C11, M74 to M76).

#![allow(clippy::unwrap_used)]

mod process;

#[path = "gateway/server.rs"]
#[allow(dead_code, reason = "the client's own tests use the rest")]
mod server;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use process::{Finished, finish, runvil};
use server::{Request, Server, Step, reply, well};

/// Asks its model whatever it is told to.
const ASK: &str = "---\nname: ask\ndescription: Asks.\nrunvil: 0\nmodels:\n  any: {}\n---\n# Ask\n\n\
    ```lua\nmodels.default('any')\n```\n\n## Main\n\n\
    ```lua\nreturn models.infer(args) .. ' from ' .. any.model_id\n```\n";

/// Needs no model.
const GREET: &str = "---\nname: greet\ndescription: Greets.\nrunvil: 0\n---\n# Greet\n\n## Main\n\n\
    ```lua\nreturn 'hello'\n```\n";

const MODELS: &str = r#"{"data":[{"id":"small","context":8000,"thinking":"never"},{"id":"no-context","thinking":"never"},{"id":"big","context":200000,"thinking":"switchable","description":"A big\none"}]}"#;

/// A gateway that has these models and answers every round well.
fn gateway(models: &'static str) -> Server {
    Server::new(move |_, request| {
        vec![Step::Send(match request.line.starts_with("GET ") {
            true => reply("200 OK", "application/json", models),
            false => well(),
        })]
    })
}

/// A folder with the prompts and a configuration.
fn folder(configuration: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ask.md"), ASK).unwrap();
    fs::write(folder.path().join("greet.md"), GREET).unwrap();
    fs::write(folder.path().join("runvil.yaml"), configuration).unwrap();
    folder
}

fn command(folder: &Path, words: &[&str], variables: &[(&str, &str)]) -> Finished {
    let mut command = runvil(folder, words);
    command.envs(variables.iter().copied());
    finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()), "")
}

/// Runs where the configuration says nothing.
fn run(words: &[&str], variables: &[(&str, &str)]) -> Finished {
    command(folder("").path(), words, variables)
}

#[track_caller]
fn assert_printed(finished: &Finished, stdout: &str) {
    assert_eq!(finished.stdout, stdout, "{finished:?}");
    assert_eq!((finished.stderr.as_str(), finished.status), ("", Some(0)));
}

#[track_caller]
fn assert_refused(finished: &Finished, message: &str) {
    let stderr = format!("error: {message}\n");
    assert_eq!(finished.stderr, stderr);
    assert_eq!((finished.stdout.as_str(), finished.status), ("", Some(2)));
}

fn lines(server: &Server) -> Vec<String> {
    let requests = server.requests();
    requests.into_iter().map(|request| request.line).collect()
}

fn body(request: &Request) -> serde_json::Value {
    serde_json::from_str(&request.body).unwrap()
}

#[test]
fn the_first_model_of_the_gateway_is_the_current_one() {
    let server = gateway(MODELS);
    let url = server.url() + "/";
    let set = [
        ("RUNVIL_GATEWAY_URL", url.as_str()),
        ("RUNVIL_GATEWAY_API_KEY", "k1"),
    ];
    assert_printed(&run(&["run", "ask.md", "hi"], &set), "well from small");
    let expected = [
        "GET /v1/models HTTP/1.1",
        "POST /v1/chat/completions HTTP/1.1",
    ];
    assert_eq!(lines(&server), expected);
    for request in server.requests() {
        assert_eq!(request.header("authorization"), Some("Bearer k1"));
    }
    assert_eq!(body(&server.requests()[1])["model"], "small");
}

#[test]
fn a_model_can_be_selected() {
    let server = gateway(MODELS);
    let url = server.url();
    let set = [("PROMPTFORGE_GATEWAY_URL", url.as_str())];
    let finished = run(&["run", "ask.md", "hi", "--model", "big"], &set);
    assert_printed(&finished, "well from big");
    assert_eq!(server.requests()[0].header("authorization"), None);
    let finished = run(&["run", "ask.md", "hi", "--model", "no-context"], &set);
    assert_refused(
        &finished,
        "the run's model could not be resolved: the selected model `no-context` is absent from the \
         fetched catalog",
    );
    // An id that can be none selects no model, so the role is not bound.
    let finished = run(&["run", "ask.md", "hi", "--model", ""], &set);
    assert!(
        finished
            .stderr
            .contains("models.default label \"any\" is not a bound model role")
    );
    assert_eq!(finished.status, Some(1));
}

#[test]
fn a_configured_catalog_is_not_fetched_and_names_the_wires_models() {
    let server = gateway(MODELS);
    let configuration = format!(
        "gateway: {{ url: '{}', api_key_env: MINE }}\nmodel: local\nmodels:\n\
         - {{ id: other, context: 1000, thinking: never }}\n\
         - {{ id: local, name: qwen3-8b, context: 1000, thinking: never }}\n",
        server.url()
    );
    let folder = folder(&configuration);
    let set = [
        ("MINE", "k2"),
        ("RUNVIL_GATEWAY_URL", "no URL"),
        ("RUNVIL_GATEWAY_API_KEY", "k1"),
    ];
    let run = |words: &[&str]| command(folder.path(), words, &set);
    assert_printed(&run(&["run", "ask.md", "hi"]), "well from local");
    assert_printed(
        &run(&["run", "ask.md", "hi", "--model=other"]),
        "well from other",
    );
    assert_eq!(lines(&server), ["POST /v1/chat/completions HTTP/1.1"; 2]);
    let requests = server.requests();
    assert_eq!(requests[0].header("authorization"), Some("Bearer k2"));
    assert_eq!(body(&requests[0])["model"], "qwen3-8b");
    assert_eq!(body(&requests[1])["model"], "other");
    assert_refused(
        &run(&["run", "greet.md", "--model=none"]),
        "the run's model could not be resolved: the selected model `none` is absent from the \
         configured catalog",
    );
}

#[test]
fn a_prompt_without_roles_needs_no_network() {
    let server = gateway(MODELS);
    let url = server.url();
    let set = [("RUNVIL_GATEWAY_URL", url.as_str())];
    assert_printed(&run(&["run", "greet.md"], &set), "hello");
    assert_eq!(lines(&server), [""; 0]);
}

#[test]
fn without_a_catalog_nothing_runs() {
    let table = [
        (
            reply("503 Busy", "text/plain", "secret"),
            "the model backend is overloaded (status 503)",
        ),
        (
            reply("200 OK", "text/plain", "secret"),
            "model list response was not valid JSON",
        ),
    ];
    for (answer, why) in table {
        let server = Server::always(answer);
        let url = server.url();
        let set = [("RUNVIL_GATEWAY_URL", url.as_str())];
        let message = format!(
            "the run's model could not be resolved: the model catalog could not be fetched: {why}"
        );
        assert_refused(&run(&["run", "ask.md", "hi"], &set), &message);
        assert_refused(&run(&["models"], &set), &message);
        let json = run(&["run", "ask.md", "hi", "--json"], &set);
        let object = format!("{{\"outcome\":\"error\",\"message\":\"{message}\"}}\n");
        assert_eq!((json.stdout, json.status), (object, Some(2)));
    }
}

#[test]
fn the_models_of_a_gateway_are_listed() {
    let server = gateway(MODELS);
    let url = server.url();
    let set = [
        ("RUNVIL_GATEWAY_URL", url.as_str()),
        ("RUNVIL_GATEWAY_API_KEY", "k1"),
    ];
    assert_printed(
        &run(&["models", "--model", "big"], &set),
        "  ID     NAME   CONTEXT  THINKING    DESCRIPTION\n  \
           small  small  8000     never\n\
         * big    big    200000   switchable  A big\\none\n",
    );
    let absent = run(&["models", "--model", "huge"], &set);
    assert!(absent.stdout.starts_with("  ID "), "{absent:?}");
    let why = "the run's model could not be resolved: the selected model `huge` is absent from the \
               fetched catalog";
    assert_eq!(
        (absent.stderr, absent.status),
        (format!("error: {why}\n"), Some(2))
    );
    let json = run(&["models", "--model", "huge", "--json"], &set);
    let object: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(object["unavailable"], why);
    assert_eq!(object["models"][1]["context"], 200_000);
    assert_eq!(object["models"][1]["current"], false);
    assert_eq!(json.status, Some(2));
    let empty = gateway(r#"{"data":[]}"#);
    let url = empty.url();
    let set = [("RUNVIL_GATEWAY_URL", url.as_str())];
    assert_printed(
        &run(&["models"], &set),
        "no current model: the fetched catalog is empty\n",
    );
}

#[test]
fn the_variables_of_the_prompts_dialect_go_first() {
    let (mine, others) = (gateway(MODELS), gateway(MODELS));
    let (mine_url, others_url) = (mine.url(), others.url());
    let set = [
        ("PROMPTFORGE_GATEWAY_URL", mine_url.as_str()),
        ("PROMPTFORGE_GATEWAY_API_KEY", "k1"),
        ("RUNVIL_GATEWAY_URL", others_url.as_str()),
        ("RUNVIL_GATEWAY_API_KEY", "k2"),
    ];
    let folder = folder("");
    let prompt = ASK.replace("runvil: 0", "promptforge: 0");
    fs::write(folder.path().join("ask.md"), prompt).unwrap();
    let finished = command(folder.path(), &["run", "ask.md", "hi"], &set);
    assert_printed(&finished, "well from small");
    assert_eq!(
        mine.requests()[1].header("authorization"),
        Some("Bearer k1")
    );
    assert!(others.requests().is_empty());
}

#[test]
fn the_key_is_in_nothing_that_is_printed() {
    let server = Server::new(|_, request| {
        vec![Step::Send(match request.line.starts_with("GET ") {
            true => reply("200 OK", "application/json", MODELS),
            false => reply("401 No", "text/plain", "the key sk-secret is wrong"),
        })]
    });
    let url = server.url();
    let set = [
        ("RUNVIL_GATEWAY_URL", url.as_str()),
        ("RUNVIL_GATEWAY_API_KEY", "sk-secret"),
    ];
    for options in [&[][..], &["--json"], &["--events"]] {
        let words = ["run", "ask.md", "hi", "--record", "r"];
        let words = [&words, options].concat();
        let folder = folder("");
        let finished = command(folder.path(), &words, &set);
        assert_eq!(finished.status, Some(1));
        // spec R14: nor in the record
        let record = fs::read_to_string(folder.path().join("r")).unwrap();
        let printed = finished.stdout + &finished.stderr + &record;
        assert!(
            printed.contains("did not accept the credentials (status 401)"),
            "{printed}"
        );
        assert!(!printed.contains("secret"), "{printed}");
    }
    let bad = [
        ("RUNVIL_GATEWAY_URL", url.as_str()),
        ("RUNVIL_GATEWAY_API_KEY", "sk-\u{1}secret"),
    ];
    assert_refused(
        &run(&["run", "greet.md"], &bad),
        "environment variable does not hold a valid header value: RUNVIL_GATEWAY_API_KEY",
    );
}

#[test]
fn a_proxy_that_cannot_be_used_is_refused_and_not_shown() {
    let away = [
        ("RUNVIL_GATEWAY_URL", "https://gateway.invalid/v1"),
        ("RUNVIL_GATEWAY_API_KEY", "k1"),
        ("NO_PROXY", ""),
        ("no_proxy", ""),
    ];
    for (variable, value) in [
        ("ALL_PROXY", "socks5://user:secret@proxy"),
        ("ALL_PROXY", "secret secret"),
    ] {
        let set = [&away[..], &[(variable, value)]].concat();
        for words in [&["run", "greet.md"][..], &["models"]] {
            assert_refused(
                &run(words, &set),
                "the proxy that ALL_PROXY names is not supported: it must be an http or https URL",
            );
        }
    }
    // A gateway on this machine is reached without it.
    let server = gateway(MODELS);
    let url = server.url();
    let set = [
        ("RUNVIL_GATEWAY_URL", url.as_str()),
        ("ALL_PROXY", "socks5://proxy"),
    ];
    assert_printed(&run(&["run", "ask.md", "hi"], &set), "well from small");
}

#[test]
fn a_key_in_the_place_of_its_variables_name_is_not_shown() {
    let folder = folder("gateway:\n  url: https://gateway.invalid/v1\n  api_key_env: sk-secret\n");
    let finished = command(folder.path(), &["run", "greet.md"], &[]);
    let expected = "3: gateway.api_key_env: this is no name of an environment variable, which is \
                    made of ASCII letters, digits and '_', no digit first";
    assert!(
        finished
            .stderr
            .ends_with(&format!("runvil.yaml:{expected}\n")),
        "{finished:?}"
    );
    assert!(!finished.stderr.contains("secret"), "{finished:?}");
    assert_eq!(finished.status, Some(2));
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_no_text_is_named() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("");
    let mut command = runvil(folder.path(), ["run", "greet.md"]);
    command.env("RUNVIL_GATEWAY_URL", OsStr::from_bytes(b"http://\xff"));
    let finished = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()), "");
    assert_refused(
        &finished,
        "environment variable is set but not valid Unicode: RUNVIL_GATEWAY_URL",
    );
}

#[test]
fn a_search_goes_where_the_configuration_says() {
    // spec T151, T160
    let found = r#"{"results":[{"title":"A","url":"https://a.example/","description":"about a"}]}"#;
    let server =
        Server::new(move |_, _| vec![Step::Send(reply("200 OK", "application/json", found))]);
    let configuration = format!(
        "search: {{ provider: http, url: \"{}\", token_env: T }}\n",
        server.url()
    );
    let folder = folder(&configuration);
    let prompt = GREET.replace(
        "return 'hello'",
        "return tools.call('web/search', { query = 'sea', count = 2 })",
    );
    fs::write(folder.path().join("search.md"), prompt).unwrap();
    let finished = command(folder.path(), &["run", "search.md"], &[("T", "k1")]);
    let said = r#"{"query":"sea","results":[{"title":"A","url":"https://a.example/","description":"about a"}]}"#;
    assert!(finished.stdout.contains(said), "{finished:?}");
    assert_eq!((finished.stderr.as_str(), finished.status), ("", Some(0)));
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        body(&requests[0]),
        serde_json::json!({ "query": "sea", "count": 2 })
    );
    assert!(
        requests[0]
            .headers
            .contains(&("authorization".to_owned(), "Bearer k1".to_owned()))
    );
}
