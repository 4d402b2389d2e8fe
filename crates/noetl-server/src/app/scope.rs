//! What callers may do.

/// What a caller may do. An admin may do everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Reads.
    Viewer,
    /// Reads, registers, runs and steers runs.
    Operator,
    /// Takes commands and reports outcomes; resolves credentials.
    Worker,
    Admin,
}

impl Scope {
    pub const ALL: [Scope; 4] = [Scope::Viewer, Scope::Operator, Scope::Worker, Scope::Admin];

    pub fn name(self) -> &'static str {
        match self {
            Scope::Viewer => "viewer",
            Scope::Operator => "operator",
            Scope::Worker => "worker",
            Scope::Admin => "admin",
        }
    }

    pub fn find(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name)
    }

    /// Whether a caller with this scope may call a route of that one.
    pub fn covers(self, needed: Scope) -> bool {
        match self {
            Scope::Admin => true,
            Scope::Operator => matches!(needed, Scope::Operator | Scope::Viewer),
            // A worker reads what it needs to run commands: playbooks, executions, results. It also starts sub-playbooks.
            Scope::Worker => matches!(needed, Scope::Worker | Scope::Operator | Scope::Viewer),
            Scope::Viewer => needed == Scope::Viewer,
        }
    }
}
