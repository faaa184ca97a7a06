//! The wire format of protobuf: tagged values, one after the other.

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WireError {
    /// A value ends before it is complete.
    #[error("unexpected EOF")]
    Short,
    /// A number of more than 64 bits.
    #[error("proto: integer overflow")]
    Overflow,
    /// A group, or something that was never defined.
    #[error("proto: illegal wireType {0}")]
    Type(u64),
    /// Field numbers start at one.
    #[error("proto: illegal tag 0")]
    Tag,
}

/// One value, still as it was on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Raw<'a> {
    /// Integers and booleans.
    Varint(u64),
    /// Doubles.
    Fixed64(u64),
    /// Nothing in Kubernetes uses these; they are skipped.
    Fixed32(u32),
    /// Texts, bytes, messages, packed lists.
    Bytes(&'a [u8]),
}

/// Reads values one by one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// The next field number and value; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u32, Raw<'a>)>, WireError> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).map_err(|_| WireError::Overflow)?;
        if number == 0 {
            return Err(WireError::Tag);
        }
        let value = match tag & 7 {
            0 => Raw::Varint(self.varint()?),
            1 => Raw::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| WireError::Overflow)?;
                Raw::Bytes(self.take(length)?)
            }
            5 => Raw::Fixed32(u32::from_le_bytes(self.array()?)),
            other => return Err(WireError::Type(other)),
        };
        Ok(Some((number, value)))
    }

    /// An integer in groups of seven bits, the lowest first.
    pub(crate) fn varint(&mut self) -> Result<u64, WireError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array::<1>()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(WireError::Overflow)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or(WireError::Short)?;
        self.0 = rest;
        Ok(*head)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let (head, rest) = self.0.split_at_checked(length).ok_or(WireError::Short)?;
        self.0 = rest;
        Ok(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_values_are_read() {
        let bytes = [
            0x08, 0xac, 0x02, // 1: varint 300
            0x11, 1, 0, 0, 0, 0, 0, 0, 0, // 2: fixed64
            0x1a, 0x02, b'h', b'i', // 3: bytes
            0x25, 7, 0, 0, 0, // 4: fixed32
        ];
        let mut reader = Reader(&bytes);
        let mut values = Vec::new();
        while let Some(value) = reader.next().unwrap() {
            values.push(value);
        }
        assert_eq!(
            values,
            [
                (1, Raw::Varint(300)),
                (2, Raw::Fixed64(1)),
                (3, Raw::Bytes(b"hi")),
                (4, Raw::Fixed32(7)),
            ]
        );
    }

    #[test]
    fn broken_bytes_are_errors_and_nothing_else() {
        for (bytes, error) in [
            (&[0x08][..], WireError::Short),
            (&[0x1a, 0x05, b'h'], WireError::Short),
            (
                &[0x1a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
                WireError::Short,
            ),
            (&[0xff; 11], WireError::Overflow),
            (&[0x00, 0x01], WireError::Tag),
            (&[0x0b], WireError::Type(3)),
        ] {
            assert_eq!(Reader(bytes).next(), Err(error), "{bytes:?}");
        }
    }
}
