//! How large a document may be.

/// What a document may take before it is refused. Every limit bounds time as well as memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Length of the source.
    pub max_bytes: usize,
    /// Lists and maps inside each other, aliases expanded.
    pub max_depth: usize,
    /// Values and keys, aliases expanded. A value with an anchor counts twice.
    pub max_nodes: usize,
    /// Length of one text.
    pub max_scalar_bytes: usize,
    /// Uses of anchors.
    pub max_aliases: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_bytes: 4 * 1024 * 1024,
            max_depth: 64,
            max_nodes: 200_000,
            max_scalar_bytes: 1024 * 1024,
            max_aliases: 10_000,
        }
    }
}
