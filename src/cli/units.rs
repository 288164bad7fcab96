//! The units of a host, as its configuration has them (spec T155 to T160).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use runvil::harness::mcp::{
    BuildError, McpConfig, McpTool, McpUnit, expand, find_command, inherited, read_prelude,
};
use runvil::harness::unit::Unbuilt;
use runvil::harness::yaml::Located;
use runvil::harness::{Harness, Log};

use super::config::{Config, Expose, Pack, Segment, Tool, Trust, UnitId};
use super::web;

/// The host's units and services. What is amiss with them goes to `log`, what their processes say to
/// `said`. `variable` reads the environment.
pub fn harness(
    config: &Config,
    log: Log,
    said: &Log,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Harness {
    let mut harness = web::add(Harness::default(), log, config, &variable);
    let services = services(config, &variable);
    for id in services.keys() {
        harness = harness.with_service(id);
    }
    for (id, pack) in &config.packs.0 {
        let built = configure(&id.0, pack, &config.folder, &services, &variable)
            .and_then(|config| McpUnit::new(config, said.clone()));
        harness = match built {
            Ok(unit) => harness.with_unit(unit),
            Err(error) => harness.with_unit(unbuilt(&id.0, pack, &error)),
        };
    }
    harness
}

/// A variable that holds a service, and what it holds.
type Held<'a> = (&'a str, OsString);

/// The services that the host provides, by their ids (spec T158).
fn services<'a>(
    config: &'a Config,
    variable: impl Fn(&str) -> Option<OsString>,
) -> BTreeMap<String, Held<'a>> {
    let services = config.services.0.iter();
    services
        .filter_map(|(id, service)| {
            let name = service.env.as_str();
            let value = variable(name).filter(|value| !value.is_empty())?;
            Some((id.to_string(), (name, value)))
        })
        .collect()
}

/// The unit that a pack is, everything in it resolved.
fn configure(
    id: &UnitId,
    pack: &Pack,
    folder: &Path,
    services: &BTreeMap<String, Held<'_>>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<McpConfig, BuildError> {
    let expand = |text: &str| expand(text, &variable);
    let cwd = match &pack.cwd {
        Some(cwd) => folder.join(expand(cwd)?),
        None => folder.to_owned(),
    };
    // A configuration in the current folder has no name of a folder before its own.
    let cwd = std::path::absolute(cwd.join(".")).unwrap_or(cwd);
    let program = find_command(&pack.command, &cwd, variable("PATH").as_deref())?;
    let mut config = McpConfig::new(id.0.0.clone(), id.1.0.clone(), program);
    config.command.clone_from(&pack.command);
    config.cwd = cwd;
    for arg in &pack.args {
        config.args.push(expand(arg)?);
    }
    config.env = inherited(&variable);
    for (name, value) in &pack.env.0 {
        config.env.push((OsString::from(&name.0), expand(value)?));
    }
    config.needs = ids(&pack.needs);
    let held = config.needs.iter().filter_map(|need| services.get(need));
    let held = held.map(|(name, value)| (OsString::from(name), value.clone()));
    config.env.extend(held);
    config.conflicts = ids(&pack.conflicts);
    if let Some(prelude) = &pack.prelude {
        config.prelude = Some(read_prelude(&folder.join(prelude), prelude)?);
    }
    config.trusted = pack.trust == Trust::Trusted;
    config.listed_only = pack.expose == Expose::Listed;
    config.tools = pack.tools.0.iter().map(tool).collect();
    if let Some(limit) = &pack.ready_timeout {
        config.ready_timeout = limit.0.0;
    }
    if let Some(limit) = &pack.call_timeout {
        config.call_timeout = limit.0.0;
    }
    Ok(config)
}

fn ids(ids: &[Located<UnitId>]) -> Vec<String> {
    ids.iter().map(|id| id.0.to_string()).collect()
}

fn tool((name, tool): (&Segment, &Tool)) -> (String, McpTool) {
    let said = McpTool {
        from: tool.from.clone(),
        description: tool.description.clone(),
        trusted: tool.trust.map(|trust| trust == Trust::Trusted),
        structured: tool.structured,
    };
    (name.0.clone(), said)
}

/// A pack that could not be built (spec T34, T159).
fn unbuilt(id: &UnitId, pack: &Pack, error: &BuildError) -> Unbuilt {
    Unbuilt::new(&*id.0.0, &*id.1.0, error.to_string())
        .needing(ids(&pack.needs))
        .conflicting(ids(&pack.conflicts))
}
