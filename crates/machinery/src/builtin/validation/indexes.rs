//! Lists of indexes such as `0-3,5,8-9`, in which jobs tell which of their pods are done.

/// How many indexes a list holds that is well formed and stays below `count`; if it isn't, why.
pub(super) fn check(text: &str, count: i64) -> Result<i64, String> {
    let mut total = 0;
    let mut last = None;
    for part in parts(text) {
        let (first, end) = interval(part, count)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(order(last, first));
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

/// The first index that two lists share. What is malformed in them counts as nothing.
pub(super) fn overlap(left: &str, right: &str, count: i64) -> Option<i64> {
    let intervals = |text: &str| -> Vec<(i64, i64)> {
        let found = parts(text).map(|part| interval(part, count));
        found.filter_map(Result::ok).collect()
    };
    let (left, right) = (intervals(left), intervals(right));
    let shared = left.iter().flat_map(|a| {
        right
            .iter()
            .filter(|b| a.0 <= b.1 && b.0 <= a.1)
            .map(|b| a.0.max(b.0))
    });
    shared.min()
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|_| !text.is_empty())
}

fn order(previous: i64, current: i64) -> String {
    format!("non-increasing order, previous: {previous}, current: {current}")
}

fn interval(part: &str, count: i64) -> Result<(i64, i64), String> {
    let limits: Vec<&str> = part.split('-').collect();
    let index = |text: &str| match text.parse::<i64>() {
        Err(_) => Err(format!(
            "cannot convert string to integer for index: {text:?}"
        )),
        Ok(index) if index >= count => Err(format!("too large index: {text:?}")),
        Ok(index) => Ok(index),
    };
    match limits[..] {
        [only] => index(only).map(|only| (only, only)),
        [first, last] => {
            let (first, last) = (index(first)?, index(last)?);
            if first >= last {
                return Err(order(first, last));
            }
            Ok((first, last))
        }
        _ => Err(format!(
            "the fragment {part:?} violates the requirement that an index interval can have at most two parts separated by '-'"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_grow_and_stay_below_the_count() {
        assert_eq!(check("", 0), Ok(0));
        assert_eq!(check("0-3,5", 6), Ok(5));
        assert_eq!(check("5", 5), Err("too large index: \"5\"".to_owned()));
        assert_eq!(check("3,1", 5), Err(order(3, 1)));
        assert!(check("1-2-3", 5).is_err());
    }

    #[test]
    fn lists_may_share_an_index() {
        assert_eq!(overlap("0-3", "4", 5), None);
        assert_eq!(overlap("0-3", "2-4", 5), Some(2));
        assert_eq!(overlap("x,1", "1", 5), Some(1));
    }
}
