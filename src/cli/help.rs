//! What to do about failures that have one usual cause (spec C6a).

use runvil::engine::{RunError, RunErrorKind, functions};
use runvil::prompt::{Dialect, Prompt};

/// What a run's rounds were asked of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backing {
    /// Nothing: the host has no model.
    Nothing,
    /// A script.
    Script,
    /// The gateway at this URL.
    Gateway(String),
}

/// A line of help, where there is one to give.
pub fn help(error: &RunError, prompt: Option<&Prompt>, backing: &Backing) -> Option<String> {
    let message = error.message.as_str();
    version(message)
        .or_else(|| model(error, prompt?, backing))
        .or_else(|| round(error, backing))
        .or_else(|| limit(message).map(str::to_owned))
        .or_else(|| known(message))
        .or_else(|| misspelt(message, prompt?.dialect))
}

fn version(message: &str) -> Option<String> {
    let dialects = [Dialect::Runvil, Dialect::PromptForge];
    let key = dialects.map(Dialect::key).into_iter().find(|key| {
        let text = format!("not a {key} prompt: no {key} version");
        message == text
    })?;
    Some(format!("add `{key}: 0` to the frontmatter"))
}

/// No model where one is needed.
fn model(error: &RunError, prompt: &Prompt, backing: &Backing) -> Option<String> {
    const NO_MODEL: &str = "this host has no model: configure a gateway, or play one with \
                            `--script FILE`; `runvil models` says what there is";
    let message = error.message.as_str();
    let roles: Vec<String> = prompt.contract.models.keys().map(quoted).collect();
    let listed = roles.join(", ");
    if message.starts_with("model binding required for section ") {
        return Some(match (roles.first(), backing) {
            (None, _) => "declare a role under `models:` in the frontmatter, and choose it with \
                          `models.default` in the Lua under the title"
                .to_owned(),
            (Some(_), Backing::Nothing) => NO_MODEL.to_owned(),
            (Some(_), _) => format!(
                "choose one of this prompt's roles ({listed}) with `models.default` in the Lua \
                 under the title, or with `models.use` in the section"
            ),
        });
    }
    let (before, _) = message.split_once("\" is not a bound model role")?;
    let (_, label) = before.rsplit_once('"')?;
    Some(if prompt.contract.models.contains_key(label) {
        NO_MODEL.to_owned()
    } else if roles.is_empty() {
        format!("this prompt declares no role: declare `{label}` under `models:`")
    } else {
        format!("this prompt declares no role `{label}`; it declares {listed}")
    })
}

/// A round that failed.
fn round(error: &RunError, backing: &Backing) -> Option<String> {
    if error.kind != RunErrorKind::Completion {
        return None;
    }
    let message = error.message.as_str();
    let url = match backing {
        Backing::Gateway(url) => url,
        Backing::Script if message.starts_with("the connection to the model backend failed") => {
            return Some(
                "no server was asked: no rule of the script answers this round".to_owned(),
            );
        }
        Backing::Script | Backing::Nothing => return None,
    };
    let more = if message.ends_with("(status 404)") {
        "; a gateway's URL usually ends in `/v1`, or the server has no model of that name"
    } else if message.ends_with("(status 401)") || message.ends_with("(status 403)") {
        "; its key comes from the variable that `gateway.api_key_env` names, or else from \
         RUNVIL_GATEWAY_API_KEY"
    } else if message.ends_with("InvalidContentType") {
        "; does it speak http rather than https?"
    } else {
        ""
    };
    let limit = limit(message).map_or_else(String::new, |help| format!("; {help}"));
    Some(format!("the gateway is {url}{more}{limit}"))
}

/// The limit that was reached.
fn limit(message: &str) -> Option<&'static str> {
    let limits = [
        (
            "not enough memory",
            "`--memory BYTES` sets how much the Lua of each section may hold",
        ),
        (
            "lua log event quota exceeded",
            "`--log-events N` sets how often each section may call `log`",
        ),
        (
            "the model backend did not answer in time",
            "`--receive-timeout SECONDS` sets how long a model may stay silent",
        ),
        (
            "response stream exceeds the ",
            "`--response-cap BYTES` sets how large one reply may be",
        ),
        (
            "tool-call loop did not converge",
            "`max_tool_iterations:` in the frontmatter, or else `--max-rounds N`, sets how many \
             rounds one loop may have",
        ),
    ];
    let (_, help) = limits.iter().find(|(text, _)| message.contains(text))?;
    Some(help)
}

/// Messages that tell their cause to those who know it.
fn known(message: &str) -> Option<String> {
    let known = [
        (
            "needs runvil/input-broker, and the environment provides none",
            "answer its questions with `--answer TEXT`, once for each, or run it on a terminal",
        ),
        (
            "attempt to call a nil value (global 'print')",
            "there is no `print`: `log('text')` is reported, and `--events` shows it",
        ),
        (
            "attempt to index a nil value (global 'argv')",
            "`argv` is nil where the argument string is no JSON value",
        ),
        (
            "model inference received tool calls but no tools were advertised",
            "`models.infer` offers no tools to the model; `models.loop` does",
        ),
        (
            "attempt to get an unknown field 'infer'",
            "a role has no functions: `models.infer(role, text)`",
        ),
        (
            "attempt to get an unknown field 'loop'",
            "a role has no functions: `models.loop(role, list)`",
        ),
        (
            "compactor must be a function, got table",
            "if the first argument was meant to be a role, it is nil: is it declared under \
             `models:`?",
        ),
    ];
    let (_, help) = known.iter().find(|(text, _)| message.contains(text))?;
    Some((*help).to_owned())
}

/// A name that is almost one that there is.
fn misspelt(message: &str, dialect: Dialect) -> Option<String> {
    let called = message.contains("attempt to call a nil value (");
    if !called && !message.contains("attempt to index a nil value (global ") {
        return None;
    }
    let (_, rest) = message.split_once("a nil value (")?;
    let (kind, rest) = rest.split_once(" '")?;
    let (name, _) = rest.split_once("')")?;
    let names = functions(dialect);
    let mut candidates: Vec<(usize, &str, &str)> = names
        .iter()
        .filter_map(|whole| {
            let own = match (kind, whole.split_once('.')) {
                ("global", Some((table, _))) if !called => table,
                ("global", None) if called => whole.as_str(),
                ("field" | "method", Some((_, function))) => function,
                _ => return None,
            };
            let distance = strsim::osa_distance(name, own);
            let shown = if called { whole.as_str() } else { own };
            (distance <= 2 && distance * 2 < own.len()).then_some((distance, shown, own))
        })
        .collect();
    candidates.sort();
    let (_, shown, _) = candidates.first()?;
    Some(format!("did you mean `{shown}`?"))
}

fn quoted(name: &String) -> String {
    format!("`{name}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(models: &str) -> Prompt {
        let source = format!(
            "---\nname: t\ndescription: d\nrunvil: 0\n{models}---\n\n# T\n\n## A\n\nText.\n"
        );
        Prompt::parse(&source, Dialect::Runvil).expect("parses")
    }

    fn told(kind: RunErrorKind, message: &str, models: &str, backing: &Backing) -> String {
        let error = RunError::new(kind, message);
        help(&error, Some(&prompt(models)), backing).unwrap_or_default()
    }

    #[test]
    fn names_that_are_almost_right_are_put_right() {
        let told = |message: &str| told(RunErrorKind::Lua, message, "", &Backing::Nothing);
        let nil = "attempt to call a nil value (field ";
        assert_eq!(
            told(&format!("{nil}'infr')")),
            "did you mean `models.infer`?"
        );
        assert_eq!(
            told(&format!("{nil}'fanuot')")),
            "did you mean `tasks.fanout`?"
        );
        assert_eq!(told(&format!("{nil}'zebra')")), "");
        assert_eq!(
            told("attempt to index a nil value (global 'model')"),
            "did you mean `models`?"
        );
        assert_eq!(
            told("attempt to call a nil value (global 'cal')"),
            "did you mean `call`?"
        );
    }

    #[test]
    fn a_missing_model_is_told_from_a_missing_role() {
        let declared = "models: { m: {} }\n";
        let unbound = "models.default label \"m\" is not a bound model role";
        let lua = RunErrorKind::Lua;
        assert!(told(lua, unbound, declared, &Backing::Nothing).starts_with("this host has no"));
        let other = "models: { n: {} }\n";
        assert_eq!(
            told(lua, unbound, other, &Backing::Script),
            "this prompt declares no role `m`; it declares `n`"
        );
        let none = "model binding required for section A";
        let binding = RunErrorKind::Binding;
        assert!(told(binding, none, "", &Backing::Script).starts_with("declare a role"));
        assert!(told(binding, none, declared, &Backing::Script).starts_with("choose one"));
    }

    #[test]
    fn a_failed_round_names_the_gateway_or_the_script() {
        let kind = RunErrorKind::Completion;
        let failed = "the connection to the model backend failed";
        assert!(told(kind, failed, "", &Backing::Script).contains("no rule of the script"));
        let gateway = Backing::Gateway("http://127.0.0.1:1/v1".to_owned());
        let refused = "the model backend rejected the request (status 404)";
        assert!(told(kind, refused, "", &gateway).contains("http://127.0.0.1:1/v1; a gateway's"));
        assert_eq!(
            told(kind, failed, "", &gateway),
            "the gateway is http://127.0.0.1:1/v1"
        );
        let late = "the model backend did not answer in time";
        assert_eq!(
            told(kind, late, "", &gateway),
            "the gateway is http://127.0.0.1:1/v1; `--receive-timeout SECONDS` sets how long a \
             model may stay silent"
        );
    }

    #[test]
    fn a_limit_that_was_reached_is_named() {
        for (kind, message, flag) in [
            (RunErrorKind::Lua, "not enough memory", "--memory"),
            (
                RunErrorKind::Quota,
                "lua log event quota exceeded",
                "--log-events",
            ),
            (
                RunErrorKind::Completion,
                "the model backend response could not be understood: response stream exceeds the \
                 10-byte limit",
                "--response-cap",
            ),
            (
                RunErrorKind::Tool,
                "tool-call loop did not converge",
                "--max-rounds",
            ),
        ] {
            let told = told(kind, message, "", &Backing::Script);
            assert!(told.contains(flag), "{message}: {told}");
        }
    }
}
