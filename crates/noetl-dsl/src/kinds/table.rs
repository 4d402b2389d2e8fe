//! The set of tool kinds a playbook may use.

use std::sync::Arc;

use super::{KindSpec, builtin};

/// Kinds by name.
#[derive(Clone, Debug)]
pub struct KindTable {
    kinds: Arc<Vec<KindSpec>>,
}

impl KindTable {
    /// The kinds of the language.
    pub fn builtin() -> KindTable {
        static BUILTIN: std::sync::LazyLock<KindTable> =
            std::sync::LazyLock::new(|| KindTable { kinds: Arc::new(builtin::kinds()) });
        BUILTIN.clone()
    }

    /// No kinds at all.
    pub fn empty() -> KindTable {
        KindTable { kinds: Arc::new(Vec::new()) }
    }

    /// Adds a kind, or replaces the one of that name.
    pub fn with(mut self, kind: KindSpec) -> KindTable {
        let kinds = Arc::make_mut(&mut self.kinds);
        match kinds.iter_mut().find(|known| known.name == kind.name) {
            Some(known) => *known = kind,
            None => kinds.push(kind),
        }
        self
    }

    /// The kind with this name or alias.
    pub fn find(&self, name: &str) -> Option<&KindSpec> {
        self.kinds.iter().find(|kind| kind.name == name || kind.aliases.iter().any(|alias| alias == name))
    }

    pub fn iter(&self) -> impl Iterator<Item = &KindSpec> {
        self.kinds.iter()
    }

    /// Every name, without aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.kinds.iter().map(|kind| &*kind.name)
    }
}

impl Default for KindTable {
    fn default() -> KindTable {
        KindTable::builtin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::FieldSpec;
    use crate::types::Types;

    #[test]
    fn a_kind_can_be_added_and_replaced() {
        let table =
            KindTable::builtin()
                .with(KindSpec::new("teleport", "Moves things.", "where they are").alias("beam"))
                .with(KindSpec::new(String::from("noop"), "Does nothing.", "nothing").field(
                    FieldSpec::new(format!("field_{}", 1), Types::TEXT, "made at run time").required(),
                ));
        assert_eq!(table.find("beam").map(|kind| &*kind.name), Some("teleport"));
        assert_eq!(table.find("noop").map(|kind| kind.fields.len()), Some(1));
        assert_eq!(KindTable::builtin().names().count() + 1, table.names().count());
    }

    #[test]
    fn names_are_unique_over_kinds_and_within_each_kind() {
        let table = KindTable::builtin();
        let mut kinds: Vec<&str> = table
            .iter()
            .flat_map(|kind| kind.aliases.iter().chain([&kind.name]))
            .map(|name| &**name)
            .collect();
        let count = kinds.len();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), count);
        for kind in table.iter() {
            let mut names: Vec<&str> = kind
                .fields
                .iter()
                .flat_map(|field| field.aliases.iter().chain(&field.older).chain([&field.name]))
                .map(|name| &**name)
                .collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}", kind.name);
        }
    }
}
