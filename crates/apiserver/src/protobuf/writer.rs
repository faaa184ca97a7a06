//! Writes messages field by field. Zeroes and empty texts are what a reader assumes anyway, and are left out.

/// A message that is being written.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// A text.
    pub(crate) fn text(&mut self, number: u32, text: &str) {
        if !text.is_empty() {
            self.message(number, text.as_bytes());
        }
    }

    /// A message, or bytes: written even when empty.
    pub(crate) fn message(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A boolean.
    pub(crate) fn flag(&mut self, number: u32, value: bool) {
        if value {
            self.always_flag(number, value);
        }
    }

    /// A boolean that is one of several choices, where `false` says which.
    pub(crate) fn always_flag(&mut self, number: u32, value: bool) {
        self.tag(number, 0);
        self.varint(u64::from(value));
    }

    /// A number that is not negative.
    pub(crate) fn count(&mut self, number: u32, value: u64) {
        if value != 0 {
            self.tag(number, 0);
            self.varint(value);
        }
    }

    /// A number with a fraction.
    pub(crate) fn double(&mut self, number: u32, value: f64) {
        if value != 0.0 {
            self.tag(number, 1);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// What was written.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    fn tag(&mut self, number: u32, wire_type: u64) {
        self.varint(u64::from(number) << 3 | wire_type);
    }

    fn varint(&mut self, mut value: u64) {
        while value > 0x7f {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push((value & 0x7f) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::wire::{Raw, Reader},
        *,
    };

    #[test]
    fn what_is_written_is_read_back() {
        let mut out = Writer::default();
        out.text(1, "a");
        out.text(2, "");
        out.flag(3, true);
        out.flag(4, false);
        out.always_flag(5, false);
        out.count(600, 300);
        out.double(7, 1.5);
        out.message(8, b"");
        let bytes = out.finish();
        let mut reader = Reader(&bytes);
        let mut read = Vec::new();
        while let Some(field) = reader.next().unwrap() {
            read.push(field);
        }
        assert_eq!(
            read,
            [
                (1, Raw::Bytes(b"a")),
                (3, Raw::Varint(1)),
                (5, Raw::Varint(0)),
                (600, Raw::Varint(300)),
                (7, Raw::Fixed64(1.5_f64.to_bits())),
                (8, Raw::Bytes(b"")),
            ]
        );
    }
}
