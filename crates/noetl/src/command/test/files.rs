//! Finds test files and the playbooks they are about.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use noetl_dsl::Severity;
use noetl_test::{Playbook, Playbooks};

use super::{Ready, TestFile};
use crate::documents::{self, Document};

/// What was found, in the order in which it was named; the content of a folder is sorted.
#[derive(Default)]
pub struct Found {
    pub files: Vec<TestFile>,
    /// Playbooks of folders.
    pub playbooks: Vec<Playbook>,
    /// What could not be read, a sentence each.
    pub problems: Vec<String>,
}

const ENDINGS: [&str; 2] = [".test.yaml", ".test.yml"];

pub fn find(paths: &[PathBuf]) -> Found {
    let mut found = Found::default();
    for path in paths {
        if path.is_dir() {
            found.take_folder(path);
        } else if is_test(path) {
            found.take(path);
        } else {
            match test_beside(path) {
                Some(test) => found.take(&test),
                None if !path.exists() => found.problems.push(format!("{}: no such file", path.display())),
                None => {
                    let wanted = path.with_extension("test.yaml");
                    let sentence = format!("{}: there is no {} beside it", path.display(), wanted.display());
                    found.problems.push(sentence);
                }
            }
        }
    }
    found
}

fn is_test(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn test_beside(playbook: &Path) -> Option<PathBuf> {
    ["test.yaml", "test.yml"].iter().map(|ending| playbook.with_extension(ending)).find(|path| path.is_file())
}

impl Found {
    fn take_folder(&mut self, folder: &Path) {
        let mut tests = Vec::new();
        if let Err(error) = list_tests(folder, &mut tests) {
            self.problems.push(format!("{}: {error}", folder.display()));
            return;
        }
        if tests.is_empty() {
            self.problems
                .push(format!("{}: no tests in this folder (they are *.test.yaml files)", folder.display()));
            return;
        }
        tests.sort();
        for test in tests {
            self.take(&test);
        }
        for document in documents::find(&[folder.to_owned()]).documents {
            self.playbooks.extend(playbook(&document));
        }
    }

    fn take(&mut self, path: &Path) {
        let Some(document) = self.read(path) else {
            return;
        };
        if self.files.iter().any(|known| known.document.name == document.name) {
            return;
        }
        let named = noetl_test::playbook_of(&document.text);
        let file = match &named {
            Some(named) => folder_of(path).join(named),
            None => match playbook_beside(path) {
                Some(file) => file,
                None => {
                    let name = &document.name;
                    self.problems
                        .push(format!("{name}: the playbook is not beside it; name it with `playbook:`"));
                    return;
                }
            },
        };
        let Some(tested) = self.read(&file) else {
            return;
        };
        let checked = noetl_dsl::check(&tested.text, &noetl_dsl::Options::default());
        let Some(plan) = checked.plan else {
            let diagnostics =
                checked.diagnostics.into_iter().filter(|found| found.severity == Severity::Error).collect();
            self.files.push(TestFile { document: tested, diagnostics, ready: None });
            return;
        };
        let main = Playbook { plan, file: tested.name.as_str().into() };
        let others: Vec<Playbook> = documents::siblings(&tested).iter().filter_map(playbook).collect();
        let playbooks = Playbooks::new(main, others);
        let mut load = |name: &str| {
            let file = folder_of(path).join(name);
            fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))
        };
        let reading = noetl_test::read(&document.text, &playbooks, &mut load);
        let ready = reading.suite.map(|suite| Ready { playbooks, cases: suite.cases });
        self.files.push(TestFile { document, diagnostics: reading.diagnostics, ready });
    }

    /// The document in a file; what is wrong with it is noted.
    fn read(&mut self, path: &Path) -> Option<Document> {
        let mut found = documents::find(&[path.to_owned()]);
        self.problems.extend(found.problems.iter().map(ToString::to_string));
        found.documents.pop()
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn playbook_beside(test: &Path) -> Option<PathBuf> {
    let name = test.file_name()?.to_string_lossy().into_owned();
    let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending))?;
    ["yaml", "yml"]
        .iter()
        .map(|ending| test.with_file_name(format!("{stem}.{ending}")))
        .find(|file| file.is_file())
}

/// The playbook in a document. One that is not valid can't be called, and a call of it says so.
fn playbook(document: &Document) -> Option<Playbook> {
    let plan = noetl_dsl::check(&document.text, &noetl_dsl::Options::default()).plan?;
    Some(Playbook { plan, file: Arc::from(document.name.as_str()) })
}

/// The test files below a folder. Hidden files and folders are left out, links to folders are not followed.
fn list_tests(folder: &Path, tests: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            list_tests(&path, tests)?;
        } else if is_test(&path) {
            tests.push(path);
        }
    }
    Ok(())
}
