//! `noetl check --explain`

use std::io::Write;

use anyhow::Result;

use crate::exit::Exit;
use crate::output::{Output, complain};

/// The page about all codes: a section per code, with a wrong and a right example.
const PAGE: &str = include_str!("../../../../../docs/diagnostics.md");

/// Explains one code, or lists all when none is given.
pub fn run(code: &str, out: &mut Output) -> Result<Exit> {
    let codes = noetl_dsl::codes();
    if code.is_empty() {
        let width = codes.iter().map(|(name, ..)| name.len()).max().unwrap_or_default();
        for (name, severity, explanation) in codes {
            writeln!(out, "{name:width$}  {:7}  {explanation}", severity.to_string())?;
        }
        return Ok(Exit::Good);
    }
    let Some((name, severity, explanation)) = codes.iter().find(|(name, ..)| *name == code) else {
        complain(format_args!("there is no code `{code}`; `noetl check --explain` lists all"));
        return Ok(Exit::Usage);
    };
    writeln!(out, "{severity}[{name}]: {explanation}")?;
    write!(out, "{}", plain(details(name)))?;
    Ok(Exit::Good)
}

/// What the page says about a code after the paragraph that repeats its explanation.
fn details(code: &str) -> &'static str {
    let heading = format!("{code}\n");
    let section = PAGE.split("\n## ").find_map(|section| section.strip_prefix(heading.as_str()));
    section.and_then(|section| section.trim_start().split_once("\n\n")).map_or("", |(_, details)| details)
}

/// The text without the marks around code, which is indented instead.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut in_code = false;
    for line in markdown.trim_end().lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else {
            let indent = if in_code && !line.is_empty() { "    " } else { "" };
            text += &format!("{indent}{line}\n");
        }
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_more_to_say_than_its_line() {
        for (code, ..) in noetl_dsl::codes() {
            assert!(!plain(details(code)).is_empty(), "docs/diagnostics.md says nothing about {code}");
        }
    }

    #[test]
    fn code_is_indented_instead_of_fenced() {
        let markdown = "Wrong:\n\n```yaml\na: 1\n\nb: 2\n```\n";
        assert_eq!(plain(markdown), "\nWrong:\n\n    a: 1\n\n    b: 2\n");
    }
}
