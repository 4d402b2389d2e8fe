//! The form in which a command answers: for people, for programs, or as little as possible.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::output::Output;

#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Form {
    /// Write JSON
    #[arg(long, short)]
    pub json: bool,

    /// Say no more than a script needs: ids, or nothing
    #[arg(long, short, conflicts_with = "json")]
    pub quiet: bool,
}

impl Form {
    /// Writes the answer for programs, or lets it be written for people. Whoever wants it quiet gets nothing.
    pub fn answer(
        self,
        answer: &impl Serialize,
        out: &mut Output,
        for_people: impl FnOnce(&mut Output) -> Result<()>,
    ) -> Result<()> {
        match self {
            Form { json: true, .. } => write_json(answer, out),
            Form { quiet: true, .. } => Ok(()),
            _ => for_people(out),
        }
    }
}

/// One JSON object over several lines.
pub fn write_json(answer: &impl Serialize, out: &mut Output) -> Result<()> {
    serde_json::to_writer_pretty(&mut *out, answer)?;
    writeln!(out)?;
    Ok(())
}

/// One JSON object on a line of its own, for answers that go on.
pub fn write_json_line(answer: &impl Serialize, out: &mut Output) -> Result<()> {
    serde_json::to_writer(&mut *out, answer)?;
    writeln!(out)?;
    Ok(())
}
