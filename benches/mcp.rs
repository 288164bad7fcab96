//! What a call of a tool costs over a server's standard streams, beside a bare client that makes
//! the same round trips with the same server.

#[path = "../tests/mcp/stub.rs"]
#[allow(clippy::unwrap_used)]
mod stub;

#[path = "../tests/mcp/active.rs"]
#[allow(clippy::unwrap_used)]
mod active;

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use criterion::{Criterion, Throughput};
use runvil::harness::mcp::{McpConfig, McpUnit};
use runvil::harness::model::Abort;
use runvil::harness::{CancelToken, Log};
use runvil::lua::Data;
use serde_json::{Value, json};

const CALLS: u64 = 1000;

/// A client that does no more than the round trips.
struct Bare {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Bare {
    fn start() -> Self {
        let mut child = Command::new(env::current_exe().expect("this program"))
            .env(stub::ROLE, "plain")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut bare = Self {
            child,
            input,
            output,
            id: 0,
        };
        bare.ask("initialize", &json!({}));
        bare
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        let line = format!("{request}\n");
        self.input.write_all(line.as_bytes()).expect("sent");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("received");
        serde_json::from_str(&line).expect("JSON")
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // Whatever comes of it, the bench is over.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn unit() -> McpUnit {
    let mut config = McpConfig::new("acme", "kiln", env::current_exe().expect("this program"));
    config.env = vec![(stub::ROLE.into(), "plain".into())];
    McpUnit::new(config, Log::default()).expect("built")
}

fn echoes(c: &mut Criterion) {
    let mut group = c.benchmark_group("echo");
    group
        .throughput(Throughput::Elements(CALLS))
        .sample_size(20);
    for length in [10, 10_000] {
        let text = "x".repeat(length);
        let mut bare = Bare::start();
        group.bench_function(format!("bare client, {length} bytes"), |b| {
            b.iter(|| {
                for _ in 0..CALLS {
                    let params = json!({ "name": "echo", "arguments": { "text": text } });
                    let reply = bare.ask("tools/call", &params);
                    assert_eq!(reply["result"]["content"][0]["text"], *text);
                }
            });
        });
        let unit = unit();
        let active = active::activate(&unit, &CancelToken::default()).expect("ready");
        let arguments = Data::object([("text", Data::text(text.as_str()))]);
        let call = active::call("echo", "kiln/echo", arguments, &Abort::default());
        group.bench_function(format!("unit, {length} bytes"), |b| {
            b.iter(|| {
                for _ in 0..CALLS {
                    assert_eq!(active.call(&call).as_deref(), Ok(text.as_str()));
                }
            });
        });
    }
    group.finish();
}

fn main() {
    if let Ok(role) = env::var(stub::ROLE) {
        stub::serve(&role);
    }
    let mut criterion = Criterion::default().configure_from_args();
    echoes(&mut criterion);
    criterion.final_summary();
}
