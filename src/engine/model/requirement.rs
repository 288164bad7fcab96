//! What a prompt's roles ask of the Host's current model (spec M10 to M12).

use std::fmt;

use super::round::{Model, Thinking};
use crate::prompt::{Keyword, Prompt};

/// A requirement of a role that the current model does not meet. Its text is the line of the notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetRole {
    /// The role.
    pub label: String,
    /// What was checked.
    pub check: RoleCheck,
    /// What the role asks for.
    pub required: String,
    /// What the model has.
    pub actual: String,
}

/// The checks of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleCheck {
    /// `min_context`
    ContextMinimum,
    /// `thinking` or `no-thinking`
    HardKeyword,
}

impl fmt::Display for UnmetRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            label,
            required,
            actual,
            ..
        } = self;
        match self.check {
            RoleCheck::ContextMinimum => write!(
                f,
                "- role '{label}': requires a context of at least {required} tokens; the current \
                 model provides {actual}"
            ),
            RoleCheck::HardKeyword => write!(
                f,
                "- role '{label}': requires '{required}'; the current model's thinking capability \
                 is {actual}"
            ),
        }
    }
}

/// What the roles of a prompt ask for and the model does not have, by label, in each the context
/// first and then the keywords as declared.
pub fn unmet_roles(prompt: &Prompt, model: &Model) -> Vec<UnmetRole> {
    let mut roles: Vec<_> = prompt.contract.models.iter().collect();
    roles.sort_by_key(|(label, _)| label.as_str());
    let mut unmet = Vec::new();
    for (label, role) in roles {
        let mut add = |check, required: String, actual: String| {
            unmet.push(UnmetRole {
                label: label.clone(),
                check,
                required,
                actual,
            });
        };
        if let Some(minimum) = role.min_context.filter(|minimum| model.context < *minimum) {
            let (minimum, actual) = (minimum.to_string(), model.context.to_string());
            add(RoleCheck::ContextMinimum, minimum, actual);
        }
        for keyword in &role.keywords {
            let unmet = match keyword {
                Keyword::Thinking => model.thinking == Thinking::Never,
                Keyword::NoThinking => model.thinking == Thinking::Always,
                _ => false,
            };
            if unmet {
                let actual = format!("{:?}", model.thinking);
                add(RoleCheck::HardKeyword, keyword.word().to_owned(), actual);
            }
        }
    }
    unmet
}
