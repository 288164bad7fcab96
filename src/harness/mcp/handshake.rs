//! How a server gets ready: `initialize`, then its tools page by page (spec T162, T163). It reads
//! and writes nothing itself.

use std::collections::HashSet;
use std::mem;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::message::{Outcome, RpcError, notification, request};
use crate::harness::shown::one_line;
use crate::lua::Data;

/// The version that is asked for, and those that are taken.
const ASKED: &str = "2025-06-18";
const TAKEN: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The most tools of a server, and the most bytes of the pages that list them.
const MOST_TOOLS: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// A server that is getting ready.
#[derive(Debug)]
pub struct Handshake {
    /// The id of the request that is under way.
    id: u64,
    /// Whether `initialize` has been answered.
    is_initialized: bool,
    listing: Listing,
    /// Of the pages so far.
    bytes: usize,
    cursors: HashSet<Arc<str>>,
}

/// What follows from a reply.
#[derive(Debug, Default)]
pub struct Step {
    /// The lines to be sent.
    pub send: Vec<u8>,
    /// How it ended, where it has: the server is ready and these are its tools, or it will not be,
    /// for this reason (spec T163).
    pub end: Option<Result<Listing, String>>,
}

/// The tools that a server lists, in its order.
#[derive(Debug, Default, PartialEq)]
pub struct Listing {
    /// Those that have a name.
    pub tools: Vec<Listed>,
    /// How many have none.
    pub nameless: usize,
}

/// A tool as its server describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its name, which may be any text.
    pub name: Arc<str>,
    /// Its description, else its title, else empty.
    pub description: Arc<str>,
    /// `inputSchema`, whatever it is.
    pub schema: Data,
    /// Whether it has an `outputSchema`.
    pub declares_output: bool,
}

impl Handshake {
    /// The beginning, and the line to be sent.
    pub fn begin() -> (Self, Vec<u8>) {
        let client = Data::object([
            ("name", Data::text("runvil")),
            ("version", Data::text(env!("CARGO_PKG_VERSION"))),
        ]);
        let params = Data::object([
            ("protocolVersion", Data::text(ASKED)),
            ("capabilities", Data::empty()),
            ("clientInfo", client),
        ]);
        let handshake = Self {
            id: 0,
            is_initialized: false,
            listing: Listing::default(),
            bytes: 0,
            cursors: HashSet::new(),
        };
        (handshake, request(0, "initialize", &params))
    }

    /// The first id that it has not used for a request of its own.
    pub fn next_id(&self) -> u64 {
        self.id + 1
    }

    /// Takes a reply; `None` where it is not to the request that is under way.
    pub fn reply(&mut self, id: u64, outcome: Outcome) -> Option<Step> {
        if id != self.id {
            return None;
        }
        let (stage, step) = match self.is_initialized {
            false => ("initialize", self.initialized(outcome)),
            true => ("tools/list", self.page(outcome)),
        };
        Some(step.unwrap_or_else(|Failure(what)| Step::end(Err(format!("{stage} failed: {what}")))))
    }

    fn initialized(&mut self, outcome: Outcome) -> Result<Step, Failure> {
        let result = read(&outcome?)?;
        let Some(Data::Text(version)) = result.get("protocolVersion") else {
            return Err(Failure::malformed());
        };
        if !TAKEN.contains(&&**version) {
            let version = one_line(version);
            return Ok(Step::end(Err(format!(
                "unsupported MCP protocol version {version}"
            ))));
        }
        self.is_initialized = true;
        let mut send = notification("notifications/initialized", Data::empty());
        let capabilities = result.get("capabilities");
        let tools = capabilities.and_then(|capabilities| capabilities.get("tools"));
        let end = match tools {
            None | Some(Data::Null) => Some(Ok(Listing::default())),
            Some(_) => {
                send.extend(self.list(None));
                None
            }
        };
        Ok(Step { send, end })
    }

    fn page(&mut self, outcome: Outcome) -> Result<Step, Failure> {
        let result = outcome?;
        self.bytes = self.bytes.saturating_add(result.get().len());
        if self.bytes > MOST_BYTES {
            return Err(Failure(format!("more than {MOST_BYTES} bytes of tools")));
        }
        let page = read(&result)?;
        let Some(Data::List(tools)) = page.get("tools") else {
            return Err(Failure::malformed());
        };
        for tool in tools.iter() {
            match Listed::read(tool) {
                Some(tool) => self.listing.tools.push(tool),
                None => self.listing.nameless += 1,
            }
        }
        if self.listing.tools.len() + self.listing.nameless > MOST_TOOLS {
            return Err(Failure(format!("more than {MOST_TOOLS} tools")));
        }
        let cursor = match page.get("nextCursor") {
            None | Some(Data::Null) => None,
            Some(Data::Text(cursor)) => Some(cursor).filter(|cursor| !cursor.is_empty()),
            Some(_) => return Err(Failure::malformed()),
        };
        let Some(cursor) = cursor else {
            return Ok(Step::end(Ok(mem::take(&mut self.listing))));
        };
        if !self.cursors.insert(cursor.clone()) {
            return Err(Failure("a cursor came twice".to_owned()));
        }
        Ok(Step {
            send: self.list(Some(cursor)),
            end: None,
        })
    }

    /// The line that asks for a page.
    fn list(&mut self, cursor: Option<&Arc<str>>) -> Vec<u8> {
        self.id += 1;
        let cursor = cursor.map(|cursor| ("cursor", Data::Text(cursor.clone())));
        request(self.id, "tools/list", Data::object(cursor))
    }
}

impl Step {
    fn end(how: Result<Listing, String>) -> Self {
        Self {
            send: Vec::new(),
            end: Some(how),
        }
    }
}

impl Listed {
    fn read(tool: &Data) -> Option<Self> {
        let text = |key| match tool.get(key) {
            Some(Data::Text(text)) => Some(text.clone()),
            _ => None,
        };
        Some(Self {
            name: text("name")?,
            description: text("description")
                .or_else(|| text("title"))
                .unwrap_or_default(),
            schema: tool.get("inputSchema").cloned().unwrap_or_default(),
            declares_output: !matches!(tool.get("outputSchema"), None | Some(Data::Null)),
        })
    }
}

/// Why a stage failed.
struct Failure(String);

impl Failure {
    fn malformed() -> Self {
        Self("malformed result".to_owned())
    }
}

impl From<RpcError> for Failure {
    fn from(error: RpcError) -> Self {
        Self(one_line(&error.message))
    }
}

fn read(result: &RawValue) -> Result<Data, Failure> {
    Data::from_json(result.get()).map_err(|_| Failure::malformed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(result: &str) -> Outcome {
        Ok(RawValue::from_string(result.to_owned()).expect("JSON"))
    }

    /// How a server that answers in this order gets ready, and what is sent to it.
    fn run(
        replies: impl IntoIterator<Item = Outcome>,
    ) -> (String, Option<Result<Listing, String>>) {
        let (mut handshake, mut sent) = Handshake::begin();
        let mut end = None;
        for outcome in replies {
            assert_eq!(end, None, "an answer too many");
            let id = handshake.next_id() - 1;
            assert!(handshake.reply(id + 1, outcome.clone()).is_none());
            let step = handshake.reply(id, outcome).expect("awaited");
            sent.extend(step.send);
            end = step.end;
        }
        (String::from_utf8(sent).expect("text"), end)
    }

    fn reason(replies: impl IntoIterator<Item = Outcome>) -> String {
        run(replies).1.expect("an end").expect_err("a failure")
    }

    const INITIALIZED: &str = r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}}}"#;

    #[test]
    fn a_server_is_asked_for_all_pages() {
        // spec T162
        let (sent, end) = run([
            outcome(INITIALIZED),
            outcome(
                r#"{"tools":[{"name":"a","description":"A","title":"T","inputSchema":{"type":"object"}},{},7],"nextCursor":"x\"y"}"#,
            ),
            outcome(r#"{"tools":[{"name":"b c","title":"T","outputSchema":{}}],"nextCursor":""}"#),
        ]);
        let sent: Vec<_> = sent.lines().collect();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(sent, [
            format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"capabilities":{{}},"clientInfo":{{"name":"runvil","version":"{version}"}},"protocolVersion":"2025-06-18"}}}}"#).as_str(),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"x\"y"}}"#,
        ]);
        let listing = end.expect("an end").expect("ready");
        assert_eq!(listing.nameless, 2);
        let shown: Vec<_> = listing
            .tools
            .iter()
            .map(|tool| {
                format!(
                    "{}|{}|{}|{}",
                    tool.name,
                    tool.description,
                    tool.schema.to_json(),
                    tool.declares_output
                )
            })
            .collect();
        assert_eq!(
            shown,
            ["a|A|{\"type\":\"object\"}|false", "b c|T|null|true"]
        );
    }

    #[test]
    fn a_server_may_have_no_tools() {
        // spec T162
        for capabilities in ["{}", "{\"tools\":null}", "null", "[]"] {
            let result =
                format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities}}}"#);
            let (sent, end) = run([outcome(&result)]);
            assert_eq!(end, Some(Ok(Listing::default())), "{capabilities}");
            assert!(sent.ends_with(
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\",\"params\":{}}\n"
            ));
        }
    }

    #[test]
    fn what_fails_is_named() {
        // spec T163
        let error = |message: &str| {
            Err(RpcError {
                code: -32000,
                message: message.to_owned(),
            })
        };
        let page = |page: &str| [outcome(INITIALIZED), outcome(page)];
        assert_eq!(reason([error("not\nnow")]), "initialize failed: not\\nnow");
        for malformed in ["null", "{}", "{\"protocolVersion\":5}"] {
            assert_eq!(
                reason([outcome(malformed)]),
                "initialize failed: malformed result"
            );
        }
        assert_eq!(
            reason([outcome(r#"{"protocolVersion":"1999-01-01"}"#)]),
            "unsupported MCP protocol version 1999-01-01"
        );
        assert_eq!(
            reason([outcome(INITIALIZED), error("no")]),
            "tools/list failed: no"
        );
        for malformed in ["[]", "{\"tools\":{}}", "{\"tools\":[],\"nextCursor\":5}"] {
            assert_eq!(
                reason(page(malformed)),
                "tools/list failed: malformed result",
                "{malformed}"
            );
        }
        let deep = format!("{{\"tools\":{}{}}}", "[".repeat(500), "]".repeat(500));
        assert_eq!(reason(page(&deep)), "tools/list failed: malformed result");
    }

    #[test]
    fn a_list_has_an_end() {
        // spec T162
        let again = || outcome(r#"{"tools":[],"nextCursor":"a"}"#);
        let more = outcome(r#"{"tools":[],"nextCursor":"b"}"#);
        assert_eq!(
            reason([outcome(INITIALIZED), again(), more, again()]),
            "tools/list failed: a cursor came twice"
        );
        let page = |count: usize| {
            let tools = vec!["{\"name\":\"a\"}"; count].join(",");
            outcome(&format!("{{\"tools\":[{tools}]}}"))
        };
        let (_, end) = run([outcome(INITIALIZED), page(MOST_TOOLS)]);
        assert_eq!(end.expect("an end").expect("ready").tools.len(), MOST_TOOLS);
        assert_eq!(
            reason([outcome(INITIALIZED), page(MOST_TOOLS + 1)]),
            "tools/list failed: more than 10000 tools"
        );
        let heavy = (0..5).map(|page| {
            let text = "x".repeat(MOST_BYTES / 4);
            outcome(&format!(
                "{{\"tools\":[],\"nextCursor\":\"{page}\",\"_\":\"{text}\"}}"
            ))
        });
        let replies = std::iter::once(outcome(INITIALIZED)).chain(heavy.take(4));
        assert_eq!(
            reason(replies),
            "tools/list failed: more than 67108864 bytes of tools"
        );
    }
}
