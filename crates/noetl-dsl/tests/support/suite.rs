//! The conformance suite as files: which playbooks there are and what is expected of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub struct Case {
    /// `area/name`.
    pub name: String,
    pub expect: Value,
    /// The playbook and those it calls, by file name.
    pub playbooks: BTreeMap<String, String>,
}

impl Case {
    pub fn expects_refusal(&self) -> bool {
        self.expect["status"] == "register_error"
    }
}

pub fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root =
        root.ancestors().nth(2).expect("the crate is two folders below the root").join("conformance/cases");
    let mut cases = Vec::new();
    for folder in folders(&root).iter().flat_map(|area| folders(area)) {
        let name = folder.strip_prefix(&root).expect("it was listed below the root").display().to_string();
        let case: Value = serde_json::from_str(&read(&folder.join("case.json"))).expect("case.json is JSON");
        let playbooks = entries(&folder)
            .into_iter()
            .filter(|file| file.extension().is_some_and(|extension| extension == "yaml"))
            .map(|file| {
                (file.file_name().expect("a file has a name").display().to_string(), filled_in(&read(&file)))
            })
            .collect();
        cases.push(Case { name, expect: case["expect"].clone(), playbooks });
    }
    cases
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    paths.sort();
    paths
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// What the suite's runner puts in for its own variables.
fn filled_in(text: &str) -> String {
    [
        ("${mock}", "http://127.0.0.1:1"),
        ("${prefix}", "p"),
        ("${uid}", "u"),
        ("${files}", "/x"),
        ("${tmp}", "/x"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (variable, value)| text.replace(variable, value))
}
