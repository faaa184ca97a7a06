//! Names of hosts, with or without a `*` in front.

/// Whether some host has both names. An empty name stands for every host.
pub(super) fn overlap(one: &str, other: &str) -> bool {
    if one.is_empty() || other.is_empty() || one == other {
        return true;
    }
    match (one.strip_prefix('*'), other.strip_prefix('*')) {
        (Some(one), Some(other)) => one.ends_with(other) || other.ends_with(one),
        (Some(rest), None) => is_below(other, rest),
        (None, Some(rest)) => is_below(one, rest),
        (None, None) => false,
    }
}

/// Whether a name has something in front of `.rest`.
fn is_below(name: &str, rest: &str) -> bool {
    name.len() > rest.len() && name.ends_with(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_at_least_one_label() {
        assert!(overlap("", "shop.example.com"));
        assert!(overlap("*.example.com", "shop.example.com"));
        assert!(overlap("*.example.com", "a.shop.example.com"));
        assert!(overlap("*.example.com", "*.shop.example.com"));
        assert!(!overlap("*.example.com", "example.com"));
        assert!(!overlap("*.example.com", "shop.example.org"));
        assert!(!overlap("shop.example.com", "cart.example.com"));
    }
}
