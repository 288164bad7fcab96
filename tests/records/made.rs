//! Runs that are recorded in memory.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use runvil::harness::record::Recorder;
use runvil::harness::unit::Answers;
use runvil::harness::{Harness, Launch, Report, Resume, ResumeError, Script, Seed};

/// A record in memory.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A prompt whose `## A` is this Lua, before what else there is of it.
pub fn prompt(frontmatter: &str, lua: &str, more: &str) -> String {
    format!(
        "---\nname: t\ndescription: d\nrunvil: 0\n{frontmatter}---\n# T\n\n## A\n\n```lua\n{lua}\n```\n{more}"
    )
}

/// A run with a bit of all that a record holds: files, rounds, questions, tasks and timers, some of
/// which are dropped.
pub fn rich() -> String {
    let lua = "models.default('main', {})\n\
        store.write('log', 'start;')\n\
        local first = input.ask()\n\
        store.append('log', first .. ';')\n\
        local slow = tasks.spawn('### Slow')\n\
        local _, timed = pcall(tasks.join, { slow }, { timeout = 0.001 })\n\
        local parts = tasks.fanout('### Part', { 'x', 'y', 'z' })\n\
        tasks.cancel(slow)\n\
        local ok, gone = pcall(store.read, 'gone')\n\
        store.append('log', gone.reason .. ';' .. input.ask() .. ';')\n\
        return table.concat(parts, '|') .. '#' .. store.read('log')";
    let more = "\n### Slow\n\n```lua\nreturn models.infer('slow')\n```\n\n### Part\n\n```lua\n\
        local said = models.infer('part ' .. item)\nstore.write('parts/' .. item, said)\n\
        return said .. store.read('parts/' .. item)\n```\n";
    prompt(
        "uses: [user-input]\nmodels:\n  main: {description: d}\n",
        lua,
        more,
    )
}

/// What answers the rounds of [`rich`]: the same however its tasks take their turns.
pub fn script() -> Script {
    Script::from_yaml(
        "rounds:\n\
         - {when: {contains: slow}, reply: late, delay_ms: 3600000}\n\
         - {when: {contains: 'part x'}, reply: one, times: 1}\n\
         - {when: {contains: 'part y'}, reply: two, times: 1, delay_ms: 1}\n\
         - {when: {contains: 'part z'}, reply: three, times: 1, usage: {prompt_tokens: 1, completion_tokens: 2}}\n",
    )
    .unwrap()
}

const ANSWERS: [&str; 2] = ["yes", "no"];

/// Runs a prompt, and gives its record beside the report.
pub fn record(source: &str, launch: Launch) -> (Report, Vec<u8>) {
    let memory = Memory::default();
    let launch = Launch {
        seed: Some(Seed::from(7)),
        record: Some(Recorder::new(memory.clone())),
        ..launch
    };
    let report = Harness::default().run(source, launch, &mut |_| {});
    (report, memory.bytes())
}

/// Runs [`rich`].
pub fn record_rich() -> (Report, Vec<u8>) {
    record_longer(0)
}

/// Runs [`rich`] with so many more bytes of text that says nothing.
pub fn record_longer(by: usize) -> (Report, Vec<u8>) {
    let script = script();
    let launch = Launch {
        model: Some(script.model().clone()),
        broker: Some(Arc::new(script)),
        operator: Some(Arc::new(Answers::new(ANSWERS))),
        ..Launch::default()
    };
    record(&(rich() + &"-".repeat(by)), launch)
}

/// Resumes the run of a record, with what serves [`rich`]. Gives the record as it is then, too.
pub fn resume(record: &[u8]) -> (Result<Report, ResumeError>, Vec<u8>) {
    // An answer that is in the record is not given again.
    let has = |answer: &str| {
        let output = format!(r#""answer":{{"output":"{answer}"}}"#);
        lines_of(record).any(|line| line.contains(&output))
    };
    let answers = ANSWERS.iter().filter(|answer| !has(answer)).copied();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(record).unwrap();
    let resume = Resume {
        broker: Some(Arc::new(script())),
        operator: Some(Arc::new(Answers::new(answers))),
        ..Resume::default()
    };
    let opened = file.reopen().unwrap();
    let report = Harness::default().resume(opened, resume, &mut |_| {});
    (report, std::fs::read(file.path()).unwrap())
}

/// The whole lines of what may be cut anywhere.
fn lines_of(record: &[u8]) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    let lines = record.split_inclusive(|byte| *byte == b'\n');
    let whole = lines.filter(|line| line.ends_with(b"\n"));
    whole.map(String::from_utf8_lossy)
}

/// The lines of a record.
pub fn lines(record: &[u8]) -> Vec<&str> {
    std::str::from_utf8(record).unwrap().lines().collect()
}

/// The one line that holds all of these.
#[track_caller]
pub fn line_with<'a>(record: &'a [u8], parts: &[&str]) -> (usize, &'a str) {
    let mut found = lines(record).into_iter().enumerate();
    let line = found.find(|(_, line)| parts.iter().all(|part| line.contains(part)));
    let (at, line) = line.unwrap_or_else(|| panic!("no line holds {parts:?}"));
    (at + 1, line)
}
