//! Where the state of a run is kept, and with it whether the run can be resumed.

use std::path::{Path, PathBuf};

use anyhow::Result;
use noetl_types::ExecutionId;
use tempfile::TempDir;

pub enum Place {
    Kept(PathBuf),
    /// Gone with the process.
    Temporary(TempDir),
}

impl Place {
    /// The given folder, or one for the time being.
    pub fn choose(data: Option<PathBuf>) -> Result<Place> {
        Ok(match data {
            Some(folder) => Place::Kept(folder),
            None => Place::Temporary(tempfile::Builder::new().prefix("noetl-run-").tempdir()?),
        })
    }

    pub fn folder(&self) -> &Path {
        match self {
            Place::Kept(folder) => folder,
            Place::Temporary(folder) => folder.path(),
        }
    }

    /// What happened to a run, and how to go on if that is possible.
    pub fn advice(&self, what: &str, execution: ExecutionId) -> String {
        match self {
            Place::Kept(data) => {
                format!("{what}; go on with: noetl run --data {} --resume {execution}", as_one_word(data))
            }
            Place::Temporary(_) => format!("{what}; the run is cancelled"),
        }
    }
}

/// A path as a shell takes it.
fn as_one_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_can_be_pasted_into_a_shell() {
        for (folder, word) in
            [("runs/a-b_1.2", "runs/a-b_1.2"), ("my runs", "'my runs'"), ("it's", r"'it'\''s'")]
        {
            let advice = Place::Kept(folder.into()).advice("interrupted", ExecutionId(7));
            assert_eq!(advice, format!("interrupted; go on with: noetl run --data {word} --resume 7"));
        }
    }
}
