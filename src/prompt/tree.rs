//! The parsed prompt: contract, H1 body and section tree (spec F136).

use super::reference::Names;
use indexmap::IndexMap;

/// Which of the two revisions of the language a file is written in (spec F12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialect {
    /// `runvil: 0`.
    #[default]
    Runvil,
    /// `promptforge: 0`.
    PromptForge,
}

impl Dialect {
    /// The frontmatter key that carries the version, which is also the dialect's name.
    pub fn key(self) -> &'static str {
        match self {
            Self::Runvil => "runvil",
            Self::PromptForge => "promptforge",
        }
    }

    /// The dialect of a name.
    pub fn from_key(key: &str) -> Option<Self> {
        [Self::Runvil, Self::PromptForge]
            .into_iter()
            .find(|dialect| dialect.key() == key)
    }
}

/// A parsed prompt file. Nothing of it has run, and its Lua is not compiled yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// The dialect the file is written in.
    pub dialect: Dialect,
    /// The frontmatter's `name`.
    pub name: String,
    /// The frontmatter's `description`.
    pub description: String,
    /// The declared major version, as decimal digits without leading zeros (spec F51).
    pub version: Option<String>,
    /// What the frontmatter says the prompt needs.
    pub contract: Contract,
    /// The text of the H1 heading.
    pub title: String,
    /// The blocks under the H1 heading (spec F62).
    pub h1: Vec<Block>,
    /// The PromptForge shared library, where there is one (spec F112).
    pub library: Option<LuaBlock>,
    /// All sections in file order. A [`SectionId`] is an index into this.
    pub sections: Vec<Section>,
    /// The level-2 sections, in file order.
    pub top: Vec<SectionId>,
    /// The sections by parent and name.
    pub(super) names: Names,
}

/// Names a section of one prompt: its index in [`Prompt::sections`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SectionId(pub u32);

/// One section: a heading of level 2 to 6 and its own content.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The heading's text (spec F61).
    pub name: String,
    /// The heading's level, 2 to 6.
    pub level: u8,
    /// The file line of the heading.
    pub line: u32,
    /// The section this one is nested in; `None` at level 2.
    pub parent: Option<SectionId>,
    /// This section's index among its siblings, itself included.
    pub position: u32,
    /// The direct children, in file order.
    pub children: Vec<SectionId>,
    /// The blocks, in file order (spec F90).
    pub blocks: Vec<Block>,
    /// The items, where this is a list section (spec F120).
    pub items: Option<Vec<String>>,
}

/// A block of a section or of the H1 body (spec F90).
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Pending prose, trimmed as spec F100 says and unrendered.
    Prose(String),
    /// A Lua fence.
    Lua(LuaBlock),
}

/// One Lua region of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct LuaBlock {
    /// The region's source, without its fence lines.
    pub source: String,
    /// The file line of the first source line.
    pub line: u32,
    /// The location label of spec F93.
    pub label: String,
}

impl LuaBlock {
    /// How Lua names the region in its own messages: the label, cut to the 60 bytes that Lua has
    /// for a chunk's name, and dressed as the dialect has it (spec L88).
    pub fn marker(&self, dialect: Dialect) -> String {
        let label = &self.label;
        let cut = |limit: usize| {
            let bytes = label.as_bytes();
            String::from_utf8_lossy(bytes.get(..limit).unwrap_or(bytes))
        };
        match dialect {
            Dialect::Runvil => cut(59).into_owned(),
            Dialect::PromptForge if label.len() < 45 => format!("[string \"{label}\"]"),
            Dialect::PromptForge => format!("[string \"{}...\"]", cut(45)),
        }
    }
}

/// The contract keys of the frontmatter (spec F7), with the Host's metadata beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contract {
    /// The cap on each model loop, 1 to 1000 (spec F24).
    pub max_tool_iterations: Option<u32>,
    /// The store file expected at the start.
    pub input: Option<FileDeclaration>,
    /// The store file left at the end.
    pub output: Option<FileDeclaration>,
    /// The arg declarations.
    pub args: Args,
    /// Model roles by label.
    pub models: IndexMap<String, Role>,
    /// Runvil: the declared Packs, in order.
    pub uses: Vec<PackReference>,
    /// PromptForge: the declared Plugins, in order.
    pub plugins: Vec<Plugin>,
    /// PromptForge: tool paths by alias.
    pub tools: IndexMap<String, String>,
}

/// `input:` or `output:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDeclaration {
    /// The store path, as written.
    pub path: String,
    /// What the file is for.
    pub description: String,
}

/// The `args:` map, or its implicit form (spec F25d).
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    /// Whether the key was written; if so, input is structured (spec L106).
    pub explicit: bool,
    /// The declarations by name.
    pub declarations: IndexMap<String, Arg>,
}

impl Default for Args {
    fn default() -> Self {
        let prose = Arg {
            kind: ArgType::String,
            optional: true,
            default: None,
            description: Some("Freeform input for this prompt".to_owned()),
        };
        Self {
            explicit: false,
            declarations: IndexMap::from([("prose".to_owned(), prose)]),
        }
    }
}

/// One arg declaration (spec L106).
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// The declared type.
    pub kind: ArgType,
    /// Whether it may be left out.
    pub optional: bool,
    /// The advertised default.
    pub default: Option<ArgDefault>,
    /// What it is for.
    pub description: Option<String>,
}

/// The type of an arg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgType {
    /// `string`
    String,
    /// `boolean`
    Boolean,
    /// `integer`
    Integer,
    /// `number`
    Number,
}

/// A default of an arg, of the declared type.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgDefault {
    /// A YAML string.
    String(String),
    /// A YAML boolean.
    Boolean(bool),
    /// A whole number in the signed 64-bit range.
    Integer(i64),
    /// Any other YAML number.
    Number(f64),
}

/// A model role declaration (spec F49).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// Keywords, in order.
    pub keywords: Vec<Keyword>,
    /// The smallest context window that serves, in tokens.
    pub min_context: Option<u32>,
    /// What the role is for.
    pub description: Option<String>,
}

/// A keyword of a model role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyword {
    /// `thinking`
    Thinking,
    /// `no-thinking`
    NoThinking,
    /// `frontier`
    Frontier,
    /// `fast`
    Fast,
    /// `small`
    Small,
    /// `creative`
    Creative,
    /// `chat`
    Chat,
}

impl Keyword {
    /// Every keyword and its word (spec M2).
    pub(super) const WORDS: [(&'static str, Self); 7] = [
        ("thinking", Self::Thinking),
        ("no-thinking", Self::NoThinking),
        ("frontier", Self::Frontier),
        ("fast", Self::Fast),
        ("small", Self::Small),
        ("creative", Self::Creative),
        ("chat", Self::Chat),
    ];

    /// The keyword as it is written.
    pub fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, keyword)| *keyword == self);
        found.map_or("", |(word, _)| word)
    }
}

/// An entry of `uses:` (spec F25c).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackReference {
    /// The vendor; `None` for a bare Pack id.
    pub vendor: Option<String>,
    /// The Pack id.
    pub name: String,
}

impl PackReference {
    /// The vendor that is meant: a bare Pack id means `runvil` (spec T4).
    pub fn vendor(&self) -> &str {
        self.vendor.as_deref().unwrap_or("runvil")
    }
}

/// An entry of `plugins:` (spec F49).
#[derive(Clone, Debug, PartialEq)]
pub struct Plugin {
    /// The Plugin id, two segments.
    pub id: String,
    /// Whether the run may start without it.
    pub optional: bool,
    /// The Plugin's configuration, as YAML.
    pub config: Option<serde_yaml::Value>,
}

impl Prompt {
    /// The section that an id names.
    pub fn section(&self, id: SectionId) -> &Section {
        &self.sections[id.0 as usize]
    }

    /// A section's siblings in file order, itself included; the top-level sections for `None`'s
    /// children. Borrowed, never copied: a walk asks at every entry.
    pub fn siblings(&self, id: SectionId) -> &[SectionId] {
        match self.section(id).parent {
            Some(parent) => &self.section(parent).children,
            None => &self.top,
        }
    }

    /// Whether the H1 body makes an H1 pass: it has a Lua block or nonblank prose (spec F63).
    pub fn has_h1_pass(&self) -> bool {
        !self.h1.is_empty()
    }

    /// The description text: the prose of the H1 body, unrendered (spec F64).
    pub fn description_text(&self) -> String {
        prose(&self.h1)
    }

    /// The prose of a section, unrendered, as `prompt.section` returns it (spec L33).
    pub fn section_prose(&self, id: SectionId) -> String {
        prose(&self.section(id).blocks)
    }
}

/// The nonempty prose blocks, joined with one blank line.
fn prose(blocks: &[Block]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Prose(text) if !text.is_empty() => Some(text.as_str()),
        Block::Prose(_) | Block::Lua(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}
