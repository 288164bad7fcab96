//! Builds the prompt file of a case.

use runvil::prompt::Dialect;

use crate::case::Case;
use crate::dialect;

/// The file's text in one dialect.
pub fn build(case: &Case, dialect: Dialect) -> Result<String, String> {
    let declared = dialect::frontmatter(&case.declares, dialect);
    let frontmatter = declared + &ended(case.frontmatter.as_deref().unwrap_or_default());
    let header = format!("---\nname: t\ndescription: d\n{{version}}\n{frontmatter}---\n");
    let template = match (&case.prompt, &case.body, &case.lua) {
        (Some(prompt), _, _) => prompt.clone(),
        (_, Some(body), _) => header + body,
        (_, _, Some(lua)) => {
            let prose = match &case.prose {
                Some(prose) => ended(prose) + "\n",
                None => String::new(),
            };
            let opening = match &case.opening {
                Some(opening) => format!("```lua\n{}```\n\n", ended(opening)),
                None => String::new(),
            };
            let more = match &case.more {
                Some(more) => format!("\n{more}"),
                None => String::new(),
            };
            format!(
                "{header}# T\n\n{opening}## A\n\n{prose}```lua\n{}```\n{more}",
                ended(lua)
            )
        }
        _ => return Err("no source".to_owned()),
    };
    fill(template, case, dialect)
}

/// Ends a text that is not empty with a line end.
fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}

/// Fills `{version}` and the case's own names.
fn fill(template: String, case: &Case, dialect: Dialect) -> Result<String, String> {
    let mut text = template;
    for (name, value) in &case.with {
        let hole = format!("{{{name}}}");
        if !text.contains(&hole) {
            return Err(format!(
                "`with` names `{name}`, which the source does not hold"
            ));
        }
        text = text.replace(&hole, value);
    }
    Ok(text.replace("{version}", &format!("{}: 0", dialect.key())))
}
