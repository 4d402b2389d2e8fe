//! What a shell is told when somebody presses the tab key.

use crate::served::{FAILING, HELLO, Served};
use crate::support::{Folder, Seen, see};

fn completed(served: &Served, words: &[&str]) -> Seen {
    let mut command = served.command(&["--", "noetl"]);
    command.args(words).env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    command.env("_CLAP_IFS", "\n");
    see(command, "")
}

#[test]
fn commands_flags_and_paths_of_the_catalog_are_completed() {
    let served = Served::with(&[HELLO, FAILING]);
    assert_eq!(completed(&served, &["rer"]).stdout.trim(), "rerun");
    assert_eq!(completed(&served, &["exec", "test/h"]).stdout.trim(), "test/hello");
    let both = completed(&served, &["catalog", "get", "te"]).stdout;
    assert_eq!(both.lines().map(str::trim).collect::<Vec<_>>(), ["test/failing", "test/hello"]);
    assert_eq!(completed(&served, &["run", "catalog://test/f"]).stdout.trim(), "catalog://test/failing");
    assert!(completed(&served, &["exec", "test/hello", "--wa"]).stdout.contains("--wait"));
}

#[test]
fn a_server_that_is_not_there_costs_no_words() {
    let folder = Folder::new();
    let mut command = folder.command(&["--", "noetl", "--server", "http://127.0.0.1:1", "exec", "x"]);
    command.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "4").env("_CLAP_IFS", "\n");
    assert_eq!(see(command, "").text(), "exit 0\n");
}
