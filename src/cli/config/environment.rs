//! The gateway's URL and key (spec M74, C10): what of them is in the configuration and what in the
//! environment.

use std::ffi::OsString;
use std::fmt;

use runvil::harness::gateway::{Connection, ConnectionError};
use runvil::prompt::Dialect;

use super::GatewayEntry;

/// Where the gateway is, as it was written; nothing has looked at the URL yet.
#[derive(PartialEq, Eq)]
pub struct Wanted {
    /// The URL.
    pub url: String,
    /// The key; `None` where its variable is not set, or empty.
    pub key: Option<String>,
    /// The variable that holds the key, or should.
    pub key_name: String,
}

impl fmt::Debug for Wanted {
    /// The key is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Wanted");
        shown.field("has_key", &self.key.is_some());
        shown.field("key_name", &self.key_name);
        shown.finish_non_exhaustive()
    }
}

/// What is wrong with the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentError {
    /// A variable that is needed is not set.
    Missing(String),
    /// A variable holds what is no text.
    NotUnicode(String),
    /// A variable's key cannot stand in a header.
    NotHeader(String),
    /// The URL is not one that a gateway can have.
    Url(ConnectionError),
}

impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => write!(f, "missing environment variable: {name}"),
            Self::NotUnicode(name) => {
                write!(
                    f,
                    "environment variable is set but not valid Unicode: {name}"
                )
            }
            Self::NotHeader(name) => {
                write!(
                    f,
                    "environment variable does not hold a valid header value: {name}"
                )
            }
            Self::Url(error) => error.fmt(f),
        }
    }
}

/// The gateway of a host; `None` where it has none. The variables of the prompt's dialect go before
/// those of the other one; that dialect is asked for only where it matters. A gateway that is
/// `needed`, or that the configuration has a block for, must have a URL. A variable that is empty
/// counts as one that is not set.
///
/// # Errors
/// A variable that is not set, or holds no text.
pub fn resolve(
    gateway: Option<&GatewayEntry>,
    needed: bool,
    dialect: impl FnOnce() -> Dialect,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<Wanted>, EnvironmentError> {
    let is_set = |dialect| variable(&url_name(dialect)).is_some();
    let needed = needed || gateway.is_some();
    if !needed && !is_set(Dialect::Runvil) && !is_set(Dialect::PromptForge) {
        return Ok(None);
    }
    let dialect = dialect();
    let read = |name: &str| match variable(name).map(OsString::into_string) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
        Some(Err(_)) => Err(EnvironmentError::NotUnicode(name.to_owned())),
    };
    let written = gateway.and_then(|gateway| gateway.url.clone());
    let found = match written {
        Some(url) => Some((url, dialect)),
        None => {
            let mut found = None;
            for dialect in [dialect, other(dialect)] {
                if found.is_none() {
                    found = read(&url_name(dialect))?.map(|url| (url, dialect));
                }
            }
            found
        }
    };
    let Some((url, prefix)) = found else {
        return match needed {
            true => Err(EnvironmentError::Missing(url_name(dialect))),
            false => Ok(None),
        };
    };
    let named = gateway.and_then(|gateway| gateway.api_key_env.as_ref());
    let key_name = named.map_or_else(|| key_name(prefix), |name| name.as_str().to_owned());
    Ok(Some(Wanted {
        url,
        key: read(&key_name)?,
        key_name,
    }))
}

impl Wanted {
    /// The connection to it.
    ///
    /// # Errors
    /// A URL that is not one of a gateway, a key that is needed and not there, or that no header
    /// can hold.
    pub fn connect(self) -> Result<Connection, EnvironmentError> {
        let connection = Connection::new(&self.url, self.key.as_deref());
        let key_name = self.key_name;
        match connection {
            Ok(connection) if self.key.is_none() && !connection.is_loopback() => {
                Err(EnvironmentError::Missing(key_name))
            }
            Ok(connection) => Ok(connection),
            Err(ConnectionError::Key) => Err(EnvironmentError::NotHeader(key_name)),
            Err(error) => Err(EnvironmentError::Url(error)),
        }
    }
}

fn other(dialect: Dialect) -> Dialect {
    match dialect {
        Dialect::Runvil => Dialect::PromptForge,
        Dialect::PromptForge => Dialect::Runvil,
    }
}

fn url_name(dialect: Dialect) -> String {
    format!("{}_GATEWAY_URL", dialect.key().to_uppercase())
}

fn key_name(dialect: Dialect) -> String {
    format!("{}_GATEWAY_API_KEY", dialect.key().to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::Config;

    const R_URL: &str = "RUNVIL_GATEWAY_URL";
    const R_KEY: &str = "RUNVIL_GATEWAY_API_KEY";
    const P_URL: &str = "PROMPTFORGE_GATEWAY_URL";
    const P_KEY: &str = "PROMPTFORGE_GATEWAY_API_KEY";

    type Set<'a> = &'a [(&'a str, &'a str)];

    fn with(gateway: Option<&GatewayEntry>, needed: bool, dialect: Dialect, set: Set) -> String {
        let variable = |name: &str| {
            let mut found = set.iter().filter(|(set, _)| *set == name);
            found.next().map(|(_, value)| OsString::from(value))
        };
        match resolve(gateway, needed, || dialect, variable) {
            Ok(None) => "none".to_owned(),
            Ok(Some(wanted)) => {
                let key = wanted.key.as_deref().unwrap_or("-");
                format!("{} {} {key}", wanted.url, wanted.key_name)
            }
            Err(error) => error.to_string(),
        }
    }

    fn runvil(set: Set) -> String {
        with(None, false, Dialect::Runvil, set)
    }

    fn promptforge(set: Set) -> String {
        with(None, false, Dialect::PromptForge, set)
    }

    #[test]
    fn the_dialects_own_variables_go_first() {
        let both = [(R_URL, "r"), (P_URL, "p"), (R_KEY, "rk"), (P_KEY, "pk")];
        assert_eq!(runvil(&both), format!("r {R_KEY} rk"));
        assert_eq!(promptforge(&both), format!("p {P_KEY} pk"));
        // The key is the one that belongs to the URL.
        assert_eq!(runvil(&both[1..]), format!("p {P_KEY} pk"));
        assert_eq!(
            runvil(&[(P_URL, "p"), (R_KEY, "rk")]),
            format!("p {P_KEY} -")
        );
        assert_eq!(runvil(&[(R_URL, ""), (P_URL, "p")]), format!("p {P_KEY} -"));
    }

    #[test]
    fn a_host_without_a_url_has_no_gateway_unless_it_needs_one() {
        assert_eq!(runvil(&[]), "none");
        let missing = |name| format!("missing environment variable: {name}");
        assert_eq!(with(None, true, Dialect::Runvil, &[]), missing(R_URL));
        assert_eq!(with(None, true, Dialect::PromptForge, &[]), missing(P_URL));
        let block = GatewayEntry::default();
        assert_eq!(
            with(Some(&block), false, Dialect::Runvil, &[]),
            missing(R_URL)
        );
    }

    #[test]
    fn the_configuration_goes_before_the_environment() {
        let read = |text| {
            Config::from_yaml(text)
                .expect("valid")
                .gateway
                .expect("a block")
        };
        let set = [(R_URL, "r"), (R_KEY, "rk"), (P_KEY, "pk"), ("MINE", "mk")];
        let found = |block: &GatewayEntry, dialect| with(Some(block), false, dialect, &set);
        let block = read("gateway: {url: c}");
        assert_eq!(found(&block, Dialect::Runvil), format!("c {R_KEY} rk"));
        assert_eq!(found(&block, Dialect::PromptForge), format!("c {P_KEY} pk"));
        let block = read("gateway: {url: c, api_key_env: MINE}");
        assert_eq!(found(&block, Dialect::Runvil), "c MINE mk");
        let block = read("gateway: {api_key_env: MINE}");
        assert_eq!(found(&block, Dialect::PromptForge), "r MINE mk");
    }

    #[cfg(unix)]
    #[test]
    fn a_variable_that_is_no_text_is_named() {
        use std::os::unix::ffi::OsStringExt;
        let bad = |bad: &'static str| {
            move |name: &str| match name {
                _ if name == bad => Some(OsString::from_vec(vec![0xff])),
                R_URL => Some("r".into()),
                _ => None,
            }
        };
        for name in [R_URL, R_KEY] {
            let error = resolve(None, false, || Dialect::Runvil, bad(name)).expect_err(name);
            let expected = format!("environment variable is set but not valid Unicode: {name}");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_connection_has_the_key_that_it_needs() {
        let connect = |url: &str, key: Option<&str>| {
            let wanted = Wanted {
                url: url.to_owned(),
                key: key.map(str::to_owned),
                key_name: "K".to_owned(),
            };
            wanted
                .connect()
                .map(|_| ())
                .map_err(|error| error.to_string())
        };
        let far = "https://models.example/v1";
        assert_eq!(connect(far, Some("k")), Ok(()));
        assert_eq!(connect("http://LOCALHOST:1/v1/", None), Ok(()));
        let table = [
            (far, None, "missing environment variable: K"),
            (
                far,
                Some("a\nb"),
                "environment variable does not hold a valid header value: K",
            ),
            (
                "http://u:p@h",
                None,
                "gateway URL must not embed credentials (user:pass@)",
            ),
        ];
        for (url, key, expected) in table {
            assert_eq!(connect(url, key), Err(expected.to_owned()));
        }
    }

    #[test]
    fn the_dialect_is_asked_for_only_where_it_matters() {
        let unasked = || panic!("nothing is set");
        assert_eq!(resolve(None, false, unasked, |_| None), Ok(None));
    }

    #[test]
    fn a_key_is_not_shown() {
        let wanted = Wanted {
            url: "http://u:secret@h".to_owned(),
            key: Some("secret".to_owned()),
            key_name: R_KEY.to_owned(),
        };
        assert!(!format!("{wanted:?}").contains("secret"));
    }
}
