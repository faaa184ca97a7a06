//! A short fingerprint of a text.

use std::{fmt, str::FromStr};

use sha2::{Digest as _, Sha256};

/// Half of a SHA-256: enough that no two texts meet by chance or by malice of any use here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 16]);

/// The text is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest has 32 hexadecimal digits")]
pub struct NotADigest;

impl Digest {
    /// The digest of parts; where one part ends and the next begins matters.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let whole = hash.finalize();
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        Self(half)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        if text.len() != 32 || !text.is_ascii() {
            return Err(NotADigest);
        }
        let mut bytes = [0; 16];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| NotADigest)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| NotADigest)?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_can_be_written_and_read_again() {
        let digest = Digest::of(["a", "b"]);
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_ne!(digest, Digest::of(["ab"]));
        for wrong in ["", "zz", &"g".repeat(32), &"é".repeat(16)] {
            assert_eq!(wrong.parse::<Digest>(), Err(NotADigest));
        }
    }
}
