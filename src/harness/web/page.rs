//! What a fetched page comes to as text (spec T135, T139).

use std::fmt;

use url::Url;

use super::fetch_arguments::FetchArguments;
use super::html;
use super::media::Media;
use crate::harness::model::Abort;

/// How a page's text was made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extraction {
    Readability,
    RawHtml,
    Plain,
}

/// A page as a result shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    url: Url,
    is_truncated: bool,
    extraction: Extraction,
    content: String,
}

impl Page {
    /// The page at a URL, of a text that may have been cut already; `None` where it is not wanted
    /// any more.
    pub(super) fn new(
        url: Url,
        media: Media,
        text: String,
        is_cut: bool,
        arguments: &FetchArguments,
        abort: &Abort,
    ) -> Option<Self> {
        let (extraction, mut content, is_cut) = match media {
            Media::Structured | Media::Flat => (Extraction::Plain, text, is_cut),
            Media::Html => {
                let rendered = html::render(&text, &url, arguments.raw, abort)?;
                let extraction = match rendered.is_article {
                    true => Extraction::Readability,
                    false => Extraction::RawHtml,
                };
                (extraction, rendered.text, rendered.is_cut)
            }
        };
        let end = content.char_indices().nth(arguments.max_chars);
        if let Some((end, _)) = end {
            content.truncate(end);
        }
        Some(Self {
            url,
            is_truncated: is_cut || end.is_some(),
            extraction,
            content,
        })
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extraction = match self.extraction {
            Extraction::Readability => "readability",
            Extraction::RawHtml => "raw-html",
            Extraction::Plain => "plain",
        };
        writeln!(f, "url: {}", self.url)?;
        writeln!(f, "truncated: {}", self.is_truncated)?;
        writeln!(f, "extraction: {extraction}")?;
        write!(f, "\n{}", self.content)
    }
}
