//! Words that many objects share, such as kinds and namespaces: kept once.

use std::{collections::HashSet, sync::Arc};

use parking_lot::Mutex;

/// The words in use.
struct Words {
    known: Option<HashSet<Arc<str>>>,
    /// When that many are known, those that nobody uses any more are let go.
    full: usize,
}

static WORDS: Mutex<Words> = Mutex::new(Words {
    known: None,
    full: FEW,
});

/// So many are not worth a look.
const FEW: usize = 1024;

/// A word, shared with everybody who has the same one.
pub fn word(text: &str) -> Arc<str> {
    let mut words = WORDS.lock();
    let full = words.full;
    let known = words.known.get_or_insert_default();
    if let Some(word) = known.get(text) {
        return Arc::clone(word);
    }
    let word: Arc<str> = text.into();
    known.insert(Arc::clone(&word));
    if known.len() > full {
        known.retain(|word| Arc::strong_count(word) > 1);
        words.full = FEW.max(2 * known.len());
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_kept_once_and_only_as_long_as_it_is_used() {
        let kept = word("a word of this test");
        assert!(Arc::ptr_eq(&kept, &word("a word of this test")));
        for number in 0..10 * FEW {
            word(&format!("word {number}"));
        }
        let words = WORDS.lock();
        assert!(words.known.as_ref().unwrap().len() <= 2 * FEW);
        assert!(words.known.as_ref().unwrap().contains(&kept));
    }
}
