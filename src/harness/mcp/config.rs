//! What a unit is built from (spec T155).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A unit's configuration, everything in it resolved: no file is looked for any more, and no
/// variable read.
#[derive(Clone, PartialEq)]
pub struct McpConfig {
    /// The first segment of its id.
    pub vendor: String,
    /// The second segment: the Pack id.
    pub name: String,
    /// The command as it was written, for messages.
    pub command: String,
    /// The program that it names ([`find_command`](super::find_command)).
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// All of its environment: what it inherits ([`inherited`](super::inherited)), what is set for
    /// it, and the variables of the services it needs. Of a name given twice the later one counts.
    pub env: Vec<(OsString, OsString)>,
    /// The folder it runs in.
    pub cwd: PathBuf,
    /// The services it needs, by their ids; a built-in one by its id of either dialect.
    pub needs: Vec<String>,
    /// The Plugins it cannot be activated beside.
    pub conflicts: Vec<String>,
    /// The text of its prelude.
    pub prelude: Option<String>,
    /// Whether its tools are trusted where nothing else is said of one.
    pub trusted: bool,
    /// Whether only the tools named in `tools` are there.
    pub listed_only: bool,
    /// What is said of its tools, by the names they have here.
    pub tools: BTreeMap<String, McpTool>,
    /// How long a start may take.
    pub ready_timeout: Duration,
    /// How long a call may take.
    pub call_timeout: Duration,
}

/// What a configuration says of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpTool {
    /// The server's own name of it, where that is another one.
    pub from: Option<String>,
    /// A description in place of the server's.
    pub description: Option<String>,
    /// Whether it is trusted, where that differs from the unit's mark.
    pub trusted: Option<bool>,
    /// Whether its output is a value (spec T169); it has to be trusted too.
    pub structured: bool,
}

impl McpConfig {
    /// A unit `vendor/name` that is this program, with the defaults of T155. Its environment is
    /// empty.
    pub fn new(vendor: impl Into<String>, name: impl Into<String>, program: PathBuf) -> Self {
        Self {
            vendor: vendor.into(),
            name: name.into(),
            command: program.display().to_string(),
            program,
            args: Vec::new(),
            env: Vec::new(),
            cwd: PathBuf::from("."),
            needs: Vec::new(),
            conflicts: Vec::new(),
            prelude: None,
            trusted: false,
            listed_only: false,
            tools: BTreeMap::new(),
            ready_timeout: Duration::from_secs(30),
            call_timeout: Duration::from_secs(120),
        }
    }

    /// The unit's id, for the host log.
    pub(super) fn id(&self) -> String {
        format!("{}/{}", self.vendor, self.name)
    }
}

impl fmt::Debug for McpConfig {
    /// Neither arguments nor values of variables are shown: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("McpConfig")
            .field("id", &self.id())
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("env", &names)
            .field("cwd", &self.cwd)
            .field("needs", &self.needs)
            .field("trusted", &self.trusted)
            .field("listed_only", &self.listed_only)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
