//! The text of a program, and where it comes from (spec P140).

use std::path::PathBuf;

use crate::engine::{Program, RunError};
use crate::packet::authoring::slug;
use crate::packet::prompt::Prompt;
use crate::packet::provider::Setting;
use crate::packet::source;
use crate::prompt::{Dialect, Prompt as Parsed};

/// What opens and closes frontmatter.
const DELIMITER: &str = "---";

/// A program's text. Its lines are those of its file, so that a message about one leads to it.
pub(super) struct ProgramText {
    pub(super) text: String,
    /// The file as messages name it.
    pub(super) file: String,
    /// The program, or why it is none.
    pub(super) program: Result<Program, RunError>,
}

impl ProgramText {
    /// The text of the named file, `PATH` or `REPO:PATH`; of the prompt's body where none is named.
    pub(super) fn read(setting: Setting<'_>, named: Option<&str>) -> Result<Self, String> {
        let (text, file) = match named {
            Some(named) => (file(setting, named)?, named.to_owned()),
            None => (of_body(setting.prompt), setting.prompt.file.clone()),
        };
        let program = Program::load(&text, Dialect::Runvil).program;
        let program = program.map_err(RunError::from);
        Ok(Self {
            text,
            file,
            program,
        })
    }

    /// What was parsed, where the program can run.
    pub(super) fn prompt(&self) -> Option<&Parsed> {
        Some(self.program.as_ref().ok()?.prompt())
    }

    /// What is said of a program that does not parse, or whose Lua does not compile.
    pub(super) fn fault(&self) -> Option<String> {
        let error = self.program.as_ref().err()?;
        let shown = self.shown(error);
        let has_line = error.location.as_ref().is_some_and(|it| it.line.is_some());
        Some(match has_line {
            true => shown,
            // Of Lua the message has the line, and a packet has many files.
            false => format!("{shown} ({})", self.file),
        })
    }

    /// An error of the program, and its line where that is known (spec P144).
    pub(super) fn shown(&self, error: &RunError) -> String {
        let line = error.location.as_ref().and_then(|location| location.line);
        let (kind, message) = (error.kind.name(), &error.message);
        match line {
            Some(line) => format!("{kind}: {message} ({}:{line})", self.file),
            None => format!("{kind}: {message}"),
        }
    }
}

/// The text of a file of the packet, `PATH` or `REPO:PATH`.
pub(super) fn file(setting: Setting<'_>, named: &str) -> Result<String, String> {
    let packet = setting.packet;
    let in_repo = named.split_once(':').and_then(|(repo, path)| {
        let folder = packet.folder_of(repo)?;
        Some(folder.join(path))
    });
    let path: PathBuf = in_repo.unwrap_or_else(|| packet.root.join(named));
    source::read(&path, named).map_err(|error| error.to_string())
}

/// A prompt's body as a program: with the frontmatter that it brings, or with one from the prompt's
/// name. What stands above the body in its file is made up for by comments.
fn of_body(prompt: &Prompt) -> String {
    let above = prompt.body_line.saturating_sub(1);
    let rest = prompt.body.trim_start_matches('\n');
    let skipped = prompt.body.len() - rest.len();
    if let Some(own) = rest.strip_prefix(DELIMITER)
        && own.starts_with('\n')
    {
        let above = above + skipped;
        return format!(
            "{DELIMITER}\n{}{}",
            "#\n".repeat(above),
            own.trim_start_matches('\n')
        );
    }
    let head = format!(
        "{{name: {}, description: {}, runvil: 0}}\n",
        slug(&prompt.name),
        serde_json::Value::from(prompt.name.as_str())
    );
    let filling = "#\n".repeat(above.saturating_sub(3));
    format!("{DELIMITER}\n{head}{filling}{DELIMITER}\n{}", prompt.body)
}
