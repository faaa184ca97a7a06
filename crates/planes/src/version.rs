//! Which versions of Kubernetes we work with.

use std::fmt;

/// The oldest version that has everything we use.
pub const OLDEST: Version = Version {
    major: 1,
    minor: 27,
};
/// The newest version that our tests have seen.
pub const NEWEST: Version = Version {
    major: 1,
    minor: 36,
};

/// A version of Kubernetes, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}

impl Version {
    /// Reads the first two numbers of texts such as `1.36.3`, `v1.30.0-eks-1` or `v1.29.4+k3s1`.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('v');
        let mut numbers = text.split(|c: char| !c.is_ascii_digit());
        let mut number = || numbers.next()?.parse().ok();
        Some(Self {
            major: number()?,
            minor: number()?,
        })
    }
}

/// How a plane's version stands to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionSkew {
    /// Tested.
    Supported,
    /// Too old: something we use is missing.
    TooOld(Version),
    /// Newer than what we tested; most likely it works.
    Untested(Version),
    /// The plane says nothing that we can read.
    Unknown,
}

impl VersionSkew {
    /// Compares a version such as `1.36.3` with those that we work with.
    pub fn of(version: &str) -> Self {
        match Version::read(version) {
            None => Self::Unknown,
            Some(version) if version < OLDEST => Self::TooOld(version),
            Some(version) if version > NEWEST => Self::Untested(version),
            Some(_) => Self::Supported,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_first_two_numbers() {
        let at = |major, minor| Version { major, minor };
        for (text, expected) in [
            ("1.36.3", VersionSkew::Supported),
            ("v1.27.0", VersionSkew::Supported),
            ("v1.30.0-eks-036c24b", VersionSkew::Supported),
            ("v1.29.4+k3s1", VersionSkew::Supported),
            ("1.30+", VersionSkew::Supported),
            ("v1.26.15", VersionSkew::TooOld(at(1, 26))),
            ("v1.9.0", VersionSkew::TooOld(at(1, 9))),
            ("v1.37.0-rc.0", VersionSkew::Untested(at(1, 37))),
            ("v2.0.0", VersionSkew::Untested(at(2, 0))),
            ("", VersionSkew::Unknown),
            ("latest", VersionSkew::Unknown),
            ("1", VersionSkew::Unknown),
            ("1.x", VersionSkew::Unknown),
            ("99999999999999999999.1", VersionSkew::Unknown),
        ] {
            assert_eq!(VersionSkew::of(text), expected, "{text}");
        }
    }
}
