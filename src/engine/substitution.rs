//! Filling the placeholders of prose (spec part 02, section 16).

use crate::lua::{Data, Failure, Look, NotData};

/// What a placeholder's first segment names, looked up at the moment of the render.
pub(super) enum Root {
    /// A string that has no fields: `args`.
    Text(String),
    /// Data of its own.
    Data(Data),
    /// `argv`, when the input is not JSON.
    NoArgv,
    /// `item`, outside an arm.
    NoItem,
    /// `item`, seeded.
    Item(Data),
    /// `var` or `sys`, which have no text as a whole.
    Fields(Data),
    /// No such global.
    Unknown,
    /// A global that is not JSON data.
    NotData,
}

/// Renders prose. `look_up` finds roots; what it fails with is passed on. `look` may end it, and so
/// does a text of more than `most` bytes, which no section VM could hold.
pub(super) fn render<E: From<Failure>>(
    text: &str,
    most: usize,
    look: Look<'_>,
    mut look_up: impl FnMut(&str) -> Result<Root, E>,
) -> Result<String, E> {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = text[at..].find(['\\', '{']) {
        let special = at + found;
        out.push_str(&text[at..special]);
        let rest = &text[special..];
        at = if let Some(inside) = rest.strip_prefix("{{") {
            let Some(length) = inside.find("}}") else {
                let fault = Fault::new("Unclosed", "unclosed '{{' in prose");
                return Err(fault.at(special).into());
            };
            let path = inside[..length].trim();
            let value = resolve(path, look, &mut look_up)?.map_err(|fault| fault.at(special))?;
            if value.len() > most.saturating_sub(out.len()) {
                return Err(Failure::lua(NotData::TooLarge.message()).into());
            }
            look(1 + value.len() / 64).map_err(Failure::from)?;
            out.push_str(&value);
            special + length + 4
        } else if rest.starts_with("\\{{") || rest.starts_with("\\}}") {
            out.push_str(&rest[1..3]);
            special + 3
        } else if rest.starts_with("\\\\") {
            out.push('\\');
            special + 2
        } else {
            out.push_str(&rest[..1]);
            special + 1
        };
    }
    out.push_str(&text[at..]);
    Ok(out)
}

/// A placeholder that cannot be filled: its kind and message (spec L141).
struct Fault {
    kind: &'static str,
    message: String,
}

impl Fault {
    fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    fn at(self, offset: usize) -> Failure {
        Failure::lua(format!("{} [{} at byte {offset}]", self.message, self.kind))
    }
}

fn resolve<E: From<Failure>>(
    path: &str,
    look: Look<'_>,
    look_up: &mut impl FnMut(&str) -> Result<Root, E>,
) -> Result<Result<String, Fault>, E> {
    let shown = preview(path);
    let fault = |kind, message: String| Ok(Err(Fault::new(kind, message)));
    if path
        .split('.')
        .any(|segment| segment.is_empty() || segment.trim() != segment)
    {
        let message = format!("empty or padded path segment in {{{{ {shown} }}}}");
        return fault("EmptySegment", message);
    }
    let mut segments = path.split('.');
    let root = segments.next().unwrap_or_default();
    let dotted = path.len() > root.len();
    let (data, in_item) = match look_up(root)? {
        Root::Text(_) | Root::Item(_) | Root::NoItem if dotted => {
            return fault("NotATable", format!("{root} is a string, not a table"));
        }
        Root::Text(text) => return Ok(Ok(text)),
        Root::NoItem => {
            return fault(
                "NilItem",
                format!("{{{{ {shown} }}}} is nil (not inside a fanout arm)"),
            );
        }
        Root::NoArgv => {
            let message = format!("{{{{ {shown} }}}} is nil (the args string is not JSON)");
            return fault("NilArgv", message);
        }
        Root::Fields(_) if !dotted => {
            return fault("BadPath", format!("bad path: {{{{ {root} }}}}"));
        }
        Root::Unknown => {
            let name = preview(root);
            let message = format!("unknown namespace or global '{name}' in {{{{ {shown} }}}}");
            return fault("UnknownNamespace", message);
        }
        Root::NotData => {
            let name = preview(root);
            let message = format!("global '{name}' in {{{{ {shown} }}}} is not JSON data");
            return fault("Serialize", message);
        }
        Root::Item(data) => (data, true),
        Root::Data(data) | Root::Fields(data) => (data, false),
    };
    let mut value = &data;
    for segment in segments {
        match value.get(segment) {
            Some(inner) => value = inner,
            None => return fault("MissingKey", format!("missing {{{{ {shown} }}}}")),
        }
    }
    if *value == Data::Null && !in_item {
        return fault("NullValue", format!("missing {{{{ {shown} }}}}"));
    }
    Ok(Ok(value.render_watched(look).map_err(Failure::from)?))
}

/// A path as messages show it (spec L142).
fn preview(path: &str) -> String {
    let mut characters = path.chars();
    let mut out = String::new();
    for character in characters.by_ref().take(80) {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                out.push_str(&format!("\\u{{{:04x}}}", u32::from(control)));
            }
            other => out.push(other),
        }
    }
    if characters.next().is_some() {
        out.push_str("...");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> Result<String, String> {
        render(text, 40, &|_| Ok(()), |root| {
            Ok::<_, Failure>(match root {
                "args" => Root::Text("A".into()),
                "g" => Root::Data(Data::from_json(r#"{"b":2,"a":[1,null],"n":null}"#).expect("ok")),
                "var" => Root::Fields(Data::from_json(r#"{"p":"{{ args }} \\\\"}"#).expect("ok")),
                "item" => Root::NoItem,
                "argv" => Root::NoArgv,
                "f" => Root::NotData,
                _ => Root::Unknown,
            })
        })
        .map_err(|failure| failure.message)
    }

    #[test]
    fn escapes_and_plain_text() {
        // case 02/CL35
        let text = "\\\\{{ args }} \\{{x\\}} C:\\dir }} {y}";
        assert_eq!(rendered(text).as_deref(), Ok("\\A {{x}} C:\\dir }} {y}"));
        assert_eq!(rendered("{{ var.p }}").as_deref(), Ok("{{ args }} \\\\"));
        assert_eq!(
            rendered("a {{\n g \n}} \\").as_deref(),
            Ok("a {\"a\":[1,null],\"b\":2,\"n\":null} \\")
        );
    }

    #[test]
    fn a_text_past_all_memory_is_not_built() {
        // spec R14
        let whole = "{{ g }}{{ args }}{{ args }}";
        assert_eq!(rendered(whole).map(|text| text.len()), Ok(31));
        let over = "{{ g }}{{ args }}{{ args }}{{ g }}";
        assert_eq!(rendered(over), Err("not enough memory".to_owned()));
    }

    #[test]
    fn faults_name_their_kind_and_place() {
        // cases 02/CL36 to CL45
        let cases = [
            (
                "{{ }}",
                "empty or padded path segment in {{  }} [EmptySegment at byte 0]",
            ),
            (
                "é {{ ghost.x }}",
                "unknown namespace or global 'ghost' in {{ ghost.x }} [UnknownNamespace at byte 3]",
            ),
            (
                "{{ args.x }}",
                "args is a string, not a table [NotATable at byte 0]",
            ),
            (
                "{{ item.x }}",
                "item is a string, not a table [NotATable at byte 0]",
            ),
            (
                "{{ item }}",
                "{{ item }} is nil (not inside a fanout arm) [NilItem at byte 0]",
            ),
            (
                "{{ argv.q.r }}",
                "{{ argv.q.r }} is nil (the args string is not JSON) [NilArgv at byte 0]",
            ),
            ("{{ g.n }}", "missing {{ g.n }} [NullValue at byte 0]"),
            ("{{ g.a.1 }}", "missing {{ g.a.1 }} [MissingKey at byte 0]"),
            ("{{ var }}", "bad path: {{ var }} [BadPath at byte 0]"),
            (
                "{{ f }}",
                "global 'f' in {{ f }} is not JSON data [Serialize at byte 0]",
            ),
            (
                "{{ g.k. x }}",
                "empty or padded path segment in {{ g.k. x }} [EmptySegment at byte 0]",
            ),
            ("ok {{ open", "unclosed '{{' in prose [Unclosed at byte 3]"),
            (
                "{{ a\u{1b}\tb }}",
                "unknown namespace or global 'a\\u{001b}\\tb' in {{ a\\u{001b}\\tb }} [UnknownNamespace at byte 0]",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(rendered(text), Err(message.to_owned()));
        }
    }
}
