//! Where a page's links lead.

use url::Url;

/// How much longer the links of a page may become in all: relative links cost little where they
/// are written, and much where they are written out.
const SPARE: usize = 4 << 20;

/// Writes links out in full.
#[derive(Debug)]
pub(super) struct Links<'a> {
    page: &'a Url,
    base: Option<Url>,
    spare: usize,
}

impl<'a> Links<'a> {
    /// The links of the page at a URL.
    pub(super) fn new(page: &'a Url) -> Self {
        Self {
            page,
            base: None,
            spare: SPARE,
        }
    }

    /// Takes another URL to start from; the first that a page gives counts.
    pub(super) fn start_from(&mut self, link: &str) {
        if self.base.is_none() {
            self.base = self.page.join(link).ok();
        }
    }

    /// A link in full; as it stands where it leads only within the page, or nowhere, or when the
    /// page's links have become too long already.
    pub(super) fn full(&mut self, link: &str) -> String {
        let link = link.trim();
        let base = self.base.as_ref().unwrap_or(self.page);
        let longest = base.as_str().len() + 3 * link.len();
        if link.starts_with('#') || longest > self.spare {
            return link.to_owned();
        }
        match base.join(link) {
            Ok(full) => {
                self.spare = self.spare.saturating_sub(full.as_str().len());
                full.into()
            }
            Err(_) => link.to_owned(),
        }
    }
}
