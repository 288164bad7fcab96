//! Words a run's failure for a person (spec C6). The message itself, whole, is what `--json` shows.

use runvil::engine::{RunError, RunErrorKind, ToolResult};
use runvil::prompt::{Dialect, ParseErrorKind, Prompt};

use super::cell;
use super::diagnostic::{Diagnostic, Level, Place};
use super::help::{Backing, help};
use super::regions::{Regions, part};

/// In front of what a gate has to say (spec L93).
const GATE: &str = "the environment cannot satisfy this prompt:\n- the H1 gate failed: ";

/// What a conversation fails with whose model never comes to an end (spec M55).
const ENDLESS: &str = "tool-call loop did not converge";

/// The most columns of what a tool said.
const ANSWER: usize = 200;

/// The file that failed.
pub struct Subject<'a> {
    /// Its name, as it was typed.
    pub file: &'a str,
    pub source: &'a str,
    /// Its dialect, where it has no version key.
    pub dialect: Dialect,
    /// The section that the run had reached, by its heading, or the title.
    pub reached: Option<&'a str>,
    /// What a tool said last to the run's own chain.
    pub answered: Option<&'a ToolResult>,
    /// What its rounds were asked of.
    pub backing: Backing,
}

/// What went wrong, where, and what may help.
pub fn explain(error: &RunError, subject: &Subject<'_>) -> Diagnostic {
    let prompt = Prompt::parse(subject.source, subject.dialect).ok();
    let prompt = prompt.as_ref();
    let mut diagnostic = match (error.kind, error.parse_kind) {
        (RunErrorKind::Parse, Some(ParseErrorKind::Lua)) => syntax(error, subject, prompt),
        (RunErrorKind::Parse, _) => located(error, subject.file),
        (RunErrorKind::Internal, _) => internal(error),
        _ => runtime(error, subject, prompt),
    };
    diagnostic.help = help(error, prompt, &subject.backing);
    if diagnostic.note.is_none() && error.message == ENDLESS {
        diagnostic.note = subject.answered.map(answer);
    }
    diagnostic
}

/// What a tool answered last, in one line.
fn answer(result: &ToolResult) -> String {
    let mut lines = result.content.lines();
    let said = match result.trusted {
        true => lines.next(),
        // The first two lines of an envelope say that it is one (spec L85).
        false => lines.nth(2),
    };
    let said = cell::start_of(said.unwrap_or_default(), ANSWER);
    format!(
        "the model asked for tools in every round; `{}` said last: {said}",
        result.alias
    )
}

fn level(error: &RunError) -> Level {
    let kind = error.kind.name();
    Level::Error(match error.parse_kind {
        Some(parse_kind) => format!("{kind}/{}", parse_kind.name()),
        None => kind.to_owned(),
    })
}

/// A failure with the place that it has itself.
fn located(error: &RunError, file: &str) -> Diagnostic {
    let location = error.location.as_ref();
    let place = Place {
        file: file.to_owned(),
        line: location.and_then(|location| location.line),
        column: location.and_then(|location| location.column),
        part: None,
    };
    Diagnostic::new(level(error), &error.message, Some(place))
}

/// A failure of the engine is in its own source, which is not there to be quoted.
fn internal(error: &RunError) -> Diagnostic {
    let file = error
        .location
        .as_ref()
        .and_then(|location| location.path.as_deref());
    match file {
        Some(file) => {
            let mut diagnostic = located(error, file);
            if let Some(place) = &mut diagnostic.place {
                place.file = place.to_string();
                (place.line, place.column) = (None, None);
            }
            diagnostic
        }
        None => Diagnostic::new(level(error), &error.message, None),
    }
}

/// Lua that does not compile: its message counts lines inside the fence, which is turned into a
/// line of the file.
fn syntax(error: &RunError, subject: &Subject<'_>, prompt: Option<&Prompt>) -> Diagnostic {
    let regions = prompt.map(Regions::of);
    let Some((region, found)) = regions
        .as_ref()
        .and_then(|regions| regions.syntax(&error.message))
    else {
        return located(error, subject.file);
    };
    let place = Place {
        file: subject.file.to_owned(),
        line: Some(found.line),
        ..Place::default()
    };
    let message = lines_of_file(found.rest, region.block.line);
    let mut diagnostic = Diagnostic::new(level(error), message, Some(place));
    diagnostic.note = region.swallowed(found.line).map(|(line, what)| {
        let opening = region.block.line.saturating_sub(1);
        format!(
            "line {line} looks like a {what} inside the Lua fence opened at line {opening}; is that \
             fence closed?"
        )
    });
    diagnostic
}

/// The compiler's diagnostic with the lines that it names, all before what it is `near`, turned
/// into lines of the file.
fn lines_of_file(diagnostic: &str, first: u32) -> String {
    let (said, near) = match diagnostic.find(" near ") {
        Some(at) => diagnostic.split_at(at),
        None => (diagnostic, ""),
    };
    let mut out = String::new();
    for (index, piece) in said.split(" line ").enumerate() {
        if index == 0 {
            out.push_str(piece);
            continue;
        }
        let end = piece
            .find(|char: char| !char.is_ascii_digit())
            .unwrap_or(piece.len());
        let (number, rest) = piece.split_at(end);
        out.push_str(" line ");
        match number.parse::<u32>() {
            Ok(line) => {
                let line = line.saturating_add(first).saturating_sub(1);
                out.push_str(&line.to_string());
            }
            Err(_) => out.push_str(number),
        }
        out.push_str(rest);
    }
    out + near
}

/// A failure of the run: the place is taken out of the message, and the traceback keeps the
/// author's frames, where they say more than the place.
fn runtime(error: &RunError, subject: &Subject<'_>, prompt: Option<&Prompt>) -> Diagnostic {
    let gate = error.message.strip_prefix(GATE);
    let (text, frames) = split_trace(gate.unwrap_or(&error.message));
    let regions = prompt.map(Regions::of);
    let found = regions.as_ref().and_then(|regions| regions.runtime(text));
    let refused = error.kind == RunErrorKind::RequirementsUnmet;
    let said = found.as_ref().map_or(text, |found| found.rest);
    let message = if gate.is_some() || refused && found.is_some() {
        format!("the prompt refused to start: {said}")
    } else {
        said.to_owned()
    };
    let line = found.map(|found| found.line);
    let place = (line.is_some() || subject.reached.is_some()).then(|| Place {
        file: subject.file.to_owned(),
        line,
        column: None,
        part: subject
            .reached
            .filter(|_| line.is_none())
            .map(|name| reached(prompt, name)),
    });
    let mut diagnostic = Diagnostic::new(level(error), message, place);
    if let Some(regions) = &regions {
        let own: Vec<String> = frames
            .iter()
            .filter_map(|frame| regions.frame(frame, subject.file))
            .collect();
        if own.len() > 1 {
            diagnostic.trace = own;
        }
    }
    diagnostic
}

/// Where the run was, by the name that its events have for it.
fn reached(prompt: Option<&Prompt>, name: &str) -> String {
    let is_section = prompt.is_some_and(|prompt| {
        let mut sections = prompt.sections.iter();
        sections.any(|section| section.name == name)
    });
    format!("in {}", part(is_section.then_some(name)))
}

/// The message, and the frames of the traceback that Lua put behind it.
fn split_trace(message: &str) -> (&str, Vec<&str>) {
    let whole = (message, Vec::new());
    let Some((text, trace)) = message.rsplit_once("\nstack traceback:\n") else {
        return whole;
    };
    let frames: Option<Vec<&str>> = trace
        .lines()
        .map(|frame| frame.strip_prefix('\t'))
        .collect();
    frames.map_or(whole, |frames| (text, frames))
}

#[cfg(test)]
mod tests {
    use runvil::prompt::Location;

    use super::*;

    #[test]
    fn an_internal_failure_quotes_nothing() {
        let mut error = RunError::new(RunErrorKind::Internal, "broken");
        error.location = Some(Location {
            path: Some("src/engine/run.rs".to_owned()),
            line: Some(1),
            ..Location::default()
        });
        let subject = Subject {
            file: "f.md",
            source: "x",
            dialect: Dialect::Runvil,
            reached: None,
            answered: None,
            backing: Backing::Nothing,
        };
        let shown = explain(&error, &subject).render("x", super::super::style::Style::new(false));
        assert_eq!(shown, "error[Internal]: broken\n --> src/engine/run.rs:1\n");
    }

    #[test]
    fn the_compilers_lines_become_lines_of_the_file() {
        let text = "'end' expected (to close 'function' at line 3) near ' line 2'";
        let shown = "'end' expected (to close 'function' at line 12) near ' line 2'";
        assert_eq!(lines_of_file(text, 10), shown);
        let text = "<goto x> at line 1 jumps into the scope of local 'y'";
        let shown = "<goto x> at line 10 jumps into the scope of local 'y'";
        assert_eq!(lines_of_file(text, 10), shown);
        assert_eq!(lines_of_file("odd line x", 10), "odd line x");
    }

    #[test]
    fn what_is_no_traceback_stays_in_the_message() {
        let text = "mine\nstack traceback:\nnot a frame";
        assert_eq!(split_trace(text), (text, Vec::new()));
        let text = "a\nstack traceback:\n\tb\n\tc";
        assert_eq!(split_trace(text), ("a", vec!["b", "c"]));
    }
}
