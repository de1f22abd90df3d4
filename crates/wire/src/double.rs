//! Numbers in double precision, as words and by their bits.

/// Reads a number in words of a server, `-1.5e-7`.
pub fn read_double(text: &[u8]) -> Option<i64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    Some(number.to_bits() as i64)
}

/// Appends a number in words, so short that it is read back as the same. It has an exponent: SQL takes one without for a decimal number,
/// which has only so many digits behind the point.
pub fn write_double(bits: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{:e}", f64::from_bits(bits)).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back_to_the_last_bit() {
        for number in [0.0, -0.0, 1.5, -12.1, 0.1 + 0.2, 1e-300, f64::MAX, f64::MIN_POSITIVE] {
            let mut words = Vec::new();
            write_double(number.to_bits(), &mut words);
            assert_eq!(read_double(&words), Some(number.to_bits() as i64), "{number}");
        }
        assert_eq!(read_double(b"12.5"), Some(12.5f64.to_bits() as i64));
        assert_eq!((read_double(b"1,5"), read_double(b"")), (None, None));
    }
}
