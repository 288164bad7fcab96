//! The packets of `examples/packets/`: each runs as its manifest says, with the repositories that
//! its `setup` makes (spec P133; K43).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::fixture::Packet;

/// A copy of an example, its repositories made.
fn example(name: &str) -> Packet {
    let packet = Packet::empty();
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/packets")
        .join(name);
    let script = format!(
        "cp -r {}/. . && rm -rf workspace .prompt_runner && ./setup",
        from.display()
    );
    packet.shell(&script);
    packet
}

/// What every one of them must do, whatever it shows.
fn runs_through(packet: &Packet, ids: &[&str]) {
    let lint = packet.run(&["lint"]);
    assert_eq!(lint.status, Some(0), "{}", lint.stdout);
    // The contracts of the one with nine prompts are those of P133, of which lint warns (P107).
    let is_clean = lint.stdout.contains("\nno findings\n");
    assert!(is_clean || ids.len() == 9, "{}", lint.stdout);
    let preflight = packet.run(&["preflight", "--text"]);
    assert_eq!(preflight.status, Some(0), "{}", preflight.stdout);
    assert!(
        preflight.stdout.ends_with("\nready to run\n"),
        "{}",
        preflight.stdout
    );
    let finished = packet.run(&["run", "--remaining"]);
    assert_eq!(
        finished.status,
        Some(0),
        "{}\n{}",
        finished.stdout,
        finished.stderr
    );
    assert_eq!(finished.stderr, "");
    let recorded: Vec<String> = packet.progress();
    let done: Vec<&str> = recorded
        .iter()
        .map(|line| line.split(':').next().unwrap())
        .collect();
    assert_eq!(done, ids);
    let again = packet.run(&["run", "--remaining"]);
    assert_eq!(again.status, Some(0));
    let expected = "Nothing remaining: every prompt of this packet is completed.\n";
    assert_eq!(again.stdout, expected);
}

#[test]
fn every_example_is_tested() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/packets");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let names: BTreeSet<String> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let tested = ["program", "recovery", "several-repos", "single-repo"].map(str::to_owned);
    assert_eq!(names, BTreeSet::from(tested));
}

#[test]
fn one_repository() {
    let packet = example("single-repo");
    runs_through(&packet, &["01", "02"]);
    let log = packet.shell("cd workspace; git log --format=%s; git status --porcelain");
    assert_eq!(log, "docs: link the notes\ndocs: write notes\nBegin\n");
}

/// The prompts are programs; the second is repaired once.
#[test]
fn programs() {
    let packet = example("program");
    runs_through(&packet, &["01", "02"]);
    assert_eq!(packet.attempts("01"), "run: completed");
    assert_eq!(
        packet.attempts("02"),
        "run: verification_failed; repair: completed"
    );
    let written = packet.shell("cd workspace; cat INDEX.md COUNT.md; git status --porcelain");
    assert_eq!(
        written,
        "# Index\n\n- [Ants](notes/ants.md)\n- [Bees](notes/bees.md)\n\
         2 notes\nchecked by attempt 2\n"
    );
}

#[test]
fn several_repositories() {
    let packet = example("several-repos");
    runs_through(&packet, &["01", "02"]);
    assert_eq!(packet.progress()[0], "01:completed:api=SHA,docs=SHA");
    let log = packet.shell("git -C workspace/docs log --format=%s");
    assert_eq!(
        log,
        "docs: note the release\nfeat: add the health endpoint\nBegin\n"
    );
    let log = packet.shell("git -C workspace/api log --format=%s");
    assert_eq!(log, "feat: add the health endpoint\nBegin\n");
}

#[test]
fn the_nine_ways_to_recover() {
    let packet = example("recovery");
    let ids = ["01", "02", "03", "04", "05", "06", "07", "08", "09"];
    runs_through(&packet, &ids);
    for (id, attempts) in [
        ("01", "run: failed; retry: completed"),
        ("02", "run: verification_failed; repair: completed"),
        ("03", "run: completed"),
        ("04", "run: failed; retry: completed"),
        ("05", "run: failed; retry: failed; retry: completed"),
        ("06", "run: completed"),
        ("07", "run: failed; retry: failed; repair: completed"),
        ("08", "run: failed; retry: completed"),
        ("09", "run: completed"),
    ] {
        assert_eq!(packet.attempts(id), attempts, "{id}");
    }
    for id in ["03", "09"] {
        assert_eq!(packet.prompt(id)["attempts"][0]["resumes"], 1, "{id}");
    }
    let counted = packet.shell("cd workspace; git rev-list --count HEAD; git status --porcelain");
    assert_eq!(counted, "10\n");
}

/// The commands of README.md, section *Packets*, in an empty folder; and what they print.
#[test]
fn the_packet_of_the_readme() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let (_, section) = readme.split_once("\n## Packets\n").unwrap();
    let (_, block) = section.split_once("\n````console\n").unwrap();
    let (block, _) = block.split_once("\n````\n").unwrap();
    let (mut script, mut expected) = ("exec 2>&1\n".to_owned(), Vec::new());
    let mut is_text = false;
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => script += command,
            None if is_text => script += line,
            None => {
                expected.push(line);
                continue;
            }
        }
        script.push('\n');
        is_text = line.ends_with("<< 'END'") || is_text && line != "END";
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_runvil")).parent().unwrap();
    let folder = Packet::empty();
    let printed = folder.shell(&format!(
        "export PATH={}:$PATH GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=E \
         GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=e@example.org\n{script}",
        binary.display()
    ));
    // Names that are drawn, hashes and folders differ.
    let told = |line: &str| {
        let known = ["Run ", "  repo app: ", "Completed prompt 01 ("];
        let known = known.into_iter().find(|start| line.starts_with(start));
        known.unwrap_or(line).to_owned()
    };
    let printed: Vec<String> = printed.lines().map(told).collect();
    let expected: Vec<String> = expected.into_iter().map(told).collect();
    assert_eq!(printed, expected);
    let log = folder.shell("git -C app log --format=%s; cat app/hello.txt");
    assert_eq!(log, "docs: greet\nHello!\n");
}
