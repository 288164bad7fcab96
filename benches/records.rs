//! What a record costs: a run of 10,000 store operations and 1,000 scripted rounds without a record,
//! with one, and replayed from it, one after the other in turns. Ratios are the median of those of the
//! turns, since a machine that others use too is now fast and now slow, and that of the fastest turns,
//! which nothing else slowed down.

use std::fs::File;
use std::hint::black_box;
use std::io::BufReader;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runvil::Outcome;
use runvil::harness::record::Recorder;
use runvil::harness::{Harness, Launch, Script, Store, replay};

/// How many turns there are, in memory and in a folder, where one takes a second.
const TURNS: [usize; 2] = [101, 15];

/// A prompt with one block.
fn prompt(lua: &str) -> String {
    format!(
        "---\nname: bench\ndescription: d\nrunvil: 0\nmodels:\n  main: {{description: d}}\n---\n# T\n\n\
         ```lua\nmodels.default('main', {{}})\n```\n\n## A\n\n```lua\n{lua}\n```\n"
    )
}

/// A launch with a script, and a store in a folder where there is one.
fn launch(folder: Option<&std::path::Path>) -> Launch {
    let script = Script::from_yaml("rounds:\n- {reply: said}\n").expect("a script");
    Launch {
        model: Some(script.model().clone()),
        broker: Some(Arc::new(script)),
        store: folder.map(|folder| Store::directory(folder).expect("a folder")),
        ..Launch::default()
    }
}

fn timed(deed: impl FnOnce()) -> Duration {
    let start = Instant::now();
    deed();
    start.elapsed()
}

fn run(source: &str, launch: Launch) {
    let report = Harness::default().run(source, launch, &mut |event| {
        black_box(event);
    });
    assert!(
        matches!(report.outcome, Outcome::Completed(_)),
        "{:?}",
        report.outcome
    );
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// How many milliseconds something took.
fn took(times: &[Duration]) -> f64 {
    median(
        times
            .iter()
            .map(|time| time.as_secs_f64() * 1000.0)
            .collect(),
    )
}

/// How many times as long it took as something else.
fn ratios(times: &[Duration], others: &[Duration]) -> String {
    let ratio = |time: &Duration, other: &Duration| time.as_secs_f64() / other.as_secs_f64();
    let pairs = times.iter().zip(others);
    let all = median(pairs.map(|(time, other)| ratio(time, other)).collect());
    let fastest = times.iter().min().zip(others.iter().min());
    let fastest = fastest.map_or(f64::NAN, |(time, other)| ratio(time, other));
    format!("{all:.3}, fastest {fastest:.3}")
}

/// Runs a prompt in turns: plain, recorded, replayed.
fn compare(name: &str, lua: &str, in_folder: bool) {
    let source = prompt(lua);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("record");
    let store = folder.path().join("store");
    std::fs::create_dir(&store).expect("a folder");
    let store = in_folder.then_some(store.as_path());
    let [mut plain, mut recorded, mut replayed] = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..TURNS[usize::from(in_folder)] {
        plain.push(timed(|| run(&source, launch(store))));
        // A run's record is a new file; to empty the one of the last turn costs the system time.
        let _ = std::fs::remove_file(&file);
        recorded.push(timed(|| {
            let record = Some(Recorder::file(File::create(&file).expect("a file")));
            run(
                &source,
                Launch {
                    record,
                    ..launch(store)
                },
            );
        }));
        let record = BufReader::with_capacity(1 << 16, File::open(&file).expect("a record"));
        replayed.push(timed(|| {
            replay(record, &mut |event| {
                black_box(event);
            })
            .expect("no difference");
        }));
    }
    let bytes = std::fs::metadata(&file).expect("a record").len();
    println!(
        "{name}: {:.1} ms; recorded {:.1} ms ({}); replayed {:.1} ms ({}; of recorded {}); \
         {bytes} bytes",
        took(&plain),
        took(&recorded),
        ratios(&recorded, &plain),
        took(&replayed),
        ratios(&replayed, &plain),
        ratios(&replayed, &recorded),
    );
}

fn main() {
    // `cargo test` builds and runs benches to see that they work.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let operations = "for i = 1, 2500 do local p = 'f' .. i % 100 store.write(p, 'some text') \
                      store.read(p) store.append(p, 'more') store.exists(p) end ";
    let rounds = "for i = 1, 1000 do models.infer('round ' .. i) end return 'done'";
    compare(
        "10,000 operations in memory and 1,000 rounds",
        &format!("{operations}{rounds}"),
        false,
    );
    compare(
        "10,000 operations in memory",
        &format!("{operations} return 'done'"),
        false,
    );
    compare("1,000 rounds", rounds, false);
    compare(
        "10,000 operations in a folder",
        &format!("{operations} return 'done'"),
        true,
    );
}
