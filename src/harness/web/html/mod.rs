//! Pages of HTML as Markdown (spec T136).

mod builder;
mod links;
mod soup;
mod tags;

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};
use url::Url;

use crate::harness::model::Abort;

/// The least that an article has, in bytes.
const LEAST: usize = 100;
/// The most nodes of a page that is searched for its article.
const MOST_SEARCHED: usize = 50_000;
/// The most nodes that are kept of a page, or a few more: what turns them into Markdown cannot be
/// ended while it does.
const MOST_KEPT: usize = 200_000;

/// A page as Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// Its text.
    pub text: String,
    /// Whether that is the article alone, what is around it left out.
    pub is_article: bool,
    /// Whether it is not all of a page that is too large.
    pub is_cut: bool,
}

/// A page as Markdown: its article where one is found that is no shorter than 100 bytes, and wanted;
/// else the whole page (spec T136). Links are written in full, from the page's URL on. `None` where
/// the page is not wanted any more.
///
/// It takes time and space that grow with the page and no faster, whatever is in it. Text never
/// comes with a failure: at worst it is empty.
pub fn render(html: &str, page: &Url, raw: bool, abort: &Abort) -> Option<Rendered> {
    let (document, is_cut) = soup::read(html, page, MOST_KEPT, abort)?;
    let article = match raw || document.tree.len() > MOST_SEARCHED {
        true => None,
        false if abort.is_aborted() => return None,
        false => article(document.clone()),
    };
    if abort.is_aborted() {
        return None;
    }
    let is_article = article.is_some();
    let whole = || document.md(None).trim().to_owned();
    Some(Rendered {
        text: article.unwrap_or_else(whole),
        is_article,
        is_cut,
    })
}

/// The article of a page, its title before it.
fn article(document: Document) -> Option<String> {
    let config = Config {
        disable_json_ld: true,
        // They say in which language code is.
        keep_classes: true,
        text_mode: TextMode::Markdown,
        ..Config::default()
    };
    let mut readability = Readability::with_document(document, None, Some(config)).ok()?;
    let article = readability.parse().ok()?;
    let text = article.text_content.trim();
    if text.len() < LEAST {
        return None;
    }
    let title = article
        .title
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    match title.is_empty() {
        true => Some(text.to_owned()),
        false => Some(format!("{}\n\n{text}", heading(&title))),
    }
}

/// A text as a heading.
fn heading(text: &str) -> String {
    let document = Document::default();
    let heading = document.tree.new_element("h1");
    heading.append_child(&document.tree.new_text(text));
    document.root().append_child(&heading);
    document.md(None).trim().to_owned()
}
