//! Questions to the person at the terminal (spec C2, T121 to T128).

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::person::Person;
use crate::process::Finished;
use crate::{folder_with, interrupt};

/// A prompt that may ask.
fn asking(lua: &str) -> String {
    format!(
        "---\nname: t\ndescription: d\nrunvil: 0\nuses: [user-input]\n---\n# T\n\n## Work\n\n\
         ```lua\n{lua}\n```\n"
    )
}

/// Runs, has the person do something, and gives what came of it.
fn talk(lua: &str, words: &[&str], person: impl FnOnce(&mut Person)) -> Finished {
    let folder = folder_with(&asking(lua));
    let words = [&["run", "t.md"], words].concat();
    let mut session = Person::start(folder.path(), &words);
    person(&mut session);
    session.finish()
}

/// What has appeared, without the sequences that take a block away where none is.
fn plain(finished: &Finished) -> String {
    finished
        .stderr
        .replace("\r\u{1b}[?7l", "")
        .replace("\u{1b}[J", "")
        .replace("\u{1b}[?7h", "")
}

#[test]
fn a_question_is_asked_with_what_was_said_before_it() {
    let lua = "log('Which colour?') local a = input.ask() return a .. '|' .. input.ask()";
    let finished = talk(lua, &["-q"], |person| {
        person.wait_for("Work> ");
        person.types("  blü \\ \n");
        person.wait_for("\\ \r\nWork> ");
        person.types("\n");
    });
    assert_eq!(finished.stdout, "  blü \\ |");
    assert_eq!(finished.status, Some(0));
    assert_eq!(
        finished.stderr,
        "Which colour?\r\nWork>   blü \\ \r\nWork> \r\n"
    );
}

#[test]
fn a_line_may_be_edited_before_it_is_sent() {
    let finished = talk("return (input.ask())", &["-q"], |person| {
        person.wait_for("Work> ");
        // What erases a character, and what erases the line.
        person.types("gone\u{15}blux\u{7f}e\n");
    });
    assert_eq!(finished.stdout, "blue");
}

#[test]
fn the_end_of_the_input_is_no_answer() {
    let lua = "local ok, e = pcall(input.ask) return e.message .. '|' .. input.ask()";
    let finished = talk(lua, &["-q"], |person| {
        person.wait_for("Work> ");
        person.types("\u{4}");
        person.wait_for("\r\nWork> ");
        person.types("on\n");
    });
    assert_eq!(
        finished.stdout,
        "tool call failure: the operator gave no answer|on"
    );
}

#[test]
fn ctrl_c_cancels_a_question() {
    let folder = folder_with(&asking("return (input.ask())"));
    let mut person = Person::start(folder.path(), &["run", "t.md"]);
    person.wait_for("Work> ");
    person.types("half a li");
    person.wait_for("half a li");
    interrupt(&person.child);
    let finished = person.finish();
    assert_eq!((finished.status, &*finished.stdout), (Some(130), ""));
    assert_eq!(plain(&finished), "Work> half a li\r\ncancelled\r\n");
}

#[test]
fn a_stop_leaves_a_question_open() {
    let folder = folder_with(&asking("return (input.ask())"));
    let mut person = Person::start(folder.path(), &["run", "t.md", "-q"]);
    person.wait_for("Work> ");
    for _ in 0..2 {
        kill_process(Pid::from_child(&person.child), Signal::QUIT).unwrap();
        sleep(Duration::from_millis(50));
    }
    person.types("still here\n");
    let finished = person.finish();
    assert_eq!(
        (finished.status, &*finished.stdout),
        (Some(0), "still here")
    );
}

#[test]
fn questions_are_asked_one_at_a_time_in_their_order() {
    let lua = "return table.concat(tasks.fanout('### W', { 'a', 'b', 'c' }))\n```\n\n### W\n\n\
               ```lua\nlog(item) return item .. input.ask()";
    let finished = talk(lua, &["-q"], |person| {
        for item in ["a", "b", "c"] {
            person.wait_for(&format!("{item}\r\nW> "));
            person.types(&format!("{item}!\n"));
        }
    });
    assert_eq!(finished.stdout, "aa!bb!cc!");
}

#[test]
fn a_withdrawn_question_leaves_the_line_to_the_next() {
    let lua = "local t = tasks.spawn('### W') pcall(tasks.join, { t }, { timeout = 0.2 }) \
               tasks.cancel(t) return (input.ask())\n```\n\n### W\n\n```lua\nreturn (input.ask())";
    let finished = talk(lua, &["-q"], |person| {
        person.wait_for("W> ");
        person.wait_for("Work> ");
        person.types("on\n");
    });
    assert_eq!((&*finished.stdout, finished.status), ("on", Some(0)));
    assert_eq!(finished.stderr, "W> \r\nWork> on\r\n");
}

#[test]
fn the_block_steps_aside_while_a_question_is_open() {
    let lua = "pcall(tasks.join, { tasks.spawn('### W') }, { timeout = 0.3 }) \
               local a = input.ask() \
               pcall(tasks.join, { tasks.spawn('### W') }, { timeout = 0.3 }) return a\n```\n\n\
               ### W\n\n```lua\ntasks.join({ tasks.spawn('#### Z') }, { timeout = 60 })\n```\n\n\
               #### Z\n\n```lua\nreturn (input.ask())";
    let finished = talk(lua, &[], |person| {
        person.wait_for("Z> ");
        sleep(Duration::from_millis(400));
        person.types("one\n");
        person.wait_for("Work> ");
        sleep(Duration::from_millis(400));
        person.types("two\n");
        person.wait_for("Z> ");
        person.types("three\n");
    });
    assert_eq!(finished.status, Some(0), "{finished:?}");
    for (question, answer) in [("Z> ", "one"), ("Work> ", "two")] {
        let asked = format!("{question}{answer}\r\n");
        assert!(finished.stderr.contains(&asked), "{finished:?}");
    }
}

/// A server that has something to say once it is ready.
const TALKER: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
  *'"initialize"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"t","version":"1"}}}\n' "$id"
    ;;
  *initialized*) sleep 0.5; echo 'over  here' >&2 ;;
  esac
done
"#;

#[test]
fn what_is_logged_stands_above_the_question() {
    let prompt =
        asking("return (input.ask())").replace("[user-input]", "[user-input, acme/talker]");
    let folder = folder_with(&prompt);
    fs::write(folder.path().join("talker.sh"), TALKER).unwrap();
    let config = "packs: { acme/talker: { command: sh, args: [talker.sh] } }\n";
    fs::write(folder.path().join("runvil.yaml"), config).unwrap();
    for words in [&["run", "t.md"][..], &["run", "t.md", "-q"]] {
        let mut person = Person::start(folder.path(), words);
        person.wait_for("Work> ");
        person.wait_for("Work> \r\nacme/talker: over  here\r\nWork> ");
        person.types("on\n");
        let finished = person.finish();
        assert_eq!((&*finished.stdout, finished.status), ("on", Some(0)));
    }
}

#[test]
fn answers_of_the_command_line_are_asked_of_nobody() {
    let words = ["-q", "--answer", "blue"];
    let finished = talk("return (input.ask())", &words, |_| {});
    assert_eq!((&*finished.stdout, &*finished.stderr), ("blue", ""));
}

#[test]
fn packs_lists_the_person_as_one_who_can_be_asked() {
    let folder = folder_with("");
    let finished = Person::start(folder.path(), &["packs"]).finish();
    let lines: Vec<_> = finished.stdout.lines().collect();
    assert_eq!(lines[1], "runvil/user-input  user-input/ask");
}
