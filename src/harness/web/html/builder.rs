//! Builds the tree of a page from its tags, in whatever order they come.
//!
//! A browser's rules are followed as far as text shows them. What is left out is what makes a
//! browser's work grow faster than the page: elements that misnested tags would open again and
//! again, and any depth.

use dom_query::{Document, NodeId};
use url::Url;

use super::links::Links;
use super::tags::{Kind, ROW, Tag};

/// How deep elements may lie; what is deeper lies in the deepest.
const DEEPEST: usize = 64;
/// How deep those may lie that set their lines in: each adds to each of its lines.
const DEEPEST_INSET: usize = 10;
/// How long a text may be in one piece: some of what walks the tree takes the square of that.
const LONGEST_TEXT: usize = 4 << 10;

/// The attributes of an element.
pub(super) type Attributes = [(&'static str, String)];

/// A tree in the making.
pub(super) struct Builder<'a> {
    document: Document,
    head: NodeId,
    body: NodeId,
    links: Links<'a>,
    /// The elements that are open, the innermost last.
    open: Vec<Open>,
    /// How many of them set lines in.
    insets: usize,
    /// How many elements are open that lie too deep to be kept.
    too_deep: usize,
    /// The text that was read and is in no element yet.
    text: String,
}

struct Open {
    tag: Tag,
    node: NodeId,
}

impl<'a> Builder<'a> {
    /// The empty tree of the page at a URL.
    pub(super) fn new(page: &'a Url) -> Self {
        let document = Document::default();
        let tree = &document.tree;
        let [html, head, body] = ["html", "head", "body"].map(|name| tree.new_element(name).id);
        tree.append_child_of(&document.root().id, &html);
        tree.append_child_of(&html, &head);
        tree.append_child_of(&html, &body);
        Self {
            document,
            head,
            body,
            links: Links::new(page),
            open: Vec::new(),
            insets: 0,
            too_deep: 0,
            text: String::new(),
        }
    }

    /// Gives the page a title.
    pub(super) fn title(&self, title: String) {
        let tree = &self.document.tree;
        let element = tree.new_element("title");
        element.append_child(&tree.new_text(title));
        tree.append_child_of(&self.head, &element.id);
    }

    /// Says where relative links start from.
    pub(super) fn base(&mut self, link: &str) {
        self.links.start_from(link);
    }

    /// Takes a piece of text.
    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Takes a start tag: first it ends what may not lie around it.
    pub(super) fn start(&mut self, tag: Tag, attributes: &Attributes) {
        match tag.kind {
            Kind::Inline | Kind::Void => {}
            Kind::Link => self.close(|open| open == Kind::Link, Kind::bounds_a_cell),
            Kind::Item => {
                self.close_paragraph();
                let stops = |open| open == Kind::Inset || Kind::bounds_a_cell(open);
                self.close(|open| open == Kind::Item, stops);
            }
            Kind::Heading => {
                self.close_paragraph();
                if self.innermost() == Some(Kind::Heading) {
                    self.pop_to(self.open.len() - 1);
                }
            }
            Kind::Caption | Kind::Rows | Kind::Row | Kind::Cell => {
                let holds = |open: &Open| open.tag.kind.holds(tag.kind);
                let Some(holder) = self.open.iter().rposition(holds) else {
                    return;
                };
                self.pop_to(holder + 1);
                if tag.kind == Kind::Cell && self.innermost() != Some(Kind::Row) {
                    self.push(ROW, &[]);
                }
            }
            Kind::Rule | Kind::Block | Kind::Paragraph | Kind::Inset | Kind::Table => {
                self.close_paragraph();
            }
        }
        self.push(tag, attributes);
    }

    /// Takes an end tag: it ends the innermost such element with all that lies in it.
    pub(super) fn end(&mut self, tag: Tag) {
        if tag.kind.is_empty() {
            // Only this one has an end tag that means anything.
            if tag.name == "br" {
                self.push(tag, &[]);
            }
            return;
        }
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        for (at, open) in self.open.iter().enumerate().rev() {
            if open.tag.ends_with(tag) {
                return self.pop_to(at);
            }
            if open.tag.kind.outlasts(tag.kind) {
                return;
            }
        }
    }

    /// How many nodes the tree has so far.
    pub(super) fn nodes(&self) -> usize {
        self.document.tree.len()
    }

    /// The tree, when there is no more.
    pub(super) fn finish(mut self) -> Document {
        self.flush();
        self.document
    }

    fn innermost(&self) -> Option<Kind> {
        self.open.last().map(|open| open.tag.kind)
    }

    /// Puts an element into the innermost open one, and opens it where it can hold something.
    fn push(&mut self, tag: Tag, attributes: &Attributes) {
        let is_empty = tag.kind.is_empty();
        let is_inset = tag.kind == Kind::Inset;
        let is_too_deep = self.open.len() >= DEEPEST || is_inset && self.insets >= DEEPEST_INSET;
        if is_too_deep && !is_empty {
            self.too_deep += 1;
            return;
        }
        self.flush();
        let element = self.document.tree.new_element(tag.element);
        for (name, value) in attributes {
            match *name {
                "href" | "src" => element.set_attr(name, &self.links.full(value)),
                name => element.set_attr(name, value),
            }
        }
        let node = element.id;
        self.attach(node, Some(tag.kind));
        if !is_empty {
            self.insets += usize::from(is_inset);
            self.open.push(Open { tag, node });
        }
    }

    /// Puts the text that was read into the innermost open element. Blanks between the cells of a
    /// table are none.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        let is_between_cells = self.innermost().is_some_and(Kind::holds_parts);
        if is_between_cells && text.trim().is_empty() {
            return;
        }
        let mut rest = &*text;
        while !rest.is_empty() {
            let (piece, more) = piece(rest);
            self.attach(self.document.tree.new_text(piece).id, None);
            rest = more;
        }
    }

    /// Puts a node into the innermost open element; before the table where that is one, or a part
    /// of one, which holds no such thing.
    fn attach(&self, node: NodeId, kind: Option<Kind>) {
        let tree = &self.document.tree;
        let Some(innermost) = self.open.last() else {
            return tree.append_child_of(&self.body, &node);
        };
        let is_out_of_place = innermost.tag.kind.holds_parts() && !kind.is_some_and(Kind::is_part);
        let table = self.open.iter().rfind(|open| open.tag.kind == Kind::Table);
        match table.filter(|_| is_out_of_place) {
            Some(table) => tree.insert_before_of(&table.node, &node),
            None => tree.append_child_of(&innermost.node, &node),
        }
    }

    fn close_paragraph(&mut self) {
        self.close(|open| open == Kind::Paragraph, Kind::bounds_a_cell);
    }

    /// Ends the innermost element of a kind, unless one that stops the search lies in it.
    fn close(&mut self, ends: impl Fn(Kind) -> bool, stops: impl Fn(Kind) -> bool) {
        let kinds = self.open.iter().map(|open| open.tag.kind);
        for (at, kind) in kinds.enumerate().rev() {
            if ends(kind) {
                return self.pop_to(at);
            }
            if stops(kind) {
                return;
            }
        }
    }

    /// Ends the elements from a place of the open ones on.
    fn pop_to(&mut self, at: usize) {
        self.flush();
        for ended in self.open.drain(at..) {
            self.insets -= usize::from(ended.tag.kind == Kind::Inset);
        }
    }
}

/// A piece of a text, and the rest.
fn piece(text: &str) -> (&str, &str) {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.split_at(end)
}
