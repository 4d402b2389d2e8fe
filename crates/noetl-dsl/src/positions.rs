//! From byte offsets to the lines and columns people count in.

/// A place in a text as an editor shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

/// After how many bytes the number of characters is noted, so that columns of very long lines cost no more than others.
const STRIDE: usize = 1024;

/// Where each line of a source starts. A line ends with `\n`, `\r\n` or a lone `\r`, as in YAML.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
    /// How many characters start before every `STRIDE`th byte.
    characters: Vec<usize>,
    bom: usize,
}

impl LineIndex {
    pub fn new(source: &str) -> LineIndex {
        let bytes = source.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        let bom = if source.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        let mut characters = Vec::with_capacity(bytes.len() / STRIDE + 1);
        let mut count = 0;
        for chunk in bytes.chunks(STRIDE) {
            characters.push(count);
            count += count_characters(chunk);
        }
        characters.push(count);
        LineIndex { starts, characters, bom }
    }

    /// How many characters start before an offset.
    fn characters_before(&self, source: &str, offset: usize) -> usize {
        let stride = offset / STRIDE;
        self.characters[stride] + count_characters(&source.as_bytes()[stride * STRIDE..offset])
    }

    /// The line of an offset, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The place of an offset; one past the end of the source is its end. A byte order mark takes no column.
    pub fn position(&self, source: &str, offset: usize) -> Position {
        let offset = floor_char_boundary(source, offset);
        let line = self.line(offset);
        let start = match line {
            1 => self.bom.min(offset),
            _ => self.starts[line - 1],
        };
        let column = self.characters_before(source, offset) - self.characters_before(source, start) + 1;
        Position { line, column }
    }

    /// The offset at which a line (from 1) starts; a line past the last one starts where the last one does.
    pub fn line_start(&self, line: usize) -> usize {
        self.starts[line.clamp(1, self.starts.len()) - 1]
    }

    /// The text of a line (from 1), without its line break and without a byte order mark.
    pub fn line_text<'s>(&self, source: &'s str, line: usize) -> &'s str {
        let start = self.line_start(line);
        let end = self.starts.get(line).copied().unwrap_or(source.len());
        source[start..end.max(start)].trim_end_matches(['\n', '\r']).trim_start_matches('\u{FEFF}')
    }
}

fn count_characters(bytes: &[u8]) -> usize {
    // Every byte that does not continue a character starts one.
    bytes.iter().filter(|byte| (**byte as i8) >= -0x40).count()
}

/// The line of an offset, from 1, for those who need but one.
pub fn line_of(source: &str, offset: usize) -> usize {
    let bytes = source.as_bytes();
    let ends_line = |at: &usize| match bytes[*at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    (0..offset.min(bytes.len())).filter(ends_line).count() + 1
}

/// The largest offset that is no greater and lies between two characters of the source.
pub(crate) fn floor_char_boundary(source: &str, offset: usize) -> usize {
    let mut offset = offset.min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(source: &str, offset: usize) -> (usize, usize) {
        let Position { line, column } = LineIndex::new(source).position(source, offset);
        (line, column)
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        assert_eq!(place("é: ü\nb: 1", "é: ".len()), (1, 4));
        assert_eq!(place("é: ü\nb: 1", "é: ü\nb".len()), (2, 2));
    }

    #[test]
    fn columns_of_long_lines_are_counted_too() {
        let source = format!("a\n{}", "aé€𝄞".repeat(1000));
        let index = LineIndex::new(&source);
        for (number, (offset, _)) in source[2..].char_indices().enumerate() {
            assert_eq!(index.position(&source, 2 + offset), Position { line: 2, column: number + 1 });
        }
        assert_eq!(place(&source, source.len()), (2, 4001));
        assert_eq!(place(&"x".repeat(STRIDE), STRIDE), (1, STRIDE + 1));
    }

    #[test]
    fn every_kind_of_line_break_starts_a_line() {
        let source = "a\r\nb\rc\nd";
        let index = LineIndex::new(source);
        assert_eq!(
            (1..=4).map(|line| index.line_text(source, line)).collect::<Vec<_>>(),
            ["a", "b", "c", "d"]
        );
        assert_eq!(place(source, source.len()), (4, 2));
        assert_eq!(index.line(1), 1);
        assert_eq!(index.line(2), 1);
        assert!((0..=source.len()).all(|offset| line_of(source, offset) == index.line(offset)));
    }

    #[test]
    fn offsets_inside_a_character_or_past_the_end_are_brought_back() {
        assert_eq!(place("é", 1), (1, 1));
        assert_eq!(place("ab\n", 99), (2, 1));
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        assert_eq!(place("\u{FEFF}a: 1", 3), (1, 1));
        assert_eq!(place("\u{FEFF}a: 1", 4), (1, 2));
    }
}
