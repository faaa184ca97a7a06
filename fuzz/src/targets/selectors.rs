//! Selectors.

use quadrille_machinery::selector::{FieldSelector, LabelSelector};

pub(super) const SEEDS: &[&str] = &[
    "app=web,tier!=db,env in (a, b),!canary,x notin (c),y",
    "a.example.com/b == c, n > 5, m < 7",
    "metadata.name=a,status.phase!=Running",
    "spec.x=a\\,b\\=c",
];
pub(super) const WORDS: &[&str] = &[
    "=",
    "==",
    "!=",
    "!",
    ",",
    "(",
    ")",
    " in ",
    " notin ",
    ">",
    "<",
    "a",
    "é",
    "\\",
    "/",
    "\"",
    "-",
    "_",
    ".",
    " ",
    "\n",
    "metadata.name",
];

pub(super) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if let Ok(selector) = LabelSelector::parse(text) {
        let written = selector.to_string();
        let again = LabelSelector::parse(&written).expect("what is written can be read");
        assert_eq!(
            again.to_string(),
            written,
            "writing it again changes nothing"
        );
        let _matched = selector.matches(None);
    }
    if let Ok(selector) = FieldSelector::parse(text) {
        let _matched = selector.matches(|_| "a".into());
    }
}
