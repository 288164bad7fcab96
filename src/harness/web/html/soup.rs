//! Reads the tags of a page, however they are written, into a tree that is safe to walk: no deeper
//! than a bound, in time and space that grow with the page and no faster.
//!
//! A browser's rules are followed as far as text shows them. What they do beyond that is left out:
//! elements that misnested tags would open again and again, and contents moved out of tables.

use std::convert::Infallible;

use dom_query::{Document, NodeId};
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use url::Url;

use super::links::Links;
use super::tags::{ATTRIBUTES, CAPTION, Kind, ROW, Tag, Use, tag};

/// How deep elements may lie; what is deeper lies in the deepest.
const DEEPEST: usize = 64;
/// How deep those may lie that set their lines in: each adds to each of its lines.
const DEEPEST_INSET: usize = 10;
/// The longest value of an attribute that is no link.
const LONGEST_VALUE: usize = 1 << 10;
/// The longest link.
const LONGEST_LINK: usize = 4 << 10;
/// How long a text may be in one piece: some of what walks the tree takes the square of that.
const LONGEST_TEXT: usize = 4 << 10;
/// The longest title.
const LONGEST_TITLE: usize = 512;

/// The tree of a page at a URL.
pub(super) fn read(html: &str, page: &Url) -> Document {
    let mut soup = Soup::new(page);
    let take = |event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        soup.take(event);
        None
    };
    let mut emitter = CallbackEmitter::new(take);
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Ok(never) | Err(never) => match never {},
        }
    }
    soup.flush();
    soup.document
}

struct Soup<'a> {
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
    /// The start tag that is being read.
    starting: Option<Starting>,
    /// The attribute that is being read.
    attribute: Option<&'static str>,
    /// The element whose contents are left out, and how many of its name are open in it.
    dropping: Option<(Vec<u8>, usize)>,
    title: Title,
}

enum Title {
    None,
    Begun(String),
    Ended,
}

struct Open {
    tag: Tag,
    node: NodeId,
}

struct Starting {
    name: Vec<u8>,
    what: Use,
    attributes: Vec<(&'static str, String)>,
}

impl<'a> Soup<'a> {
    fn new(page: &'a Url) -> Self {
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
            starting: None,
            attribute: None,
            dropping: None,
            title: Title::None,
        }
    }

    fn take(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.attribute = None;
                self.starting = Some(Starting {
                    name: name.to_vec(),
                    what: tag(name),
                    attributes: Vec::new(),
                });
            }
            CallbackEvent::AttributeName { name } => {
                let known = ATTRIBUTES.iter().find(|known| known.as_bytes() == name);
                self.attribute = known.copied();
                if let (Some(name), Some(starting)) = (self.attribute, &mut self.starting) {
                    match starting.attributes.iter().any(|(had, _)| *had == name) {
                        true => self.attribute = None,
                        false => starting.attributes.push((name, String::new())),
                    }
                }
            }
            CallbackEvent::AttributeValue { value } => {
                let starting = self.starting.as_mut().zip(self.attribute.take());
                if let Some((starting, name)) = starting
                    && let Some((_, kept)) = starting.attributes.last_mut()
                {
                    *kept = match name {
                        "href" | "src" if value.len() > LONGEST_LINK => String::new(),
                        "href" | "src" => String::from_utf8_lossy(value).into_owned(),
                        _ => within(value, LONGEST_VALUE),
                    };
                }
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                if let Some(starting) = self.starting.take() {
                    self.start(starting, self_closing);
                }
            }
            CallbackEvent::EndTag { name } => self.end(name),
            CallbackEvent::String { value } => self.text(value),
            CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
    }

    fn start(&mut self, starting: Starting, self_closing: bool) {
        if let Some((name, count)) = &mut self.dropping {
            *count += usize::from(*name == starting.name && !self_closing);
            return;
        }
        match starting.what {
            Use::Kept(tag) => self.keep(tag, &starting.attributes),
            // Only drawings and formulas can close themselves.
            Use::Dropped if self_closing && matches!(&*starting.name, b"svg" | b"math") => {}
            Use::Dropped => self.dropping = Some((starting.name, 1)),
            Use::Title => match self.title {
                Title::None => self.title = Title::Begun(String::new()),
                _ => self.dropping = Some((starting.name, 1)),
            },
            Use::Base => {
                let mut attributes = starting.attributes.iter();
                if let Some((_, link)) = attributes.find(|(name, _)| *name == "href") {
                    self.links.start_from(link);
                }
            }
            Use::Unwrapped => {}
        }
    }

    fn keep(&mut self, tag: Tag, attributes: &[(&'static str, String)]) {
        match tag.kind {
            Kind::Inline | Kind::Void if tag.name != "hr" => {}
            Kind::Link => self.close(|open| open == Kind::Link, Kind::bounds_a_cell),
            Kind::Item => {
                self.close_paragraph();
                let stop = |open| open == Kind::Inset || Kind::bounds_a_cell(open);
                self.close(|open| open == Kind::Item, stop);
            }
            Kind::Heading => {
                self.close_paragraph();
                let last = self.open.len().saturating_sub(1);
                if self
                    .open
                    .last()
                    .is_some_and(|open| open.tag.kind == Kind::Heading)
                {
                    self.pop_to(last);
                }
            }
            Kind::Rows | Kind::Row | Kind::Cell => {
                let holds = |open: &Open| open.tag.kind.holds(tag);
                let Some(holder) = self.open.iter().rposition(holds) else {
                    return;
                };
                self.pop_to(holder + 1);
                let is_row = self
                    .open
                    .last()
                    .is_some_and(|open| open.tag.kind == Kind::Row);
                if tag.kind == Kind::Cell && tag != CAPTION && !is_row {
                    self.push(ROW, &[]);
                }
            }
            _ => self.close_paragraph(),
        }
        self.push(tag, attributes);
    }

    /// Puts an element into the innermost open one, and opens it where it can hold something.
    fn push(&mut self, tag: Tag, attributes: &[(&'static str, String)]) {
        let is_inset = tag.kind == Kind::Inset;
        let is_void = tag.kind == Kind::Void;
        let is_too_deep = self.open.len() >= DEEPEST || is_inset && self.insets >= DEEPEST_INSET;
        if !is_void && is_too_deep {
            self.too_deep += 1;
            return;
        }
        self.flush();
        let place = self.place();
        let element = self.document.tree.new_element(tag.name);
        for (name, value) in attributes {
            match *name {
                "href" | "src" => element.set_attr(name, &self.links.full(value)),
                name => element.set_attr(name, value),
            }
        }
        let node = element.id;
        self.document.tree.append_child_of(&place, &node);
        if !is_void {
            self.insets += usize::from(is_inset);
            self.open.push(Open { tag, node });
        }
    }

    fn end(&mut self, name: &[u8]) {
        if let Some((dropped, count)) = &mut self.dropping {
            *count -= usize::from(dropped == name);
            if *count == 0 {
                self.dropping = None;
            }
            return;
        }
        match tag(name) {
            Use::Kept(tag) if tag.kind == Kind::Void => {
                if tag.name == "br" {
                    self.push(tag, &[]);
                }
            }
            Use::Kept(_) if self.too_deep > 0 => self.too_deep -= 1,
            Use::Kept(tag) => {
                let at = self.open.iter().rposition(|open| {
                    open.tag == tag || tag.kind == Kind::Heading && open.tag.kind == Kind::Heading
                });
                let at = at.filter(|at| {
                    let above = &self.open[at + 1..];
                    !above.iter().any(|open| open.tag.kind.keeps_open(tag.kind))
                });
                if let Some(at) = at {
                    self.pop_to(at);
                }
            }
            Use::Title => self.end_title(),
            Use::Dropped | Use::Base | Use::Unwrapped => {}
        }
    }

    fn end_title(&mut self) {
        if let Title::Begun(title) = std::mem::replace(&mut self.title, Title::Ended) {
            let tree = &self.document.tree;
            let element = tree.new_element("title");
            element.append_child(&tree.new_text(title));
            tree.append_child_of(&self.head, &element.id);
        }
    }

    fn text(&mut self, text: &[u8]) {
        if self.dropping.is_some() {
            return;
        }
        if let Title::Begun(title) = &mut self.title {
            *title = within(text, LONGEST_TITLE);
            return;
        }
        self.text.push_str(&String::from_utf8_lossy(text));
    }

    /// Puts the text that was read into the innermost open element.
    fn flush(&mut self) {
        let tree = &self.document.tree;
        let mut rest = &*self.text;
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(rest.floor_char_boundary(LONGEST_TEXT));
            tree.append_child_of(&self.place(), &tree.new_text(piece).id);
            rest = more;
        }
        self.text.clear();
    }

    /// The innermost open element.
    fn place(&self) -> NodeId {
        self.open.last().map_or(self.body, |open| open.node)
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

/// The beginning of a text.
fn within(text: &[u8], bytes: usize) -> String {
    String::from_utf8_lossy(text.get(..bytes).unwrap_or(text)).into_owned()
}
