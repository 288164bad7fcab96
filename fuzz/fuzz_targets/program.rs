//! Whole runs: any text as prose to substitute, as arguments and as Lua must end in an outcome, and
//! a second run of it in the same one, event for event.
#![no_main]

use libfuzzer_sys::fuzz_target;
use runvil::harness::{CancelToken, Harness, Launch, Limits, Seed, StartedAt};

fn run(source: &str, args: &str) -> (String, String) {
    let mut events = String::new();
    let cancel = CancelToken::default();
    let token = cancel.clone();
    let launch = Launch {
        args: args.to_owned(),
        seed: Some(Seed([7; 32])),
        started_at: Some(StartedAt(0)),
        limits: Limits { memory: 4 << 20, log_events: 64, ..Limits::default() },
        cancel,
        ..Launch::default()
    };
    let mut count = 0;
    let report = Harness::default().run(source, launch, &mut |event| {
        events.push_str(event.kind.name());
        events.push(' ');
        count += 1;
        // A prompt may jump for ever; a fuzzer may not wait for it.
        if count == 2_000 {
            token.cancel();
        }
    });
    (format!("{:?}", report.outcome), events)
}

fuzz_target!(|input: (&str, &str, &str)| {
    let (prose, lua, args) = input;
    // Loops are legal and endless ones are ended by a cancel alone, which no fuzz target gives.
    let loops = ["while", "repeat", "for", "goto", "function", "rep", "gsub", "match", "find"];
    if loops.iter().any(|word| lua.contains(word) || prose.contains(word)) {
        return;
    }
    for (key, declared) in [("runvil", ""), ("promptforge", "args: {}\n")] {
        let source = format!(
            "---\nname: f\ndescription: d\n{key}: 0\n{declared}---\n# T\n\n## A\n\n{prose}\n\n\
             ```lua\nlocal ok, text = pcall(function() return prose end)\nvar.t = tostring(text)\n\
             return var.t\n```\n\n## B\n\n```lua\n{lua}\n```\n"
        );
        let first = run(&source, args);
        assert_eq!(first, run(&source, args), "two runs of one prompt differ");
    }
});
