//! What a person is told about a file, in the style of a compiler (spec C6).

use super::escape::escape;
use super::quote::quote;
use super::style::Style;

/// A message about a file, before it has colours and escapes.
#[derive(Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What it is.
    pub level: Level,
    /// What is wrong.
    pub message: String,
    /// Where, as far as it is known.
    pub place: Option<Place>,
    /// The calls that led there, the innermost first.
    pub trace: Vec<String>,
    /// What helps to see the cause.
    pub note: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
}

/// How bad it is.
#[derive(Debug, PartialEq, Eq)]
pub enum Level {
    /// A failure, of a kind such as `Parse/Lua`.
    Error(String),
    /// Nothing failed, but it is hardly meant so.
    Warning,
}

/// A place in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The name of the file, as it was typed.
    pub file: String,
    /// The 1-based line.
    pub line: Option<u32>,
    /// The 1-based column, in bytes.
    pub column: Option<u32>,
    /// The part of the file, where no line is known.
    pub part: Option<String>,
}

impl Diagnostic {
    /// A message and where it applies.
    pub fn new(level: Level, message: impl Into<String>, place: Option<Place>) -> Self {
        Self {
            level,
            message: message.into(),
            place,
            trace: Vec::new(),
            note: None,
            help: None,
        }
    }

    /// The text for a terminal: the message, the place with its line of the `source`, the calls,
    /// the note and the help.
    pub fn render(&self, source: &str, style: Style) -> String {
        let head = match &self.level {
            Level::Error(kind) => style.error(&format!("error[{kind}]")),
            Level::Warning => style.warning("warning"),
        };
        let mut out = format!("{head}: {}\n", escape(&self.message));
        let mut margin = " ".to_owned();
        if let Some(place) = &self.place {
            let quoted = place
                .line
                .and_then(|line| quote(source, line, place.column, style));
            if let (Some(line), Some(_)) = (place.line, &quoted) {
                margin = " ".repeat(line.to_string().len());
            }
            let arrow = style.frame(&format!("{margin}-->"));
            out.push_str(&format!("{arrow} {}\n", escape(&place.to_string())));
            out.push_str(&quoted.unwrap_or_default());
        }
        if !self.trace.is_empty() {
            out.push_str("stack traceback:\n");
        }
        for frame in &self.trace {
            out.push_str(&format!("\t{}\n", escape(frame)));
        }
        for (name, text) in [("note", &self.note), ("help", &self.help)] {
            if let Some(text) = text {
                let sign = style.frame(&format!("{margin} ="));
                out.push_str(&format!("{sign} {name}: {}\n", escape(text)));
            }
        }
        out
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        match &self.part {
            Some(part) => write!(f, ", {part}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(line: Option<u32>, column: Option<u32>) -> Diagnostic {
        let place = Place {
            file: "f.md".to_owned(),
            line,
            column,
            part: None,
        };
        let level = Level::Error("Parse/Structure".to_owned());
        Diagnostic::new(level, "bad\u{7}", Some(place))
    }

    #[test]
    fn a_located_failure_quotes_its_line() {
        let shown = failure(Some(2), Some(3)).render("one\n  two\r\nthree\n", Style::new(false));
        assert_eq!(
            shown,
            "error[Parse/Structure]: bad\\u{7}\n --> f.md:2:3\n  |\n2 |   two\n  |   ^\n"
        );
    }

    #[test]
    fn the_arrow_and_the_notes_stand_at_the_gutter() {
        let mut failure = failure(Some(10), None);
        failure.trace = vec!["one".to_owned()];
        failure.note = Some("two".to_owned());
        failure.help = Some("three".to_owned());
        assert_eq!(
            failure.render(&"x\n".repeat(12), Style::new(false)),
            "error[Parse/Structure]: bad\\u{7}\n  --> f.md:10\n   |\n10 | x\n\
             stack traceback:\n\tone\n   = note: two\n   = help: three\n"
        );
    }

    #[test]
    fn a_failure_without_line_names_the_file() {
        let shown = failure(None, None).render("x", Style::new(false));
        assert_eq!(shown, "error[Parse/Structure]: bad\\u{7}\n --> f.md\n");
        let shown = failure(Some(9), Some(1)).render("x", Style::new(false));
        let end = "bad\\u{7}\n --> f.md:9:1\n";
        assert!(shown.ends_with(end), "past the end: {shown}");
    }
}
