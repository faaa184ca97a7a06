//! What somebody may have meant who mistyped a word.

/// The known word that is nearest to what was typed, if one is near enough to be meant.
pub(crate) fn nearest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let near = known.into_iter().map(|word| {
        let distance = strsim::damerau_levenshtein(&typed.to_lowercase(), &word.to_lowercase());
        (distance, word)
    });
    near.filter(|(distance, word)| *distance <= 1 + word.len() / 4 && *word != typed)
        .min()
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_suggested() {
        let known = ["environments", "releases", "env"];
        assert_eq!(nearest("enviroments", known), Some("environments"));
        assert_eq!(nearest("Relaeses", known), Some("releases"));
        assert_eq!(nearest("bananas", known), None);
        assert_eq!(nearest("releases", ["releases"]), None);
    }
}
