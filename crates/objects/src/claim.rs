//! Whether an object that is there may be written to.

/// What another owner, by its uid, has to do with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// Nobody knows such an owner.
    Unknown,
    /// It asks for the object, too.
    Wants,
    /// It no longer asks for it.
    GivenUp,
}

/// What is there.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Whose it is, by its label.
    pub owner: Option<&'a str>,
    /// Whether it is the very object that was written down.
    pub is_recorded: bool,
    /// Whether our field manager applied it. A label can be copied; this can't.
    pub is_applied_by_us: bool,
}

/// Whether `us` may write to what is there. A word from a person takes what others made, but not what another
/// owner asks for: these two would take it from each other for ever.
pub fn may_claim(
    us: &str,
    found: Found<'_>,
    may_adopt: bool,
    rival: impl FnOnce(&str) -> Rival,
) -> bool {
    match found.owner {
        Some(owner) if owner == us => found.is_recorded || found.is_applied_by_us || may_adopt,
        Some(other) => match rival(other) {
            Rival::Wants => false,
            Rival::GivenUp => true,
            Rival::Unknown => found.is_recorded || may_adopt,
        },
        None => found.is_recorded || may_adopt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(owner: Option<&str>) -> Found<'_> {
        Found {
            owner,
            is_recorded: false,
            is_applied_by_us: false,
        }
    }

    fn ask(found: Found<'_>, may_adopt: bool, rival: Rival) -> bool {
        may_claim("us", found, may_adopt, |_| rival)
    }

    #[test]
    fn a_copied_label_claims_nothing_and_our_own_work_does() {
        let labelled = found(Some("us"));
        assert!(!ask(labelled, false, Rival::Unknown));
        let applied = Found {
            is_applied_by_us: true,
            ..labelled
        };
        assert!(ask(applied, false, Rival::Unknown));
        let unlabelled = Found {
            is_applied_by_us: true,
            ..found(None)
        };
        assert!(!ask(unlabelled, false, Rival::Unknown));
    }

    #[test]
    fn what_was_written_down_is_ours_whatever_became_of_its_labels() {
        for owner in [None, Some("us"), Some("nonsense")] {
            let recorded = Found {
                is_recorded: true,
                ..found(owner)
            };
            assert!(ask(recorded, false, Rival::Unknown), "{owner:?}");
        }
    }

    #[test]
    fn a_word_takes_what_others_made_but_not_what_another_owner_wants() {
        assert!(ask(found(None), true, Rival::Unknown));
        assert!(ask(found(Some("other")), true, Rival::Unknown));
        assert!(ask(found(Some("other")), false, Rival::GivenUp));
        let recorded = Found {
            is_recorded: true,
            ..found(Some("other"))
        };
        assert!(!ask(recorded, true, Rival::Wants));
    }
}
