//! The Packs of Runvil runs (spec T32 to T42, T45 to T49).

use runvil::harness::Harness;
use runvil::harness::unit::Unbuilt;
use runvil::prompt::Dialect::Runvil;

use crate::fake::{Fake, fake, gaps, host, prompt, result, run};

#[track_caller]
fn assert_gaps(host: &Harness, uses: &str, expected: &[&str]) {
    assert_eq!(gaps(host, Runvil, &format!("uses: {uses}")), expected);
}

#[test]
fn each_declared_pack_has_its_cause() {
    // spec T42, row by row
    let units = [
        fake("zed/kiln"),
        fake("acme/kiln"),
        fake("own/drum"),
        fake("own/poor").needing(&["a/one", "runvil/two", "a/one"]),
        fake("own/slow").unready("not today"),
        fake("own/fine").with_tools(&[]),
    ];
    let (host, _) = host(units);
    let host = host
        .with_unit(Unbuilt::built_in("web", "web needs much"))
        .with_unit(Unbuilt::new("acme", "poor", "no wheel").needing(["a/one".to_owned()]));
    let kiln = "- kiln is unavailable: kiln means runvil/kiln, which is not installed; write \
                acme/kiln or zed/kiln to use that Pack";
    let poor = [
        "- poor needs a/one, and the environment provides none",
        "- poor needs runvil/two, and the environment provides none",
    ];
    for (uses, expected) in [
        ("[gone]", &["- missing required Pack: gone"][..]),
        ("[kiln]", &[kiln]),
        (
            "[acme/gone]",
            &["- gone is unavailable: acme/gone is not installed"],
        ),
        (
            "[acme/drum]",
            &["- drum is unavailable: acme/drum is not installed"],
        ),
        ("[web]", &["- web is unavailable: web needs much"]),
        ("[acme/poor]", &["- poor is unavailable: no wheel"]),
        ("[poor]", &poor),
        ("[slow]", &["- slow is unavailable: not today"]),
        ("[drum, acme/kiln, fine]", &[]),
        ("[runvil/drum]", &[]),
        ("[]", &[]),
    ] {
        assert_gaps(&host, uses, expected);
    }
}

#[test]
fn the_notice_has_its_kinds_in_order_and_within_each_the_prompts_order() {
    // spec T45, T46, case C31
    let units = [
        fake("own/b").needing(&["x/2", "x/1"]),
        fake("own/a").needing(&["x/2"]),
        fake("own/late").unready("late"),
    ];
    let (host, _) = host(units);
    let host = host.with_unit(Unbuilt::built_in("web", "no web"));
    assert_gaps(
        &host,
        "[web, b, gone, acme/odd, a, late, lost, user-input]",
        &[
            "- missing required Pack: gone",
            "- missing required Pack: lost",
            "- b needs x/2, and the environment provides none",
            "- b needs x/1, and the environment provides none",
            "- a needs x/2, and the environment provides none",
            "- user-input needs runvil/input-broker, and the environment provides none",
            "- web is unavailable: no web",
            "- odd is unavailable: acme/odd is not installed",
            "- late is unavailable: late",
        ],
    );
}

#[test]
fn the_report_has_a_list_for_each_kind() {
    // spec T51
    let (host, _) = host([fake("own/a").needing(&["x/1"])]);
    let report = run(&host, &prompt(Runvil, "uses: [a, gone, z/odd]", "return 1"));
    let found = report.requirements;
    assert_eq!(found.missing, ["gone"]);
    assert_eq!(found.services.len(), 1);
    assert_eq!(
        (&*found.services[0].unit, &*found.services[0].service),
        ("a", "x/1")
    );
    assert_eq!(found.unavailable.len(), 1);
    assert_eq!(
        (&*found.unavailable[0].pack, &*found.unavailable[0].reason),
        ("odd", "z/odd is not installed")
    );
    assert!(found.conflicts.is_empty() && found.unmet_roles.is_empty());
}

#[test]
fn a_service_that_the_run_provides_is_no_gap() {
    // spec T37, T158
    let needy = |needs: &[&'static str]| host([fake("own/a").needing(needs)]).0;
    let needs = ["acme/token", "runvil/search-provider"];
    let host = needy(&needs).with_service("acme/token");
    let host = host.with_service("promptforge/search-provider");
    assert_gaps(&host, "[a]", &[]);
    let provided = needy(&needs).with_service("acme/token");
    assert_gaps(
        &provided,
        "[a]",
        &["- a needs runvil/search-provider, and the environment provides none"],
    );
}

#[test]
fn the_run_has_the_packs_it_declares_and_runvils_own() {
    // spec T33, T37, T39, T40
    let own = fake("own/web");
    let third = fake("acme/extra");
    let broken = fake("own/broken").unready("broken");
    let poor = fake("own/poor").needing(&["x/1", "x/2"]);
    let (host, notes) = host([own.clone(), third.clone(), broken.clone(), poor.clone()]);
    let ids = "local ids = {} for _, t in ipairs(tools.extras()) do ids[#ids + 1] = t.id end \
               for _, t in ipairs(tools.required()) do ids[#ids + 1] = '!' .. t.id end \
               return table.concat(ids, ' ')";
    assert_eq!(result(run(&host, &prompt(Runvil, "", ids))), "web/t");
    assert_eq!(own.seen(), ["start", "activate"]);
    assert_eq!(third.seen(), [""; 0], "it is in no run");
    assert_eq!(broken.seen(), ["start", "activate"]);
    assert_eq!(poor.seen(), [""; 0], "it could not serve");
    assert_eq!(
        *notes.lock().unwrap(),
        [
            "warning: Pack will not be ready; this run treats it as unavailable: runvil/broken: broken"
        ]
    );
    let offered = |pack: &str| {
        let lua = format!("local ok, e = pcall(packs.offer, '{pack}') return tostring(e)");
        result(run(&host, &prompt(Runvil, "", &lua)))
    };
    let unavailable = "Pack is unavailable in this run:";
    assert_eq!(
        offered("poor"),
        format!(
            "packs.offer: the poor {unavailable} the run lacks the services it needs: x/1, x/2"
        )
    );
    assert_eq!(
        offered("broken"),
        format!("packs.offer: the broken {unavailable} broken")
    );
    let declared = prompt(Runvil, "uses: [acme/extra]", ids);
    assert_eq!(result(run(&host, &declared)), "web/t !extra/t");
}

#[test]
fn a_declared_pack_takes_the_place_of_runvils_own() {
    // spec T33, case C34
    let own = fake("own/web");
    let other = fake("acme/web").with_tools(&["look"]);
    let (host, _) = host([own.clone(), other]);
    let lua = "return tools.required()[1].id .. ' ' .. tostring(tools.get('web/t'))";
    let report = run(&host, &prompt(Runvil, "uses: [acme/web]", lua));
    assert_eq!(result(report), "web/look nil");
    assert_eq!(own.seen(), [""; 0], "it is in no run");
}

#[test]
fn a_pack_that_could_not_be_built_is_logged_where_the_host_sets_up() {
    // spec T34
    let (host, notes) = host([]);
    let host = host.with_unit(Unbuilt::new("acme", "kiln", "cannot find the command kiln"));
    let expected = "warning: Pack construct failed; it is built as unavailable: acme/kiln: \
                    cannot find the command kiln";
    assert_eq!(*notes.lock().unwrap(), [expected]);
    assert_gaps(
        &host,
        "[acme/kiln]",
        &["- kiln is unavailable: cannot find the command kiln"],
    );
    assert_eq!(notes.lock().unwrap().len(), 1, "a run says it again");
}

#[test]
fn a_refused_run_calls_nothing_and_runs_nothing() {
    // spec T41, T43
    let unit = fake("own/web");
    let (host, _) = host([unit.clone()]);
    let source = prompt(Runvil, "uses: [web, gone]", "tools.call('web/t')");
    let mut events = Vec::new();
    let launch = runvil::harness::Launch::default();
    host.run(&source, launch, &mut |event| events.push(event.kind.name()));
    assert_eq!(events.last(), Some(&"parse_succeeded"));
    assert_eq!(unit.seen(), ["start", "activate"]);
}

#[test]
fn tools_whose_names_cannot_be_told_apart_are_left_out() {
    // spec T5
    let names = ["t", "T", "a/b", "", "t", "u"];
    let (host, notes) = host([fake("own/web").with_tools(&names)]);
    let lua = "local ids = {} for _, t in ipairs(tools.extras()) do ids[#ids + 1] = t.id end \
               return table.concat(ids, ' ')";
    assert_eq!(result(run(&host, &prompt(Runvil, "", lua))), "web/t web/u");
    assert_eq!(notes.lock().unwrap().len(), 4);
}

#[test]
fn a_unit_takes_the_place_of_one_with_its_id() {
    let other = fake("own/user-input").with_tools(&["listen"]);
    let (host, _) = host([fake("acme/a"), fake("acme/a").unready("second"), other]);
    assert_gaps(&host, "[acme/a]", &["- a is unavailable: second"]);
    let lua = "return tools.extras()[1].id";
    let found = result(run(&host, &prompt(Runvil, "", lua)));
    assert_eq!(found, "user-input/listen");
}

#[test]
fn a_prompt_that_declares_nothing_runs_on_a_host_with_nothing() {
    // spec T53
    assert_gaps(&Harness::default(), "[]", &[]);
    assert_gaps(&host(Vec::<Fake>::new()).0, "[]", &[]);
}
