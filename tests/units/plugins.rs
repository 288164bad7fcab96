//! The Plugins of PromptForge runs and their slots (spec T25 to T31, T45 to T49).

use runvil::harness::Harness;
use runvil::harness::unit::Unbuilt;
use runvil::prompt::Dialect::PromptForge;

use crate::fake::{fake, gaps, host, prompt, result, run};

#[track_caller]
fn assert_gaps(host: &Harness, frontmatter: &str, expected: &[&str]) {
    assert_eq!(gaps(host, PromptForge, frontmatter), expected);
}

#[test]
fn each_gap_has_its_line() {
    // spec T26, T27, T47, T49
    let units = [
        fake("acme/fine"),
        fake("acme/bare").with_tools(&[]),
        fake("acme/poor").needing(&["x/2", "x/1"]),
        fake("acme/slow").unready("not today"),
    ];
    let (host, _) = host(units);
    let web = Unbuilt::built_in("web", "no web").needing(["runvil/search-provider".to_owned()]);
    let host = host.with_unit(web);
    for (frontmatter, expected) in [
        ("plugins: [acme/fine]", &[][..]),
        (
            "plugins: [acme/gone]",
            &["- missing required Plugin: acme/gone"],
        ),
        (
            "plugins: [acme/slow]",
            &["- missing required Plugin: acme/slow"],
        ),
        (
            "plugins: [acme/poor]\ntools: {a: acme/poor/t}",
            &[
                "- acme/poor needs x/2, and this host provides none",
                "- acme/poor needs x/1, and this host provides none",
            ],
        ),
        (
            "plugins: [promptforge/web]\ntools: {f: promptforge/web/fetch}",
            &["- promptforge/web needs promptforge/search-provider, and this host provides none"],
        ),
        (
            "plugins: [promptforge/user-input]",
            &[
                "- promptforge/user-input needs promptforge/input-broker, and this host provides \
                 none",
            ],
        ),
        // A slot whose Plugin is not declared, is not there, has failed, or has no tools.
        (
            "tools: {a: acme/fine/t}",
            &["- missing required Plugin: acme/fine"],
        ),
        (
            "tools: {a: acme/gone/t}",
            &["- missing required Plugin: acme/gone"],
        ),
        (
            "plugins: [acme/slow]\ntools: {a: acme/slow/t}",
            &["- missing required Plugin: acme/slow"],
        ),
        (
            "plugins: [acme/bare]\ntools: {a: acme/bare/t}",
            &["- missing required Plugin: acme/bare"],
        ),
        ("plugins: [acme/bare]", &[]),
        ("plugins: [acme/fine]\ntools: {a: acme/fine/t}", &[]),
    ] {
        assert_gaps(&host, frontmatter, expected);
    }
    // With the provider there it is the fault that counts (spec T27).
    let host = host.with_service("runvil/search-provider");
    assert_gaps(
        &host,
        "plugins: [promptforge/web]",
        &["- missing required Plugin: promptforge/web"],
    );
}

#[test]
fn missing_plugins_stand_where_their_first_slot_falls() {
    // spec T47, T48, case C7
    let (host, _) = host([fake("acme/poor").needing(&["x/1"])]);
    assert_gaps(
        &host,
        "plugins: [acme/q, acme/poor, acme/p]\n\
         tools: {b: acme/p/t, c: acme/z/u, a: acme/z/t, d: acme/poor/t}",
        &[
            "- missing required Plugin: acme/z",
            "- missing required Plugin: acme/p",
            "- missing required Plugin: acme/q",
            "- acme/poor needs x/1, and this host provides none",
        ],
    );
}

#[test]
fn conflicts_are_found_both_ways_and_named_once() {
    // spec T28, T49, case C9
    let a = fake("acme/a");
    let b = fake("acme/b")
        .conflicting("acme/a")
        .conflicting("acme/gone")
        .conflicting("acme/b");
    let c = fake("acme/c").conflicting("acme/a");
    let both = fake("acme/d").conflicting("acme/e");
    let back = fake("acme/e").conflicting("acme/d");
    let (host, _) = host([a.clone(), b.clone(), c, both, back]);
    let line = |first, second| {
        format!(
            "- conflicting Plugins: acme/{first} and acme/{second} cannot be activated together; \
             declare one or the other"
        )
    };
    let (ab, ba) = (line("a", "b"), line("b", "a"));
    let (ac, de) = (line("a", "c"), line("d", "e"));
    for (frontmatter, expected) in [
        (
            "plugins: [acme/a, acme/b]\ntools: {t: acme/a/t}",
            &[&*ab][..],
        ),
        ("plugins: [acme/b, acme/a]", &[&*ba]),
        ("plugins: [{ref: acme/a, optional: true}, acme/b]", &[&*ab]),
        ("plugins: [acme/d, acme/e]", &[&*de]),
        ("plugins: [acme/a, acme/b, acme/c]", &[&*ab, &*ac]),
        (
            "plugins: [acme/b, acme/gone]",
            &["- missing required Plugin: acme/gone"],
        ),
        ("plugins: [acme/b]", &[]),
    ] {
        assert_gaps(&host, frontmatter, expected);
    }
    assert_eq!(a.seen(), [""; 0], "one of a pair was activated");
}

#[test]
fn an_optional_plugin_refuses_nothing() {
    // spec T26, T27
    let slow = fake("acme/slow").unready("not today");
    let free = fake("acme/free").needing(&["x/1"]);
    let needy = fake("acme/needy").needing(&["x/1"]).waiting(|activation| {
        match activation.services.contains("x/1") {
            true => Ok(()),
            false => Err("nothing without x/1".to_owned()),
        }
    });
    let (host, notes) = host([slow, free.clone(), needy]);
    let host = host.with_unit(Unbuilt::new("acme", "ill", "built wrong"));
    let optional = |id: &str| format!("{{ref: acme/{id}, optional: true}}");
    let ids = ["gone", "slow", "free", "needy", "ill"].map(optional);
    let frontmatter = format!("plugins: [{}]", ids.join(", "));
    notes.lock().unwrap().clear();
    assert_gaps(&host, &frontmatter, &[]);
    assert_eq!(free.seen(), ["activate"], "it can do without its service");
    let skipped = "cannot be activated; it is optional, and skipped:";
    assert_eq!(
        *notes.lock().unwrap(),
        [
            format!("warning: the Plugin acme/gone {skipped} it is not installed"),
            format!("warning: the Plugin acme/slow {skipped} not today"),
            format!("warning: the Plugin acme/needy {skipped} nothing without x/1"),
            format!("warning: the Plugin acme/ill {skipped} built wrong"),
        ]
    );
}

#[test]
fn a_required_plugin_that_fails_is_logged() {
    // spec T26
    let (host, notes) = host([fake("acme/slow").unready("not today")]);
    assert_gaps(
        &host,
        "plugins: [acme/slow]",
        &["- missing required Plugin: acme/slow"],
    );
    assert_eq!(
        *notes.lock().unwrap(),
        ["warning: the Plugin acme/slow cannot be activated: not today"]
    );
}

#[test]
fn a_path_that_its_plugin_does_not_have_stays_unbound() {
    // spec T30, case C10
    let (host, notes) = host([fake("acme/x")]);
    let lua = "local ok, e = pcall(tools.call, 'u') return e.kind .. '/' .. e.name";
    let frontmatter = "plugins: [acme/x]\ntools: {u: acme/x/u, t: acme/x/t}";
    let report = run(&host, &prompt(PromptForge, frontmatter, lua));
    assert_eq!(result(report), "unbound_tool/u");
    assert_eq!(
        *notes.lock().unwrap(),
        ["warning: the slot 'u' stays unbound: the Plugin acme/x has no tool acme/x/u"]
    );
}

#[test]
fn declared_plugins_are_activated_once_each_with_their_configuration() {
    // spec T13, T25, T29
    let first = fake("acme/a").waiting(|activation| {
        let config = activation.config.ok_or("no configuration")?;
        match config["depth"].as_u64() {
            Some(5) => Ok(()),
            _ => Err(format!("{config:?}")),
        }
    });
    let second = fake("acme/b").waiting(|activation| match activation.config {
        None => Ok(()),
        Some(config) => Err(format!("{config:?}")),
    });
    let undeclared = fake("acme/c");
    let (host, _) = host([second.clone(), first.clone(), undeclared.clone()]);
    assert_gaps(
        &host,
        "plugins: [{ref: acme/a, config: {depth: 5}}, acme/b]\ntools: {x: acme/b/t, y: acme/b/t}",
        &[],
    );
    assert_eq!(first.seen(), ["start", "activate"]);
    assert_eq!(second.seen(), ["start", "activate"]);
    assert_eq!(undeclared.seen(), [""; 0]);
}
