//! Heading references (spec F72 to F77, K11 to K17).

use super::*;

fn resolve(prompt: &Prompt, from: Scope, reference: &str) -> Result<String, String> {
    match prompt.resolve(from, reference) {
        Ok(id) => Ok(prompt.section(id).name.clone()),
        Err(error) => Err(error.to_string()),
    }
}

fn from(prompt: &Prompt, name: &str) -> Scope {
    let at = prompt
        .sections
        .iter()
        .position(|section| section.name == name);
    Scope::Section(runvil::prompt::SectionId(at.unwrap_or_default() as u32))
}

/// Case K46; F72, F75, K12, K13.
#[test]
fn messages() {
    let prompt = good(&file(Dialect::PromptForge, "# T\n\n## L\n\n- a\n"));
    for (reference, message) in [
        (
            "L",
            "section heading must include ### markers, got bare name: L",
        ),
        (
            "",
            "section heading must include ### markers, got bare name: ",
        ),
        ("##", "section heading has no name: ##"),
        ("### ", "section heading has no name: ###"),
        (
            "##L",
            "section heading must have whitespace after the ## markers: ##L",
        ),
        (
            " ##\t L2 ",
            "section heading `##\t L2` not found; available sections: ## L",
        ),
        (
            "# T",
            "section heading `# T` not found; available sections: ## L",
        ),
    ] {
        assert_eq!(
            resolve(&prompt, Scope::H1, reference),
            Err(message.to_owned())
        );
    }
    assert_eq!(
        resolve(&prompt, Scope::H1, "\u{a0}##\u{3000}L\n"),
        Ok("L".to_owned())
    );
    let alone = "section heading `## L` not found; available sections: ";
    assert_eq!(
        resolve(&prompt, from(&prompt, "L"), "## L"),
        Err(alone.to_owned())
    );
}

/// F73, K14 to K16: the visible set.
#[test]
fn the_visible_set() {
    let prompt = good(&file(
        Dialect::Runvil,
        "# T\n## A\n### X\n#### Deep\n### Y\n## B\n### X\n### Z\n## C\n",
    ));
    let a = from(&prompt, "A");
    let set = "## B, ## C, ### X, ### Y";
    let missing = |reference: &str, set: &str| {
        Err(format!(
            "section heading `{reference}` not found; available sections: {set}"
        ))
    };
    for reference in ["## A", "### Z", "#### Deep", "# T", "##  b", "#### X"] {
        assert_eq!(resolve(&prompt, a, reference), missing(reference, set));
    }
    assert_eq!(resolve(&prompt, a, "## C"), Ok("C".to_owned()));
    let x = prompt.resolve(a, "### X");
    assert_eq!(x.map(|id| prompt.section(id).line), Ok(8));
    let y = from(&prompt, "Y");
    assert_eq!(resolve(&prompt, y, "### X"), Ok("X".to_owned()));
    assert_eq!(resolve(&prompt, y, "## A"), missing("## A", "### X"));
    assert_eq!(
        resolve(&prompt, Scope::H1, "### X"),
        missing("### X", "## A, ## B, ## C")
    );
}
