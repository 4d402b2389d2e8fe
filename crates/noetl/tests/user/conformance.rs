//! The conformance suite through `noetl run`, as far as it needs no server and no service.

use std::process::Command;

use crate::support::project;

#[test]
fn the_conformance_cases_give_the_expected_results() {
    let done = Command::new("python3")
        .args(["conformance/run.py", "--binary", env!("CARGO_BIN_EXE_noetl")])
        .args(["--jobs", "4", "--patience", "5", "--skip-needs", "duckdb"])
        .current_dir(project())
        .output()
        .expect("python3 starts");
    let said = String::from_utf8_lossy(&done.stdout);
    let failed: Vec<&str> = said.lines().filter(|line| line.starts_with("FAIL")).collect();
    assert!(done.status.success(), "{}\n{}", failed.join("\n"), String::from_utf8_lossy(&done.stderr));
    let passed = said.lines().filter(|line| line.starts_with("PASS")).count();
    assert!(passed >= 130, "only {passed} cases ran:\n{said}");
}
