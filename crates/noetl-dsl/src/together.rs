//! Several documents checked together, for what can only be seen when they are side by side.

use std::collections::BTreeMap;

use crate::check::{Checked, Options, analyse, finish, parse};
use crate::checks::endless_calls;
use crate::codes;
use crate::diagnostic::Report;
use crate::lower::Lowered;
use crate::subscription;
use crate::yaml::{Node, Span};

/// One of several documents that are checked together.
#[derive(Clone, Debug)]
pub struct CheckedFile {
    /// As it was given.
    pub path: String,
    /// The plan is there for playbooks only.
    pub checked: Checked,
}

struct OpenFile<'a> {
    path: &'a str,
    source: &'a str,
    root: Option<Node>,
    report: Report,
    lowered: Option<Lowered>,
}

/// Checks several documents, playbooks and subscriptions. Each file is its path and its text; the answers are in their order.
pub fn check_many(files: &[(&str, &str)], options: &Options) -> Vec<CheckedFile> {
    let mut files: Vec<OpenFile<'_>> =
        files.iter().map(|(path, source)| open(path, source, options)).collect();
    report_duplicate_paths(&mut files);
    let lowered: Vec<Option<&Lowered>> = files.iter().map(|file| file.lowered.as_ref()).collect();
    for call in endless_calls::find(&lowered) {
        call.report(&mut files[call.playbook].report);
    }
    files.into_iter().map(close).collect()
}

fn open<'a>(path: &'a str, source: &'a str, options: &Options) -> OpenFile<'a> {
    let mut report = Report::default();
    let root = parse(source, options, &mut report);
    let lowered = match &root {
        Some(root) if root.get("kind").and_then(Node::as_str) == Some("Subscription") => {
            subscription::analyse(root, options, &mut report);
            None
        }
        Some(root) => analyse(source, root, options, &mut report),
        None => None,
    };
    OpenFile { path, source, root, report, lowered }
}

fn close(file: OpenFile<'_>) -> CheckedFile {
    let checked = match &file.root {
        Some(root) => finish(file.source, root, file.lowered, file.report),
        None => Checked { plan: None, diagnostics: file.report.finish(file.source, None) },
    };
    CheckedFile { path: file.path.to_owned(), checked }
}

fn report_duplicate_paths(files: &mut [OpenFile<'_>]) {
    let mut first_with: BTreeMap<String, &str> = BTreeMap::new();
    for file in files {
        let Some((path, span)) = file.root.as_ref().and_then(catalog_path) else {
            continue;
        };
        match first_with.get(&path) {
            Some(first) => {
                file.report.add(
                    &codes::DUPLICATE_PATH,
                    span,
                    format!("`{path}` is also the catalog path of {first}"),
                );
            }
            None => {
                first_with.insert(path, file.path);
            }
        }
    }
}

fn catalog_path(root: &Node) -> Option<(String, Span)> {
    let metadata = root.get("metadata")?;
    let node =
        ["path", "name"].iter().find_map(|key| metadata.get(key).filter(|node| node.as_str().is_some()))?;
    Some((node.as_str()?.to_owned(), node.span))
}
