//! The commands that need no playbook, and wrong use of any.

use crate::support::Folder;

#[test]
fn without_a_command_the_help_is_shown_as_wrong_use() {
    let seen = Folder::new().noetl(&[]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.stderr.contains("Usage: noetl"), "{}", seen.text());
}

#[test]
fn a_misspelt_command_or_flag_is_wrong_use_with_a_hint() {
    let seen = Folder::new().noetl(&["chekc"]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.stderr.contains("'check'"), "{}", seen.text());
    let seen = Folder::new().noetl(&["check", "--jsn", "x.yaml"]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.stderr.contains("'--json'"), "{}", seen.text());
}

#[test]
fn check_needs_something_to_check() {
    let seen = Folder::new().noetl(&["check"]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.stderr.contains("<FILE|DIR>"), "{}", seen.text());
}

#[test]
fn help_goes_to_standard_output() {
    for arguments in [&["--help"][..], &["check", "--help"], &["help", "schema"]] {
        let seen = Folder::new().noetl(arguments);
        assert_eq!((seen.code, seen.stderr.as_str()), (Some(0), ""));
        assert!(seen.stdout.contains("Usage: noetl"), "{}", seen.text());
    }
}

#[test]
fn version_says_the_same_in_words_and_in_json() {
    let words = Folder::new().noetl(&["version"]).stdout;
    let json = Folder::new().noetl(&["version", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let version = json["version"].as_str().expect("a text");
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    assert_eq!(
        words,
        format!("noetl {version}, playbooks of {}\n", json["language"].as_str().expect("a text"))
    );
}

#[test]
fn completions_are_scripts_that_ask_the_binary() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let seen = Folder::new().noetl(&["completions", shell]);
        assert_eq!(seen.code, Some(0));
        assert!(
            seen.stdout.contains("COMPLETE") && seen.stdout.contains("noetl"),
            "{shell}: {}",
            seen.text()
        );
    }
    assert_eq!(Folder::new().noetl(&["completions", "tcsh"]).code, Some(2));
}

#[test]
fn the_schema_is_a_json_schema() {
    let seen = Folder::new().noetl(&["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(seen.code, Some(0));
}
