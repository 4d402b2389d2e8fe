//! The conformance suite, through `noetl run` and over HTTP against `noetl dev`: the same cases, the same results.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::service::Service;
use crate::support::{Folder, project};

#[test]
fn the_conformance_cases_give_the_expected_results() {
    let passed = suite(&["--binary", env!("CARGO_BIN_EXE_noetl")]);
    assert!(passed >= 130, "only {passed} cases ran");
}

#[test]
fn the_conformance_cases_give_the_expected_results_over_http() {
    let folder = Folder::new();
    let service = Service::dev(&folder, &folder.path("data"));
    let postgres = Postgres::start();
    let mut arguments = vec!["--server", &service.url];
    if let Some(postgres) = &postgres {
        arguments.extend(["--postgres", &postgres.url]);
    }
    let passed = suite(&arguments);
    assert!(passed >= 138, "only {passed} cases ran");
}

/// Runs the suite and says how many cases passed. All that ran must.
fn suite(arguments: &[&str]) -> usize {
    let done = Command::new("python3")
        .arg("conformance/run.py")
        .args(arguments)
        .args(["--skip-needs", "duckdb", "--jobs", "4", "--patience", "5"])
        .current_dir(project())
        .output()
        .expect("python3 starts");
    let said = String::from_utf8_lossy(&done.stdout);
    let failed: Vec<&str> = said.lines().filter(|line| line.starts_with("FAIL")).collect();
    assert!(done.status.success(), "{}\n{}", failed.join("\n"), String::from_utf8_lossy(&done.stderr));
    said.lines().filter(|line| line.starts_with("PASS")).count()
}

/// A PostgreSQL server that ends with the value.
struct Postgres {
    child: Child,
    url: String,
}

impl Postgres {
    /// Nothing where PostgreSQL is not installed, unless it must be.
    fn start() -> Option<Postgres> {
        let mut child = Command::new(project().join("scripts/throwaway-postgres"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the script starts");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("stdout is piped");
        BufReader::new(stdout).read_line(&mut url).expect("text on stdout");
        if url.is_empty() {
            let ended = child.wait().expect("the script ends");
            assert_eq!(ended.code(), Some(3), "PostgreSQL did not start");
            assert!(std::env::var("NOETL_REQUIRE_POSTGRES").is_err(), "PostgreSQL is not installed");
            return None;
        }
        Some(Postgres { child, url: url.trim().to_owned() })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
