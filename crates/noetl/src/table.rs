//! Tables for people: columns as wide as they need, no lines around them.

use std::io::Write;

use anyhow::Result;

use crate::output::Output;

/// A column is no wider than this, except the last.
const WIDEST: usize = 60;

#[derive(Debug)]
pub struct Table {
    lines: Vec<Vec<Cell>>,
}

/// A text, maybe in a colour.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    color: Option<Color>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    Green,
    Red,
    Yellow,
    Dim,
    Bold,
}

impl Color {
    /// How a terminal is told.
    pub fn code(self) -> &'static str {
        match self {
            Color::Green => "32",
            Color::Red => "31",
            Color::Yellow => "33",
            Color::Dim => "2",
            Color::Bold => "1",
        }
    }

    /// What the status of an execution, a step or a worker looks like.
    pub fn of_status(status: &str) -> Option<Color> {
        match status.to_ascii_uppercase().as_str() {
            "COMPLETED" | "ACTIVE" | "READY" | "OK" => Some(Color::Green),
            "FAILED" | "ERROR" | "OFFLINE" => Some(Color::Red),
            "CANCELLED" | "PAUSED" | "DRAINING" | "WARNING" => Some(Color::Yellow),
            _ => None,
        }
    }
}

impl<T: ToString> From<T> for Cell {
    fn from(text: T) -> Cell {
        // A line of a table is one line.
        Cell { text: text.to_string().replace(['\n', '\r', '\t', '\x1b'], " "), color: None }
    }
}

impl Cell {
    pub fn colored(text: impl ToString, color: Option<Color>) -> Cell {
        Cell { color, ..Cell::from(text) }
    }

    pub fn status(status: &str) -> Cell {
        Cell::colored(status, Color::of_status(status))
    }

    /// The text, or nothing.
    pub fn maybe(text: Option<impl ToString>) -> Cell {
        text.map_or(Cell::from(""), Cell::from)
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

impl Table {
    /// A table whose columns have names.
    pub fn new<const N: usize>(names: [&str; N]) -> Table {
        Table { lines: vec![names.map(|name| Cell::colored(name, Some(Color::Bold))).to_vec()] }
    }

    /// A table of facts, each with its name before it.
    pub fn of_facts() -> Table {
        Table { lines: Vec::new() }
    }

    pub fn fact(&mut self, name: &str, value: impl Into<Cell>) {
        self.lines.push(vec![Cell::colored(name, Some(Color::Dim)), value.into()]);
    }

    pub fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.lines.push(cells.to_vec());
    }

    /// For a number of columns that only the answer knows.
    pub fn of_columns(names: &[String], rows: impl Iterator<Item = Vec<String>>) -> Table {
        let mut lines = vec![names.iter().map(|name| Cell::colored(name, Some(Color::Bold))).collect()];
        lines.extend(rows.map(|row| row.into_iter().map(Cell::from).collect()));
        Table { lines }
    }

    pub fn write(&self, out: &mut Output) -> Result<()> {
        let colored = out.colored();
        for line in self.written(colored) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    fn written(&self, colored: bool) -> Vec<String> {
        let columns = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let width =
            |column: usize| self.lines.iter().filter_map(|line| line.get(column)).map(Cell::width).max();
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0).min(WIDEST)).collect();
        let written = |line: &Vec<Cell>| {
            let cells = line.iter().enumerate().map(|(column, cell)| {
                let is_last = column + 1 == line.len();
                let text = if is_last { cell.text.clone() } else { shortened(&cell.text, widths[column]) };
                let padding = if is_last { 0 } else { widths[column].saturating_sub(text.chars().count()) };
                let text = match cell.color {
                    Some(color) if colored && !text.is_empty() => {
                        format!("\x1b[{}m{text}\x1b[0m", color.code())
                    }
                    _ => text,
                };
                format!("{text}{}", " ".repeat(padding))
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        self.lines.iter().map(written).collect()
    }
}

fn shortened(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_need_and_cells_stay_on_their_line() {
        let mut table = Table::new(["ID", "STATUS", "ERROR"]);
        table.row([7.into(), Cell::status("COMPLETED"), Cell::maybe(None::<&str>)]);
        table.row([1234.into(), Cell::status("FAILED"), "two\nlines".into()]);
        assert_eq!(
            table.written(false),
            ["ID    STATUS     ERROR", "7     COMPLETED", "1234  FAILED     two lines"]
        );
    }

    #[test]
    fn colours_do_not_count_as_width() {
        let mut table = Table::of_facts();
        table.fact("status", Cell::status("FAILED"));
        table.fact("at", "x");
        assert_eq!(
            table.written(true),
            ["\x1b[2mstatus\x1b[0m  \x1b[31mFAILED\x1b[0m", "\x1b[2mat\x1b[0m      x"]
        );
    }

    #[test]
    fn only_the_last_cell_may_be_long() {
        let long = "x".repeat(100);
        let mut table = Table::of_facts();
        table.row([long.clone().into(), long.clone().into()]);
        assert_eq!(table.written(false), [format!("{}…  {long}", "x".repeat(59))]);
    }
}
