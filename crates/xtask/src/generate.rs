//! The files in `docs/` that are made from the tables of the language, the routes of the server and the command line: what
//! they hold, writing them, and holding them against what is there.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::{shell, tools_page};

/// A generated file: where it is, from the root, and what it should hold.
struct Generated {
    path: &'static str,
    content: String,
}

fn all() -> Result<Vec<Generated>> {
    let pretty = |schema| serde_json::to_string_pretty(&schema).map(|text| text + "\n");
    Ok(vec![
        Generated { path: "docs/playbook.schema.json", content: pretty(noetl_dsl::schema())? },
        Generated {
            path: "docs/subscription.schema.json",
            content: pretty(noetl_dsl::subscription_schema())?,
        },
        Generated { path: "docs/test.schema.json", content: pretty(noetl_test::schema())? },
        Generated { path: "docs/tools.md", content: tools_page::render(&noetl_dsl::KindTable::builtin()) },
        Generated { path: "docs/openapi.json", content: openapi()? },
    ])
}

/// The description of the HTTP API. The server prints it, so that this crate need not be built with all of it.
fn openapi() -> Result<String> {
    shell::read("cargo", &["run", "--quiet", "--package", "noetl-server", "--example", "openapi"])
}

/// Writes every generated file.
pub fn run() -> Result<()> {
    for Generated { path, content } in all()? {
        fs::write(shell::root().join(path), content).with_context(|| format!("could not write {path}"))?;
        println!("wrote {path}");
    }
    command_line()
}

/// The page of the command line. The test that holds it against the binary also writes it.
fn command_line() -> Result<()> {
    let test = ["test", "--quiet", "--locked", "--workspace", "--bin", "noetl", "cli_page"];
    shell::run("env", &[&["UPDATE_EXPECT=1", "cargo"], &test[..]].concat())?;
    println!("wrote docs/cli.md");
    Ok(())
}

/// Complains about files that are not what they should be.
pub fn check() -> Result<()> {
    let mut stale = Vec::new();
    for Generated { path, content } in all()? {
        if fs::read_to_string(shell::root().join(path)).ok() != Some(content) {
            stale.push(path);
        }
    }
    if !stale.is_empty() {
        bail!("out of date: {}; `cargo xtask generate` writes them", stale.join(", "));
    }
    Ok(())
}
