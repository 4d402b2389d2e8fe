//! The environment that child processes start with: a clean base, never everything the worker happens to have.

use std::collections::BTreeMap;

/// Variables that are safe and useful for any program.
const INHERITED: &[&str] = &[
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LOGNAME",
    "NO_PROXY",
    "PATH",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Variables by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
}

impl Default for Environment {
    /// What a program cannot do without.
    fn default() -> Environment {
        let entries = [("LANG", "C.UTF-8"), ("PATH", "/usr/local/bin:/usr/bin:/bin")];
        Environment { variables: entries.map(|(name, value)| (name.to_owned(), value.to_owned())).into() }
    }
}

impl Environment {
    /// Takes over from the given variables what children may have: the usual ones, locale settings, and those named by
    /// `also`.
    pub fn inherited(variables: impl IntoIterator<Item = (String, String)>, also: &[String]) -> Environment {
        let mut base = Environment::default();
        base.variables.extend(variables.into_iter().filter(|(name, _)| {
            INHERITED.contains(&name.as_str()) || name.starts_with("LC_") || also.contains(name)
        }));
        base
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_and_named_variables_are_inherited() {
        let given = [("PATH", "/bin"), ("NOETL_KEY", "hush"), ("LC_ALL", "C"), ("MY_TOOL", "x")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let names = Environment::inherited(given, &["MY_TOOL".to_owned()]);
        let names: Vec<_> = names.iter().collect();
        assert_eq!(names, [("LANG", "C.UTF-8"), ("LC_ALL", "C"), ("MY_TOOL", "x"), ("PATH", "/bin")]);
    }
}
