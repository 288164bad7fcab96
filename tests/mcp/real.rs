//! Two public servers of the protocol's own authors, installed with npm into the target folder.
//! Where there is no npm, or nothing can be installed, they are skipped, unless the variable
//! `RUNVIL_REAL_SERVERS` says that they must be there.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use runvil::engine::tool::ToolClass;
use runvil::harness::mcp::{McpConfig, McpTool, McpUnit, find_command, inherited};
use runvil::harness::model::Abort;
use runvil::harness::unit::ActiveUnit;
use runvil::harness::{CancelToken, Log};
use runvil::lua::Data;
use serde_json::{Value, json};

use crate::active;

const PACKAGES: [&str; 2] = ["server-filesystem", "server-everything"];
const VERSION: &str = "2026.8.31";

/// The folder of the servers' commands; the error is why there is none.
fn installed() -> Result<PathBuf, String> {
    static INSTALLED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    INSTALLED.get_or_init(install).clone()
}

fn install() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-servers");
    let modules = folder.join("node_modules");
    let is_there = |package: &str| {
        let manifest = modules
            .join("@modelcontextprotocol")
            .join(package)
            .join("package.json");
        let text = std::fs::read_to_string(manifest).unwrap_or_default();
        let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
        manifest["version"] == VERSION
    };
    if !PACKAGES.iter().all(|package| is_there(package)) {
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let packages = PACKAGES.map(|package| format!("@modelcontextprotocol/{package}@{VERSION}"));
        let done = Command::new("npm")
            .args([
                "install",
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
                "--prefix",
            ])
            .arg(&folder)
            .args(packages)
            .output()
            .map_err(|error| format!("npm cannot be run: {error}"))?;
        if !done.status.success() {
            return Err(format!(
                "npm failed: {}",
                String::from_utf8_lossy(&done.stderr)
            ));
        }
    }
    Ok(modules.join(".bin"))
}

/// A unit `acme/real`, the unit as a run has it, and what was logged.
type Real = (McpUnit, Arc<dyn ActiveUnit>, Arc<Mutex<Vec<String>>>);

/// A unit that is one of the servers; `None` where it is skipped.
fn unit(command: &str, configure: impl FnOnce(&mut McpConfig)) -> Option<Real> {
    let bin = match installed() {
        Ok(bin) => bin,
        Err(why) if env::var_os("RUNVIL_REAL_SERVERS").is_some() => panic!("{why}"),
        Err(why) => {
            println!("skipped: {command} is not here: {why}");
            return None;
        }
    };
    let program = find_command(command, Path::new("/"), Some(bin.as_os_str())).unwrap();
    let mut config = McpConfig::new("acme", "real", program);
    config.env = inherited(|name| env::var_os(name));
    configure(&mut config);
    let notes = Arc::<Mutex<Vec<String>>>::default();
    let noting = notes.clone();
    let log = Log::new(move |line| noting.lock().unwrap().push(line.to_owned()));
    let unit = McpUnit::new(config, log).unwrap();
    let active = active::activate(&unit, &CancelToken::default()).unwrap();
    Some((unit, active, notes))
}

fn call(
    unit: &Arc<dyn ActiveUnit>,
    tool: &str,
    arguments: Value,
) -> Result<String, (ToolClass, String)> {
    call_until(unit, &Abort::default(), tool, arguments)
}

fn call_until(
    unit: &Arc<dyn ActiveUnit>,
    abort: &Abort,
    tool: &str,
    arguments: Value,
) -> Result<String, (ToolClass, String)> {
    let arguments = Data::from_json(&arguments.to_string()).unwrap();
    let call = active::call(tool, &format!("real/{tool}"), arguments, abort);
    let called = unit.call(&call);
    called.map_err(|failure| (failure.class, failure.message))
}

#[test]
fn the_filesystem_server_reads_and_writes() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let configured = unit("mcp-server-filesystem", |config| {
        config.args = vec![root.clone().into()];
        config.trusted = true;
        let renamed = McpTool {
            from: Some("read_text_file".to_owned()),
            ..McpTool::default()
        };
        config.tools.insert("read".to_owned(), renamed);
    });
    let Some((_unit, active, _)) = configured else {
        return;
    };
    let tools = active.tools();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert!(
        names.contains(&"write_file") && names.contains(&"read"),
        "{names:?}"
    );
    assert!(!names.contains(&"read_text_file"), "{names:?}");
    let read = tools.iter().find(|tool| &*tool.name == "read").unwrap();
    assert!(read.structured && read.trusted && !read.description.is_empty());

    let file = root.join("kiln.txt");
    let text = "hot \u{1F525}\n\"second\" line";
    let value = |text: &str| Ok(json!({ "content": text }).to_string());
    let written = call(
        &active,
        "write_file",
        json!({ "path": file, "content": text }),
    );
    assert!(written.is_ok(), "{written:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert_eq!(call(&active, "read", json!({ "path": file })), value(text));
    let listed = call(&active, "list_directory", json!({ "path": root }));
    assert_eq!(listed, value("[FILE] kiln.txt"));
    for arguments in [json!({ "path": "/" }), json!({ "path": 5 }), json!({})] {
        let (class, message) = call(&active, "read", arguments).unwrap_err();
        assert_eq!(class, ToolClass::Backend);
        assert!(message.starts_with("real/read: "), "{message}");
    }
}

#[test]
fn the_server_of_everything_does_everything() {
    let Some((unit, active, notes)) = unit("mcp-server-everything", |_| {}) else {
        return;
    };
    let said = |tool: &str, arguments: Value| call(&active, tool, arguments).unwrap();
    let text = "x\u{2028}y".repeat(100_000);
    assert_eq!(
        said("echo", json!({ "message": text })),
        format!("Echo: {text}")
    );
    thread::scope(|scope| {
        for a in 0..20 {
            let said = &said;
            let sum = format!("The sum of {a} and 3 is {}.", a + 3);
            scope.spawn(move || assert_eq!(said("get-sum", json!({ "a": a, "b": 3 })), sum));
        }
    });
    let image = said("get-tiny-image", json!({}));
    assert!(
        image.contains("\n[image image/png, 4033 bytes omitted]\n"),
        "{image}"
    );
    let links = said("get-resource-links", json!({ "count": 2 }));
    assert!(
        links.contains("\n[resource demo://resource/dynamic/"),
        "{links}"
    );
    let blob = said(
        "get-resource-reference",
        json!({ "resourceType": "Blob", "resourceId": 1 }),
    );
    assert!(
        blob.contains("\n[resource demo://resource/dynamic/blob/1, "),
        "{blob}"
    );
    let shaped = said("get-structured-content", json!({ "location": "Chicago" }));
    let shaped: Value = serde_json::from_str(&shaped).unwrap();
    assert!(shaped["temperature"].is_number(), "{shaped}");
    let (class, message) = call(&active, "echo", json!({})).unwrap_err();
    assert_eq!(class, ToolClass::Backend);
    assert!(message.starts_with("real/echo: "), "{message}");

    let abort = Abort::default();
    let begun = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            abort.abort();
        });
        let arguments = json!({ "duration": 60, "steps": 10 });
        assert!(call_until(&active, &abort, "trigger-long-running-operation", arguments).is_err());
    });
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(said("echo", json!({ "message": "on" })), "Echo: on");
    drop(unit);
    let notes = notes.lock().unwrap();
    let is_stray = |note: &String| note.contains("not JSON-RPC");
    assert!(
        !notes.is_empty() && !notes.iter().any(is_stray),
        "{notes:#?}"
    );
}
