//! The house rules: which room of `src/` may import which, what none of them may touch, and how
//! long a file may be. Every breach is reported with its file and line.

#![allow(clippy::unwrap_used)]

#[path = "house/tokens.rs"]
mod tokens;

use std::fs;
use std::path::{Path, PathBuf};

use tokens::{Token, is_at, paths, without_tests};

/// The one file that may hold `unsafe`: a cancel reaches Lua through a signal.
const UNSAFE: &str = "src/lua/preempt.rs";

/// The longest a source file may be.
const LINE_CAP: usize = 600;

/// A room of the house: a folder of `src/`.
struct Room {
    name: &'static str,
    /// The rooms it may import, itself aside.
    imports: &'static [&'static str],
    /// Paths it must not name, and all below them.
    forbidden: &'static [&'static str],
    /// Macros it must not use.
    macros: &'static [&'static str],
}

const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln"];

/// The rooms, each below the ones it may import.
const ROOMS: &[Room] = &[
    Room {
        name: "prompt",
        imports: &[],
        forbidden: &[
            "mlua",
            "std::env",
            "std::fs",
            "std::io",
            "std::net",
            "std::process",
            "std::thread",
            "std::time",
        ],
        macros: PRINTING,
    },
    Room {
        name: "lua",
        imports: &["prompt"],
        forbidden: &[
            "std::env",
            "std::fs",
            "std::io",
            "std::net",
            "std::process",
            "std::thread",
        ],
        macros: PRINTING,
    },
    Room {
        name: "engine",
        imports: &["prompt", "lua"],
        forbidden: &[
            "mlua",
            "std::env",
            "std::fs",
            "std::io",
            "std::net",
            "std::process",
            "std::thread",
            "std::time",
            "getrandom",
            "rand",
            "tempfile",
        ],
        macros: PRINTING,
    },
    Room {
        name: "harness",
        imports: &["prompt", "lua", "engine"],
        forbidden: &[
            "mlua",
            "clap",
            "std::io::IsTerminal",
            "std::io::stderr",
            "std::io::stdin",
            "std::io::stdout",
            "io::IsTerminal",
            "io::stderr",
            "io::stdin",
            "io::stdout",
        ],
        macros: PRINTING,
    },
    Room {
        name: "packet",
        imports: &["prompt", "lua", "engine", "harness"],
        forbidden: &[
            "mlua",
            "clap",
            "std::io::IsTerminal",
            "std::io::stderr",
            "std::io::stdin",
            "std::io::stdout",
            "io::IsTerminal",
            "io::stderr",
            "io::stdin",
            "io::stdout",
        ],
        macros: PRINTING,
    },
    Room {
        name: "cli",
        imports: &["prompt", "lua", "engine", "harness", "packet"],
        forbidden: &["mlua"],
        macros: PRINTING,
    },
];

/// A breach of a rule: where, and what.
#[derive(Debug, PartialEq, Eq)]
struct Breach {
    file: String,
    line: usize,
    what: String,
}

#[test]
fn the_house_rules_hold() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut breaches = Vec::new();
    let mut seen = 0;
    for file in rust_files(&root.join("src")) {
        let source = fs::read_to_string(&file).unwrap();
        let name = file
            .strip_prefix(root)
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/");
        breaches.extend(inspect(&name, &source));
        seen += 1;
    }
    assert!(
        seen > ROOMS.len(),
        "only {seen} sources were found under src/"
    );
    let report: String = breaches
        .iter()
        .map(|b| format!("{}:{}: {}\n", b.file, b.line, b.what))
        .collect();
    assert!(breaches.is_empty(), "the house rules are broken:\n{report}");
}

/// Everything that is wrong with one source.
fn inspect(file: &str, source: &str) -> Vec<Breach> {
    let breach = |line, what: String| Breach {
        file: file.to_owned(),
        line,
        what,
    };
    let mut breaches = Vec::new();
    let lines = source.lines().count();
    if lines > LINE_CAP {
        breaches.push(breach(
            lines,
            format!("{lines} lines; a file has at most {LINE_CAP}"),
        ));
    }
    let all = tokens::tokens(source);
    for token in all.iter().filter(|_| file != UNSAFE) {
        if let "unsafe" | "unsafe_code" = token.text.as_str() {
            breaches.push(breach(token.line, format!("`{}`", token.text)));
        }
    }
    if file.ends_with("/tests.rs") {
        return breaches;
    }
    let code = without_tests(&all);
    for (line, what) in habits(&code) {
        breaches.push(breach(line, what));
    }
    let Some(room) = ROOMS
        .iter()
        .find(|room| file.starts_with(&format!("src/{}/", room.name)))
    else {
        return breaches;
    };
    for (line, path) in paths(&code) {
        let path = from_root(&path, file);
        if let Some(what) = misplaced(room, &path) {
            breaches.push(breach(line, what));
        }
    }
    for (at, token) in code.iter().enumerate() {
        if room.macros.contains(&token.text.as_str()) && is_at(&code, at + 1, &["!"]) {
            let what = format!("src/{} must not use `{}!`", room.name, token.text);
            breaches.push(breach(token.line, what));
        }
    }
    breaches
}

/// What no source outside tests may do.
fn habits(code: &[Token]) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (at, token) in code.iter().enumerate() {
        for name in ["unwrap", "expect"] {
            if is_at(code, at, &[".", name, "("]) {
                out.push((token.line, format!("`.{name}(` outside tests")));
            }
        }
        for name in ["todo", "unimplemented", "dbg"] {
            if is_at(code, at, &[name, "!"]) {
                out.push((token.line, format!("`{name}!`")));
            }
        }
    }
    out
}

/// A path as seen from the crate's root: `crate` and the binary's `runvil` are the root, and every
/// `super` climbs from the module the file is.
fn from_root(path: &[String], file: &str) -> Vec<String> {
    if matches!(path.first().map(String::as_str), Some("crate" | "runvil")) {
        return ["crate".to_owned()]
            .into_iter()
            .chain(path[1..].iter().cloned())
            .collect();
    }
    let climbs = path
        .iter()
        .take_while(|segment| *segment == "super")
        .count();
    if climbs == 0 {
        return path.to_vec();
    }
    let module = file
        .trim_start_matches("src/")
        .trim_end_matches(".rs")
        .trim_end_matches("/mod");
    let module: Vec<&str> = module.split('/').collect();
    let base = &module[..module.len().saturating_sub(climbs)];
    let base = base.iter().map(|segment| (*segment).to_owned());
    ["crate".to_owned()]
        .into_iter()
        .chain(base)
        .chain(path[climbs..].iter().cloned())
        .collect()
}

/// What is wrong with a path in a room, if anything.
fn misplaced(room: &Room, path: &[String]) -> Option<String> {
    let written = path
        .join("::")
        .replacen("core::", "std::", usize::from(path[0] == "core"));
    let is_below = |forbidden: &&&str| {
        written == **forbidden || written.starts_with(&format!("{forbidden}::"))
    };
    if let Some(forbidden) = room.forbidden.iter().find(is_below) {
        return Some(format!("src/{} must not touch `{forbidden}`", room.name));
    }
    let target = path.get(1).filter(|_| path[0] == "crate")?;
    if room.name != "cli" && target.starts_with(char::is_uppercase) {
        return Some(format!(
            "`crate::{target}` hides the room that `{target}` comes from"
        ));
    }
    let is_room = ROOMS.iter().any(|other| other.name == target);
    let may = target == room.name || room.imports.contains(&target.as_str());
    (is_room && !may).then(|| format!("src/{} must not import `{target}`", room.name))
}

/// All `.rs` files below a folder, in a fixed order.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    let mut out = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            out.extend(rust_files(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            out.push(entry);
        }
    }
    out
}

/// The lines of the breaches found in a planted source.
#[track_caller]
fn assert_found(file: &str, source: &str, expected: &[(usize, &str)]) {
    let found = inspect(file, source);
    let found: Vec<(usize, &str)> = found.iter().map(|b| (b.line, b.what.as_str())).collect();
    assert_eq!(found, expected, "in {file}:\n{source}");
}

#[test]
fn planted_imports_are_found() {
    let source = "use std::sync::Arc;\nuse crate::harness::Harness;\n";
    assert_found(
        "src/engine/x.rs",
        source,
        &[(2, "src/engine must not import `harness`")],
    );
    let source = "use crate::{\n    prompt::Prompt,\n    lua::{self, Vm},\n};\n";
    let what = "src/prompt must not import `lua`";
    assert_found("src/prompt/x.rs", source, &[(3, what), (3, what)]);
    assert_found("src/engine/x.rs", source, &[]);
    let source = "fn f() { super::super::cli::main() }\n";
    assert_found("src/harness/a/b.rs", source, &[]);
    assert_found(
        "src/harness/a.rs",
        source,
        &[(1, "src/harness must not import `cli`")],
    );
    assert_found(
        "src/harness/a/mod.rs",
        source,
        &[(1, "src/harness must not import `cli`")],
    );
    let source = "use runvil::harness::Harness;\n";
    assert_found("src/cli/x.rs", source, &[]);
    let source = "use crate::Harness;\n";
    let what = "`crate::Harness` hides the room that `Harness` comes from";
    assert_found("src/engine/x.rs", source, &[(1, what)]);
}

#[test]
fn planted_touches_are_found() {
    let source = "use std::{fmt, time::Instant};\nfn f() { std::fs::read(\"x\"); }\n";
    assert_found(
        "src/engine/x.rs",
        source,
        &[
            (1, "src/engine must not touch `std::time`"),
            (2, "src/engine must not touch `std::fs`"),
        ],
    );
    assert_found("src/cli/x.rs", source, &[]);
    let source = "use mlua::Lua;\n";
    assert_found("src/lua/x.rs", source, &[]);
    assert_found(
        "src/harness/x.rs",
        source,
        &[(1, "src/harness must not touch `mlua`")],
    );
    let source = "use std::io::{self, Write};\nfn f() {\n    io::stdout();\n    print!(\"\");\n}\n";
    assert_found(
        "src/harness/x.rs",
        source,
        &[
            (3, "src/harness must not touch `io::stdout`"),
            (4, "src/harness must not use `print!`"),
        ],
    );
}

#[test]
fn planted_habits_are_found() {
    let source = "fn f() {\n    g().unwrap();\n    h()\n        .expect(\"x\");\n    todo!()\n}\n";
    assert_found(
        "src/main.rs",
        source,
        &[
            (2, "`.unwrap(` outside tests"),
            (4, "`.expect(` outside tests"),
            (5, "`todo!`"),
        ],
    );
    assert_found("src/lua/x.rs", "\n\nunsafe fn f() {}\n", &[(3, "`unsafe`")]);
    assert_found(UNSAFE, "unsafe fn f() {}\n", &[]);
    let source = "#![allow(unsafe_code)]\n";
    assert_found("src/lua/x.rs", source, &[(1, "`unsafe_code`")]);
    let long = "\n".repeat(LINE_CAP + 1);
    assert_found(
        "src/lua/x.rs",
        &long,
        &[(601, "601 lines; a file has at most 600")],
    );
}

#[test]
fn comments_strings_and_tests_break_nothing() {
    let source = r####"
//! Not `mlua`, not unsafe; x.unwrap().
/* std::time /* nested */ crate::harness */
const A: &str = "std::fs::read \" x.unwrap()";
const B: &str = r#"mlua "quoted" unsafe"#;
const C: [char; 3] = ['"', '\'', '{'];
fn f<'a>(x: &'a str) -> &'a str { x.unwrap_or("") }
#[cfg(test)]
mod tests {
    use crate::harness::Harness;
    fn g() { if true { h().unwrap() } }
}
"####;
    assert_found("src/engine/x.rs", source, &[]);
    let after = format!("{source}use mlua::Lua;\n");
    assert_found(
        "src/engine/x.rs",
        &after,
        &[(13, "src/engine must not touch `mlua`")],
    );
    assert_found("src/engine/tests.rs", "fn f() { x.unwrap() }\n", &[]);
}
