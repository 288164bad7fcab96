//! Fences that look like Lua and are prose (spec F78, F79, F81).

use super::delimiter;
use super::markdown::{Fences, MarkKind, Outline};
use super::tree::Dialect;

/// A top-level fence that a reader takes for Lua, and that never runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookalike {
    /// The file line of its opening.
    pub line: u32,
    /// Whether it would open the shared library of the other dialect.
    pub shared: bool,
}

/// The fences whose opening line is `lua` but for case, spaces, indentation, further words or the
/// kind of its three markers. A fence of four or more markers is none of them: that is how Lua is
/// shown without being run. Empty where the file has no frontmatter; the cost grows with the length
/// of the file.
pub fn lookalikes(source: &str, dialect: Dialect) -> Vec<Lookalike> {
    let Ok(parts) = delimiter::split(source) else {
        return Vec::new();
    };
    let shared = dialect == Dialect::PromptForge;
    let outline = Outline::read(source, parts.body, parts.body_line, Fences::Lua { shared });
    outline
        .marks
        .iter()
        .filter(|mark| mark.kind == MarkKind::Code)
        .filter_map(|mark| {
            let opening = source.get(mark.span.clone())?.lines().next()?;
            looks_like_lua(opening).then(|| Lookalike {
                line: mark.line,
                shared: opening == "```lua shared",
            })
        })
        .collect()
}

fn looks_like_lua(opening: &str) -> bool {
    let opening = opening.trim();
    let info = opening.trim_start_matches(['`', '~']);
    let word = info
        .trim_start()
        .split(|char: char| !char.is_alphanumeric())
        .next();
    opening.len() - info.len() == 3 && word.is_some_and(|word| word.eq_ignore_ascii_case("lua"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(fence: &str, dialect: Dialect) -> Vec<(u32, bool)> {
        let source = format!("---\nname: t\n---\n# T\n\n{fence}\nx\n```\n");
        lookalikes(&source, dialect)
            .iter()
            .map(|fence| (fence.line, fence.shared))
            .collect()
    }

    #[test]
    fn a_lua_fence_that_is_not_exact_is_one() {
        for fence in [
            "```Lua",
            "``` lua",
            "```lua ",
            "```lua x",
            "```lua{1}",
            "  ```lua",
            "~~~lua",
        ] {
            assert_eq!(found(fence, Dialect::Runvil), [(6, false)], "{fence}");
        }
        assert_eq!(found("```lua shared", Dialect::Runvil), [(6, true)]);
    }

    #[test]
    fn anything_else_is_none() {
        for fence in [
            "```lua",
            "````lua",
            "~~~~lua",
            "```",
            "```luau",
            "```rust lua",
            "> ```Lua",
        ] {
            assert_eq!(found(fence, Dialect::Runvil), [], "{fence}");
        }
        assert_eq!(found("```lua shared", Dialect::PromptForge), []);
        assert_eq!(lookalikes("```Lua\n", Dialect::Runvil), []);
    }
}
