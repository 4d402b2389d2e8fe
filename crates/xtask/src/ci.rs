//! What CI checks, in the order in which mistakes are cheapest to find.

use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{arrows as table, generate, purity, shell};

/// How many seeds of the simulation CI runs; a few seconds' worth.
const SEEDS: &str = "3000";

/// The same for the drive loop, whose seeds take longer.
const DRIVE_SEEDS: &str = "400";

type Check = (&'static str, fn() -> Result<()>);

const CHECKS: &[Check] = &[
    ("formatting", formatting),
    ("crate arrows", arrows),
    ("generated files", generate::check),
    ("web UI", web_ui),
    ("lints", lints),
    ("tests", tests),
    ("web UI in a browser", web_ui_in_a_browser),
    ("documentation", documentation),
    ("conformance suite", conformance),
    ("comparison with other engines", comparison),
    ("simulation", simulation),
];

pub fn run() -> Result<()> {
    let begun = Instant::now();
    for (name, check) in CHECKS {
        println!("── {name}");
        let started = Instant::now();
        check().with_context(|| format!("{name}: not passed"))?;
        println!("   {name}: passed in {:.1} s\n", started.elapsed().as_secs_f64());
    }
    println!("everything passed in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn formatting() -> Result<()> {
    shell::run("cargo", &["fmt", "--all", "--check"]).context("`make fmt` formats the code")
}

pub fn arrows() -> Result<()> {
    let metadata = shell::read("cargo", &["metadata", "--no-deps", "--locked", "--format-version", "1"])?;
    let members = table::members(&metadata)?;
    let mut found = table::violations(&members);
    for package in purity::PURE.iter().filter(|pure| members.iter().any(|member| member.name == **pure)) {
        let tree = shell::read(
            "cargo",
            &[
                "tree",
                "--locked",
                "--package",
                package,
                "--edges",
                "normal,no-proc-macro",
                "--prefix",
                "none",
                "--format",
                "{p}|{f}",
            ],
        )?;
        found.extend(purity::violations(package, &tree));
    }
    if !found.is_empty() {
        bail!("the crates break their rules:\n  {}", found.join("\n  "));
    }
    Ok(())
}

/// Its types are checked on the way. It comes early, since the binary contains it.
fn web_ui() -> Result<()> {
    shell::run("scripts/build-ui", &[])
}

fn lints() -> Result<()> {
    shell::run(
        "cargo",
        &["clippy", "--quiet", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"],
    )
}

/// The tests of all crates; among them that the examples are clean and the README's tour works.
fn tests() -> Result<()> {
    if !shell::succeeds("cargo", &["nextest", "--version"]) {
        return shell::run("cargo", &["test", "--quiet", "--locked", "--workspace"]);
    }
    shell::run("cargo", &["nextest", "run", "--cargo-quiet", "--locked", "--workspace", "--profile", "ci"])?;
    shell::run("cargo", &["test", "--quiet", "--locked", "--workspace", "--doc"])
}

fn web_ui_in_a_browser() -> Result<()> {
    shell::run("cargo", &["build", "--quiet", "--locked", "--workspace", "--bins"])?;
    shell::run("scripts/test-ui", &[])
}

/// Links in the documentation lead somewhere.
fn documentation() -> Result<()> {
    shell::run(
        "cargo",
        &[
            "--config",
            "build.rustdocflags=['--deny=warnings']",
            "doc",
            "--quiet",
            "--locked",
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ],
    )
}

/// The suite's own tests, and the form of its cases.
fn conformance() -> Result<()> {
    shell::run("python3", &["conformance/run.py", "--self-test"])?;
    shell::run("python3", &["conformance/run.py", "--check"])
}

/// What its runner decides by itself; the engines are neither installed nor started.
fn comparison() -> Result<()> {
    let tests = ["--start-directory", "bench/peers", "--pattern", "tests.py"];
    shell::run("python3", &[&["-B", "-m", "unittest", "discover", "--quiet"][..], &tests].concat())
}

/// Built like the tests: that is quick, and debug assertions watch too.
fn simulation() -> Result<()> {
    let run = ["run", "--quiet", "--locked", "--package", "noetl-sim", "--"];
    shell::run("cargo", &[&run[..], &["--seeds", SEEDS]].concat())?;
    shell::run("cargo", &[&run[..], &["drive", "--seeds", DRIVE_SEEDS]].concat())
}
