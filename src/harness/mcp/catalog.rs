//! The tools of a unit: what its server lists, as the configuration has it (spec T165).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::config::{McpConfig, McpTool};
use super::handshake::{Listed, Listing};
use crate::engine::tool::UnitTool;
use crate::harness::shown::one_line;
use crate::harness::unit::is_segment;

/// The tools of a unit, in its server's order.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    tools: Vec<UnitTool>,
    targets: HashMap<Arc<str>, Target>,
}

/// What a tool is to its server.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The name it has there.
    pub(super) name: Arc<str>,
    /// Whether its output is a value.
    pub(super) structured: bool,
}

impl Catalog {
    /// The tools of a list. What is left out is said to `log`.
    pub(super) fn new(listing: Listing, config: &McpConfig, mut log: impl FnMut(String)) -> Self {
        if listing.nameless > 0 {
            log(format!(
                "left out: {} tools without a name",
                listing.nameless
            ));
        }
        let mut renamed = BTreeMap::<&str, Vec<(&str, &McpTool)>>::new();
        for (name, tool) in &config.tools {
            if let Some(from) = &tool.from {
                renamed.entry(from).or_default().push((name, tool));
            }
        }
        let mut catalog = Self::default();
        for listed in &listing.tools {
            if let Some(names) = renamed.get(&*listed.name) {
                for (name, tool) in names {
                    catalog.add(name, listed, Some(tool), config, &mut log);
                }
                continue;
            }
            let name = &*listed.name;
            match config.tools.get(name) {
                Some(McpTool {
                    from: Some(from), ..
                }) => {
                    let (name, from) = (one_line(name), one_line(from));
                    log(format!(
                        "left out: the tool {name}, whose name is for {from}"
                    ));
                }
                None if config.listed_only => {}
                None if !is_segment(name) => {
                    log(format!(
                        "left out: the tool {}, whose name is no segment",
                        one_line(name)
                    ));
                }
                tool => catalog.add(name, listed, tool, config, &mut log),
            }
        }
        let served: HashSet<&str> = listing.tools.iter().map(|listed| &*listed.name).collect();
        for (name, tool) in &config.tools {
            let wanted = tool.from.as_deref().unwrap_or(name);
            if !served.contains(wanted) {
                log(format!("the server has no tool {}", one_line(wanted)));
            }
        }
        catalog
    }

    fn add(
        &mut self,
        name: &str,
        listed: &Listed,
        tool: Option<&McpTool>,
        config: &McpConfig,
        log: &mut impl FnMut(String),
    ) {
        if self.targets.contains_key(name) {
            return log(format!("left out: a second tool {}", one_line(name)));
        }
        let name = Arc::<str>::from(name);
        let trusted = tool.and_then(|tool| tool.trusted).unwrap_or(config.trusted);
        let is_value = tool.is_some_and(|tool| tool.structured) || listed.declares_output;
        let description = tool.and_then(|tool| tool.description.as_deref());
        let structured = trusted && is_value;
        self.tools.push(UnitTool {
            name: name.clone(),
            description: description.map_or_else(|| listed.description.clone(), Arc::from),
            parameters: listed.schema.clone(),
            trusted,
            structured,
        });
        let target = Target {
            name: listed.name.clone(),
            structured,
        };
        self.targets.insert(name, target);
    }

    /// The tools.
    pub(super) fn tools(&self) -> &[UnitTool] {
        &self.tools
    }

    /// What a tool is to the server.
    pub(super) fn target(&self, name: &str) -> Option<&Target> {
        self.targets.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lua::Data;

    fn listed(name: &str, declares_output: bool) -> Listed {
        Listed {
            name: name.into(),
            description: format!("server's {name}").into(),
            schema: Data::empty(),
            declares_output,
        }
    }

    fn tool(from: Option<&str>) -> McpTool {
        McpTool {
            from: from.map(ToOwned::to_owned),
            ..McpTool::default()
        }
    }

    /// The tools as `name=server's name`, with `!` for trusted and `{}` for structured, and the log.
    fn shown(
        listed: impl IntoIterator<Item = Listed>,
        config: impl FnOnce(&mut McpConfig),
    ) -> (Vec<String>, Vec<String>) {
        let mut built = McpConfig::new("acme", "kiln", "kiln-mcp".into());
        config(&mut built);
        let (mut log, listing) = (
            Vec::new(),
            Listing {
                tools: listed.into_iter().collect(),
                nameless: 0,
            },
        );
        let catalog = Catalog::new(listing, &built, |line| log.push(line));
        let shown = catalog.tools().iter().map(|tool| {
            let target = catalog.target(&tool.name).expect("a target");
            assert_eq!(target.structured, tool.structured);
            let trusted = if tool.trusted { "!" } else { "" };
            let structured = if tool.structured { "{}" } else { "" };
            format!("{}={}{trusted}{structured}", tool.name, target.name)
        });
        (shown.collect(), log)
    }

    #[test]
    fn tools_keep_names_that_are_segments() {
        let names = ["b", "Fire", "a.b-c_1", "", "é", "b", "a/b"];
        let (tools, log) = shown(names.map(|name| listed(name, false)), |_| {});
        assert_eq!(tools, ["b=b", "a.b-c_1=a.b-c_1"]);
        let expected = [
            "left out: the tool Fire, whose name is no segment",
            "left out: the tool , whose name is no segment",
            "left out: the tool é, whose name is no segment",
            "left out: a second tool b",
            "left out: the tool a/b, whose name is no segment",
        ];
        assert_eq!(log, expected);
    }

    #[test]
    fn tools_are_renamed() {
        let names = ["fireNow", "fire", "cool", "spare", "\x1b"];
        let (tools, log) = shown(names.map(|name| listed(name, false)), |config| {
            config.tools = BTreeMap::from([
                ("fire".to_owned(), tool(Some("fireNow"))),
                ("burn".to_owned(), tool(Some("fireNow"))),
                ("spare".to_owned(), tool(Some("gone"))),
                ("lost".to_owned(), tool(None)),
                ("cool".to_owned(), tool(None)),
            ]);
        });
        assert_eq!(tools, ["burn=fireNow", "fire=fireNow", "cool=cool"]);
        let expected = [
            "left out: the tool fire, whose name is for fireNow",
            "left out: the tool spare, whose name is for gone",
            "left out: the tool \\u{001b}, whose name is no segment",
            "the server has no tool lost",
            "the server has no tool gone",
        ];
        assert_eq!(log, expected);
    }

    #[test]
    fn only_listed_tools_are_there_where_that_is_wanted() {
        let (tools, log) = shown(["a", "b", "C"].map(|name| listed(name, false)), |config| {
            config.listed_only = true;
            config.tools = BTreeMap::from([
                ("b".to_owned(), tool(None)),
                ("c".to_owned(), tool(Some("C"))),
            ]);
        });
        assert_eq!(tools, ["b=b", "c=C"]);
        assert_eq!(log, [""; 0]);
    }

    #[test]
    fn only_trusted_tools_are_structured() {
        let names = || {
            [
                listed("plain", false),
                listed("shaped", true),
                listed("told", false),
            ]
        };
        let config = |trusted: bool, other: Option<bool>| {
            move |config: &mut McpConfig| {
                config.trusted = trusted;
                let told = McpTool {
                    trusted: other,
                    structured: true,
                    ..McpTool::default()
                };
                config.tools = BTreeMap::from([("told".to_owned(), told)]);
            }
        };
        assert_eq!(
            shown(names(), config(false, None)).0,
            ["plain=plain", "shaped=shaped", "told=told"]
        );
        assert_eq!(
            shown(names(), config(false, Some(true))).0,
            ["plain=plain", "shaped=shaped", "told=told!{}"]
        );
        assert_eq!(
            shown(names(), config(true, None)).0,
            ["plain=plain!", "shaped=shaped!{}", "told=told!{}"]
        );
        assert_eq!(
            shown(names(), config(true, Some(false))).0,
            ["plain=plain!", "shaped=shaped!{}", "told=told"]
        );
    }

    #[test]
    fn the_configurations_description_goes_first() {
        let mut config = McpConfig::new("acme", "kiln", "kiln-mcp".into());
        let told = McpTool {
            description: Some("Mine.".to_owned()),
            ..McpTool::default()
        };
        config.tools = BTreeMap::from([("told".to_owned(), told)]);
        let tools = vec![listed("told", false), listed("other", false)];
        let catalog = Catalog::new(Listing { tools, nameless: 2 }, &config, |line| {
            assert_eq!(line, "left out: 2 tools without a name");
        });
        let shown: Vec<_> = catalog
            .tools()
            .iter()
            .map(|tool| &*tool.description)
            .collect();
        assert_eq!(shown, ["Mine.", "server's other"]);
    }
}
