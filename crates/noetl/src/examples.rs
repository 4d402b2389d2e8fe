//! The example playbooks, as part of the binary.

/// The text of each file under `examples/`, by its name.
pub const EXAMPLES: &[(&str, &str)] = &[
    ("approval.yaml", include_str!("../../../examples/approval.yaml")),
    ("conditional.yaml", include_str!("../../../examples/conditional.yaml")),
    ("cursor_queue.yaml", include_str!("../../../examples/cursor_queue.yaml")),
    ("error_handling.yaml", include_str!("../../../examples/error_handling.yaml")),
    ("etl_http_to_postgres.yaml", include_str!("../../../examples/etl_http_to_postgres.yaml")),
    ("fan_out.yaml", include_str!("../../../examples/fan_out.yaml")),
    ("hello.yaml", include_str!("../../../examples/hello.yaml")),
    ("pagination.yaml", include_str!("../../../examples/pagination.yaml")),
    ("retry.yaml", include_str!("../../../examples/retry.yaml")),
    ("score_customer.yaml", include_str!("../../../examples/score_customer.yaml")),
    ("sub_playbook.yaml", include_str!("../../../examples/sub_playbook.yaml")),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_example_of_the_project_is_part_of_the_binary() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .expect("the folder of the examples")
            .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
            .filter(|name| name.ends_with(".yaml") && !name.ends_with(".test.yaml"))
            .collect();
        let known: BTreeSet<String> = EXAMPLES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(files, known);
    }
}
