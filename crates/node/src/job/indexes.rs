//! Sets of a job's indexes, as its status writes them: `0-3,5`.

use std::collections::BTreeSet;

/// Reads a set; what can't be read is left out.
pub(super) fn parse(text: &str) -> BTreeSet<u32> {
    let mut set = BTreeSet::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            set.extend(first..=last);
        }
    }
    set
}

/// Writes a set. Two in a row are written apart, more as a range.
pub(super) fn format(set: &BTreeSet<u32>) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut run: Option<(u32, u32)> = None;
    let end = |run: Option<(u32, u32)>, parts: &mut Vec<String>| match run {
        Some((first, last)) if first == last => parts.push(first.to_string()),
        Some((first, last)) if last == first + 1 => parts.push(format!("{first},{last}")),
        Some((first, last)) => parts.push(format!("{first}-{last}")),
        None => {}
    };
    for index in set {
        match &mut run {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => {
                end(run, &mut parts);
                run = Some((*index, *index));
            }
        }
    }
    end(run, &mut parts);
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_written_as_ranges_and_read_back() {
        for text in ["", "3", "0,1", "0-3,5", "1,3-5,7,8"] {
            assert_eq!(format(&parse(text)), text);
        }
    }
}
