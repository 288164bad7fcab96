//! The tools that a model is offered (spec P147).

use serde_json::{Value, json};

use crate::engine::model::Tool;
use crate::lua::Data;
use crate::packet::options::Options;
use crate::packet::words::PermissionMode;

/// A tool: its name, what it does, its arguments as `name: type` with `?` where one may be left
/// out, and whether it writes.
struct Known {
    name: &'static str,
    about: &'static str,
    arguments: &'static [(&'static str, &'static str)],
    writes: bool,
}

const TOOLS: &[Known] = &[
    Known {
        name: "list_files",
        about: "Lists files and folders below a path, folders with a slash at the end.",
        arguments: &[
            ("path?", "string"),
            ("depth?", "integer"),
            ("repo?", "string"),
        ],
        writes: false,
    },
    Known {
        name: "read_file",
        about: "Reads lines of a text file.",
        arguments: &[
            ("path", "string"),
            ("start_line?", "integer"),
            ("lines?", "integer"),
            ("repo?", "string"),
        ],
        writes: false,
    },
    Known {
        name: "search_files",
        about: "Finds the lines that match a regular expression.",
        arguments: &[
            ("pattern", "string"),
            ("path?", "string"),
            ("repo?", "string"),
        ],
        writes: false,
    },
    Known {
        name: "write_file",
        about: "Makes a file, or replaces all of its content.",
        arguments: &[
            ("path", "string"),
            ("content", "string"),
            ("repo?", "string"),
        ],
        writes: true,
    },
    Known {
        name: "edit_file",
        about: "Replaces a text that occurs once in a file, or with `all` wherever it occurs.",
        arguments: &[
            ("path", "string"),
            ("old", "string"),
            ("new", "string"),
            ("all?", "boolean"),
            ("repo?", "string"),
        ],
        writes: true,
    },
    Known {
        name: "delete_file",
        about: "Deletes a file.",
        arguments: &[("path", "string"), ("repo?", "string")],
        writes: true,
    },
];

/// The names of `allowed_tools` that stand for several tools.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Read", &["list_files", "read_file", "search_files"]),
    ("Edit", &["edit_file"]),
    ("Write", &["write_file", "delete_file"]),
];

/// The tools on offer under these options.
pub(super) fn offered(options: &Options) -> Vec<Tool> {
    let is_plan = options.permission_mode == PermissionMode::Plan;
    let is_allowed = |name: &str| {
        let Some(allowed) = &options.allowed_tools else {
            return true;
        };
        allowed.iter().any(|word| {
            let mut groups = GROUPS.iter();
            let group = groups.find(|(group, _)| group == word);
            word == name || group.is_some_and(|(_, names)| names.contains(&name))
        })
    };
    let tools = TOOLS
        .iter()
        .filter(|tool| !(is_plan && tool.writes) && is_allowed(tool.name));
    tools.map(Known::offer).collect()
}

impl Known {
    fn offer(&self) -> Tool {
        let arguments = self.arguments.iter();
        let properties: serde_json::Map<String, Value> = arguments
            .clone()
            .map(|(name, kind)| (name.trim_end_matches('?').to_owned(), json!({"type": kind})))
            .collect();
        let required = arguments.filter(|(name, _)| !name.ends_with('?'));
        let required: Vec<&str> = required.map(|(name, _)| *name).collect();
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        Tool {
            name: self.name.into(),
            description: self.about.into(),
            // The schema is plain JSON, which every value of is data.
            parameters: serde_json::from_value::<Data>(schema).unwrap_or_default(),
        }
    }
}
