//! Parsing a file: its parts in the order of spec F130.

use super::body::{self, Body, Place};
use super::delimiter;
use super::error::ParseError;
use super::frontmatter::{self, Header};
use super::tree::{Dialect, Prompt};

impl Prompt {
    /// Parses a prompt file. Nothing runs and no Lua is compiled: that is the Engine's, which
    /// compiles the blocks before it runs any (spec F5, F131).
    ///
    /// `default` is the dialect of a file without a version key (spec F12). The cost grows with the
    /// length of the file and with nothing else.
    ///
    /// # Errors
    ///
    /// The first failure in the order of spec F130, with its exact message and its place. No
    /// failure is of kind `Lua`.
    pub fn parse(source: &str, default: Dialect) -> Result<Self, ParseError> {
        let parts = delimiter::split(source)?;
        let header = frontmatter::read(source, parts.yaml, default)?;
        let Header {
            dialect,
            name,
            description,
            version,
            contract,
        } = header;
        let place = Place {
            source,
            prompt: &name,
        };
        let body = body::read(&place, dialect, parts.body, parts.body_line)?;
        let Body {
            title,
            h1,
            library,
            sections,
            top,
            names,
        } = body;
        Ok(Self {
            dialect,
            name,
            description,
            version,
            contract,
            title,
            h1,
            library,
            sections,
            top,
            names,
        })
    }
}
