//! The frontmatter (spec F21 to F51, L106 to L109).

use super::*;

/// Cases K4, K15; F26: only the dialect's own keys.
#[test]
fn unknown_keys() {
    refuses(
        "---\nname: t\ndesciption: d\npromptforge: 0\n---\n# T\n",
        "unknown field `desciption`, expected one of `name`, `description`, `promptforge`, \
         `max_tool_iterations`, `input`, `output`, `plugins`, `tools`, `args`, `models`",
        Some((3, 1)),
    );
    refuses(
        &file_with(Dialect::Runvil, "plugins: []"),
        "unknown field `plugins`, expected one of `name`, `description`, `runvil`, \
         `max_tool_iterations`, `input`, `output`, `uses`, `args`, `models`",
        Some((5, 1)),
    );
    let file_key = "unknown field `p`, expected one of `path`, `description`";
    refuses(
        &file_with(Dialect::Runvil, "input: {p: x}"),
        file_key,
        Some((5, 9)),
    );
}

/// Case K5, F34: missing keys come after all that is written.
#[test]
fn missing_keys() {
    refuses(
        "---\nname: t\n---\n# T\n",
        "missing field `description`",
        Some((2, 1)),
    );
    refuses(
        "---\n# c\n\ndescription: d\n---\n",
        "missing field `name`",
        Some((4, 1)),
    );
    refuses("---\n---\n# T\n", "missing field `name`", None);
    refuses("---\n # only\n\n---\n# T\n", "missing field `name`", None);
    refuses(
        &file_with(Dialect::Runvil, "output:\n  path: x"),
        "missing field `description`",
        Some((6, 3)),
    );
    refuses(
        "---\nname: t\nname: u\n---\n",
        "duplicate field `name`",
        Some((3, 1)),
    );
}

/// F27, F30, F33: strings are strings, and null is one only where it means nothing.
#[test]
fn types() {
    let name = |value: &str| format!("---\nname: {value}\ndescription: d\nrunvil: 0\n---\n# T\n");
    for (value, found) in [
        ("~", "unit value"),
        ("", "unit value"),
        ("true", "boolean `true`"),
        ("5", "integer `5`"),
        ("-5", "integer `-5`"),
        ("1.5", "floating point `1.5`"),
        ("[a]", "sequence"),
        ("{a: b}", "map"),
        ("!x a", "tagged value"),
    ] {
        let column = if value.is_empty() { 6 } else { 7 };
        let detail = format!("invalid type: {found}, expected a string");
        refuses(&name(value), &detail, Some((2, column)));
    }
    assert_eq!(good(&name("' 5 '")).name, " 5 ");
    assert_eq!(good(&name("!!str 5")).name, "5");
    let nulls = "max_tool_iterations: ~\ninput: ~\noutput:";
    let prompt = good(&file_with(Dialect::Runvil, nulls));
    assert_eq!(prompt.contract, Default::default());
    let detail = "invalid type: unit value, expected a map of arg name keys to declarations";
    refuses(&file_with(Dialect::Runvil, "args:"), detail, Some((5, 6)));
    refuses(
        "---\n- a\n---\n",
        "invalid type: sequence, expected a map of frontmatter keys",
        Some((2, 1)),
    );
}

/// Case K6, F29: the range of rounds, for numbers of any size.
#[test]
fn max_tool_iterations() {
    let with = |value: &str| {
        file_with(
            Dialect::PromptForge,
            &format!("max_tool_iterations: {value}"),
        )
    };
    let at = Some((5, 22));
    for value in [
        "1001",
        "99999999999999999999",
        "0x3E9",
        &"9".repeat(400)[..],
    ] {
        let detail = format!("max_tool_iterations must be <= 1000, got {value}");
        refuses(&with(value), &detail, at);
    }
    for value in ["0", "-1", "-99999999999999999999999999999999999999999999"] {
        let detail = format!("max_tool_iterations must be a positive integer (>= 1), got {value}");
        refuses(&with(value), &detail, at);
    }
    let what = "expected a whole number from 1 to 1000";
    refuses(
        &with("2.5"),
        &format!("invalid type: floating point `2.5`, {what}"),
        at,
    );
    refuses(
        &with("1e2"),
        &format!("invalid type: floating point `100.0`, {what}"),
        at,
    );
    refuses(
        &with("'2'"),
        &format!("invalid type: string \"2\", {what}"),
        at,
    );
    for (value, rounds) in [("1", 1), ("1000", 1000), ("0x10", 16)] {
        assert_eq!(
            good(&with(value)).contract.max_tool_iterations,
            Some(rounds)
        );
    }
}

/// F23, F51: any version that is a whole number and not negative.
#[test]
fn versions() {
    let header = |value: &str| format!("---\nname: t\ndescription: d\nrunvil: {value}\n---\n# T\n");
    let huge = "123456789012345678901234567890123456789012345678901234567890";
    for (value, digits) in [
        ("0", "0"),
        ("3", "3"),
        ("+7", "7"),
        ("0x1F", "31"),
        (huge, huge),
        ("-0", "0"),
    ] {
        assert_eq!(
            good(&header(value)).version.as_deref(),
            Some(digits),
            "{value}"
        );
    }
    assert_eq!(good(&header("~")).version, None);
    let expected = "expected a non-negative integer";
    let at = Some((4, 9));
    refuses(
        &header("-1"),
        &format!("invalid value: integer `-1`, {expected}"),
        at,
    );
    refuses(
        &header("0.5"),
        &format!("invalid type: floating point `0.5`, {expected}"),
        at,
    );
    refuses(
        &header("1e40"),
        &format!("invalid type: floating point `1e40`, {expected}"),
        at,
    );
    refuses(
        &header("'0'"),
        &format!("invalid type: string \"0\", {expected}"),
        at,
    );
}

/// Cases K7, K8; F37 to F45.
#[test]
fn names_of_tools_and_roles() {
    let tools = |alias: &str| {
        file_with(
            Dialect::PromptForge,
            &format!("tools:\n  {alias}: promptforge/web/fetch"),
        )
    };
    let reserved = |kind: &str, key: &str, map: &str, category: &str| {
        format!(
            "{kind} `{key}` in `{map}` is reserved ({category}): tool aliases and model role \
             labels install as section VM globals, so none may take a reserved name"
        )
    };
    let at = Some((6, 3));
    refuses(
        &tools("end"),
        &reserved("tool alias", "end", "tools", "a Lua keyword"),
        at,
    );
    refuses(
        &tools("fanout"),
        &reserved("tool alias", "fanout", "tools", "an Engine global"),
        at,
    );
    let library = "a Lua standard-library global";
    refuses(
        &tools("pcall"),
        &reserved("tool alias", "pcall", "tools", library),
        at,
    );
    assert_eq!(
        good(&tools("End")).contract.tools["End"],
        "promptforge/web/fetch"
    );
    assert!(parse(&tools("json")).is_ok());
    let grammar = "expected [A-Za-z][A-Za-z0-9_-]{0,63}";
    for key in ["_G", "9a", "a.b", &"a".repeat(65)[..]] {
        refuses(
            &tools(key),
            &format!("invalid tool alias `{key}`: {grammar}"),
            at,
        );
    }
    assert!(parse(&tools(&"a".repeat(64))).is_ok());
    for dialect in BOTH {
        let source = file_with(dialect, "models:\n  w: {}\n  w: {}");
        let detail = "duplicate model role label `w`: contract map keys must be unique";
        refuses(&source, detail, Some((7, 3)));
        let source = file_with(dialect, "models:\n  ui: {}");
        let detail = reserved("model role label", "ui", "models", "an Engine global");
        refuses(&source, &detail, at);
    }
    let packs = file_with(Dialect::Runvil, "models:\n  packs: {}");
    refuses(
        &packs,
        &reserved("model role label", "packs", "models", "an Engine global"),
        at,
    );
    assert!(parse(&file_with(Dialect::PromptForge, "models:\n  packs: {}")).is_ok());
}

/// Case K9, F25d, F30, L106 to L109.
#[test]
fn args() {
    for dialect in BOTH {
        let source = file_with(
            dialect,
            "args:\n  store: {type: string}\n  prose: {type: integer, default: 3}",
        );
        let args = good(&source).contract.args;
        assert!(args.explicit);
        assert_eq!(
            args.declarations["prose"].default,
            Some(ArgDefault::Integer(3))
        );
        assert_eq!(args.declarations["store"].kind, ArgType::String);
    }
    let implicit = good(&file(Dialect::Runvil, "# T\n")).contract.args;
    assert!(!implicit.explicit);
    let prose = &implicit.declarations["prose"];
    assert!(prose.optional);
    assert_eq!(
        prose.description.as_deref(),
        Some("Freeform input for this prompt")
    );
    let empty = good(&file_with(Dialect::Runvil, "args: {}")).contract.args;
    assert!(empty.explicit && empty.declarations.is_empty());
}

/// L108, L109: what an arg declaration refuses, and where.
#[test]
fn bad_args() {
    let arg = |entry: &str| file_with(Dialect::Runvil, &format!("args:\n  a: {entry}"));
    let unknown = "unknown field `x`, expected one of `type`, `optional`, `default`, `description`";
    let variant = "unknown variant `str`, expected one of `string`, `boolean`, `integer`, `number`";
    let shape = "expected a map with `type`, `optional`, `default`, and `description`";
    let mismatch = |kind: &str| format!("the default does not match the declared type `{kind}`");
    let cases = [
        ("{optional: true}", "missing field `type`".to_owned(), 6),
        ("{}", "missing field `type`".to_owned(), 6),
        ("{type: string, x: 1}", unknown.to_owned(), 21),
        ("{type: str}", variant.to_owned(), 13),
        (
            "{type: 1}",
            "invalid type: integer `1`, expected a string".to_owned(),
            13,
        ),
        ("5", format!("invalid type: integer `5`, {shape}"), 6),
        ("~", format!("invalid type: unit value, {shape}"), 6),
        ("[]", format!("invalid type: sequence, {shape}"), 6),
        ("{type: string, default: 3}", mismatch("string"), 30),
        ("{default: 3, type: string}", mismatch("string"), 16),
        ("{type: boolean, default: 'true'}", mismatch("boolean"), 31),
        ("{type: integer, default: 3.0}", mismatch("integer"), 31),
        (
            "{type: integer, default: 9223372036854775808}",
            mismatch("integer"),
            31,
        ),
        ("{type: number, default: [1]}", mismatch("number"), 30),
        ("{type: number, default: !t 1}", mismatch("number"), 30),
        (
            "{type: string, optional: yes}",
            "invalid type: string \"yes\", expected a boolean".to_owned(),
            31,
        ),
        (
            "{type: string, type: string}",
            "duplicate field `type`".to_owned(),
            21,
        ),
    ];
    for (entry, detail, column) in cases {
        refuses(&arg(entry), &detail, Some((6, column)));
    }
    let twice = file_with(
        Dialect::Runvil,
        "args:\n  a: {type: string}\n  a: {type: string}",
    );
    let detail = "duplicate arg name `a`: contract map keys must be unique";
    refuses(&twice, detail, Some((7, 3)));
    let default = |entry| {
        good(&arg(entry)).contract.args.declarations["a"]
            .default
            .clone()
    };
    assert_eq!(
        default("{type: number, default: 3}"),
        Some(ArgDefault::Integer(3))
    );
    assert_eq!(
        default("{type: number, default: .5}"),
        Some(ArgDefault::Number(0.5))
    );
    assert_eq!(
        default("{type: string, default: '3'}"),
        Some(ArgDefault::String("3".into()))
    );
    assert_eq!(default("{type: boolean, default: ~}"), None);
}

/// F25e, F49: roles.
#[test]
fn roles() {
    let role = |entry: &str| file_with(Dialect::Runvil, &format!("models:\n  m: {entry}"));
    let prompt = good(&role(
        "{keywords: [no-thinking, fast], min_context: 4294967295}",
    ));
    let declared = &prompt.contract.models["m"];
    assert_eq!(declared.keywords, [Keyword::NoThinking, Keyword::Fast]);
    assert_eq!(declared.min_context, Some(u32::MAX));
    let unknown = "unknown variant `slow`, expected one of `thinking`, `no-thinking`, \
                   `frontier`, `fast`, `small`, `creative`, `chat`";
    refuses(&role("{keywords: [fast, slow]}"), unknown, Some((6, 24)));
    let range = "expected a whole number from 1 to 4294967295";
    for value in ["0", "4294967296", "-1"] {
        let detail = format!("invalid value: integer `{value}`, {range}");
        refuses(
            &role(&format!("{{min_context: {value}}}")),
            &detail,
            Some((6, 20)),
        );
    }
    let detail = "invalid type: unit value, expected a map with `keywords`, `min_context`, and \
                  `description`";
    refuses(&role("~"), detail, Some((6, 6)));
}

/// Cases K10 to K12, F35, F46, F50.
#[test]
fn plugins_and_tools() {
    let with = |lines: &str| file_with(Dialect::PromptForge, lines);
    refuses(
        &with("plugins: [a/b]\ntools: {x: a/b/c, z: a/b/c}\nmodels: {z: {}, x: {}}"),
        "`x` is both a tool alias in `tools` and a model role label in `models`; each installs \
         as a section VM global of its own name, so the two must differ",
        None,
    );
    refuses(
        &with("plugins:\n  - Web"),
        "invalid Plugin id `Web`: invalid global name: must have exactly 2 segments \
         (namespace/plugin) or 3 (namespace/plugin/name)",
        Some((6, 5)),
    );
    refuses(
        &with("plugins: [{ref: a/b, optional: true}, a/b]\ntools: {s: a/b/c}"),
        "Plugin a/b is declared more than once under plugins",
        None,
    );
    refuses(
        &with("plugins:\n  - {ref: a/b, optional: true}\ntools: {z: a/b/c, s: a/b/d}"),
        "tool alias 's' names a/b/d, whose Plugin a/b is declared optional; a tool slot \
         requires its Plugin",
        None,
    );
    let what = "expected a Plugin id string or a map with `ref`, `optional`, and `config`";
    refuses(
        &with("plugins: [7]"),
        &format!("invalid type: integer `7`, {what}"),
        Some((5, 11)),
    );
    refuses(
        &with("plugins:\n  - optional: true"),
        "missing field `ref`",
        Some((6, 5)),
    );
    refuses(&with("plugins: [{ref: a}]"), &bad_count("a"), Some((5, 17)));
    let known = "expected one of `ref`, `optional`, `config`";
    refuses(
        &with("plugins: [{x: 1}]"),
        &format!("unknown field `x`, {known}"),
        Some((5, 12)),
    );
    let what = "expected an exact tool path string";
    refuses(
        &with("tools: {x: [a]}"),
        &format!("invalid type: sequence, {what}"),
        Some((5, 12)),
    );
    let prompt = good(&with(
        "plugins:\n  - x/y\n  - ref: a/b\n    config: &c {k: [1, !t z, ~, *d]}"
            .replace("*d", "2.5")
            .as_str(),
    ));
    let [first, second] = prompt.contract.plugins.as_slice() else {
        panic!()
    };
    assert_eq!((first.id.as_str(), &first.config), ("x/y", &None));
    let config = second
        .config
        .clone()
        .and_then(|config| config.get("k").cloned());
    let values = config
        .as_ref()
        .and_then(|values| values.as_sequence())
        .map(Vec::len);
    assert_eq!(values, Some(4));
}

fn bad_count(id: &str) -> String {
    format!(
        "invalid Plugin id `{id}`: invalid global name: must have exactly 2 segments \
         (namespace/plugin) or 3 (namespace/plugin/name)"
    )
}

/// F25c, F35, T11, T18, T19.
#[test]
fn packs() {
    let with = |uses: &str| file_with(Dialect::Runvil, &format!("uses: {uses}"));
    let pack = |vendor: Option<&str>, name: &str| PackReference {
        vendor: vendor.map(str::to_owned),
        name: name.to_owned(),
    };
    let declared = good(&with("[web, acme/kiln, runvil/oven]")).contract.uses;
    let expected = [
        pack(None, "web"),
        pack(Some("acme"), "kiln"),
        pack(Some("runvil"), "oven"),
    ];
    assert_eq!(declared, expected);
    let vendors = declared.iter().map(PackReference::vendor);
    assert!(vendors.eq(["runvil", "acme", "runvil"]));
    let twice = "Pack web is declared more than once under uses";
    refuses(&with("[web, acme/web]"), twice, None);
    let detail = "invalid type: map, expected a Pack id string";
    refuses(&with("[{ref: web}]"), detail, Some((5, 8)));
    let detail = "invalid Pack id `A`: segments may contain only lowercase ASCII letters, \
                  digits, '-', '_', '.'";
    refuses(&with("\n  - A"), detail, Some((6, 5)));
}

/// F31, F34: YAML's own failures come first and show neither source nor place.
#[test]
fn yaml_failures() {
    let cases = [
        (
            "nme: 1\nname: [",
            "did not find expected node content, while parsing a flow node",
        ),
        ("nme: 1\na: *b", "unknown anchor"),
        (
            "name: \"a\\q\"",
            "found unknown escape character, while parsing a quoted scalar",
        ),
        ("name: a\u{1}b", "control characters are not allowed"),
    ];
    for (yaml, detail) in cases {
        let error = bad(&format!("---\n{yaml}\n---\n# T\n"));
        assert_eq!(error.message, format!("invalid frontmatter: {detail}"));
        assert!(error.location.line.is_some(), "{detail}");
    }
    let error = bad("---\nname: a\n--- x\n---\n# T\n");
    assert!(error.message.contains("more than one document"), "{error}");
    refuses(
        "---\n[a]: b\n---\n",
        "invalid type: sequence, expected a string key",
        Some((2, 1)),
    );
    let error = bad(&file_with(
        Dialect::Runvil,
        "args: {a: {type: number, default: !!int x}}",
    ));
    let detail = "invalid frontmatter: invalid value: string \"x\", expected an integer";
    assert_eq!(error.message, detail);
}

/// Cases K13, K14, as far as parsing goes: the version is checked when a run starts.
#[test]
fn any_version_parses() {
    let header = |version| format!("---\nname: t\ndescription: d\n{version}---\n# T\n");
    let prompt = good(&header("promptforge: 3\n"));
    assert_eq!(prompt.version.as_deref(), Some("3"));
    let prompt = good(&header(""));
    assert_eq!((prompt.version, prompt.dialect), (None, Dialect::Runvil));
}

/// F32: an alias is located at what it stands for.
#[test]
fn aliases() {
    let args = "args:\n  a: {type: string, description: &d str}\n  b: {type: *d}";
    let detail = "unknown variant `str`, expected one of `string`, `boolean`, `integer`, `number`";
    refuses(&file_with(Dialect::Runvil, args), detail, Some((6, 34)));
    let args = "args:\n  a: &a {type: string, default: x}\n  b: *a";
    let declared = good(&file_with(Dialect::Runvil, args))
        .contract
        .args
        .declarations;
    assert_eq!(declared["a"], declared["b"]);
}

/// F32: columns count bytes, and aliases point at what they stand for.
#[test]
fn places() {
    let source = "---\nname: t\ndescription: d\ninput: {path: é, p: x}\n---\n# T\n";
    let detail = "unknown field `p`, expected one of `path`, `description`";
    refuses(source, detail, Some((4, 19)));
}

/// Input of any size and depth ends in an answer.
#[test]
fn hostile_yaml_is_bounded() {
    let config = |config: String| {
        file_with(
            Dialect::PromptForge,
            &format!("plugins:\n  - ref: a/b\n    config: {config}"),
        )
    };
    let mut bomb = "\n      a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("      a{level}: &a{level} [{items}]\n"));
    }
    let error = bad(&config(bomb));
    assert_eq!(
        error.message,
        "invalid frontmatter: repetition limit exceeded"
    );
    let wide = format!(
        "\n      a: &a \"{}\"\n      b: [{}]",
        "x".repeat(4000),
        "*a, ".repeat(4000)
    );
    assert_eq!(
        bad(&config(wide)).message,
        "invalid frontmatter: repetition limit exceeded"
    );
    let deep = config("[".repeat(200) + &"]".repeat(200));
    assert_eq!(
        bad(&deep).message,
        "invalid frontmatter: recursion limit exceeded"
    );
    assert!(parse(&config("&a [*a]".to_owned())).is_err());
    assert!(parse(&config("[".repeat(100_000))).is_err());
    assert!(parse(&config("- ".repeat(100_000))).is_err());
    assert!(parse(&file_with(Dialect::Runvil, "<<: {name: x}")).is_err());
}
