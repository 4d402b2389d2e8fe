//! `docs/diagnostics.md` and the catalogue of codes are the same, and the document's examples show what they say they show.

use std::fs;
use std::path::Path;

use noetl_dsl::{Diagnostic, Options, check_many, codes, has_errors};

struct Section {
    code: String,
    /// `Error. The text is not YAML.`
    explanation: String,
    examples: Option<Examples>,
}

struct Examples {
    wrong: String,
    right: String,
}

#[test]
fn the_document_lists_every_code_in_order_with_its_severity() {
    let listed: Vec<(String, String)> =
        sections().into_iter().map(|section| (section.code, section.explanation.to_lowercase())).collect();
    let catalogue: Vec<(String, String)> = codes()
        .iter()
        .map(|(code, severity, explanation)| {
            ((*code).to_owned(), format!("{severity}. {explanation}.").to_lowercase())
        })
        .collect();
    assert_eq!(listed, catalogue);
}

#[test]
fn every_wrong_example_gives_its_code_and_every_right_one_does_not() {
    for section in sections() {
        let Some(examples) = &section.examples else {
            assert_eq!(section.code, "too_large", "only this one has examples that would fill pages");
            continue;
        };
        let wrong = check_example(&examples.wrong);
        assert!(
            wrong.iter().any(|found| found.code == section.code),
            "the wrong example of {} gives {wrong:?}",
            section.code
        );
        let right = check_example(&examples.right);
        assert!(
            !has_errors(&right) && right.iter().all(|found| found.code != section.code),
            "the right example of {} gives {right:?}",
            section.code
        );
    }
}

#[test]
fn findings_have_the_severity_of_the_catalogue() {
    for examples in sections().into_iter().filter_map(|section| section.examples) {
        for found in check_example(&examples.wrong) {
            let entry = codes()
                .iter()
                .find(|(code, _, _)| *code == found.code)
                .expect("the code is in the catalogue");
            assert_eq!(entry.1, found.severity, "{}", found.code);
        }
    }
}

fn check_example(example: &str) -> Vec<Diagnostic> {
    let sources: Vec<String> = example.split("\n---\n").map(completed).collect();
    let files: Vec<(&str, &str)> = sources.iter().map(|source| ("example", source.as_str())).collect();
    check_many(&files, &Options::default()).into_iter().flat_map(|file| file.checked.diagnostics).collect()
}

/// Examples leave out what they are not about.
fn completed(example: &str) -> String {
    let header = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: sample}\n";
    if example.starts_with("apiVersion") {
        example.to_owned()
    } else if example.starts_with("- step") {
        format!("{header}workflow:\n{example}\n")
    } else {
        format!("{header}{example}\n")
    }
}

fn sections() -> Vec<Section> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate is two folders below the root");
    let text = fs::read_to_string(root.join("docs/diagnostics.md")).expect("the document is there");
    text.split("\n## ").skip(1).map(section).collect()
}

fn section(text: &str) -> Section {
    let (code, rest) = text.split_once('\n').expect("a heading has a line of its own");
    let explanation = rest.trim_start().lines().next().expect("an explanation follows the heading");
    let example = |title: &str| {
        let (_, rest) = rest.split_once(&format!("{title}:\n\n```yaml\n"))?;
        Some(rest.split_once("\n```").expect("the example ends").0.to_owned())
    };
    let examples = example("Wrong").map(|wrong| {
        let right = example("Right").unwrap_or_else(|| panic!("{code} has no right example"));
        Examples { wrong, right }
    });
    Section { code: code.to_owned(), explanation: explanation.to_owned(), examples }
}
