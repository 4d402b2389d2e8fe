//! Automation of the project: `cargo xtask <task>`.

mod arrows;
mod ci;
mod generate;
mod purity;
mod shell;
mod tools_page;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

  ci          everything CI checks, in order; stops at the first failure
  arrows      crate dependencies follow the table, and the pure crates stay pure
  generate    write the generated files in docs/
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let task = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ci"] => ci::run,
        ["arrows"] => ci::arrows,
        ["generate"] => generate::run,
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match task() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
