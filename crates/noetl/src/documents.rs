//! Finds and reads the documents a user names: files, folders, standard input.
//!
//! A file that is named is always taken. A folder is searched for YAML files, and what is not a NoETL document in it is left
//! aside. What cannot be read becomes a [`Problem`], one sentence each, and does not hide the rest.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Nothing larger is read. Far above what a playbook may be, so that the checker says what it thinks of large ones.
const READ_LIMIT: u64 = 64 * 1024 * 1024;

/// The name that stands for standard input.
const STDIN: &str = "-";

/// The text of a document, and where it came from.
#[derive(Debug)]
pub struct Document {
    /// What the user would call it.
    pub name: String,
    pub origin: Origin,
    pub text: String,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Origin {
    Stdin,
    File(PathBuf),
}

/// Why something that was named could not be read.
#[derive(Debug)]
pub struct Problem {
    name: String,
    reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

/// What was found, in the order in which it was named; the content of a folder is sorted.
#[derive(Debug, Default)]
pub struct Found {
    pub documents: Vec<Document>,
    pub problems: Vec<Problem>,
    /// YAML files in folders that are not NoETL documents.
    pub skipped: Vec<String>,
    /// What has been taken already, so that a file named twice is one document.
    taken: BTreeSet<PathBuf>,
}

pub fn find(names: &[PathBuf]) -> Found {
    let mut found = Found::default();
    for name in names {
        if name == Path::new(STDIN) {
            found.take_stdin();
        } else if name.is_dir() {
            found.take_folder(name);
        } else {
            found.take_file(name, |_| true);
        }
    }
    found
}

/// The other NoETL documents in the folder of a document, not in folders below it. What can't be read is left out.
pub fn siblings(document: &Document) -> Vec<Document> {
    let Origin::File(path) = &document.origin else {
        return Vec::new();
    };
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml"))
        .collect();
    files.sort();
    let mut found = Found::default();
    found.taken.extend(fs::canonicalize(path));
    for file in files {
        found.take_file(&file, is_ours);
    }
    found.documents
}

impl Found {
    fn take_stdin(&mut self) {
        if !self.taken.insert(PathBuf::from(STDIN)) {
            return;
        }
        let name = "standard input".to_owned();
        match read(io::stdin()) {
            Ok(text) => self.documents.push(Document { name, origin: Origin::Stdin, text }),
            Err(reason) => self.problems.push(Problem { name, reason }),
        }
    }

    fn take_folder(&mut self, folder: &Path) {
        let mut files = Vec::new();
        if let Err((path, error)) = list_yaml(folder, &mut files) {
            self.problems.push(Problem { name: shown(&path), reason: because(&error) });
            return;
        }
        let before = self.documents.len() + self.problems.len();
        files.sort();
        for file in files {
            self.take_file(&file, is_ours);
        }
        if self.documents.len() + self.problems.len() == before {
            self.problems.push(Problem {
                name: shown(folder),
                reason: "no playbooks in this folder (they are *.yaml or *.yml files with `apiVersion: noetl.io/…`)"
                    .to_owned(),
            });
        }
    }

    fn take_file(&mut self, path: &Path, wanted: impl Fn(&str) -> bool) {
        let name = shown(path);
        if let Ok(real) = fs::canonicalize(path)
            && !self.taken.insert(real)
        {
            return;
        }
        match File::open(path).map_err(|error| because(&error)).and_then(read) {
            Ok(text) if wanted(&text) => {
                self.documents.push(Document { name, origin: Origin::File(path.to_owned()), text });
            }
            Ok(_) => self.skipped.push(name),
            Err(reason) => self.problems.push(Problem { name, reason }),
        }
    }
}

/// The YAML files below a folder. Hidden files and folders are left out, links to folders are not followed.
fn list_yaml(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    let in_folder = |error| (folder.to_owned(), error);
    for entry in fs::read_dir(folder).map_err(in_folder)? {
        let entry = entry.map_err(in_folder)?;
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type().map_err(in_folder)?.is_dir() {
            list_yaml(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a YAML text says of itself that it is a NoETL document. Looks at lines only, so that a document with mistakes is
/// still known for what it is.
fn is_ours(text: &str) -> bool {
    match top_level(text, "apiVersion") {
        Some(version) => version.starts_with("noetl"),
        None => matches!(top_level(text, "kind"), Some("Playbook" | "Subscription")),
    }
}

/// The plain value of a key at the left margin.
fn top_level<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let value = line.trim_start_matches('\u{FEFF}').strip_prefix(key)?.trim_start().strip_prefix(':')?;
        let value = value.split(" #").next().unwrap_or(value);
        Some(value.trim().trim_matches(['"', '\'']))
    })
}

/// Reads a text, or says in a few words why it is none.
fn read(source: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    source.take(READ_LIMIT + 1).read_to_end(&mut bytes).map_err(|error| because(&error))?;
    if bytes.len() as u64 > READ_LIMIT {
        return Err(format!("larger than {} MiB, which no playbook is", READ_LIMIT / (1024 * 1024)));
    }
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err("this is UTF-16 text; save it as UTF-8".to_owned());
    }
    if bytes.contains(&0) {
        return Err("this is a binary file, not a playbook".to_owned());
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("this is not UTF-8 text; the first wrong byte is on line {line}")
    })
}

fn because(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "may not be read: permission denied".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_known_by_its_api_version() {
        assert!(is_ours("# hello\napiVersion: noetl.io/v2\nkind: Playbook\n"));
        assert!(is_ours("kind: Playbook\napiVersion : \"noetl.io/v9\" # wrong, and still ours\n"));
        assert!(is_ours("\u{FEFF}apiVersion: noetl.io/v1\nkind: Subscription\n"));
    }

    #[test]
    fn without_an_api_version_the_kind_decides() {
        assert!(is_ours("kind: Playbook\nworkflow: [\n"));
        assert!(!is_ours("kind: Deployment\n"));
        assert!(!is_ours("services:\n  kind: Playbook\n"));
    }

    #[test]
    fn documents_of_others_are_not_ours_even_if_their_kind_has_the_same_name() {
        assert!(!is_ours("apiVersion: operators.example.com/v1\nkind: Subscription\n"));
        assert!(!is_ours("name: a workflow of something else\non: push\n"));
    }

    #[test]
    fn what_is_not_text_is_named_for_what_it_is() {
        let reason = |bytes: &[u8]| read(bytes).expect_err("not a text");
        assert_eq!(reason(b"\x7fELF\0\0"), "this is a binary file, not a playbook");
        assert_eq!(reason(b"\xFF\xFEa\0"), "this is UTF-16 text; save it as UTF-8");
        assert_eq!(reason(b"a: 1\nb: \xE9\n"), "this is not UTF-8 text; the first wrong byte is on line 2");
    }

    #[test]
    fn reading_ends_even_if_the_source_does_not() {
        let reason = read(io::repeat(b'a')).expect_err("endless");
        assert_eq!(reason, "larger than 64 MiB, which no playbook is");
    }
}
