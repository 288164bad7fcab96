//! The other forms: the object, the files, and what is refused.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use super::process::{Finished, finish, runvil};
use super::recorded::{example, prompt, prompt_with_model, record, section, with_times};
use super::{show, shown};

#[test]
fn the_object_has_every_item() {
    let script = "rounds:\n  - reply: \"Hello.\"\n    usage: { prompt_tokens: 20, completion_tokens: 3, cached_tokens: 5 }\n";
    let lua = "store.write('a.md', 'abc') log('one') store.read('a.md')\n\
               return models.infer('Hi.')";
    let source = prompt_with_model(&section("## Main", lua));
    let record = with_times(&record(&source, Some(script), "x"));
    let object: Value = serde_json::from_str(&shown(&record, &["--json"])).unwrap();
    let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
    let mut wanted = vec![
        "run",
        "run_id",
        "name",
        "prompt_hash",
        "dialect",
        "engine",
        "seed",
        "started_at",
        "model",
        "outcome",
        "result",
        "end",
        "lines",
        "torn",
        "totals",
        "marks",
        "tracks",
    ];
    wanted.sort_unstable();
    assert_eq!(keys, wanted);
    assert_eq!(object["outcome"], "completed");
    assert_eq!(object["result"], "Hello.");
    assert_eq!(
        object["lines"],
        record.iter().filter(|byte| **byte == b'\n').count()
    );
    let totals = &object["totals"];
    let figures = [
        "rounds",
        "prompt_tokens",
        "cached_tokens",
        "completion_tokens",
        "writes",
        "reads",
        "checkpoints",
        "tasks",
    ];
    let figures = figures.map(|key| totals[key].as_u64().unwrap());
    assert_eq!(figures, [1, 20, 5, 3, 1, 1, 1, 0]);
    let items = object["tracks"][0]["items"].as_array().unwrap();
    let kinds: Vec<&str> = items
        .iter()
        .map(|item| item["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["section", "section", "write", "checkpoint", "round"]
    );
    assert_eq!([&items[0]["entry"], &items[1]["entry"]], ["title", "walk"]);
    assert_eq!(items[1]["reads"], 1);
    assert_eq!(
        items[2]["contents"],
        serde_json::json!({"text": "abc", "bytes": 3})
    );
    assert_eq!(items[4]["reply"]["text"], "Hello.");
    // `line` is where the record has it, and the times are its.
    let text = String::from_utf8(record).unwrap();
    let line = items[4]["line"].as_u64().unwrap();
    let line: Value = serde_json::from_str(text.lines().nth(line as usize - 1).unwrap()).unwrap();
    assert_eq!(line["effect"]["kind"], "model");
    assert_eq!(line["at"], items[4]["at"]);
    assert!(items[4]["end"].as_u64() > items[4]["at"].as_u64());
}

#[test]
fn the_object_tells_how_a_run_failed() {
    let object: Value = serde_json::from_str(&shown(&example("race", ""), &["--json"])).unwrap();
    assert_eq!(object["outcome"], "failed");
    assert_eq!(object["kind"], "Determinism");
    assert!(object["message"].as_str().unwrap().contains("conflicts"));
    let states = object["tracks"].as_array().unwrap();
    let states: Vec<&str> = states
        .iter()
        .map(|track| track["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["failed", "abandoned", "abandoned"]);
    let broken = record("no frontmatter", None, "");
    let object: Value = serde_json::from_str(&shown(&broken, &["--json"])).unwrap();
    assert_eq!(
        [&object["kind"], &object["parse_kind"]],
        ["Parse", "Frontmatter"]
    );
    assert_eq!(object["name"], Value::Null);
}

#[test]
fn texts_are_cut_unless_all_is_wanted() {
    let text = "é".repeat(200);
    let record = record(
        &prompt(&section("## A", &format!("log('{text}')"))),
        None,
        "",
    );
    let message = |words: &[&str]| {
        let object: Value = serde_json::from_str(&shown(&record, words)).unwrap();
        let items = object["tracks"][0]["items"].as_array().unwrap().clone();
        let item = items.into_iter().find(|item| item["kind"] == "checkpoint");
        item.unwrap()["message"].clone()
    };
    let cut = message(&["--json"]);
    assert_eq!(cut["text"], "é".repeat(80));
    assert_eq!(cut["bytes"], 400);
    assert_eq!(message(&["--json", "--all"])["text"], text);
}

/// The words about a record that stands in a folder with another file, and what is in it afterwards.
fn write(words: &[&str]) -> (Finished, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.jsonl"), example("hello", "")).unwrap();
    fs::write(folder.path().join("old"), "old").unwrap();
    let mut command = runvil(folder.path(), ["show", "r.jsonl"].iter().chain(words));
    let finished = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()), "");
    let old = fs::read_to_string(folder.path().join("old")).unwrap();
    let record = fs::read(folder.path().join("r.jsonl")).unwrap();
    assert!(record.starts_with(b"{\"v\":1,\"t\":\"run\""));
    // Nothing half written is left.
    assert!(fs::read_dir(folder.path()).unwrap().count() <= 3);
    (finished, old)
}

#[test]
fn a_file_is_replaced_only_by_force() {
    for form in ["--trace", "--html"] {
        let (finished, old) = write(&[form, "old"]);
        assert_eq!(finished.status, Some(2));
        let refused = "error: cannot write `old`: it is there already; `--force` writes over it\n";
        assert_eq!(finished.stderr, refused);
        assert_eq!(old, "old");
        let (finished, old) = write(&[form, "old", "--force"]);
        assert_eq!((finished.status, finished.stdout.as_str()), (Some(0), ""));
        assert!(old.len() > 300);
        let (finished, _) = write(&[form, "new"]);
        assert_eq!((finished.status, finished.stderr.as_str()), (Some(0), ""));
        let (finished, _) = write(&[form, "./r.jsonl", "--force"]);
        let refused = "error: cannot write `./r.jsonl`: it is the record\n";
        assert_eq!(
            (finished.status, finished.stderr.as_str()),
            (Some(2), refused)
        );
        let (finished, _) = write(&[form, "-"]);
        let refused = "error: `--trace` and `--html` name a file, which `-` is not\n";
        assert_eq!(
            (finished.status, finished.stderr.as_str()),
            (Some(2), refused)
        );
        let (finished, _) = write(&[form, "gone/x"]);
        let refused = "error: cannot write `gone/x`: there is no folder `gone`\n";
        assert_eq!(
            (finished.status, finished.stderr.as_str()),
            (Some(2), refused)
        );
    }
}

#[test]
fn a_trace_and_a_page_are_written_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let record = example("hello", "");
    fs::write(folder.path().join("r.jsonl"), &record).unwrap();
    let run = |words: &[&str], stdin: &str| {
        let mut command = runvil(folder.path(), ["show"].iter().chain(words));
        finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()), stdin)
    };
    let refusals = [
        (
            ["r.jsonl", "./a"],
            "error: `--trace` and `--html` both name `./a`\n",
        ),
        (
            ["-", "b"],
            "error: `--trace` and `--html` read the record once each: from a file, not from standard input\n",
        ),
    ];
    for ([record, html], refused) in refusals {
        let finished = run(&[record, "--trace", "a", "--html", html], "");
        assert_eq!(
            (finished.status, finished.stderr.as_str()),
            (Some(2), refused)
        );
        assert_eq!(file("a"), "");
    }
    let finished = run(&["r.jsonl", "--trace", "a", "--html", "b"], "");
    assert_eq!((finished.status, finished.stdout.as_str()), (Some(0), ""));
    for (form, alone) in [("--trace", "a"), ("--html", "b")] {
        run(&["r.jsonl", form, "alone", "--force"], "");
        assert_eq!(file("alone"), file(alone));
    }
    for form in ["--trace", "--html"] {
        let finished = run(&["r.jsonl", "--json", form, "c"], "");
        assert_eq!(finished.status, Some(2));
    }
}

#[test]
fn what_is_no_record_is_refused_with_its_line() {
    let hello = String::from_utf8(example("hello", "")).unwrap();
    let (first, rest) = hello.split_once('\n').unwrap();
    let no_record = |record: &[u8], why: &str| {
        let finished = show(record, &[]);
        let said = format!("error: cannot read the record `run.jsonl`: {why}");
        assert!(finished.stderr.starts_with(&said), "{}", finished.stderr);
        assert_eq!((finished.status, finished.stdout.as_str()), (Some(2), ""));
    };
    no_record(b"", "it holds no whole line of a record\n");
    no_record(
        b"{\"v\":1,\"t\":\"r",
        "it holds no whole line of a record\n",
    );
    no_record(b"# A prompt\n", "line 1: it is no line of a record\n");
    no_record(b"\x89PNG\r\n\x1a\n\0\0", "line 1: ");
    no_record(
        rest.as_bytes(),
        "line 1: a record begins with its `run` line\n",
    );
    let twice = format!("{first}\n{hello}");
    no_record(twice.as_bytes(), "line 2: a record has one `run` line\n");
    no_record(format!("{first}\n{{}}\n").as_bytes(), "line 2: ");
    no_record(
        format!("{first}\n{}\n", "[".repeat(100_000)).as_bytes(),
        "line 2: ",
    );
    let gone = finish(
        runvil(&std::env::temp_dir(), ["show", "no-such-record"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
        "",
    );
    let said = "error: cannot read the record `no-such-record`: there is no such file\n";
    assert_eq!((gone.status, gone.stderr.as_str()), (Some(2), said));
    let object = show(b"", &["--json"]);
    assert!(
        object
            .stdout
            .starts_with("{\"outcome\":\"error\",\"message\":")
    );
}

#[test]
fn standard_input_is_read_for_a_dash() {
    let record = String::from_utf8(example("hello", "")).unwrap();
    let mut command = runvil(&std::env::temp_dir(), ["show", "-"]);
    let finished = finish(
        command.stdout(Stdio::piped()).stderr(Stdio::piped()),
        &record,
    );
    assert_eq!(finished.status, Some(0));
    assert!(
        finished.stdout.ends_with("result: Hello, world!\n"),
        "{}",
        finished.stdout
    );
}
