use proptest::prelude::*;

use super::*;
use runvil::engine::model::Model;
use runvil::harness::Limits;

/// The example of spec C9, with the tables of spec T155.
const WHOLE: &str = r#"
gateway:
  url: http://127.0.0.1:8080/v1
  api_key_env: RUNVIL_GATEWAY_API_KEY
model: local
models:
  - { id: local, name: "qwen3-8b", context: 32768, thinking: switchable, description: "A small one" }
  - { id: big, context: 200000, thinking: always }
limits: { concurrency: 2, memory: 67108864, log_events: 0, response_cap: 16M, receive_timeout: 120, max_rounds: 24 }
search: { provider: http, url: "https://search.example/v1", token_env: SEARCH_TOKEN }
fetch: { allow_private: false, schemes: [https, http], ports: [80, 443, 8000], max_redirects: 0, max_bytes: 8388608, max_chars: 40000, connect_timeout: 5, total_timeout: 0.5 }
services:
  acme/api-token: { env: ACME_TOKEN }
packs:
  acme/kiln:
    command: kiln-mcp
    args: [--stdio]
    env: { KILN_HOME: "${HOME}/kiln" }
    cwd: /var
    needs: [acme/api-token, runvil/search-provider]
    prelude: preludes/kiln.lua
    trust: untrusted
    expose: listed
    tools:
      fire: { from: fireNow, trust: trusted, structured: true }
    conflicts: [acme/oven]
    ready_timeout: 1.5
    call_timeout: 120
"#;

#[test]
fn every_key_is_read() {
    let config = Config::from_yaml(WHOLE).unwrap();
    let gateway = config.gateway.unwrap();
    assert_eq!(gateway.url.as_deref(), Some("http://127.0.0.1:8080/v1"));
    assert_eq!(config.model.as_deref(), Some("local"));
    let models: Vec<Model> = config.models.0.iter().map(Model::from).collect();
    assert_eq!(
        (&*models[0].description, models[1].context),
        ("A small one", 200_000)
    );
    assert_eq!(config.models.0[0].name.as_deref(), Some("qwen3-8b"));
    let expected = Limits {
        concurrency: 2,
        log_events: 0,
        ..Limits::default()
    };
    assert_eq!(config.limits.limits(), expected);
}

/// Every key that holds the name of a variable: what stands before the name, and behind it.
const NAMED: &[(&str, &str, &str)] = &[
    ("gateway.api_key_env", "gateway:\n  api_key_env: ", "\n"),
    (
        "search.token_env",
        "search:\n  token_env: ",
        "\n  provider: brave\n",
    ),
    ("services.a/b.env", "services:\n  a/b: {env: ", "}\n"),
];

#[test]
fn what_is_no_name_of_a_variable_is_not_shown() {
    for (key, before, behind) in NAMED {
        let read = |name: &str| Config::from_yaml(&format!("{before}{name}{behind}"));
        let refused = |name: &str| read(name).expect_err(name).to_string();
        let why = "this is no name of an environment variable, which is made of ASCII letters, \
                   digits and '_', no digit first";
        for secret in ["sk-4711", "4711", "'4711 '", "K\u{e9}Y", "\"\"", "4.7e11"] {
            assert_eq!(refused(secret), format!("2: {key}: {why}"));
        }
        for (secret, found) in [("[s4711]", "sequence"), ("{s4711: s4711}", "map")] {
            let why = "expected the name of an environment variable";
            let expected = format!("2: {key}: invalid type: {found}, {why}");
            assert_eq!(refused(secret), expected);
        }
        for name in ["K", "_k9", "a_B"] {
            let shown = format!("{:?}", read(name).unwrap());
            assert!(
                shown.contains(&format!("VariableName({name:?})")),
                "{shown}"
            );
        }
    }
}

#[test]
fn a_file_may_say_nothing() {
    for text in ["", "# nothing\n", "{}"] {
        let config = Config::from_yaml(text).unwrap();
        assert!(config.gateway.is_none() && config.models.0.is_empty());
        assert_eq!(config.limits.limits(), Limits::default());
    }
}

#[test]
fn what_is_wrong_has_its_line_and_its_key() {
    let table = [
        (
            "\ngatway: {}\n",
            "2: gatway: unknown field `gatway`, expected one of `gateway`, `model`, `models`, `limits`, `search`, `fetch`, `services`, `packs`",
        ),
        (
            "gateway:\n  key: x\n",
            "2: gateway.key: unknown field `key`, expected `url` or `api_key_env`",
        ),
        (
            "models:\n- {id: a, context: 1, thinking: never}\n- {id: a, context: 1, thinking: never}\n",
            "3: models[1]: the id `a` is there twice",
        ),
        (
            "models:\n- {id: '', context: 1, thinking: never}\n",
            "2: models[0].id: invalid model id: name must not be empty",
        ),
        (
            "models:\n- {id: \"a\\tb\", context: 1, thinking: never}\n",
            "2: models[0].id: invalid model id: name must not contain a control character",
        ),
        (
            "models:\n- {id: a, context: 0, thinking: never}\n",
            "2: models[0].context: invalid value: integer `0`, expected a nonzero u32",
        ),
        (
            "models:\n- {id: a, thinking: never}\n",
            "2: models[0]: missing field `context`",
        ),
        (
            "models:\n- {id: a, context: 1, thinking: maybe}\n",
            "2: models[0].thinking: unknown variant `maybe`, expected one of `never`, `always`, `switchable`",
        ),
        (
            "limits: { concurrency: 0 }\n",
            "1: limits.concurrency: invalid value: integer `0`, expected a nonzero u32",
        ),
        (
            "limits:\n  memory: 64MB\n",
            "2: limits.memory: invalid value: string \"64MB\", expected a number of bytes above 0, such as 67108864 or 64M",
        ),
        (
            "limits: { response_cap: 0 }\n",
            "1: limits.response_cap: invalid value: integer `0`, expected a number of bytes above 0, such as 67108864 or 64M",
        ),
        (
            "packs:\n  acme/kiln:\n    command: k\n    trsut: trusted\n",
            "4: packs.acme/kiln.trsut: unknown field `trsut`, expected one of `command`, `args`, `env`, `cwd`, `needs`, `prelude`, `trust`, `expose`, `tools`, `conflicts`, `ready_timeout`, `call_timeout`",
        ),
        (
            "packs:\n  acme/kiln: {args: []}\n",
            "2: packs.acme/kiln: missing field `command`",
        ),
        (
            "packs:\n  kiln: {command: k}\n",
            "2: packs.kiln: `kiln` is no id: an id is `vendor/name`",
        ),
        (
            "packs:\n  runvil/kiln: {command: k}\n",
            "2: packs.runvil/kiln: the vendor `runvil` is for built-in packs",
        ),
        (
            "packs:\n  acme/Kiln: {command: k}\n",
            "2: packs.acme/Kiln: `Kiln` is no name: it is made of lowercase ASCII letters, digits, '-', '_', '.'",
        ),
        (
            "packs:\n  a/b: {command: k}\n  a/b: {command: k}\n",
            "3: packs.a/b: `a/b` is there twice",
        ),
        (
            "packs:\n  a/b:\n    command: k\n    call_timeout: 0\n",
            "4: packs.a/b.call_timeout: expected a number of seconds above 0",
        ),
        (
            "packs:\n  a/b:\n    command: k\n    needs: [a/b/c]\n",
            "4: packs.a/b.needs[0]: `b/c` is no name: it is made of lowercase ASCII letters, digits, '-', '_', '.'",
        ),
        (
            "packs:\n  a/b:\n    command: k\n    call_timeout: 1e-300\n",
            "4: packs.a/b.call_timeout: expected a number of seconds above 0",
        ),
        (
            "packs:\n  a/b:\n    command: k\n    env: {A: x, 's=3': x}\n",
            "4: packs.a/b.env.s=3: a variable that is set has a name, without '=' and NUL",
        ),
        (
            "packs:\n  a/b:\n    command: k\n    env: {'': x}\n",
            "4: packs.a/b.env.: a variable that is set has a name, without '=' and NUL",
        ),
        (
            "packs:\n  a/b:\n    command: k\n    env: {\"a\\0\": x}\n",
            "4: packs.a/b.env.a\0: a variable that is set has a name, without '=' and NUL",
        ),
        (
            "services:\n  a/b: {envs: X}\n",
            "2: services.a/b.envs: unknown field `envs`, expected `env`",
        ),
        (
            "search: { provider: bing }\n",
            "1: search.provider: unknown variant `bing`, expected one of `searxng`, `brave`, `http`",
        ),
        (
            "search: { provider: searxng }\n",
            "1: search: this provider needs a `url`",
        ),
        (
            "search: { provider: brave }\n",
            "1: search: this provider needs a `token_env`",
        ),
        (
            "search: { provider: searxng, url: x, token_env: T }\n",
            "1: search: this provider takes no `token_env`",
        ),
        (
            "fetch: { max_chars: 0 }\n",
            "1: fetch.max_chars: invalid value: integer `0`, expected a nonzero u32",
        ),
        (
            "fetch:\n  schemes: [https, ftp]\n",
            "2: fetch.schemes[1]: unknown variant `ftp`, expected `http` or `https`",
        ),
        (
            "fetch:\n  schemes: http\n",
            "2: fetch.schemes: invalid type: string \"http\", expected a sequence",
        ),
        (
            "fetch:\n  schemes: []\n",
            "2: fetch.schemes: the list is empty, and so nothing could be fetched",
        ),
        (
            "fetch:\n  ports: [80, 0]\n",
            "2: fetch.ports[1]: invalid value: integer `0`, expected a nonzero u16",
        ),
        (
            "fetch:\n  ports:\n  - 65536\n",
            "3: fetch.ports[0]: invalid value: integer `65536`, expected a nonzero u16",
        ),
        (
            "fetch: { ports: [] }\n",
            "1: fetch.ports: the list is empty, and so nothing could be fetched",
        ),
        (
            "fetch: { max_redirects: -1 }\n",
            "1: fetch.max_redirects: invalid type: integer `-1`, expected u32",
        ),
        (
            "fetch: { max_bytes: 0 }\n",
            "1: fetch.max_bytes: invalid value: integer `0`, expected a number of bytes above 0, such as 67108864 or 64M",
        ),
        (
            "fetch:\n  connect_timeout: 0\n",
            "2: fetch.connect_timeout: expected a number of seconds above 0",
        ),
        (
            "fetch:\n  total_timeout: .inf\n",
            "2: fetch.total_timeout: expected a number of seconds above 0",
        ),
        (
            "fetch: { timeout: 1 }\n",
            "1: fetch.timeout: unknown field `timeout`, expected one of `allow_private`, `schemes`, `ports`, `max_redirects`, `max_bytes`, `max_chars`, `connect_timeout`, `total_timeout`",
        ),
        ("- x\n", "1: invalid type: sequence, expected a map"),
    ];
    for (text, expected) in table {
        let error = Config::from_yaml(text).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(
        text in "([ -]{0,2}(gateway|models|limits|packs|search|id|url)?[:{}\\[\\], ]{0,4}[a-z0-9/'\"&*!|]{0,4}\n){0,6}",
    ) {
        if let Err(error) = Config::from_yaml(&text) {
            prop_assert!((1..=text.lines().count() + 1).contains(&error.line));
        }
    }
}
