//! The ids of host services (spec T23).

use crate::prompt::Dialect;

/// Answers of an operator.
pub const INPUT_BROKER: &str = "runvil/input-broker";
/// A web search.
pub const SEARCH_PROVIDER: &str = "runvil/search-provider";

/// A service's id as a dialect names it: those of T23 have a name in each, which both mean the same
/// service (spec T158); every other has one name.
pub fn service_id(id: &str, dialect: Dialect) -> String {
    for built_in in [INPUT_BROKER, SEARCH_PROVIDER] {
        let name = built_in.trim_start_matches("runvil");
        let names = [Dialect::Runvil, Dialect::PromptForge].map(|it| format!("{}{name}", it.key()));
        if names.iter().any(|known| known == id) {
            return format!("{}{name}", dialect.key());
        }
    }
    id.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_services_have_a_name_in_each_dialect() {
        for (id, runvil, promptforge) in [
            (
                "runvil/input-broker",
                "runvil/input-broker",
                "promptforge/input-broker",
            ),
            (
                "promptforge/search-provider",
                "runvil/search-provider",
                "promptforge/search-provider",
            ),
            (
                "acme/input-broker",
                "acme/input-broker",
                "acme/input-broker",
            ),
            ("runvil/x", "runvil/x", "runvil/x"),
        ] {
            assert_eq!(service_id(id, Dialect::Runvil), runvil);
            assert_eq!(service_id(id, Dialect::PromptForge), promptforge);
        }
    }
}
