//! The tree on a terminal.

use std::fs;
use std::process::Stdio;

use super::process::{finish, runvil};
use super::recorded::{example, prompt, prompt_with_model, record, section, with_times};
use super::shown;

/// The rows of the tree: what they say, without their times and bars.
fn rows(record: &[u8], words: &[&str]) -> Vec<String> {
    let text = shown(record, words);
    let tree = text.split("\n\n").nth(1).unwrap();
    let rows = tree.lines().skip(1);
    rows.map(|row| row.chars().skip(45).collect()).collect()
}

#[test]
fn an_example_is_a_tree_of_what_it_did() {
    let record = with_times(&example("panel", "what is the sea?"));
    let text = shown(&record, &[]);
    let head = "panel  completed in 650ms\n\
                run panel-2d22 · 2026-11-30T08:00:00Z · model scripted · seed 7\n\
                4 rounds · 3 tasks\n";
    assert!(text.starts_with(head), "{text}");
    assert_eq!(
        rows(&record, &[]),
        [
            "Panel  (title)",
            "Ask",
            "├ task 0.0 Reader “a sailor”",
            "│ └ round 0  “It is the way home.”",
            "├ task 0.1 Reader “a gardener”",
            "│ └ round 1  “It is too much water.”",
            "├ task 0.2 Reader “a child”",
            "│ └ round 2  “It is loud!”",
            "└ round 3  “Whoever is asked tells of himself.”",
        ]
    );
    assert!(
        text.ends_with("=> Whoever is asked tells of himself.\n"),
        "{text}"
    );
}

#[test]
fn jumps_calls_tools_and_failures_are_told() {
    let record = record(
        &prompt(
            &[
                section("## A", "call('## C') store.read('gone')").as_str(),
                &section("## B", "return 'never'"),
                &section(
                    "## C",
                    "store.write('a.md', 'abc') for i = 1, 3 do store.read('a.md') end return ''",
                ),
            ]
            .concat(),
        ),
        None,
        "",
    );
    assert_eq!(
        rows(&record, &[]),
        ["A  1 read  failed", "└ C  3 reads", "  └ write a.md 3 B"]
    );
    let text = shown(&record, &[]);
    assert!(
        text.contains("\nerror[Vfs]: file not found in store: gone\n"),
        "{text}"
    );
    let triage = rows(&example("triage", "The site is down"), &[]);
    assert!(
        triage.iter().any(|row| row.starts_with("jump to ")),
        "{triage:?}"
    );
    let tool = rows(&example("tool", "How many r are in strawberry?"), &[]);
    assert_eq!(
        tool[2..],
        [
            "├ round 0  calls count",
            "├ tool count {\"letter\":\"r\",\"word\":\"Strawberry\"} → 3",
            "└ round 1  “There are 3.”"
        ]
    );
}

#[test]
fn a_reply_that_was_cut_off_is_told() {
    // spec C16
    let section = section("## A", "models.infer('a') return models.infer('b')");
    let script =
        "rounds:\n- { reply: Once upon, finish_reason: length, times: 1 }\n- { reply: Hi }\n";
    let record = record(&prompt_with_model(&section), Some(script), "");
    let rows = rows(&record, &[]);
    let end = &rows[rows.len() - 2..];
    assert_eq!(end, ["├ round 0  “Once upon”  cut off", "└ round 1  “Hi”"]);
}

/// From `run` to `show`, with the operator's answers among what is recorded.
#[test]
fn what_run_records_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/operator.md");
    let words = [
        "run",
        example,
        "--record",
        "r.jsonl",
        "--answer",
        "tea",
        "--answer",
        "done",
        "breakfast",
    ];
    let mut command = runvil(folder.path(), words);
    let ran = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()), "");
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    let record = fs::read(folder.path().join("r.jsonl")).unwrap();
    assert_eq!(
        rows(&record, &[]),
        [
            "Main",
            "├ log “The plan: breakfast. What comes next, or is it done?”",
            "├ asks the operator → tea",
            "├ log “The plan: breakfast, then tea. What comes next, or is it done?”",
            "└ asks the operator → done"
        ]
    );
    assert!(shown(&record, &[]).contains("\n2 questions · 2 checkpoints\n"));
}

#[test]
fn what_was_done_to_a_run_is_told() {
    let record = String::from_utf8(example("operator", "breakfast")).unwrap();
    let head = record.lines().next().unwrap();
    let asked = |id| {
        format!(
            "{{\"v\":1,\"t\":\"effect\",\"task\":\"0\",\"seq\":{id},\"id\":{id},\"at\":5,\"effect\":\
             {{\"kind\":\"tool\",\"tool\":\"web/fetch\",\"arguments\":{{}}}}}}\n"
        )
    };
    let interrupted = "{\"v\":1,\"t\":\"answer\",\"task\":\"0\",\"seq\":0,\"id\":0,\"at\":70,\
                       \"answer\":\"interrupted\"}\n";
    let stop = "{\"v\":1,\"t\":\"stop\",\"at\":70,\"ids\":[0]}\n";
    let cancel = "{\"v\":1,\"t\":\"cancel\",\"at\":2500}\n\
                  {\"v\":1,\"t\":\"outcome\",\"at\":2500,\"outcome\":\"cancelled\"}\n";
    let record = [head, "\n", &asked(0), stop, interrupted, &asked(1), cancel].concat();
    let text = shown(record.as_bytes(), &[]);
    assert!(
        text.starts_with("operator  cancelled after 2.50s\n"),
        "{text}"
    );
    assert!(
        text.contains("\nstopped 1 wait at 70ms\ncancelled at 2.50s\n"),
        "{text}"
    );
    assert_eq!(
        rows(record.as_bytes(), &[]),
        ["tool web/fetch {}  stopped", "tool web/fetch {}  not ended"]
    );
}

#[test]
fn what_waits_for_its_turn_is_told_from_what_works() {
    let text = shown(&example("deadline", "a plain text"), &[]);
    assert!(text.contains("task 0.2 Approve  cancelled"), "{text}");
    assert!(
        text.contains("waits 0.2s at most  not needed any more"),
        "{text}"
    );
}

#[test]
fn long_lists_are_cut_and_counted() {
    let arms = "local items = {} for i = 1, 60 do items[i] = i end\n\
                tasks.fanout('### Arm', items)\nfor i = 1, 100 do log('n' .. i) end";
    let arm = "if item == 30 then error('no') end return 'x'";
    let source = prompt(&(section("## Main", arms) + &section("### Arm", arm)));
    let record = record(&source, None, "");
    let few = rows(&record, &[]);
    let all = rows(&record, &["--all"]);
    assert!(few.len() < 40, "{few:#?}");
    let group = few.iter().find(|row| row.contains("60 × Arm")).unwrap();
    assert!(group.contains("1 failed"), "{group}");
    // The arm that failed is among the few.
    assert!(
        few.iter().any(|row| row.contains("0.29 Arm “30”  failed")),
        "{few:#?}"
    );
    assert_eq!(all.iter().filter(|row| row.contains(" Arm “")).count(), 60);
    // Each "more" says how many are missing, and the sum stands at the end.
    let more = few
        .iter()
        .filter_map(|row| row.split_once("… ")?.1.strip_suffix(" more"));
    let more: usize = more.map(|count| count.parse::<usize>().unwrap()).sum();
    let text = shown(&record, &[]);
    assert!(
        text.ends_with(&format!(
            "{more} rows left out, with all that is in them; --all shows them\n"
        )),
        "{text}"
    );
    assert!(!shown(&record, &["--all"]).contains("left out"));
}

#[test]
fn colours_are_used_where_they_are_wanted() {
    let record = example("hello", "");
    assert!(!shown(&record, &[]).contains('\u{1b}'));
    assert!(!shown(&record, &["--color", "never"]).contains('\u{1b}'));
    let painted = shown(&record, &["--color", "always"]);
    assert!(painted.contains("\u{1b}[32mcompleted in "), "{painted}");
}

#[test]
fn a_record_that_ends_early_is_shown_as_far_as_it_goes() {
    let record = example("panel", "what is the sea?");
    let ends: Vec<usize> = (0..record.len())
        .filter(|at| record[*at] == b'\n')
        .collect();
    let text = shown(&record[..=ends[ends.len() - 12]], &[]);
    assert!(text.starts_with("panel  not ended; "), "{text}");
    assert!(text.contains("not ended\n"), "{text}");
    assert!(text.ends_with("the record ends before the run; `runvil resume` goes on with it\n"));
    // Wherever it is torn, it is no error.
    for end in (ends[ends.len() - 4] + 1..record.len()).step_by(9) {
        let text = shown(&record[..end], &["--color", "never"]);
        assert!(text.contains("not ended; "), "{text}");
        let is_torn = record[end - 1] != b'\n';
        assert_eq!(text.contains("was not written whole"), is_torn, "{text}");
    }
}
