//! The findings that only test files can have. `docs/testing.md` explains them; the rest are those of playbooks.

use noetl_dsl::Severity;
use noetl_dsl::codes::Code;

pub static UNKNOWN_TEST_KEY: Code = Code {
    name: "unknown_test_key",
    severity: Severity::Error,
    explanation: "a test file has a key that test files do not have",
};

pub static UNKNOWN_ADDRESS: Code = Code {
    name: "unknown_address",
    severity: Severity::Error,
    explanation: "a mock or an expectation is about a step, a task or an arc that the playbook does not have",
};

pub static ONE_ANSWER: Code = Code {
    name: "one_answer",
    severity: Severity::Error,
    explanation: "a mock has no answer, or more than one",
};

pub static DUPLICATE_CASE: Code = Code {
    name: "duplicate_case",
    severity: Severity::Error,
    explanation: "two cases of a file have the same name",
};

pub static RECORDING: Code =
    Code { name: "recording", severity: Severity::Error, explanation: "a recording cannot be read" };
