//! "Did you mean …?"

/// Comparing takes time, so neither endless words nor endless lists are compared.
const LONGEST_WORD: usize = 64;
const MOST_WORDS: usize = 1000;

/// The known word closest to a misspelt one, if one is close.
pub(crate) fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST_WORD {
        return None;
    }
    let word = word.to_lowercase();
    // A third of the letters may be wrong, swapped letters count once; one-letter names have no near neighbours.
    let allowed = match word.chars().count() {
        0 | 1 => return None,
        2..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST_WORD)
        .take(MOST_WORDS)
        .map(|candidate| (strsim::damerau_levenshtein(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A help line for a misspelt word.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(word, known).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// Longer lists are cut, so that a message stays readable.
const MOST_LISTED: usize = 30;

/// `a, b and c`, each in backquotes.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>, last: &str) -> String {
    let mut words: Vec<String> =
        words.into_iter().take(MOST_LISTED + 1).map(|word| format!("`{word}`")).collect();
    if words.len() > MOST_LISTED {
        words[MOST_LISTED] = "others".to_owned();
    }
    match words.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., end] => format!("{} {last} {end}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let known = ["next", "tool", "loop", "step"];
        assert_eq!(closest("nxet", known), Some("next"));
        assert_eq!(closest("Tool", known), Some("tool"));
        assert_eq!(closest("banana", known), None);
        assert_eq!(closest("n", known), None);
    }

    #[test]
    fn lists_read_like_sentences() {
        assert_eq!(listed(["a"], "or"), "`a`");
        assert_eq!(listed(["a", "b", "c"], "or"), "`a`, `b` or `c`");
    }
}
