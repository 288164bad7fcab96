//! Store operations and their values (spec S section 1.1, R21).

/// One store operation. Paths and patterns have passed the rules of spec S15 and S37.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreOp {
    /// Creates the file or replaces its whole text.
    Write {
        /// The file.
        path: String,
        /// Its new text.
        contents: String,
    },
    /// Adds at the end of the file, creating it when absent.
    Append {
        /// The file.
        path: String,
        /// The text to add.
        contents: String,
    },
    /// Reads the file, or the lines `start` to `end`.
    Read {
        /// The file.
        path: String,
        /// The first line, as given.
        start: Option<i64>,
        /// The last line, as given.
        end: Option<i64>,
    },
    /// Reads with line numbers.
    ReadNumbered {
        /// The file.
        path: String,
        /// The first line, as given.
        start: Option<i64>,
        /// The last line, as given.
        end: Option<i64>,
    },
    /// Replaces the one occurrence of `old` by `new`.
    Replace {
        /// The file.
        path: String,
        /// The anchor, not empty.
        old: String,
        /// The text that takes its place.
        new: String,
    },
    /// Removes a file or an empty directory.
    Delete {
        /// The file or directory.
        path: String,
    },
    /// Asks whether a file or directory is there.
    Exists {
        /// The file or directory.
        path: String,
    },
    /// Lists what a pattern matches.
    Glob {
        /// The pattern.
        pattern: String,
    },
}

/// What a store operation gives back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreValue {
    /// Nothing.
    Null,
    /// The text read.
    Text(String),
    /// Whether it is there.
    Bool(bool),
    /// The sorted paths.
    List(Vec<String>),
}
