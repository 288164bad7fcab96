//! `--record`, `runvil replay` and `runvil resume`, through the real binary (spec C2, C4, C14, C15).

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::made::prompt;
use crate::process::{Finished, finish, runvil};

const SCRIPT: &str = "rounds:\n- {reply: first, times: 1}\n- {reply: then}\n";

/// A folder with a prompt, its script, and the record of its run.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lua = "models.default('main', {}) store.write('a', input.ask()) \
               return models.infer('x') .. models.infer('y') .. store.read('a')";
    let front = "uses: [user-input]\nmodels:\n  main: {description: d}\n";
    fs::write(folder.path().join("p.md"), prompt(front, lua, "")).unwrap();
    fs::write(folder.path().join("s.yaml"), SCRIPT).unwrap();
    let words = "run p.md --script s.yaml --answer yes --record r --seed 7";
    let ran = run(folder.path(), words);
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (Some(0), "firstthenyes"),
        "{ran:?}"
    );
    folder
}

fn run(folder: &Path, words: &str) -> Finished {
    fed(folder, words, "")
}

fn fed(folder: &Path, words: &str, stdin: &str) -> Finished {
    let mut command = runvil(folder, words.split(' '));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(&mut command, stdin)
}

#[track_caller]
fn is(finished: Finished, status: i32, stdout: &str, stderr: &str) {
    let Finished {
        status: found,
        stdout: out,
        stderr: err,
    } = finished;
    assert_eq!(
        (found, out.as_str(), err.as_str()),
        (Some(status), stdout, stderr)
    );
}

fn record(folder: &Path) -> String {
    fs::read_to_string(folder.join("r")).unwrap()
}

/// Cuts the record off before the first line that holds this.
fn cut(folder: &Path, at: &str) {
    let record = record(folder);
    let end = record.find(at).unwrap();
    let end = record[..end].rfind('\n').map_or(0, |end| end + 1);
    fs::write(folder.join("r"), &record[..end]).unwrap();
}

#[test]
fn a_record_is_replayed() {
    let folder = folder();
    let folder = folder.path();
    let lines = record(folder).lines().count();
    let same = format!("no difference in {lines} lines; the run completed\n");
    is(run(folder, "replay r"), 0, &same, "");
    is(fed(folder, "replay -", &record(folder)), 0, &same, "");
    let json = format!("{{\"same\":true,\"lines\":{lines},\"outcome\":\"completed\"}}\n");
    is(run(folder, "replay r --json"), 0, &json, "");
    cut(folder, r#""t":"outcome""#);
    let same = format!("no difference in {} lines\n", lines - 1);
    let note = "the record ends before the run's outcome\n";
    is(run(folder, "replay r"), 0, &same, note);
}

#[test]
fn a_difference_is_shown_with_both_lines() {
    let folder = folder();
    let folder = folder.path();
    let whole = record(folder);
    let changed = whole.replacen(r#"{"output":"yes"}"#, r#"{"output":"no"}"#, 1);
    fs::write(folder.join("r"), &changed).unwrap();
    let (at, line) = changed
        .lines()
        .enumerate()
        .find(|(_, line)| line.contains(r#""content":"yes""#))
        .unwrap();
    let new = line.replace(r#""content":"yes""#, r#""content":"no""#);
    let shown = format!(
        "error: line {} differs\nrecorded: {line}\nnew:      {new}\n",
        at + 1
    );
    is(run(folder, "replay r"), 1, "", &shown);
    let found = run(folder, "replay r --json");
    let json: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(found.status, Some(1));
    assert_eq!(json["same"], false);
    assert_eq!(json["line"], at + 1);
    assert_eq!(
        (json["recorded"].as_str(), json["new"].as_str()),
        (Some(line), Some(&*new))
    );
}

#[test]
fn what_is_no_record_is_not_read() {
    let folder = folder();
    let folder = folder.path();
    for command in ["replay", "resume"] {
        for (file, why) in [
            ("none", "there is no such file"),
            ("p.md", "line 1: it is no line of a record"),
            (".", "it is a folder"),
            ("empty", "it holds no whole line of a record"),
        ] {
            fs::write(folder.join("empty"), "").unwrap();
            let error = format!("error: cannot read the record `{file}`: {why}\n");
            is(run(folder, &format!("{command} {file}")), 2, "", &error);
        }
        let json = run(folder, &format!("{command} none --json"));
        assert!(
            json.stdout
                .starts_with(r#"{"outcome":"error","message":"cannot read"#)
        );
    }
}

#[test]
fn a_record_is_not_written_over_unasked() {
    let folder = folder();
    let folder = folder.path();
    let before = record(folder);
    let words = "run p.md --script s.yaml --answer yes --record";
    let error = "error: cannot record to `r`: it is there already; `--force` writes over it\n";
    is(run(folder, &format!("{words} r")), 2, "", error);
    assert_eq!(record(folder), before);
    is(
        run(folder, &format!("{words} r --force --durable")),
        0,
        "firstthenyes",
        "",
    );
    assert_ne!(record(folder), before, "its run has an id of its own");
    for (file, why) in [
        (
            "-",
            "a file has to be named; standard output holds the result",
        ),
        (".", "it is a folder"),
        ("no/r", "there is no such folder"),
        ("p.md", "the run has this file for something else"),
    ] {
        let error = format!("error: cannot record to `{file}`: {why}\n");
        is(
            run(folder, &format!("{words} {file} --force")),
            2,
            "",
            &error,
        );
    }
    // What else the run reads or writes is kept, whatever it is called.
    fs::hard_link(folder.join("p.md"), folder.join("hard")).unwrap();
    fs::create_dir(folder.join("d")).unwrap();
    let pack = "packs: {acme/none: {command: none, prelude: lib.lua}}\n";
    fs::write(folder.join("runvil.yaml"), pack).unwrap();
    fs::write(folder.join("lib.lua"), "return 1").unwrap();
    let other = "the run has this file for something else";
    for (file, why) in [
        ("hard", other),
        ("s.yaml", other),
        ("runvil.yaml", other),
        ("lib.lua", other),
        ("d/r", "it is in the run's store"),
    ] {
        let before = fs::read(folder.join(file)).ok();
        let finished = run(folder, &format!("{words} {file} --force --store d"));
        let error = format!("error: cannot record to `{file}`: {why}\n");
        is(finished, 2, "", &error);
        assert_eq!(fs::read(folder.join(file)).ok(), before, "{file}");
    }
    fs::remove_file(folder.join("runvil.yaml")).unwrap();
    let finished = run(folder, &format!("{words} /dev/null --durable"));
    let why = "`--durable` needs a regular file";
    let error = format!("error: cannot record to `/dev/null`: {why}\n");
    is(finished, 2, "", &error);
    for flag in ["--force", "--durable"] {
        let finished = run(folder, &format!("run p.md {flag}"));
        assert_eq!(finished.status, Some(2));
        assert!(
            finished.stderr.contains("--record <FILE>"),
            "{}",
            finished.stderr
        );
    }
}

#[test]
fn a_setup_error_leaves_the_file_as_it_was() {
    // spec R17, C10
    let folder = folder();
    let folder = folder.path();
    let source = prompt("", "return 1", "").replace("runvil: 0", "promptforge: 0");
    fs::write(folder.join("pf.md"), source).unwrap();
    let before = record(folder);
    let error = "error: the launch supplied input text, but the prompt declares no `input:` file\n";
    is(
        run(folder, "run pf.md --input s.yaml --record new"),
        2,
        "",
        error,
    );
    assert!(!folder.join("new").exists());
    is(
        run(folder, "run pf.md --input s.yaml --record r --force"),
        2,
        "",
        error,
    );
    assert_eq!(record(folder), before);
}

#[test]
fn a_run_goes_on() {
    let folder = folder();
    let folder = folder.path();
    let whole = record(folder);
    // The first round is answered; the script goes on with its second rule.
    let words = "resume r --script s.yaml --answer yes";
    for at in [
        r#""round":1,"#,
        r#""op":"read""#,
        "run_succeeded",
        r#""t":"answer""#,
    ] {
        fs::write(folder.join("r"), &whole).unwrap();
        cut(folder, at);
        let begun = record(folder);
        is(run(folder, words), 0, "firstthenyes", "");
        assert!(record(folder).starts_with(&begun));
        let replayed = run(folder, "replay r");
        assert_eq!(replayed.status, Some(0), "{replayed:?}");
    }
    cut(folder, r#""op":"read""#);
    let finished = run(folder, &format!("{words} --json --durable"));
    let json: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(
        (json["result"].as_str(), json["seed"].as_str().map(str::len)),
        (Some("firstthenyes"), Some(64))
    );
}

#[test]
fn an_answer_of_the_operator_is_given_once() {
    // spec C2: what is in the record is not given again
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lua = "local first = input.ask() store.write('a', first) return first .. input.ask()";
    fs::write(folder.join("p.md"), prompt("uses: [user-input]\n", lua, "")).unwrap();
    let words = "run p.md --answer yes --answer no --record r";
    is(run(folder, words), 0, "yesno", "");
    let whole = record(folder);
    cut(folder, "yes");
    is(
        run(folder, "resume r --answer yes --answer no"),
        0,
        "yesno",
        "",
    );
    for left in ["no", "yes"] {
        fs::write(folder.join("r"), &whole).unwrap();
        cut(folder, r#""op":"write""#);
        let resumed = run(folder, &format!("resume r --answer {left}"));
        is(resumed, 0, &format!("yes{left}"), "");
        assert_eq!(run(folder, "replay r").status, Some(0));
    }
    // All of them are there.
    fs::write(folder.join("r"), &whole).unwrap();
    cut(folder, "run_succeeded");
    is(run(folder, "resume r"), 0, "yesno", "");
}

#[test]
fn a_record_that_another_process_writes_is_not_written_over() {
    // spec C2, C4
    let folder = folder();
    let folder = folder.path();
    let before = record(folder);
    let held = fs::File::open(folder.join("r")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let words = "run p.md --script s.yaml --answer yes --record r --force";
    let error = "error: cannot record to `r`: another process is writing it\n";
    is(run(folder, words), 2, "", error);
    is(run(folder, &format!("{words} --durable")), 2, "", error);
    assert_eq!(record(folder), before);
    drop(held);
    assert_eq!(run(folder, words).status, Some(0));
}

#[test]
#[cfg(unix)]
fn a_pipe_takes_a_record_where_somebody_reads_it() {
    // spec C2, C4: to open it never waits.
    let folder = folder();
    let folder = folder.path();
    let whole = record(folder);
    let made = Command::new("mkfifo").arg(folder.join("p")).status();
    assert!(made.unwrap().success());
    let words = "run p.md --script s.yaml --answer yes --seed 7 --record p";
    let error = "error: cannot record to `p`: nobody reads it\n";
    is(run(folder, words), 2, "", error);
    let error = "error: cannot record to `p`: `--durable` needs a regular file\n";
    is(run(folder, &format!("{words} --durable")), 2, "", error);
    // A reader that has not opened it for writing too sees its end.
    let mut open = fs::File::options();
    let held = open.read(true).write(true).open(folder.join("p")).unwrap();
    let reader = fs::File::open(folder.join("p")).unwrap();
    let read = std::thread::spawn(|| std::io::read_to_string(reader).unwrap());
    let ran = run(folder, words);
    drop(held);
    is(ran, 0, "firstthenyes", "");
    assert_eq!(read.join().unwrap().lines().count(), whole.lines().count());
}

#[test]
fn a_run_that_cannot_go_on_is_left_as_it_is() {
    let folder = folder();
    let folder = folder.path();
    let whole = record(folder);
    let words = "resume r --script s.yaml --answer yes";
    is(
        run(folder, words),
        2,
        "",
        "error: cannot resume `r`: the run has already ended\n",
    );
    // Whatever else is amiss.
    for words in ["resume r", "resume r --store gone", "resume r --output x"] {
        let error = "error: cannot resume `r`: the run has already ended\n";
        is(run(folder, words), 2, "", error);
    }
    // It is not written either.
    let mut rights = fs::metadata(folder.join("r")).unwrap().permissions();
    rights.set_readonly(true);
    fs::set_permissions(folder.join("r"), rights.clone()).unwrap();
    let error = "error: cannot resume `r`: the run has already ended\n";
    is(run(folder, words), 2, "", error);
    fs::remove_file(folder.join("r")).unwrap();
    fs::write(
        folder.join("r"),
        whole.lines().next().unwrap().to_owned() + "\n",
    )
    .unwrap();
    fs::set_permissions(folder.join("r"), rights).unwrap();
    // Some may write everything.
    let mut open = fs::File::options();
    if let Err(error) = open.append(true).open(folder.join("r")) {
        let error = format!("error: cannot write the record `r`: {error}\n");
        is(run(folder, words), 2, "", &error);
    }
    fs::remove_file(folder.join("r")).unwrap();
    // The last line is the start of an answer.
    let answer = whole.find(r#"{"v":1,"t":"answer""#).unwrap();
    let line = whole[..answer].lines().count() + 1;
    let torn = &whole[..answer + 30];
    fs::write(folder.join("r"), torn).unwrap();
    let error = format!(
        "error: cannot resume `r`: line {line}: it was not written whole and may be an answer, \
         which must not be asked for again\n"
    );
    is(run(folder, words), 2, "", &error);
    fs::write(folder.join("r"), &whole[..answer]).unwrap();
    for (more, why) in [
        (
            " --store .",
            "the run had its store in memory; leave `--store` out",
        ),
        ("", ""),
    ] {
        let finished = run(folder, &format!("{words}{more}"));
        match why {
            "" => is(finished, 0, "firstthenyes", ""),
            why => {
                let error = format!("error: cannot resume `r`: {why}\n");
                is(finished, 2, "", &error);
                assert_eq!(record(folder), whole[..answer]);
            }
        }
    }
    // Without an operator the unit that asks one cannot serve.
    fs::write(folder.join("r"), &whole[..answer]).unwrap();
    let finished = run(folder, "resume r --script s.yaml");
    assert_eq!(finished.status, Some(2));
    let start = "error: cannot resume `r`: runvil/user-input served the run and cannot now: ";
    assert!(finished.stderr.starts_with(start), "{}", finished.stderr);
    fs::write(
        folder.join("other.yaml"),
        "model: {id: other}\nrounds: []\n",
    )
    .unwrap();
    fs::write(
        folder.join("gateway.yaml"),
        "gateway: {url: \"http://127.0.0.1:9/v1\"}\n\
         models: [{id: other, context: 8000, thinking: never}]\n",
    )
    .unwrap();
    for (options, why) in [
        (" --script other.yaml", "the script plays `other`"),
        (
            " --config gateway.yaml",
            "the configuration does not list it",
        ),
        (
            "",
            "nothing here answers for it: `--script FILE`, or a gateway in the configuration",
        ),
    ] {
        let finished = run(folder, &format!("resume r --answer yes{options}"));
        let error = format!("error: the run's model is `scripted`, and {why}\n");
        is(finished, 2, "", &error);
        assert_eq!(record(folder), whole[..answer]);
    }
}

#[test]
fn a_folder_that_was_changed_meanwhile_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("d")).unwrap();
    let lua = "store.write('a', 'x') store.append('a', 'y') return store.read('a')";
    fs::write(folder.join("p.md"), prompt("", lua, "")).unwrap();
    is(run(folder, "run p.md --store d --record r"), 0, "xy", "");
    cut(folder, r#""op":"read""#);
    let before = record(folder);
    let missing = "error: cannot resume `r`: the run had a store of its host's, which must be \
                   given again: `--store DIR`\n";
    is(run(folder, "resume r"), 2, "", missing);
    fs::write(folder.join("d/a"), "other").unwrap();
    let changed =
        "error: cannot resume `r`: the store is not as the record leaves it: `a` differs\n";
    is(run(folder, "resume r --store d"), 2, "", changed);
    assert_eq!(record(folder), before);
    fs::write(folder.join("d/a"), "xy").unwrap();
    is(run(folder, "resume r --store d"), 0, "xy", "");
}
