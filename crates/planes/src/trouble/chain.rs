//! An error and all its causes.

use std::{error::Error, io};

/// An error, its cause, the cause of that … `io::Error` hides what it wraps from `source`; here it doesn't.
pub(super) fn chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        match error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
        {
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

/// The texts of a chain, without those that only repeat the next one.
pub(super) fn words(error: &(dyn Error + 'static)) -> String {
    let mut words: Vec<String> = Vec::new();
    for error in chain(error) {
        let text = error.to_string();
        if !words.iter().any(|earlier| earlier.contains(&text)) {
            words.push(text);
        }
    }
    words.join(": ")
}
