//! Resource quantities (`500m`, `1.5Gi`): parsing and the canonical form that servers write.

/// A quantity that cannot be read, in the words of real servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// Not even shaped like a quantity.
    #[error(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Shape,
    /// The number is no number.
    #[error("unable to parse numeric part of quantity")]
    Number,
    /// No such unit.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// How a quantity is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `m`, `k`, `M` …
    Decimal,
    /// `Ki`, `Mi` …
    Binary,
    /// `e3`, `e6` …
    Exponent,
}

const NANO: i128 = 1_000_000_000;
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/// Suffixes from 10^-9 upwards, a factor of 1000 each.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];

/// An amount, exact to a billionth.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nanos: i128,
    form: Form,
    /// The power of ten that the digits were written with, when they fit into 64 bits. Whether an
    /// amount counts as an integer depends on it: `1000m` does not.
    power: Option<i32>,
}

impl Quantity {
    /// Reads a quantity. `None` inside is one too large for exact arithmetic, to be kept as written.
    pub fn parse(text: &str) -> Result<Option<Self>, QuantityError> {
        let bytes = text.as_bytes();
        let signed = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
        let number_end = text[signed..]
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .map_or(text.len(), |at| at + signed);
        let number = &text[signed..number_end];
        let suffix = &text[number_end..];
        if text.is_empty() || !suffix_shaped(suffix) {
            return Err(QuantityError::Shape);
        }
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') {
            return Err(QuantityError::Shape);
        }
        // A suffix alone is nothing of it.
        let whole = if whole.is_empty() && fraction.is_empty() {
            "0"
        } else {
            whole
        };
        let (form, scale) = unit(suffix).ok_or(QuantityError::Suffix)?;
        let magnitude = match scale {
            Scale::Ten(power) => decimal_nanos(whole, fraction, power),
            Scale::Factor(factor) => binary_nanos(whole, fraction, factor),
        };
        let negative = bytes.first() == Some(&b'-');
        let power = written_power(whole, fraction, &scale);
        Ok(magnitude.map(|nanos| Self {
            nanos: if negative { -nanos } else { nanos },
            form,
            power,
        }))
    }

    /// A whole number.
    pub(crate) fn whole(number: i64) -> Self {
        Self {
            nanos: i128::from(number) * NANO,
            form: Form::Exponent,
            power: Some(0),
        }
    }

    /// The amount as an integer, if it was written without a fraction and fits.
    pub(crate) fn integer(self) -> Option<i64> {
        self.power.filter(|power| *power >= 0)?;
        i64::try_from(self.nanos / NANO).ok()
    }

    /// The amount as a floating point number.
    #[allow(clippy::cast_precision_loss)] // approximate by name
    pub(crate) fn approximate(self) -> f64 {
        match self.power {
            Some(power) if power >= -9 => {
                let unit = 10_i128.pow(power.unsigned_abs());
                let digits = if power < 0 {
                    self.nanos / (NANO / unit)
                } else {
                    self.nanos / NANO / unit
                };
                digits as f64 * 10_f64.powi(power)
            }
            _ => self.nanos as f64 / NANO as f64,
        }
    }

    /// The sum, in the form of the first unless that is zero.
    pub(crate) fn plus(self, other: Self) -> Self {
        let form = if self.nanos == 0 {
            other.form
        } else {
            self.form
        };
        let power = match (self.nanos, other.nanos) {
            (0, _) => other.power,
            (_, 0) => self.power,
            _ => self.power.zip(other.power).map(|(one, two)| one.min(two)),
        };
        Self {
            nanos: self.nanos.saturating_add(other.nanos),
            form,
            power,
        }
    }

    /// The same amount with the other sign.
    pub(crate) fn negated(self) -> Self {
        Self {
            nanos: -self.nanos,
            ..self
        }
    }

    /// The amount in billionths.
    pub fn nanos(self) -> i128 {
        self.nanos
    }

    /// The form in which servers write it: no fraction, the largest unit that keeps it whole.
    pub fn canonical(self) -> String {
        if self.nanos == 0 {
            return "0".to_owned();
        }
        if self.form == Form::Binary && self.nanos.abs() >= 1024 * NANO {
            let mut number = round_up(self.nanos, NANO);
            let mut unit = "";
            for suffix in BINARY {
                if number % 1024 != 0 {
                    break;
                }
                number /= 1024;
                unit = suffix;
            }
            return format!("{number}{unit}");
        }
        let mut number = self.nanos;
        let mut step = 0;
        while number % 1000 == 0 && step + 1 < DECIMAL.len() {
            number /= 1000;
            step += 1;
        }
        match self.form {
            Form::Exponent if step == 3 => number.to_string(),
            Form::Exponent => {
                let power = i32::try_from(step).unwrap_or(0) * 3 - 9;
                format!("{number}e{power}")
            }
            Form::Decimal | Form::Binary => format!("{number}{}", DECIMAL[step]),
        }
    }
}

enum Scale {
    Ten(i32),
    Factor(i128),
}

/// See [`Quantity::power`].
fn written_power(whole: &str, fraction: &str, scale: &Scale) -> Option<i32> {
    let digits = i32::try_from(whole.trim_start_matches('0').len() + fraction.len()).ok()?;
    match scale {
        Scale::Ten(power) if digits <= 18 => {
            let power = power - i32::try_from(fraction.len()).ok()?;
            (power >= -9).then_some(power)
        }
        Scale::Factor(factor) if fraction.is_empty() => {
            let bits = i32::try_from(factor.ilog2()).ok()?;
            (15 - digits - bits * 3 / 10 > 0).then_some(0)
        }
        _ => None,
    }
}

fn suffix_shaped(suffix: &str) -> bool {
    let letters = suffix.trim_start_matches(|letter| "eEinumkKMGTP".contains(letter));
    let digits = letters.strip_prefix(['+', '-']).unwrap_or(letters);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn unit(suffix: &str) -> Option<(Form, Scale)> {
    if let Some(at) = (0_i32..).zip(DECIMAL).find(|(_, known)| *known == suffix) {
        return Some((Form::Decimal, Scale::Ten(at.0 * 3 - 9)));
    }
    if let Some(at) = BINARY.iter().position(|known| *known == suffix) {
        return Some((Form::Binary, Scale::Factor(1 << (10 * (at + 1)))));
    }
    let power = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    Some((Form::Exponent, Scale::Ten(power)))
}

/// Division that rounds away from zero.
fn round_up(number: i128, by: i128) -> i128 {
    let whole = number / by;
    if number % by == 0 {
        whole
    } else {
        whole + number.signum()
    }
}

fn decimal_nanos(whole: &str, fraction: &str, power: i32) -> Option<i128> {
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let shift = power + 9 - i32::try_from(fraction.len()).ok()?;
    if shift >= 0 {
        let factor = 10_i128.checked_pow(shift.unsigned_abs())?;
        return digits.checked_mul(factor);
    }
    match 10_i128.checked_pow(shift.unsigned_abs()) {
        Some(by) => Some(round_up(digits, by)),
        None => Some(digits.signum()),
    }
}

fn binary_nanos(whole: &str, fraction: &str, factor: i128) -> Option<i128> {
    let fraction = fraction.trim_end_matches('0');
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let by = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    Some(round_up(digits.checked_mul(factor)?.checked_mul(NANO)?, by))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_written_canonically() {
        for (given, canonical) in [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1.5Gi", "1536Mi"),
            ("512Ki", "512Ki"),
            ("0.5Ki", "512"),
            ("1024", "1024"),
            ("1000", "1k"),
            ("12e6", "12e6"),
            ("1e3", "1e3"),
            ("0", "0"),
            ("-1.5", "-1500m"),
            ("1Ki", "1Ki"),
            ("2048Mi", "2Gi"),
            ("+3", "3"),
            ("0.0000000001", "1n"),
            (".5", "500m"),
            ("5.", "5"),
        ] {
            let quantity = Quantity::parse(given).unwrap().unwrap();
            assert_eq!(quantity.canonical(), canonical, "{given}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused_with_the_servers_words() {
        assert_eq!(Quantity::parse("").unwrap_err(), QuantityError::Shape);
        assert_eq!(Quantity::parse("abc").unwrap_err(), QuantityError::Shape);
        assert_eq!(Quantity::parse("Ki").unwrap().unwrap().nanos(), 0);
        assert_eq!(Quantity::parse("1KiB").unwrap_err(), QuantityError::Shape);
        assert_eq!(Quantity::parse("1mM").unwrap_err(), QuantityError::Suffix);
    }
}
