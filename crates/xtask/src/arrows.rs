//! Which crate may use which. The table here is the law; the manifests are held against it.

use anyhow::{Context, Result};
use serde_json::Value;

/// What a crate may depend on inside the workspace.
enum Uses {
    Only(&'static [&'static str]),
    /// Everything that is part of the product.
    Product,
    /// Everything, tooling included.
    Anything,
}
use Uses::{Anything, Only, Product};

/// A crate, what it may use, and what its tests may use besides.
struct Rule {
    name: &'static str,
    uses: Uses,
    tests_use: &'static [&'static str],
}

const fn rule(name: &'static str, uses: Uses) -> Rule {
    Rule { name, uses, tests_use: &[] }
}

const fn adapter(name: &'static str) -> Rule {
    Rule { name, uses: Only(&["noetl-types", "noetl-store"]), tests_use: &["noetl-store-tests"] }
}

const RULES: &[Rule] = &[
    rule("noetl-types", Only(&[])),
    rule("noetl-expr", Only(&["noetl-types"])),
    rule("noetl-dsl", Only(&["noetl-types", "noetl-expr"])),
    rule("noetl-engine", Only(&["noetl-types", "noetl-expr", "noetl-dsl"])),
    rule("noetl-test", Only(&["noetl-types", "noetl-expr", "noetl-dsl", "noetl-engine"])),
    Rule { name: "noetl-store", uses: Only(&["noetl-types"]), tests_use: &["noetl-store-tests"] },
    adapter("noetl-store-postgres"),
    adapter("noetl-store-sqlite"),
    adapter("noetl-objects"),
    rule("noetl-store-tests", Only(&["noetl-types", "noetl-store"])),
    rule("noetl-bus", Only(&["noetl-types"])),
    rule("noetl-api", Only(&["noetl-types"])),
    rule("noetl-client", Only(&["noetl-types", "noetl-api"])),
    rule("noetl-tools", Only(&["noetl-types"])),
    rule("noetl-plugin", Only(&["noetl-types", "noetl-tools"])),
    rule("noetl-sources", Only(&["noetl-types"])),
    // The worker runs pipelines with the engine's own interpreter, so that rules have one implementation.
    rule(
        "noetl-worker",
        Only(&[
            "noetl-types",
            "noetl-expr",
            "noetl-dsl",
            "noetl-engine",
            "noetl-bus",
            "noetl-client",
            "noetl-tools",
            "noetl-plugin",
            "noetl-sources",
        ]),
    ),
    // Its benches drive runs with real workers over a real database.
    Rule {
        name: "noetl-server",
        uses: Only(&["noetl-types", "noetl-dsl", "noetl-engine", "noetl-store", "noetl-bus", "noetl-api"]),
        tests_use: &["noetl-store-sqlite", "noetl-worker", "noetl-tools"],
    },
    rule("noetl-ui", Only(&[])),
    rule("noetl-oidc", Only(&[])),
    rule("noetl", Product),
    rule("noetl-sim", Anything),
    rule("noetl-e2e", Anything),
    rule("xtask", Anything),
];

/// Crates for the people who work on the project; the product does not depend on them.
const TOOLING: &[&str] = &["noetl-store-tests", "noetl-sim", "noetl-e2e", "xtask"];

/// A member of the workspace, as its manifest describes it.
pub struct Member {
    pub name: String,
    pub folder: String,
    pub dependencies: Vec<Dependency>,
}

/// A dependency on another member.
pub struct Dependency {
    pub name: String,
    pub for_tests_only: bool,
}

/// The members in the output of `cargo metadata --no-deps`. A dependency by path is one on another member.
pub fn members(metadata: &str) -> Result<Vec<Member>> {
    let metadata: Value = serde_json::from_str(metadata).context("cargo metadata is not JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    Ok(packages.iter().map(member).collect())
}

fn member(package: &Value) -> Member {
    let manifest = text(&package["manifest_path"]);
    let folder = manifest.rsplit(['/', '\\']).nth(1).unwrap_or_default().to_owned();
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    let dependencies = dependencies
        .iter()
        .filter(|dependency| dependency["path"].is_string())
        .map(|dependency| Dependency {
            name: text(&dependency["name"]),
            for_tests_only: dependency["kind"] == "dev",
        })
        .collect();
    Member { name: text(&package["name"]), folder, dependencies }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Every way in which the members break the table, one sentence each.
pub fn violations(members: &[Member]) -> Vec<String> {
    members.iter().flat_map(violations_of).collect()
}

fn violations_of(member: &Member) -> Vec<String> {
    let name = &member.name;
    let mut found = Vec::new();
    if member.folder != *name {
        found.push(format!(
            "{name} lives in the folder {}; folder and package have the same name",
            member.folder
        ));
    }
    let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
        found.push(format!("{name} is not in the table of crates; add it with what it may use"));
        return found;
    };
    for dependency in &member.dependencies {
        if !rule.allows(dependency) {
            let whose = if dependency.for_tests_only { "the tests of " } else { "" };
            found.push(format!("{whose}{name} may not use {}", dependency.name));
        }
    }
    found
}

impl Rule {
    fn allows(&self, dependency: &Dependency) -> bool {
        let other = dependency.name.as_str();
        let by_the_crate = match self.uses {
            Only(list) => list.contains(&other),
            Product => !TOOLING.contains(&other),
            Anything => true,
        };
        by_the_crate || (dependency.for_tests_only && self.tests_use.contains(&other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(manifests: &[(&str, &[&str])]) -> Vec<String> {
        let members: Vec<Member> = manifests
            .iter()
            .map(|(name, uses)| Member {
                name: (*name).to_owned(),
                folder: (*name).to_owned(),
                dependencies: uses
                    .iter()
                    .map(|used| Dependency {
                        name: used.trim_start_matches("dev:").to_owned(),
                        for_tests_only: used.starts_with("dev:"),
                    })
                    .collect(),
            })
            .collect();
        violations(&members)
    }

    #[test]
    fn arrows_in_the_table_are_allowed() {
        let found = check(&[
            ("noetl-types", &[]),
            ("noetl-engine", &["noetl-types", "noetl-dsl"]),
            ("noetl-store-sqlite", &["noetl-store", "dev:noetl-store-tests"]),
            ("noetl", &["noetl-engine", "noetl-store-sqlite"]),
            ("noetl-sim", &["noetl-engine", "noetl-store-tests"]),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn an_arrow_against_the_table_is_named() {
        let found = check(&[("noetl-engine", &["noetl-store"]), ("noetl-dsl", &["dev:noetl-engine"])]);
        assert_eq!(
            found,
            ["noetl-engine may not use noetl-store", "the tests of noetl-dsl may not use noetl-engine"]
        );
    }

    #[test]
    fn the_product_does_not_depend_on_tooling() {
        assert_eq!(check(&[("noetl", &["noetl-sim"])]), ["noetl may not use noetl-sim"]);
    }

    #[test]
    fn what_only_tests_may_use_stays_out_of_the_crate_itself() {
        let found = check(&[("noetl-store-sqlite", &["noetl-store-tests"])]);
        assert_eq!(found, ["noetl-store-sqlite may not use noetl-store-tests"]);
    }

    #[test]
    fn a_crate_outside_the_table_is_an_error() {
        let found = check(&[("noetl-extras", &[])]);
        assert_eq!(found, ["noetl-extras is not in the table of crates; add it with what it may use"]);
    }

    #[test]
    fn metadata_is_read_as_cargo_writes_it() {
        let metadata = r#"{"packages": [{
            "name": "noetl-dsl", "manifest_path": "/somewhere/crates/dsl/Cargo.toml",
            "dependencies": [
                {"name": "noetl-types", "path": "/somewhere/crates/noetl-types", "kind": null},
                {"name": "noetl-sim", "path": "/somewhere/crates/noetl-sim", "kind": "dev"},
                {"name": "serde", "kind": null}
            ]
        }]}"#;
        let members = members(metadata).expect("this is valid");
        assert_eq!(
            violations(&members),
            [
                "noetl-dsl lives in the folder dsl; folder and package have the same name",
                "the tests of noetl-dsl may not use noetl-sim"
            ]
        );
    }
}
