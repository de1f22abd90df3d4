//! Decimal numbers of a fixed scale, as whole numbers of their last digit's unit: 12.34 with two digits behind the point is 1234.

/// Reads a decimal number in words of a server, `-12.340`, at this scale: further digits are cut off, missing ones are 0.
pub fn read_scaled(text: &[u8], scale: u8) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let (whole, fraction) = match digits.iter().position(|&b| b == b'.') {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &[][..]),
    };
    let scale = usize::from(scale);
    let kept = fraction.iter().take(scale);
    let missing = std::iter::repeat_n(&b'0', scale - kept.len());
    let append = |n: i64, &digit: &u8| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        n.checked_mul(10)?.checked_sub(digit)
    };
    let negative = whole.iter().chain(kept).chain(missing).try_fold(0, append)?;
    if is_negative { Some(negative) } else { negative.checked_neg() }
}

/// Appends a decimal number of this scale.
pub fn write_scaled(unscaled: i64, scale: u8, out: &mut Vec<u8>) {
    let (scale, start) = (usize::from(scale), out.len());
    let digits = format!("{:0width$}", unscaled.unsigned_abs(), width = scale + 1);
    if unscaled < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(digits.as_bytes());
    if scale > 0 {
        out.insert(out.len() - scale, b'.');
    }
    debug_assert!(out.len() > start);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_at_their_scale() {
        let cases = [("12.34", 1234), ("-0.5", -50), ("7", 700), ("0.019", 1), ("-12.340", -1234), (".5", 50)];
        for (text, expected) in cases {
            assert_eq!(read_scaled(text.as_bytes(), 2), Some(expected), "{text}");
        }
        assert_eq!(read_scaled(b"-92233720368547758.08", 2), Some(i64::MIN));
        assert_eq!(read_scaled(b"92233720368547758.08", 2), None);
        assert_eq!(read_scaled(b"1e3", 2), None);
    }

    #[test]
    fn what_was_written_is_read_back() {
        let written = |n, scale| {
            let mut out = b"x".to_vec();
            write_scaled(n, scale, &mut out);
            String::from_utf8(out[1..].to_vec()).unwrap()
        };
        assert_eq!(written(-5, 2), "-0.05");
        assert_eq!(written(1234, 2), "12.34");
        assert_eq!(written(1234, 0), "1234");
        for n in [i64::MIN, -1, 0, 1, 99, 100, i64::MAX] {
            assert_eq!(read_scaled(written(n, 4).as_bytes(), 4), Some(n));
        }
    }
}
