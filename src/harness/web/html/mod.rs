//! Pages of HTML as Markdown (spec T136).

mod builder;
mod links;
mod soup;
mod tags;

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};
use url::Url;

/// The least that an article has, in bytes.
const LEAST: usize = 100;
/// The most nodes of a page that is searched for its article.
const MOST: usize = 50_000;

/// A page as Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// Its text.
    pub text: String,
    /// Whether that is the article alone, what is around it left out.
    pub is_article: bool,
}

/// A page as Markdown: its article where one is found that is no shorter than 100 bytes, and wanted;
/// else the whole page (spec T136). Links are written in full, from the page's URL on.
///
/// It takes time and space that grow with the page and no faster, whatever is in it. Text never
/// comes with a failure: at worst it is empty.
pub fn render(html: &str, page: &Url, raw: bool) -> Rendered {
    let document = soup::read(html, page);
    let article = match raw || document.tree.len() > MOST {
        true => None,
        false => article(document.clone()),
    };
    match article {
        Some(text) => Rendered {
            text,
            is_article: true,
        },
        None => Rendered {
            text: document.md(None).trim().to_owned(),
            is_article: false,
        },
    }
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
