//! What people write to mean a playbook of the catalog: `path`, `path@3`, `catalog://path@latest`, or a catalog id.

use noetl_client::api::Id;
use noetl_client::api::execute::Version;

use crate::exit::WrongUse;

/// What stands before a path that is meant to be in the catalog.
pub const CATALOG: &str = "catalog://";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    Id(Id),
    Path { path: String, version: Option<Version> },
}

impl Reference {
    /// Reads one; `version` is a version that was given beside it.
    pub fn parse(text: &str, version: Option<&str>) -> Result<Reference, WrongUse> {
        let named = text.strip_prefix(CATALOG).unwrap_or(text);
        if let Ok(id) = named.parse::<i64>() {
            return Ok(Reference::Id(Id(id)));
        }
        let (path, beside) = match named.rsplit_once('@') {
            Some((path, version)) => (path, Some(version)),
            None => (named, None),
        };
        if path.is_empty() {
            return Err(WrongUse(format!(
                "'{text}' names no playbook; write its path, such as examples/hello"
            )));
        }
        let version = version.or(beside).map(parse_version).transpose()?;
        Ok(Reference::Path { path: path.to_owned(), version })
    }
}

/// A version: a number, or `latest`.
pub fn parse_version(text: &str) -> Result<Version, WrongUse> {
    match text.parse() {
        Ok(number) => Ok(Version::Number(number)),
        Err(_) if text == "latest" => Ok(Version::Text(text.to_owned())),
        Err(_) => Err(WrongUse(format!("'{text}' is no version; write a number or latest"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str, version: Option<Version>) -> Reference {
        Reference::Path { path: path.to_owned(), version }
    }

    #[test]
    fn playbooks_are_named_by_path_version_or_id() {
        for (text, version, expected) in [
            ("a/b", None, path("a/b", None)),
            ("a/b@3", None, path("a/b", Some(Version::Number(3)))),
            ("catalog://a/b@latest", None, path("a/b", Some(Version::Text("latest".to_owned())))),
            ("a/b@3", Some("4"), path("a/b", Some(Version::Number(4)))),
            ("380361384216494080", None, Reference::Id(Id(380_361_384_216_494_080))),
        ] {
            assert_eq!(Reference::parse(text, version).expect("a reference"), expected);
        }
    }

    #[test]
    fn what_names_nothing_is_refused_with_a_reason() {
        for (text, words) in
            [("", "names no playbook"), ("catalog://@1", "names no playbook"), ("a@x", "no version")]
        {
            let refused = Reference::parse(text, None).expect_err("refused");
            assert!(refused.to_string().contains(words), "{refused}");
        }
    }
}
