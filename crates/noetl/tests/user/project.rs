//! What the project shows to newcomers is true: the examples are clean, the tour works when pasted.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::service::Service;
use crate::support::{Folder, in_project, project, see};

#[test]
fn the_examples_have_neither_errors_nor_warnings() {
    let seen = in_project(&["check", "--deny-warnings", "examples"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
}

#[test]
fn the_examples_pass_their_tests_and_every_part_of_them_is_reached() {
    let seen = in_project(&["test", "examples", "--coverage", "--coverage-min", "100"]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    for example in fs::read_dir(project().join("examples")).expect("examples are there") {
        let name = example.expect("an entry").file_name().into_string().expect("a plain name");
        assert!(seen.stdout.contains(&format!("examples/{name}")), "{name} is not tested:\n{}", seen.stdout);
    }
}

#[test]
fn every_example_is_listed_in_the_documents() {
    let listed = fs::read_to_string(project().join("docs/examples.md")).expect("docs/examples.md is there");
    for example in fs::read_dir(project().join("examples")).expect("examples are there") {
        let name = example.expect("an entry").file_name().into_string().expect("a plain name");
        if name.ends_with(".test.yaml") {
            continue;
        }
        assert!(
            listed.contains(&format!("](../examples/{name})")),
            "docs/examples.md does not link to {name}"
        );
    }
}

/// Playbooks in the reference are whole documents or parts; the whole ones are checked.
#[test]
fn the_whole_documents_in_the_reference_are_clean() {
    let reference =
        fs::read_to_string(project().join("docs/playbooks.md")).expect("docs/playbooks.md is there");
    let whole: Vec<&str> = blocks(&reference, "yaml")
        .into_iter()
        .filter(|block| block.starts_with("apiVersion") && !block.contains("workflow: []"))
        .collect();
    assert!(!whole.is_empty());
    for document in whole {
        let seen = Folder::new().noetl_with_input(&["check", "--deny-warnings", "-"], document);
        assert_eq!(seen.code, Some(0), "{document}\n{}", seen.text());
    }
}

/// Commands are in `sh` blocks; a `text` block after one is what it prints.
#[cfg(unix)]
#[test]
fn the_tour_in_the_readme_works_when_pasted() {
    let readme = fs::read_to_string(project().join("README.md")).expect("README.md is there");
    let tour = readme.split("\n## ").find(|part| part.starts_with("A tour")).expect("the README has a tour");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let link = |to: PathBuf, from: &str| {
        std::os::unix::fs::symlink(to, folder.path().join(from)).expect("own folder")
    };
    fs::create_dir_all(folder.path().join("target/release")).expect("own folder");
    link(PathBuf::from(env!("CARGO_BIN_EXE_noetl")), "target/release/noetl");
    link(project().join("examples").canonicalize().expect("examples are there"), "examples");

    let home = Folder::new();
    let service = Service::dev(&home, &folder.path().join("noetl-data"));
    let mut pasted = 0;
    for part in tour.split("```sh\n").skip(1) {
        let (commands, rest) = part.split_once("```").expect("a block ends");
        // The binary is built already, and the server has a port of its own.
        let commands = commands.replace("make build\n", "").replace("http://127.0.0.1:8082", &service.url);
        let printed = blocks(rest, "text").first().copied().unwrap_or_default();
        let mut shell = Command::new("sh");
        shell.args(["-c", &commands]).current_dir(folder.path()).env_remove("CLICOLOR_FORCE");
        shell.env("NOETL_SERVER", &service.url).env("HOME", folder.path());
        let seen = see(shell, "");
        let said = format!("{}{}", seen.stdout, seen.stderr);
        assert_eq!(without_ids(&said).trim_end(), without_ids(printed).trim_end(), "after: {commands}");
        pasted += 1;
    }
    assert!(pasted > 2, "the tour shows something");
}

/// The text with one word for every id, which are new each time.
fn without_ids(text: &str) -> String {
    let mut plain = String::new();
    let mut digits = String::new();
    for character in text.chars().chain(['\n']) {
        if character.is_ascii_digit() {
            digits.push(character);
            continue;
        }
        plain.push_str(if digits.len() > 15 { "ID" } else { &digits });
        digits.clear();
        plain.push(character);
    }
    plain
}

/// The contents of the fenced blocks of a language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let opening = format!("```{language}\n");
    text.split(opening.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}
