//! Commands of earlier NoETL command lines. They are not in the help, so that there is one way to say a thing, and they
//! work, so that scripts written for them run.

pub mod cleanup;
pub mod db;
pub mod execute;
pub mod get;
pub mod refused;

use std::ffi::OsString;

/// The words of a command line, with `schema -o FILE` in its present spelling. Elsewhere `-o` is `--option`.
pub fn spelled_now(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let words: Vec<OsString> = words.collect();
    if words.get(1).is_none_or(|command| command != "schema") {
        return words;
    }
    words.into_iter().map(|word| if word == "-o" { "--output".into() } else { word }).collect()
}
