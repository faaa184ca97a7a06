//! Rows come back as they went in, and a changed one does not.

use super::{Current, Logged};
use crate::Change;

fn mk_row() -> Vec<u8> {
    let mut row = Vec::new();
    let current = Current {
        live: true,
        created: 3,
        modified: 9,
        value: b"a value of some length, so that both lanes of the digest get work",
    };
    current.encode(b"key", &mut row);
    row
}

#[test]
fn a_current_row_comes_back() {
    let row = mk_row();
    let current = Current::decode(b"key", &row).unwrap();
    assert!(current.live);
    assert_eq!((current.created, current.modified), (3, 9));
    assert!(current.value.starts_with(b"a value"));
}

#[test]
fn a_log_row_comes_back() {
    let mut row = Vec::new();
    for (change, value, previous) in [
        (Change::Created, Some(&b"new"[..]), None),
        (Change::Updated, Some(&b"new"[..]), Some(&b"old"[..])),
        (Change::Deleted, Some(&b"last"[..]), Some(&b"old"[..])),
        (Change::Deleted, None, Some(&b"old"[..])),
        (Change::Updated, Some(&b""[..]), Some(&b""[..])),
    ] {
        let logged = Logged {
            change,
            created: 1,
            prior: 2,
            key: b"key",
            value,
            previous,
        };
        logged.encode(7, &mut row);
        let back = Logged::decode(7, &row).unwrap();
        assert_eq!((back.change, back.created, back.prior), (change, 1, 2));
        assert_eq!(
            (back.key, back.value, back.previous),
            (&b"key"[..], value, previous)
        );
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let row = mk_row();
    for bit in 0..row.len() * 8 {
        let mut bad = row.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(Current::decode(b"key", &bad).is_err(), "bit {bit}");
    }
    for len in 0..row.len() {
        assert!(
            Current::decode(b"key", &row[..len]).is_err(),
            "length {len}"
        );
    }
}

#[test]
fn a_row_of_another_key_is_noticed() {
    assert!(Current::decode(b"kez", &mk_row()).is_err());
    assert!(Current::decode(b"", &mk_row()).is_err());
}
