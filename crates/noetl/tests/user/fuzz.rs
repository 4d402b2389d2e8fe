//! The OpenAPI document, fuzzed: whatever is sent, the answers are of the documented statuses and shapes, and nothing breaks.

use std::path::Path;
use std::process::Command;

use crate::service::Service;
use crate::support::Folder;

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance";

/// 501 says that a route of other servers has nothing behind it here. Any other 5xx is a fault.
const SETTINGS: &str =
    "[checks.not_a_server_error]\nexpected-statuses = [\"2xx\", \"3xx\", \"4xx\", \"501\"]\n";

#[test]
fn the_server_keeps_to_its_description_whatever_is_sent() {
    let tool = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../test-tools/bin/schemathesis");
    if !tool.exists() {
        eprintln!("skipped: there is no schemathesis; scripts/setup-tests installs it");
        return;
    }
    let folder = Folder::with("schemathesis.toml", SETTINGS);
    let service = Service::dev(&folder, &folder.path("data"));
    let done = Command::new(tool)
        .args(["run", &format!("{}/api/openapi.json", service.url)])
        .args(["--checks", CHECKS, "--phases", "coverage,fuzzing", "--max-examples", "3"])
        // The same requests each time, so that a failure can be looked into.
        .args(["--seed", "1", "--generation-deterministic", "--no-shrink", "--continue-on-failure"])
        .args(["--warnings", "off", "--request-timeout", "60", "--workers", "2"])
        // These wait for what they tell of.
        .args(["--exclude-path-regex", "/stream$|/follow$|/take$|/stops$"])
        .current_dir(folder.path("."))
        .output()
        .expect("schemathesis runs");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(service.get("/api/health").0, 200, "the server is as well as before");
}
