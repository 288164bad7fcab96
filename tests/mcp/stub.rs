//! An MCP server on standard input and output. Its role says how it starts, the name of a tool
//! what it does when it is called.

use std::collections::VecDeque;
use std::env;
use std::io::{self, Write};
use std::process::{Command, Stdio, exit};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

/// The variable that holds the role of a process.
pub const ROLE: &str = "RUNVIL_STUB";

/// A reply that is over the cap of a line.
const HUGE: usize = 100 << 20;

/// What its tools are.
const TOOLS: &[&str] = &[
    "asks",
    "big",
    "cancelled",
    "close",
    "cwd",
    "deaf",
    "deep",
    "die",
    "echo",
    "env",
    "error",
    "fails",
    "garbage",
    "held",
    "huge",
    "later",
    "malformed",
    "never",
    "notify",
    "now",
    "orphan",
    "pid",
    "refuse",
    "spawn",
    "shaped",
    "twice",
];

struct Stub {
    role: String,
    /// What it still has to read.
    input: io::Lines<io::StdinLock<'static>>,
    /// Lines that came while it waited for others.
    early: VecDeque<Value>,
    /// Replies that are held back.
    held: Vec<(Value, Value)>,
    /// The ids of the requests that were cancelled.
    cancelled: Vec<Value>,
}

/// Serves until its input ends.
pub fn serve(role: &str) -> ! {
    eprintln!("pid {}", std::process::id());
    let mut stub = Stub {
        role: role.to_owned(),
        input: io::stdin().lines(),
        early: VecDeque::new(),
        held: Vec::new(),
        cancelled: Vec::new(),
    };
    stub.begin();
    while let Some(message) = stub.next() {
        stub.take(&message);
    }
    eprintln!("bye");
    if role == "stubborn" {
        forever();
    }
    exit(0)
}

fn forever() -> ! {
    loop {
        sleep(Duration::from_secs(60));
    }
}

impl Stub {
    fn begin(&mut self) {
        match self.role.as_str() {
            "dies" => exit(3),
            "silent" => forever(),
            "floods" => {
                let some = vec![b'x'; 1 << 20];
                while io::stdout().write_all(&some).is_ok() {}
                forever()
            }
            "noisy" => {
                for line in [&b"{"[..], b"[]", b"\xff\xfe", b"", b"{\"id\":0}", b"{}\r"] {
                    self.write(&[line, b"\n"].concat());
                }
            }
            "stubborn" => {
                let ignored = std::sync::Arc::default();
                signal_hook::flag::register(signal_hook::consts::SIGTERM, ignored).unwrap();
            }
            _ => {}
        }
    }

    fn next(&mut self) -> Option<Value> {
        self.early.pop_front().or_else(|| self.read())
    }

    fn read(&mut self) -> Option<Value> {
        let line = self.input.next()?.unwrap();
        Some(serde_json::from_str(&line).unwrap())
    }

    fn take(&mut self, message: &Value) {
        let id = message["id"].clone();
        match message["method"].as_str() {
            Some("initialize") => self.initialize(&id),
            Some("tools/list") => self.list(&id, message["params"]["cursor"].as_str()),
            Some("tools/call") => self.call(&id, &message["params"]),
            Some("notifications/cancelled") => {
                self.cancelled.push(message["params"]["requestId"].clone());
            }
            _ => {}
        }
    }

    fn initialize(&mut self, id: &Value) {
        let version = self.role.strip_prefix("version ");
        let version = version.unwrap_or("2025-06-18").to_owned();
        let capabilities = match self.role.as_str() {
            "toolless" => json!({ "logging": {} }),
            _ => json!({ "tools": { "listChanged": true } }),
        };
        match self.role.as_str() {
            "refuses" => self.error(id, -32000, "not\nnow"),
            "asks first" => {
                self.send(&json!({ "jsonrpc": "2.0", "id": "me", "method": "ping" }));
                let pong = self.awaited(&json!("me"));
                assert_eq!(pong["result"], json!({}));
                self.result(
                    id,
                    json!({ "protocolVersion": version, "capabilities": capabilities }),
                );
            }
            _ => self.result(
                id,
                json!({ "protocolVersion": version, "capabilities": capabilities }),
            ),
        }
    }

    fn list(&mut self, id: &Value, cursor: Option<&str>) {
        let tool = |name: &str| {
            json!({
                "name": name,
                "description": format!("Does {name}."),
                "inputSchema": { "type": "object" },
            })
        };
        let (role, count) = self.role.split_once(' ').unwrap_or((&self.role, ""));
        match role {
            "dies-listing" => exit(3),
            "refuses-listing" => self.error(id, -32000, "not that"),
            "circles" => self.result(id, json!({ "tools": [], "nextCursor": "again" })),
            "endless" => {
                let next = cursor.map_or(0, |cursor| cursor.parse::<u64>().unwrap()) + 1;
                self.result(id, json!({ "tools": [], "nextCursor": next.to_string() }));
            }
            "many" => {
                let count: usize = count.parse().unwrap();
                let first: usize = cursor.unwrap_or("0").parse().unwrap();
                let last = (first + 1000).min(count);
                let tools: Vec<_> = (first..last)
                    .map(|i: usize| tool(&format!("t{i}")))
                    .collect();
                let mut page = json!({ "tools": tools });
                if last < count {
                    page["nextCursor"] = json!(last.to_string());
                }
                self.result(id, page);
            }
            _ => {
                let mut tools: Vec<_> = TOOLS.iter().map(|name| tool(name)).collect();
                for tool in &mut tools {
                    if tool["name"] == "shaped" {
                        tool["outputSchema"] = json!({ "type": "object" });
                    }
                }
                self.result(id, json!({ "tools": tools }));
            }
        }
    }

    fn call(&mut self, id: &Value, params: &Value) {
        let arguments = &params["arguments"];
        let pid = std::process::id().to_string();
        match params["name"].as_str().unwrap() {
            "echo" => self.text(id, arguments["text"].as_str().unwrap_or("")),
            "env" => {
                let mut names: Vec<_> = env::vars()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                names.sort();
                self.text(id, &names.join(","));
            }
            "cwd" => self.text(id, &env::current_dir().unwrap().to_string_lossy()),
            "pid" => self.text(id, &pid),
            "never" => {}
            "twice" => {
                self.text(id, "once");
                self.text(id, "twice");
            }
            "die" => exit(3),
            "close" => {
                close_stdout();
                forever()
            }
            "deaf" => {
                self.text(id, "deaf from now on");
                forever()
            }
            "huge" => self.text(id, &"x".repeat(HUGE)),
            "big" => self.text(id, &"x".repeat(15 << 20)),
            "deep" => {
                let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
                self.write(
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{deep}}}\n").as_bytes(),
                );
            }
            "garbage" => {
                self.write(b"starting\n\n{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}\n\xff\xfe\n{\"half\":\n");
                self.text(id, "after garbage");
                self.write(b"more\x1b[0m\n");
            }
            "later" => self.held.push((id.clone(), arguments["text"].clone())),
            "held" => self.text(id, &self.held.len().to_string()),
            "now" => {
                while let Some((id, text)) = self.held.pop() {
                    self.text(&id, text.as_str().unwrap());
                }
                self.text(id, "now");
            }
            "asks" => self.asks(id),
            "notify" => {
                for (method, params) in [
                    ("notifications/tools/list_changed", json!({})),
                    (
                        "notifications/progress",
                        json!({ "progressToken": 1, "progress": 5 }),
                    ),
                    (
                        "notifications/message",
                        json!({ "level": "warning", "data": "hot\nkiln" }),
                    ),
                    (
                        "notifications/message",
                        json!({ "level": "info", "data": { "n": 1 } }),
                    ),
                ] {
                    self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
                }
                self.text(id, "told");
            }
            "cancelled" => self.text(id, &Value::from(self.cancelled.clone()).to_string()),
            "refuse" => self.error(id, -32602, "no\tsuch"),
            "error" => self.error(id, -32000, "down"),
            "fails" => {
                let content = json!([{ "type": "text", "text": "bad\nglaze" }]);
                self.result(id, json!({ "content": content, "isError": true }));
            }
            "malformed" => self.result(id, json!({ "text": "a" })),
            "shaped" => self.result(
                id,
                json!({ "content": [], "structuredContent": { "n": 2 } }),
            ),
            "spawn" => {
                let mut child = Command::new("sleep");
                let child = child
                    .arg("300")
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null());
                self.text(id, &child.spawn().unwrap().id().to_string());
            }
            "orphan" => {
                // What holds the streams after this has ended.
                Command::new("sleep").arg("300").spawn().unwrap();
                exit(3)
            }
            other => panic!("no tool {other}"),
        }
    }

    /// Asks the host for what it has and for what it does not have; says what it answers.
    fn asks(&mut self, id: &Value) {
        let mut answers = Vec::new();
        for (own, method) in [
            (json!("a\n"), "ping"),
            (json!(7), "sampling/createMessage"),
            (json!("r"), "roots/list"),
        ] {
            self.send(&json!({ "jsonrpc": "2.0", "id": own, "method": method, "params": {} }));
            answers.push(self.awaited(&own));
        }
        self.text(id, &Value::from(answers).to_string());
    }

    fn awaited(&mut self, id: &Value) -> Value {
        loop {
            let message = self.read().unwrap();
            match message["id"] == *id && message.get("method").is_none() {
                true => return message,
                false => self.early.push_back(message),
            }
        }
    }

    fn text(&self, id: &Value, text: &str) {
        self.result(id, json!({ "content": [{ "type": "text", "text": text }] }));
    }

    fn result(&self, id: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn error(&self, id: &Value, code: i64, message: &str) {
        let error = json!({ "code": code, "message": message });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    fn send(&self, message: &Value) {
        if self.role == "noisy" {
            self.write(b"  about to say something\r\n");
        }
        self.write(format!("{message}\n").as_bytes());
    }

    /// Writes a line, in one piece or in many. Who reads it may have had enough.
    fn write(&self, bytes: &[u8]) {
        let mut stdout = io::stdout().lock();
        if self.role != "split" {
            let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
            return;
        }
        for (at, piece) in bytes.chunks(7).enumerate() {
            let _ = stdout.write_all(piece).and_then(|()| stdout.flush());
            if at % 5 == 0 {
                sleep(Duration::from_millis(1));
            }
        }
    }
}

/// Nothing can be written any more; the process goes on.
fn close_stdout() {
    let null = std::fs::File::open("/dev/null").unwrap();
    rustix::stdio::dup2_stdout(null).unwrap();
}
