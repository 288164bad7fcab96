//! Reads the tags of a page, however they are written, into a tree that is safe to walk, in time and
//! space that grow with the page and no faster.

use dom_query::Document;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use url::Url;

use super::builder::Builder;
use super::tags::{ATTRIBUTES, Use, tag};
use crate::harness::model::Abort;

/// The longest value of an attribute that is no link.
const LONGEST_VALUE: usize = 1 << 10;
/// The longest link; one that is longer leads nowhere.
const LONGEST_LINK: usize = 4 << 10;
/// The longest title.
const LONGEST_TITLE: usize = 512;

/// How many tokens are read between two looks at the abort.
const BETWEEN_LOOKS: u32 = 256;

/// What ends the reading of a page before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Aborted,
    /// The tree has as many nodes as it may have.
    Full,
}

/// The tree of the page at a URL, of no more than about `most` nodes, and whether that is not all of
/// the page; `None` where it is not wanted any more.
pub(super) fn read(html: &str, page: &Url, most: usize, abort: &Abort) -> Option<(Document, bool)> {
    let mut soup = Soup {
        builder: Builder::new(page),
        starting: None,
        attribute: None,
        dropping: None,
        title: Title::None,
    };
    let mut left = BETWEEN_LOOKS;
    let take = |event: CallbackEvent<'_>, _: Span<()>| {
        soup.take(event);
        left -= 1;
        if left > 0 {
            return None;
        }
        left = BETWEEN_LOOKS;
        match abort.is_aborted() {
            true => Some(Stop::Aborted),
            false => (soup.builder.nodes() >= most).then_some(Stop::Full),
        }
    };
    let mut emitter = CallbackEmitter::new(take);
    // Within a script, a title and the like a `<` is only a character.
    emitter.naively_switch_states(true);
    let stop = Tokenizer::new_with_emitter(html, emitter).next();
    match stop {
        Some(Ok(Stop::Aborted)) => None,
        Some(Ok(Stop::Full)) => Some((soup.builder.finish(), true)),
        Some(Err(never)) => match never {},
        None => Some((soup.builder.finish(), false)),
    }
}

/// What has been read and is no part of the tree yet.
struct Soup<'a> {
    builder: Builder<'a>,
    /// The start tag that is being read.
    starting: Option<Starting>,
    /// The attribute that is being read.
    attribute: Option<&'static str>,
    /// The element whose contents are left out, and how many of its name are open in it.
    dropping: Option<(Vec<u8>, usize)>,
    title: Title,
}

struct Starting {
    name: Vec<u8>,
    what: Use,
    attributes: Vec<(&'static str, String)>,
}

/// The page's title: the first counts.
enum Title {
    None,
    Begun(String),
    Ended,
}

impl Soup<'_> {
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
            CallbackEvent::AttributeName { name } => self.name(name),
            CallbackEvent::AttributeValue { value } => self.value(value),
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

    /// Takes the name of an attribute; of one that is there twice the first counts.
    fn name(&mut self, name: &[u8]) {
        let known = ATTRIBUTES.iter().find(|known| known.as_bytes() == name);
        self.attribute = None;
        if let (Some(name), Some(starting)) = (known, &mut self.starting)
            && !starting.attributes.iter().any(|(had, _)| had == name)
        {
            self.attribute = Some(name);
            starting.attributes.push((name, String::new()));
        }
    }

    /// Takes the value of the attribute that was named last.
    fn value(&mut self, value: &[u8]) {
        let Some((name, starting)) = self.attribute.take().zip(self.starting.as_mut()) else {
            return;
        };
        let longest = match name {
            "href" | "src" if value.len() > LONGEST_LINK => {
                starting.attributes.pop();
                return;
            }
            "href" | "src" => LONGEST_LINK,
            _ => LONGEST_VALUE,
        };
        if let Some((_, kept)) = starting.attributes.last_mut() {
            *kept = beginning(value, longest);
        }
    }

    fn start(&mut self, starting: Starting, closes_itself: bool) {
        if let Some((name, count)) = &mut self.dropping {
            *count += usize::from(*name == starting.name && !closes_itself);
            return;
        }
        match starting.what {
            Use::Kept(tag) => self.builder.start(tag, &starting.attributes),
            // Only drawings and formulas can close themselves.
            Use::Dropped if closes_itself && matches!(&*starting.name, b"svg" | b"math") => {}
            Use::Dropped => self.dropping = Some((starting.name, 1)),
            Use::Title => match self.title {
                Title::None => self.title = Title::Begun(String::new()),
                Title::Begun(_) | Title::Ended => self.dropping = Some((starting.name, 1)),
            },
            Use::Base => {
                let mut attributes = starting.attributes.iter();
                if let Some((_, link)) = attributes.find(|(name, _)| *name == "href") {
                    self.builder.base(link);
                }
            }
            Use::Unwrapped => {}
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
            Use::Kept(tag) => self.builder.end(tag),
            Use::Title => {
                if let Title::Begun(title) = &mut self.title {
                    self.builder.title(std::mem::take(title));
                    self.title = Title::Ended;
                }
            }
            Use::Dropped | Use::Base | Use::Unwrapped => {}
        }
    }

    fn text(&mut self, text: &[u8]) {
        match &mut self.title {
            _ if self.dropping.is_some() => {}
            Title::Begun(title) => *title = beginning(text, LONGEST_TITLE),
            Title::None | Title::Ended => self.builder.text(&String::from_utf8_lossy(text)),
        }
    }
}

/// The beginning of a text.
fn beginning(text: &[u8], bytes: usize) -> String {
    String::from_utf8_lossy(text.get(..bytes).unwrap_or(text)).into_owned()
}
