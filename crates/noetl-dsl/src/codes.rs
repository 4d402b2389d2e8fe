//! The catalogue of findings. A code keeps its meaning and its severity for good; `docs/diagnostics.md` explains each with
//! an example.

use crate::diagnostic::Severity;

/// A kind of finding.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    pub name: &'static str,
    pub severity: Severity,
    /// One line.
    pub explanation: &'static str,
}

macro_rules! codes {
    ($($constant:ident = $name:literal $severity:ident $explanation:literal;)*) => {
        $(#[doc = concat!("`", $name, "`: ", $explanation, ".")]
        pub static $constant: Code = Code {
            name: $name,
            severity: Severity::$severity,
            explanation: $explanation,
        };)*

        static ALL: &[&Code] = &[$(&$constant),*];
    };
}

codes! {
    YAML_SYNTAX = "yaml_syntax" Error "the text is not YAML";
    DUPLICATE_KEY = "duplicate_key" Error "a map has the same key twice";
    TOO_LARGE = "too_large" Error "the playbook is larger than what can be run";
    WRONG_API_VERSION = "wrong_api_version" Error "the document's apiVersion is not one this kind of document has";
    WRONG_KIND = "wrong_kind" Error "the document's kind is not the expected one";
    WRONG_TYPE = "wrong_type" Error "a key has a value of the wrong type";
    MISSING_KEY = "missing_key" Error "a key that must be there is missing";
    UNKNOWN_ARC_KEY = "unknown_arc_key" Error "an arc has a key that arcs do not have";
    REMOVED_KEY = "removed_key" Error "a key of an older language that has no meaning any more";
    UNKNOWN_VALUE = "unknown_value" Error "a key takes one of a few words, and this is none of them";
    OUT_OF_RANGE = "out_of_range" Error "a number is too small or too large";
    EMPTY_WORKFLOW = "empty_workflow" Error "the playbook has no steps";
    DUPLICATE_STEP = "duplicate_step" Error "two steps have the same name";
    UNKNOWN_STEP = "unknown_step" Error "an arc or a setting names a step that does not exist";
    DUPLICATE_LABEL = "duplicate_label" Error "two tasks of a pipeline have the same name";
    UNKNOWN_LABEL = "unknown_label" Error "a jump goes to a task that the pipeline does not have";
    EMPTY_PIPELINE = "empty_pipeline" Error "a list of tasks is empty";
    NESTED_PIPELINE = "nested_pipeline" Error "a task of a pipeline is itself a pipeline";
    LOOP_SOURCE = "loop_source" Error "a loop needs exactly one of `in` and `cursor`, and the mode that goes with it";
    UNKNOWN_KIND = "unknown_kind" Error "a tool's kind is not known";
    MISSING_FIELD = "missing_field" Error "a tool lacks a setting that its kind needs";
    EXCLUSIVE_FIELDS = "exclusive_fields" Error "a tool has two settings of which only one may be there";
    DUPLICATE_NAME = "duplicate_name" Error "two entries of the workbook or of the keychain have the same name";
    UNKNOWN_WORKBOOK_TASK = "unknown_workbook_task" Error "a tool names a workbook task that does not exist";
    WORKBOOK_CYCLE = "workbook_cycle" Error "workbook tasks lead back to each other";
    TEMPLATE_SYNTAX = "template_syntax" Error "a template cannot be compiled";
    UNKNOWN_FILTER = "unknown_filter" Error "a template uses a filter that does not exist";
    UNKNOWN_TEST = "unknown_test" Error "a template uses a test that does not exist";
    UNKNOWN_FUNCTION = "unknown_function" Error "a template calls a function that does not exist";
    CONFLICTING_SETTINGS = "conflicting_settings" Error "two settings contradict each other";
    UNKNOWN_KEY = "unknown_key" Warning "a key that is not part of the language, so it is ignored";
    IGNORED_KEY = "ignored_key" Warning "a key that is understood and has no effect";
    UNKNOWN_FIELD = "unknown_field" Warning "a tool has a setting that its kind does not read";
    UNKNOWN_OPTION = "unknown_option" Warning "a setting has a value that is not among the known ones";
    OLD_SPELLING = "old_spelling" Warning "an older spelling that still works";
    OLD_NAME = "old_name" Warning "a template uses the older name of something";
    MISSING_ACTION = "missing_action" Warning "a rule has no `do`, so it continues";
    UNREACHABLE_STEP = "unreachable_step" Warning "no arc leads to the step";
    SHADOWED_ARC = "shadowed_arc" Warning "an arc can never fire because an earlier one always does";
    SHADOWED_RULE = "shadowed_rule" Warning "a rule can never apply because an earlier one always does";
    UNKNOWN_NAME = "unknown_name" Warning "a template reads a name that nothing in the playbook defines";
    UNKNOWN_KEYCHAIN_ENTRY = "unknown_keychain_entry" Warning "a template reads a keychain entry that is not declared";
    PARALLEL_WRITE = "parallel_write" Warning "iterations that run at the same time write the same name, and the last one wins";
    WORKLOAD_WRITE = "workload_write" Warning "an assignment goes to `workload`, which is read only; it is kept under `ctx`";
    RESERVED_NAME = "reserved_name" Warning "a step, task or iterator hides a name of the language";
    ENDLESS_CALL = "endless_call" Warning "playbooks call each other on every run, without an end";
    DUPLICATE_PATH = "duplicate_path" Warning "two files register under the same catalog path";
    UNUSED_WORKBOOK_TASK = "unused_workbook_task" Note "no step uses the workbook task";
}

/// Every code with its severity and a line of explanation, in the order of the document.
pub fn codes() -> &'static [(&'static str, Severity, &'static str)] {
    static CODES: std::sync::LazyLock<Vec<(&'static str, Severity, &'static str)>> =
        std::sync::LazyLock::new(|| {
            ALL.iter().map(|code| (code.name, code.severity, code.explanation)).collect()
        });
    &CODES
}
