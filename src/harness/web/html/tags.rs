//! The elements of HTML that a page's text is made of, and how each sits among the others.

/// An element that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    /// Its name.
    pub(super) name: &'static str,
    /// The name of the element that it becomes.
    pub(super) element: &'static str,
    /// How it sits among others.
    pub(super) kind: Kind,
}

/// How an element sits among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Part of a line.
    Inline,
    /// A link, which holds no other.
    Link,
    /// Part of a line, without contents.
    Void,
    /// Between lines, without contents.
    Rule,
    /// Begins and ends lines.
    Block,
    /// A block that ends where another begins.
    Paragraph,
    /// A block that ends where another of its kind begins.
    Heading,
    /// A block whose lines are set in from the margin.
    Inset,
    /// What a list holds; ends where the next begins.
    Item,
    /// A table.
    Table,
    /// A part of a table that holds rows.
    Rows,
    /// A row of a table.
    Row,
    /// A cell of a row.
    Cell,
    /// What is said of a table.
    Caption,
}

/// A row that nobody wrote.
pub(super) const ROW: Tag = Tag {
    name: "tr",
    element: "tr",
    kind: Kind::Row,
};

impl Tag {
    /// Whether an end tag ends it; headings end one another.
    pub(super) fn ends_with(self, end: Self) -> bool {
        self == end || self.kind == Kind::Heading && end.kind == Kind::Heading
    }
}

impl Kind {
    /// Whether what lies in it has nothing to do with the paragraphs and links around it.
    pub(super) fn bounds_a_cell(self) -> bool {
        matches!(self, Self::Cell | Self::Caption | Self::Table)
    }

    /// Whether it is what tables are made of.
    pub(super) fn is_part(self) -> bool {
        matches!(self, Self::Rows | Self::Row | Self::Cell)
    }

    /// Whether nothing but parts of tables may lie right in it.
    pub(super) fn holds_parts(self) -> bool {
        matches!(self, Self::Table | Self::Rows | Self::Row)
    }

    /// Whether a part or the caption of a table may begin right in it.
    pub(super) fn holds(self, part: Self) -> bool {
        match self {
            Self::Table => true,
            Self::Rows => matches!(part, Self::Row | Self::Cell),
            Self::Row => part == Self::Cell,
            _ => false,
        }
    }

    /// Whether it holds nothing.
    pub(super) fn is_empty(self) -> bool {
        matches!(self, Self::Void | Self::Rule)
    }

    /// Whether the end tag of another kind does not end what lies around it.
    pub(super) fn outlasts(self, ending: Self) -> bool {
        match ending {
            Self::Table => false,
            Self::Rows | Self::Row | Self::Cell | Self::Caption => self == Self::Table,
            Self::Item => self == Self::Inset || self.bounds_a_cell(),
            _ => self.bounds_a_cell(),
        }
    }
}

/// What is done with an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It is kept.
    Kept(Tag),
    /// It is left out with all that it holds.
    Dropped,
    /// The document's title.
    Title,
    /// Where relative links start from.
    Base,
    /// What it holds stands in its place.
    Unwrapped,
}

/// What is done with the element of a name, in lower case.
pub(super) fn tag(name: &[u8]) -> Use {
    for (kind, names) in KEPT {
        if let Some(name) = names.iter().find(|kept| kept.as_bytes() == name) {
            let element = match kind {
                // It stands before its table.
                Kind::Caption => "p",
                _ => name,
            };
            let kind = *kind;
            return Use::Kept(Tag {
                name,
                element,
                kind,
            });
        }
    }
    match name {
        b"title" => Use::Title,
        b"base" => Use::Base,
        name if DROPPED.iter().any(|dropped| dropped.as_bytes() == name) => Use::Dropped,
        _ => Use::Unwrapped,
    }
}

const KEPT: &[(Kind, &[&str])] = &[
    (Kind::Block, &["div"]),
    (Kind::Inline, &["span"]),
    (Kind::Link, &["a"]),
    (Kind::Item, &["li", "dt", "dd"]),
    (Kind::Paragraph, &["p"]),
    (Kind::Void, &["br", "img"]),
    (Kind::Rule, &["hr"]),
    (Kind::Cell, &["td", "th"]),
    (Kind::Caption, &["caption"]),
    (Kind::Row, &["tr"]),
    (Kind::Heading, &["h1", "h2", "h3", "h4", "h5", "h6"]),
    (
        Kind::Inline,
        &[
            "strong", "em", "b", "i", "code", "abbr", "cite", "del", "dfn", "font", "ins", "kbd",
            "mark", "q", "s", "samp", "small", "strike", "sub", "sup", "time", "tt", "u", "var",
        ],
    ),
    (Kind::Inset, &["ul", "ol", "dl", "blockquote"]),
    (
        Kind::Block,
        &[
            "section",
            "article",
            "aside",
            "header",
            "footer",
            "nav",
            "main",
            "figure",
            "figcaption",
            "pre",
            "address",
            "center",
            "details",
            "fieldset",
            "form",
            "hgroup",
            "menu",
            "search",
            "summary",
        ],
    ),
    (Kind::Table, &["table"]),
    (Kind::Rows, &["tbody", "thead", "tfoot"]),
];

/// What has no text of the page's own.
const DROPPED: &[&str] = &[
    "script", "style", "svg", "noscript", "iframe", "template", "select", "textarea", "math",
    "object", "canvas", "audio", "video", "applet", "datalist", "noembed", "noframes",
];

/// The attributes that a page's text, or the search for its article, depends on.
pub(super) const ATTRIBUTES: &[&str] = &[
    "alt",
    "aria-hidden",
    "aria-modal",
    "class",
    "dir",
    "hidden",
    "href",
    "id",
    "itemprop",
    "property",
    "rel",
    "role",
    "src",
    "start",
    "style",
    "title",
];
