//! Decimal numbers and times in the binary format (PostgreSQL's `numeric_send` and `timestamp_send`).

use crate::calendar::{digits_of_seconds_since_2000, seconds_since_2000};

const MICROSECONDS_PER_SECOND: i64 = 1_000_000;
/// A decimal number is digits of this base, each of which has so many decimal ones.
const BASE: u128 = 10_000;
const DIGITS: u32 = 4;
const NEGATIVE: u16 = 0x4000;
const SIGN_MASK: u16 = 0xc000;
/// More decimal places before the point than 64 bits have.
const MOST_PLACES: i32 = 32;

/// Appends a value with its length before it.
#[inline]
pub(super) fn put_sized(out: &mut Vec<u8>, value: &[u8]) {
    out.extend_from_slice(&(value.len() as u32).to_be_bytes());
    out.extend_from_slice(value);
}

/// Reads a decimal number at this scale: further digits are cut off. `None` for what is no number, or has more than 64 bits.
pub fn read_numeric(value: &[u8], scale: u8) -> Option<i64> {
    let (head, digits) = value.split_first_chunk::<8>()?;
    let [count, weight, sign, _scale] = [0, 2, 4, 6].map(|at| u16::from_be_bytes([head[at], head[at + 1]]));
    if digits.len() != 2 * usize::from(count) || !matches!(sign & SIGN_MASK, 0 | NEGATIVE) {
        return None;
    }
    let mut power = i32::from(weight as i16).checked_mul(DIGITS as i32)? + i32::from(scale);
    let mut sum = 0i128;
    for digit in digits.chunks_exact(2) {
        let digit = i128::from(u16::from_be_bytes([digit[0], digit[1]]));
        sum += match power {
            MOST_PLACES.. if digit > 0 => return None,
            MOST_PLACES.. => 0,
            0.. => digit * 10i128.pow(power as u32),
            _ if power > -(DIGITS as i32) => digit / 10i128.pow(power.unsigned_abs()),
            _ => 0,
        };
        power -= DIGITS as i32;
    }
    i64::try_from(if sign & SIGN_MASK == NEGATIVE { -sum } else { sum }).ok()
}

/// Appends a decimal number with its length before it.
pub fn put_numeric(out: &mut Vec<u8>, unscaled: i64, scale: u8) {
    // Digits do not straddle the point, so zeros fill the last one up.
    let behind = u32::from(scale).div_ceil(DIGITS);
    let mut rest = u128::from(unscaled.unsigned_abs()) * 10u128.pow(behind * DIGITS - u32::from(scale));
    let (mut digits, mut first) = ([0u16; 8], 8);
    while rest > 0 && first > 0 {
        first -= 1;
        digits[first] = (rest % BASE) as u16;
        rest /= BASE;
    }
    let digits = &digits[first..];
    let weight = (digits.len() as i16) - (behind as i16) - 1;
    let sign = if unscaled < 0 { NEGATIVE } else { 0 };
    out.extend_from_slice(&(8 + 2 * digits.len() as u32).to_be_bytes());
    for part in [digits.len() as u16, weight as u16, sign, u16::from(scale)] {
        out.extend_from_slice(&part.to_be_bytes());
    }
    digits.iter().for_each(|digit| out.extend_from_slice(&digit.to_be_bytes()));
}

/// Reads microseconds since 2000 as the digits of the second.
pub fn read_timestamp(value: &[u8]) -> Option<i64> {
    let microseconds = i64::from_be_bytes(value.try_into().ok()?);
    Some(digits_of_seconds_since_2000(microseconds.div_euclid(MICROSECONDS_PER_SECOND)))
}

/// Appends a second, given by its digits, with its length before it.
pub fn put_timestamp(out: &mut Vec<u8>, digits: i64) {
    put_sized(out, &seconds_since_2000(digits).saturating_mul(MICROSECONDS_PER_SECOND).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_numeric() {
        let mut out = Vec::new();
        put_numeric(&mut out, -123_456_789, 2);
        // -1234567.89 is 123, 4567, 8900 of base 10,000.
        assert_eq!(out, b"\0\0\0\x0e\0\x03\0\x01\x40\0\0\x02\0\x7b\x11\xd7\x22\xc4");
        out.clear();
        put_numeric(&mut out, 0, 2);
        assert_eq!(out, b"\0\0\0\x08\0\0\xff\xfe\0\0\0\x02");
    }

    #[test]
    fn what_was_written_is_read_back_at_any_scale() {
        for n in [i64::MIN, -12_345, -1, 0, 1, 9, 10_000, 99_999_999, i64::MAX] {
            for scale in [0, 1, 2, 4, 5, 9] {
                let mut out = Vec::new();
                put_numeric(&mut out, n, scale);
                assert_eq!(read_numeric(&out[4..], scale), Some(n), "{n} at {scale}");
                assert_eq!(read_numeric(&out[4..out.len() - 1], scale), None);
            }
        }
        let mut out = Vec::new();
        put_numeric(&mut out, 12_345, 3);
        assert_eq!((read_numeric(&out[4..], 1), read_numeric(&out[4..], 5)), (Some(123), Some(1_234_500)));
        out[4 + 4] = 0xc0;
        assert_eq!(read_numeric(&out[4..], 1), None, "not a number");
    }

    #[test]
    fn times() {
        let mut out = Vec::new();
        put_timestamp(&mut out, 20240229235959);
        assert_eq!(read_timestamp(&out[4..]), Some(20240229235959));
        assert_eq!(read_timestamp(&out[5..]), None);
    }
}
