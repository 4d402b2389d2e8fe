//! A map while its entries come in: twice the same key, and merge keys.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Data, Entry, Node, Span, YamlError};

#[derive(Debug, Default)]
pub(super) struct OpenMap {
    entries: Vec<Entry>,
    /// The key whose value is awaited.
    key: Option<Key>,
    seen: HashSet<Arc<str>>,
    /// What `<<` brought in, and before which of the entries.
    merged: Vec<(usize, Vec<Entry>)>,
}

#[derive(Debug)]
pub(super) struct Key {
    pub(super) text: Arc<str>,
    pub(super) span: Span,
    /// An unquoted `<<`.
    pub(super) is_merge: bool,
}

impl OpenMap {
    pub(super) fn awaits_key(&self) -> bool {
        self.key.is_none()
    }

    /// Takes a key, and says what is wrong with it.
    pub(super) fn add_key(&mut self, key: Key) -> Option<YamlError> {
        let repeated = (!key.is_merge && self.seen.contains(&key.text)).then(|| {
            YamlError::new(key.span, format!("the key '{}' occurs twice in this map", key.text))
                .with_help("remove one of them, or rename it")
        });
        self.key = Some(key);
        repeated
    }

    /// Takes the value of the key that came last.
    pub(super) fn add_value(&mut self, value: Node) -> Result<(), YamlError> {
        let key = self.key.take().expect("the parser gives a key before each value");
        if key.is_merge {
            return self.merge(key.span, value);
        }
        if self.seen.insert(key.text.clone()) {
            self.entries.push(Entry { key: key.text, key_span: key.span, value });
        }
        Ok(())
    }

    /// `<<: *defaults`, `<<: [*first, *second]`.
    fn merge(&mut self, span: Span, value: Node) -> Result<(), YamlError> {
        let maps = match value.data {
            Data::Map(entries) => vec![entries],
            Data::List(items) => {
                items.into_iter().map(|item| entries_to_merge(item, span)).collect::<Result<_, _>>()?
            }
            _ => vec![entries_to_merge(value, span)?],
        };
        for mut entries in maps {
            entries.iter_mut().for_each(|entry| entry.value.mark_aliased());
            self.merged.push((self.entries.len(), entries));
        }
        Ok(())
    }

    /// The entries, with what was merged in at the place of its `<<` unless the map has the key itself.
    pub(super) fn finish(mut self) -> Vec<Entry> {
        if self.merged.is_empty() {
            return self.entries;
        }
        let mut all = Vec::with_capacity(self.entries.len());
        let mut own = self.entries.into_iter();
        let mut taken = 0;
        for (position, entries) in self.merged {
            all.extend(own.by_ref().take(position - taken));
            taken = position;
            all.extend(entries.into_iter().filter(|entry| self.seen.insert(entry.key.clone())));
        }
        all.extend(own);
        all
    }
}

fn entries_to_merge(value: Node, span: Span) -> Result<Vec<Entry>, YamlError> {
    match value.data {
        Data::Map(entries) => Ok(entries),
        _ => Err(YamlError::new(span, "'<<' takes a map or a list of maps")
            .with_help("put '<<' in quotes if it is a key of yours")),
    }
}
