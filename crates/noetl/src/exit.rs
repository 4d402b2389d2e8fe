//! What the exit code says. The numbers are promised to scripts.

use std::process::ExitCode;

/// A command was asked for something it cannot make sense of. Ends with [`Exit::Usage`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUse(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything is as it should be.
    Good,
    /// The command could not do its work.
    Failed,
    /// The command was asked for something it cannot make sense of: a flag that does not exist, a file that is not there.
    /// The parser of the command line uses the same number.
    Usage,
    /// A playbook is not valid.
    Invalid,
    /// The user broke off.
    Interrupted,
    /// The system asked it to end.
    Terminated,
    /// The terminal is gone.
    HungUp,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Good => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Invalid => 3,
            Exit::HungUp => 129,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        })
    }
}
