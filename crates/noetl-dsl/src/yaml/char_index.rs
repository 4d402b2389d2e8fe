//! From character counts, which the parser reports, to byte offsets.

/// How many characters lie between two remembered offsets.
const STRIDE: usize = 64;

/// The byte offsets of a source's characters. Takes no memory for ASCII.
#[derive(Debug)]
pub(super) struct CharIndex<'s> {
    source: &'s str,
    /// The offset of every `STRIDE`th character; empty for ASCII, where counts are offsets.
    offsets: Vec<usize>,
}

impl<'s> CharIndex<'s> {
    pub(super) fn new(source: &'s str) -> CharIndex<'s> {
        let offsets = match source.is_ascii() {
            true => Vec::new(),
            false => source.char_indices().step_by(STRIDE).map(|(offset, _)| offset).collect(),
        };
        CharIndex { source, offsets }
    }

    /// The offset of the character with this number; the end of the source for numbers past it.
    pub(super) fn offset(&self, number: usize) -> usize {
        if self.offsets.is_empty() {
            return number.min(self.source.len());
        }
        let Some(&near) = self.offsets.get(number / STRIDE) else {
            return self.source.len();
        };
        let rest = &self.source[near..];
        rest.char_indices().nth(number % STRIDE).map_or(self.source.len(), |(offset, _)| near + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_found_at_its_offset() {
        for source in ["plain", "é", &"aé€𝄞".repeat(100)] {
            let index = CharIndex::new(source);
            for (number, (offset, _)) in source.char_indices().enumerate() {
                assert_eq!(index.offset(number), offset);
            }
            assert_eq!(index.offset(source.chars().count()), source.len());
            assert_eq!(index.offset(source.chars().count() + STRIDE), source.len());
        }
    }
}
