//! `noetl check --fix`

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use similar::TextDiff;

use crate::documents::{Document, Origin};
use crate::output::{Output, mention};
use crate::report::counted;

/// Shows as a diff how the documents would be rewritten.
pub fn preview(documents: &[Document], out: &mut Output) -> Result<()> {
    let mut rewrites = 0;
    for document in documents {
        let fixed = noetl_dsl::fix::fix(&document.text);
        rewrites += fixed.applied.len();
        let diff = TextDiff::from_lines(document.text.as_str(), fixed.text.as_str());
        write!(out, "{}", diff.unified_diff().header(&document.name, &document.name))?;
    }
    out.flush()?;
    let (files, rewrites) = (counted(documents.len(), "file"), counted(rewrites, "older spelling"));
    mention(format_args!("{files} looked at, {rewrites} to rewrite"));
    Ok(())
}

/// Rewrites the older spellings in a document, and in its file.
pub fn apply(document: &mut Document) -> Result<()> {
    let fixed = noetl_dsl::fix::fix(&document.text);
    if fixed.applied.is_empty() {
        return Ok(());
    }
    if let Origin::File(path) = &document.origin {
        replace(path, &fixed.text).with_context(|| format!("{}: could not be rewritten", document.name))?;
        mention(format_args!(
            "{}: {} rewritten",
            document.name,
            counted(fixed.applied.len(), "older spelling")
        ));
    }
    document.text = fixed.text;
    Ok(())
}

/// Replaces a file's content in one go: a reader sees the old text or the new one, and a full disk leaves the old.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let real = fs::canonicalize(path)?;
    let folder = real.parent().expect("a file is in a folder");
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    draft.write_all(text.as_bytes())?;
    draft.as_file().set_permissions(fs::metadata(&real)?.permissions())?;
    draft.persist(&real)?;
    Ok(())
}
