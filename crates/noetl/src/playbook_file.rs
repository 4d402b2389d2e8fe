//! A playbook that is named by its file: read and checked. What is wrong with it is said here.

use std::path::Path;

use anyhow::Result;

use crate::documents::{self, Document};
use crate::exit::Exit;
use crate::output::{complain, is_stderr_colored};
use crate::report::Human;

/// The playbook, or the exit code when there is none to run; what is wrong has been said then.
pub fn read(file: &Path) -> Result<Result<Document, Exit>> {
    let mut found = documents::find(&[file.to_owned()]);
    for problem in &found.problems {
        complain(format_args!("{problem}"));
    }
    if !found.problems.is_empty() {
        return Ok(Err(Exit::Usage));
    }
    if found.documents.len() != 1 {
        complain(format_args!("{} is not a playbook; give the file of one playbook", file.display()));
        return Ok(Err(Exit::Usage));
    }
    let document = found.documents.remove(0);
    let checked = noetl_dsl::check(&document.text, &noetl_dsl::Options::default());
    if checked.plan.is_some() {
        return Ok(Ok(document));
    }
    let human = Human::new(is_stderr_colored());
    for diagnostic in &checked.diagnostics {
        human.write(&mut std::io::stderr(), &document, diagnostic)?;
    }
    Ok(Err(Exit::Invalid))
}
