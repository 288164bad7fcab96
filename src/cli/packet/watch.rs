//! `runvil packet watch` (spec P105).

use std::io::{self, ErrorKind, Write};
use std::thread;
use std::time::Duration;

use clap::Args;
use runvil::packet::{Packet, Sample};

use super::super::console;
use super::super::escape::{escape, escape_json};
use super::super::status::Status;
use super::place::{Place, config_home};
use super::report;

/// The seconds between two samples.
const INTERVAL: u64 = 900;

#[derive(Args)]
#[command(after_help = "\
A line says whether a runner is at work, on which prompt, for how many minutes no file has changed, \
and what the repositories hold. Nothing is judged.

  runvil packet watch demo --interval 60
  runvil packet watch demo --once --json")]
pub struct WatchArgs {
    #[command(flatten)]
    place: Place,

    /// The seconds between two samples; 900 where it is not above 0
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 900,
        allow_negative_numbers = true
    )]
    interval: i64,

    /// Take one sample
    #[arg(long)]
    once: bool,

    /// Print each sample as a line of JSON
    #[arg(long)]
    json: bool,
}

/// Shows samples, until it is stopped or nobody reads any more.
pub fn watch(args: &WatchArgs) -> Status {
    let seconds = u64::try_from(args.interval).ok().filter(|it| *it > 0);
    let interval = Duration::from_secs(seconds.unwrap_or(INTERVAL));
    loop {
        let packet = match Packet::open(args.place.folder(), &config_home()) {
            Ok(packet) => packet,
            Err(error) => return report::refused(&error),
        };
        let sample = Sample::take(&packet);
        let line = match args.json {
            true => escape_json(&serde_json::to_string(&sample).unwrap_or_default()).into_owned(),
            false => escape(&sample.line()).into_owned(),
        };
        match show(&line) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Status::Success,
            Err(error) => {
                return console::status_of(Err(error), Status::Failed, report::style());
            }
        }
        if args.once {
            return Status::Success;
        }
        thread::sleep(interval);
    }
}

fn show(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}
