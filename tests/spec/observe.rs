//! Runs one case and keeps what can be seen from outside.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use runvil::engine::model::Round;
use runvil::engine::store::{Reason, StoreFailure};
use runvil::engine::{Event, Outcome, ToolRequest};
use runvil::harness::model::{Broker, DebugEvents, Show};
use runvil::harness::record::Recorder;
use runvil::harness::unit::Operator;
use runvil::harness::{
    CancelToken, Harness, Launch, Limits, Log, Seed, StartedAt, StopToken, Store,
};
use runvil::prompt::Dialect;
use serde_json::Value;

use crate::case::{Case, SeedSetup, StoreSetup};
use crate::models::{ModelSetup, ShownPiece, UnmetPattern, Witness as Rounds};
use crate::record;
use crate::signal::Signals;
use crate::units::{Fake, FakeOperator, Gaps, Witness};

/// How long a case may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a run showed.
pub struct Observed {
    pub outcome: Outcome,
    /// The events in order, in their written form; among them debug events, where the case wants them.
    pub events: Vec<Value>,
    /// The files the case asks for, after the run.
    pub files: BTreeMap<String, Option<Vec<u8>>>,
    pub run: String,
    pub seed: String,
    /// The rounds that went out, in order.
    pub rounds: Vec<Arc<Round>>,
    /// The pieces of replies that the Host was shown.
    pub shown: Vec<ShownPiece>,
    pub unmet_roles: Vec<UnmetPattern>,
    /// What the prompt requires of units that is not there.
    pub gaps: Gaps,
    /// The calls of units' tools, in order.
    pub called: Vec<Arc<ToolRequest>>,
    /// The units that were activated, in order, each with the configuration that it got.
    pub activated: Vec<(String, Value)>,
    /// The tasks that asked the operator, in order.
    pub asked: Vec<String>,
    /// What was logged of units.
    pub host_log: Vec<String>,
}

/// Runs `source` as the case says. A panic or a run that does not end is an error.
pub fn run(case: &Case, dialect: Dialect, source: &str) -> Result<Observed, String> {
    let launch = launch(case, dialect)?;
    let token = launch.cancel.clone();
    let (done, result) = mpsc::channel();
    let (case, source) = (case.clone(), source.to_owned());
    let worker = thread::Builder::new()
        .stack_size(8 << 20)
        .spawn(move || drop(done.send(observe(&case, &source, launch))))
        .map_err(|error| error.to_string())?;
    match result.recv_timeout(PATIENCE) {
        Ok(observed) => observed,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            token.cancel();
            Err(format!(
                "the run did not end within {} seconds",
                PATIENCE.as_secs()
            ))
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let panic = worker.join().err();
            let text = panic.as_ref().and_then(|panic| {
                panic
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or(panic.downcast_ref::<&str>().copied())
            });
            Err(format!(
                "the run panicked: {}",
                text.unwrap_or("without a text")
            ))
        }
    }
}

fn observe(case: &Case, source: &str, mut launch: Launch) -> Result<Observed, String> {
    let events = Arc::<Mutex<Vec<Value>>>::default();
    let signals = Arc::new(Signals::new(case, &launch));
    let asked = rounds(case, signals.clone())?;
    launch.broker = asked.clone().map(|asked| asked as Arc<dyn Broker>);
    let (pieces, shown) = mpsc::channel();
    launch.show = Some(Show::new(move |piece| {
        drop(pieces.send(ShownPiece::from(piece)));
    }));
    let (seen, told) = (events.clone(), signals.clone());
    launch.debug = case.debug.then(|| {
        DebugEvents::new(move |event| {
            let event = serde_json::to_value(event).unwrap_or(Value::Null);
            told.event(&event);
            lock(&seen).push(event);
        })
    });
    let witness = Witness::new(signals.clone());
    let answers = case.answers.as_deref();
    launch.operator = answers.map(|answers| {
        let operator: Arc<dyn Operator> = Arc::new(FakeOperator::new(answers, &witness));
        operator
    });
    let log = Arc::<Mutex<Vec<String>>>::default();
    let harness = harness(case, &witness, &log)?;
    let record = record::Memory::default();
    launch.record = Some(Recorder::new(record.clone()));
    signals.start();
    let report = harness.run(source, launch, &mut |event: &Event| {
        let event = serde_json::to_value(event).unwrap_or(Value::Null);
        signals.event(&event);
        lock(&events).push(event);
    });
    let events = std::mem::take(&mut *lock(&events));
    // A debug event has no number, and is in no record.
    let (numbered, debug): (Vec<Value>, Vec<Value>) = events
        .iter()
        .cloned()
        .partition(|event| event["provenance"]["seq"].is_u64());
    record::check(&record.bytes(), &report, &numbered)?;
    unrecorded(&record.bytes(), &debug)?;
    let files = case
        .files
        .keys()
        .map(|path| Ok((path.clone(), contents(&report.store, path)?)))
        .collect::<Result<_, String>>()?;
    Ok(Observed {
        outcome: report.outcome,
        events,
        files,
        run: report.run,
        seed: hex(&report.seed.0),
        rounds: asked.map_or_else(Vec::new, |asked| asked.rounds()),
        shown: shown.try_iter().collect(),
        unmet_roles: report
            .requirements
            .unmet_roles
            .iter()
            .map(UnmetPattern::from)
            .collect(),
        gaps: Gaps::from(&report.requirements),
        called: witness.calls(),
        activated: witness.activated(),
        asked: witness.asked(),
        host_log: lock(&log).clone(),
    })
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// No line of a record is a debug event, and none holds a body of one (spec K188a).
fn unrecorded(record: &[u8], debug: &[Value]) -> Result<(), String> {
    let record = String::from_utf8_lossy(record);
    let kinds = ["\"kind\":\"request\"", "\"kind\":\"response\""];
    let bodies = debug.iter().map(|event| event["body"].to_string());
    let mut traces = kinds.map(str::to_owned).into_iter().chain(bodies);
    match traces.find(|trace| record.contains(trace.as_str())) {
        Some(trace) => Err(format!("the record holds {trace}")),
        None => Ok(()),
    }
}

/// The Host's units and services, as the case says.
fn harness(
    case: &Case,
    witness: &Arc<Witness>,
    log: &Arc<Mutex<Vec<String>>>,
) -> Result<Harness, String> {
    let log = log.clone();
    let mut harness = Harness::default().with_log(Log::new(move |line| {
        lock(&log).push(line.to_owned());
    }));
    for unit in &case.units {
        harness = harness.with_unit(Fake::new(unit, witness)?);
    }
    for service in &case.services {
        harness = harness.with_service(service);
    }
    Ok(harness)
}

/// What answers the case's rounds, and keeps them.
fn rounds(case: &Case, signals: Arc<Signals>) -> Result<Option<Arc<Rounds>>, String> {
    let Some(rules) = &case.script else {
        return Ok(None);
    };
    let held = Duration::from_millis(case.held_ms);
    let rounds = Rounds::new(rules, case.metadata.clone(), held, signals)?;
    Ok(Some(Arc::new(rounds)))
}

/// The bytes of a file, `None` where there is none.
fn contents(store: &Store, path: &str) -> Result<Option<Vec<u8>>, String> {
    match store.read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(failure) if failure.reason == Reason::NotFound => Ok(None),
        Err(failure) => Err(failure.to_string()),
    }
}

/// The launch of a case. Where the case gives no seed it is 0, so that a failure can be repeated.
fn launch(case: &Case, dialect: Dialect) -> Result<Launch, String> {
    Ok(Launch {
        args: case.args.clone(),
        input: case.input.clone(),
        seed: Some(seed(case.seed.as_ref().unwrap_or(&SeedSetup::Number(0)))?),
        started_at: case.started_at.as_deref().map(instant).transpose()?,
        name: case.name.clone(),
        dialect,
        limits: limits(case),
        ui: case.ui.clone(),
        store: case.store.as_ref().map(store).transpose()?,
        model: case.model.as_ref().map(ModelSetup::model),
        broker: None,
        operator: None,
        show: None,
        debug: None,
        record: None,
        stop: StopToken::default(),
        cancel: CancelToken::default(),
    })
}

fn limits(case: &Case) -> Limits {
    let (set, own) = (&case.limits, Limits::default());
    Limits {
        concurrency: set.concurrency.unwrap_or(own.concurrency),
        memory: set.memory.unwrap_or(own.memory),
        log_events: set.log_events.unwrap_or(own.log_events),
        response_cap: set.response_cap.unwrap_or(own.response_cap),
        receive_timeout: set.receive_timeout.unwrap_or(own.receive_timeout),
        max_rounds: set.max_rounds.unwrap_or(own.max_rounds),
    }
}

fn store(setup: &StoreSetup) -> Result<Store, String> {
    if setup.none {
        return Ok(Store::none());
    }
    let store = Store::memory();
    let refused = |failure: StoreFailure| failure.to_string();
    for (path, text) in &setup.files {
        store.write(path, text).map_err(refused)?;
    }
    for (path, digits) in &setup.bytes {
        store.write(path, unhex(digits)?).map_err(refused)?;
    }
    Ok(if setup.read_only {
        store.read_only()
    } else {
        store
    })
}

/// A seed as `--seed` reads it (spec R20): a number fills the last bytes.
fn seed(setup: &SeedSetup) -> Result<Seed, String> {
    let bytes = match setup {
        SeedSetup::Hex(digits) => unhex(digits)?,
        SeedSetup::Number(number) => [&[0; 24][..], &number.to_be_bytes()].concat(),
    };
    bytes
        .try_into()
        .map(Seed)
        .map_err(|_| "a seed has 64 hex digits".to_owned())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u32> = digits
        .chars()
        .filter(|character| !character.is_whitespace())
        .map(|character| {
            character
                .to_digit(16)
                .ok_or(format!("`{character}` is no hex digit"))
        })
        .collect::<Result<_, _>>()?;
    digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).map_err(|error| error.to_string()),
            _ => Err("a byte has two hex digits".to_owned()),
        })
        .collect()
}

/// Reads `YYYY-MM-DDTHH:MM:SS[.fff]Z` (spec L60).
fn instant(text: &str) -> Result<StartedAt, String> {
    let wrong = || format!("`{text}` is no instant");
    let (date, time) = text
        .strip_suffix('Z')
        .and_then(|text| text.split_once('T'))
        .ok_or_else(wrong)?;
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let numbers = |text: &str, separator: char| -> Result<[i64; 3], String> {
        let parts: Result<Vec<i64>, _> = text.split(separator).map(str::parse).collect();
        parts
            .ok()
            .and_then(|parts| parts.try_into().ok())
            .ok_or_else(wrong)
    };
    let ([year, month, day], [hour, minute, second]) = (numbers(date, '-')?, numbers(whole, ':')?);
    let milliseconds: i64 = format!("{fraction:0<3}").parse().map_err(|_| wrong())?;
    // Days since 1970-01-01 of a proleptic Gregorian date, counting years from March.
    let shifted = if month < 3 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = 365 * shifted + shifted.div_euclid(4) - shifted.div_euclid(100)
        + shifted.div_euclid(400)
        + day_of_year
        - 719_468;
    Ok(StartedAt(
        (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + milliseconds,
    ))
}

#[test]
fn instants_are_milliseconds_since_1970() {
    let read = |text| instant(text).map(|StartedAt(milliseconds)| milliseconds);
    assert_eq!(read("1970-01-01T00:00:00Z"), Ok(0));
    assert_eq!(read("1969-12-31T23:59:59.5Z"), Ok(-500));
    assert_eq!(read("2000-02-29T12:00:00.25Z"), Ok(951_825_600_250));
    assert!(read("2000-02-29 12:00:00").is_err());
}
