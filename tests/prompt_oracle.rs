//! Headings, breaks and fences against `pulldown-cmark`, and no panic on any text.

mod oracle;

use oracle::{around_lua, normalise, ours, theirs};
use proptest::prelude::*;
use runvil::Prompt;
use runvil::prompt::Dialect;

/// What texts are made of: all that starts, ends or looks like a block, and inline markup.
const PARTS: &[&str] = &[
    "\n",
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "  ",
    "   ",
    "    ",
    "\t",
    "> ",
    ">",
    "- ",
    "-",
    "* ",
    "+ ",
    "1. ",
    "2) ",
    "01. ",
    "1.",
    "10. ",
    "# ",
    "## ",
    "### ",
    "#",
    "## a ##",
    "===",
    "=",
    "---",
    "--",
    "***",
    "* * *",
    "- - -",
    "___",
    "```",
    "```lua",
    "````",
    "~~~",
    "~~~ x",
    "<div>",
    "</div>",
    "<div",
    "<!--",
    "-->",
    "<x-y>",
    "</x>",
    "<pre>",
    "</pre>",
    "<script",
    "</style>",
    "<?",
    "?>",
    "<!A",
    "<![CDATA[",
    "]]>",
    "[a]: /u",
    "[a]:",
    "[a]",
    "[b]: <u>",
    "[A]",
    "[b](c)",
    "[",
    "]",
    "![",
    "(",
    ")",
    "(c",
    " 't'",
    "'",
    "\"",
    "*",
    "**",
    "_",
    "__",
    "`",
    "``",
    "\\",
    "&amp;",
    "&#x41;",
    "&",
    ";",
    "a",
    "b",
    "a b",
    "c d",
    "é",
    "\u{a0}",
    "\u{2014}",
    "$",
    "<b>",
    "<a b='c'>",
    "<http://x.y>",
    "<m@x.y>",
    "<",
    ">",
    "!",
    ".",
    ":",
    "/",
];

fn markdown() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PARTS), 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn block_structure_is_commonmark(text in markdown()) {
        let text = normalise(&text);
        prop_assert_eq!(ours(&text), theirs(&text), "{:?}", text);
    }

    #[test]
    fn lua_regions_leave_block_structure_alone(text in markdown()) {
        let text = format!("# T\n{text}").replace("```lua", "\n```lua\n");
        let (around, plain) = around_lua(&text);
        prop_assert_eq!(around, plain, "{:?}", text);
    }

    #[test]
    fn no_text_panics(text in ".*", markdown in markdown()) {
        for dialect in [Dialect::Runvil, Dialect::PromptForge] {
            let _ = Prompt::parse(&text, dialect);
            let _ = Prompt::parse(&format!("---\n{text}\n---\n{markdown}"), dialect);
            let body = format!("---\nname: t\ndescription: d\n---\n# T\n{markdown}{text}");
            let _ = Prompt::parse(&body, dialect);
        }
    }
}
