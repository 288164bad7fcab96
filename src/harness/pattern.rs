//! What is wrong with a regular expression, in one line.

use regex::Error;

/// The cause that an error gives; its other lines show the expression.
pub(crate) fn cause(error: &Error) -> String {
    match error {
        Error::CompiledTooBig(_) => "it is too large once compiled".to_owned(),
        error => {
            let said = error.to_string();
            let said = said.lines().last().unwrap_or_default();
            said.strip_prefix("error: ").unwrap_or(said).to_owned()
        }
    }
}
