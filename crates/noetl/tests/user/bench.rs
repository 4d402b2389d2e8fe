//! `noetl bench`

use serde_json::Value;

use crate::support::Folder;

/// Nothing listens on port 1.
const NOWHERE: &str = "http://127.0.0.1:1";

#[test]
fn a_workload_gives_its_numbers_to_programs() {
    let folder = Folder::new();

    let seen = folder.noetl(&[
        "bench",
        "--data",
        ".",
        "--duration",
        "100ms",
        "--workload",
        "one_step",
        "--workload",
        "throughput_16",
        "--json",
    ]);

    assert_eq!((seen.code, &*seen.stderr), (Some(0), ""));
    let numbers: Value = serde_json::from_str(&seen.stdout).expect("JSON");
    for path in [
        "/fsync_ms",
        "/workloads/one_step/p50_ms",
        "/workloads/one_step/p99_ms",
        "/workloads/throughput_16/per_s",
        "/memory_mb",
        "/cpu_s",
        "/events_per_execution",
        "/bytes_per_execution",
        "/load_before",
        "/steal_percent",
    ] {
        let number = numbers.pointer(path).and_then(Value::as_f64);
        assert!(number.is_some_and(|number| number >= 0.0), "{path}: {numbers}");
    }
    let left = std::fs::read_dir(folder.path(".")).expect("a folder").count();
    assert_eq!(left, 0, "nothing stays behind");
}

#[test]
fn wrong_use_is_said() {
    let folder = Folder::new();
    for (arguments, code, words) in [
        (&["bench", "--workload", "everything"][..], 2, "possible values: one_step"),
        (&["bench", "--duration", "soon"], 2, "write a time, such as 10s"),
        (&["bench", "--embedded", "--server", NOWHERE], 2, "cannot be used with"),
        (&["bench", "--server", NOWHERE, "--workload", "one_step"], 1, NOWHERE),
    ] {
        let seen = folder.noetl(arguments);
        assert_eq!(seen.code, Some(code), "{arguments:?}: {}", seen.stderr);
        assert!(seen.stderr.contains(words), "{arguments:?}: {}", seen.stderr);
    }
}
