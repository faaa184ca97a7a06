//! Inputs: a sound one, bent a little or a lot.

use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};

/// The longest input.
const LONGEST: usize = 64 * 1024;
/// Numbers at the edges of what computers count with.
const EDGES: [&str; 10] = [
    "0",
    "-1",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "1e308",
    "1e-400",
    "0.1",
    "00",
];

/// The input of a number. Words are what the target's language is made of.
pub(crate) fn input(seeds: &[&str], words: &[&str], seed: u64, number: u64) -> Vec<u8> {
    let mut random = StdRng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number);
    let pick = |random: &mut StdRng| seeds.choose(random).copied().unwrap_or_default();
    let mut input = pick(&mut random).as_bytes().to_vec();
    for _ in 0..random.random_range(0..8) {
        let at = random.random_range(0..=input.len());
        match random.random_range(0..9) {
            0 if at < input.len() => input[at] ^= 1 << random.random_range(0..8),
            1 => input.insert(at, random.random()),
            2 => {
                let end = random.random_range(at..=input.len());
                input.drain(at..end.min(at + 40));
            }
            3 => {
                let end = random.random_range(at..=input.len());
                let part = input[at..end].to_vec();
                insert(&mut input, at, &part);
            }
            4 => {
                let word = words.choose(&mut random).copied().unwrap_or_default();
                insert(&mut input, at, word.as_bytes());
            }
            5 => {
                // Deep, or long.
                let word = words.choose(&mut random).copied().unwrap_or_default();
                let times = 1 << random.random_range(0..13);
                insert(&mut input, at, word.repeat(times).as_bytes());
            }
            6 => {
                let other = pick(&mut random).as_bytes();
                let from = random.random_range(0..=other.len());
                insert(&mut input, at, &other[from..]);
            }
            7 => replace_number(&mut input, &mut random),
            _ => input.truncate(at),
        }
        input.truncate(LONGEST);
    }
    input
}

fn insert(input: &mut Vec<u8>, at: usize, part: &[u8]) {
    let room = LONGEST.saturating_sub(input.len());
    input.splice(at..at, part[..part.len().min(room)].iter().copied());
}

fn replace_number(input: &mut Vec<u8>, random: &mut StdRng) {
    let Some(start) = input.iter().position(u8::is_ascii_digit) else {
        return;
    };
    let digits = input[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    let end = start + digits.count();
    let edge = EDGES.choose(random).copied().unwrap_or_default();
    input.splice(start..end, edge.bytes());
}
