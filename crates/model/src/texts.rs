//! The texts that columns are made of: written, and compared in place.

use crate::choices::mix;

/// The most decimal digits of a number of 64 bits.
pub const MAX_DIGITS: usize = 20;

/// The decimal digits of a number, at the end of `digits`.
#[inline]
fn decimal(mut n: u64, digits: &mut [u8; MAX_DIGITS]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            return &digits[at..];
        }
    }
}

/// Appends a number in decimal.
#[inline]
pub fn write_decimal(n: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(decimal(n, &mut [0; MAX_DIGITS]));
}

#[inline]
pub fn write_padded(key: u64, pad: u8, width: usize, out: &mut Vec<u8>) {
    let end = out.len() + width;
    write_decimal(key, out);
    out.resize(end, pad);
}

/// Returns whether `text` is what [`write_padded`] writes.
#[inline]
pub fn is_padded(key: u64, pad: u8, width: usize, text: &[u8]) -> bool {
    let mut digits = [0; MAX_DIGITS];
    let digits = decimal(key, &mut digits);
    let Some(padding) = text.strip_prefix(&digits[..digits.len().min(width)]) else { return false };
    text.len() == width && is_all(pad, padding)
}

/// Returns whether every byte is `byte`: the first is, and each is like the next, which is one call of memcmp.
#[inline]
fn is_all(byte: u8, bytes: &[u8]) -> bool {
    match bytes {
        [] => true,
        [first, rest @ ..] => *first == byte && *rest == bytes[..rest.len()],
    }
}

pub fn write_email(key: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"player");
    write_decimal(key, out);
    out.extend_from_slice(b"@mail");
    write_decimal(mix(key) % 97, out);
    out.extend_from_slice(b".example");
}

pub fn write_name(key: u64, out: &mut Vec<u8>) {
    const FIRST: [&[u8]; 8] = [b"Ada", b"Bela", b"Chidi", b"Dora", b"Eino", b"Fatma", b"Goro", b"Hana"];
    const LAST: [&[u8]; 8] = [b"Abe", b"Berg", b"Costa", b"Diaz", b"Eze", b"Fischer", b"Gupta", b"Horvat"];
    let h = mix(key);
    out.extend_from_slice(FIRST[(h % 8) as usize]);
    out.push(b' ');
    out.extend_from_slice(LAST[(h / 8 % 8) as usize]);
    out.push(b' ');
    write_decimal(key, out);
}

/// The next eight letters `a` … `p` of a splitmix64 stream.
#[inline]
fn eight_letters(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    (mix(*state) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_add(0x6161_6161_6161_6161)
}

/// Appends `width` letters.
#[inline]
pub fn write_letters(seed: u64, width: usize, out: &mut Vec<u8>) {
    let end = out.len() + width;
    let mut state = seed;
    while out.len() < end {
        out.extend_from_slice(&eight_letters(&mut state).to_le_bytes());
    }
    out.truncate(end);
}

/// Appends a document of so many bytes, `{"id": 7, "text": "…"}`, or more if its key needs more. Stores that take documents apart write
/// just this: shorter keys first, a space behind colon and comma.
pub fn write_document(key: u64, seed: u64, width: usize, out: &mut Vec<u8>) {
    const END: &[u8] = b"\"}";
    let end = out.len() + width;
    out.extend_from_slice(b"{\"id\": ");
    write_decimal(key, out);
    out.extend_from_slice(b", \"text\": \"");
    write_letters(seed, end.saturating_sub(out.len() + END.len()), out);
    out.extend_from_slice(END);
}

/// Appends so many characters, with 1, 2, 3 and 4 bytes by turns.
pub fn write_characters(seed: u64, count: usize, out: &mut Vec<u8>) {
    const FIRST: [u32; 4] = ['a' as u32, '\u{e0}' as u32, '\u{4e00}' as u32, '\u{1f600}' as u32];
    for i in 0..count {
        let offset = (mix(seed ^ i as u64) % 20) as u32;
        let character = char::from_u32(FIRST[i % FIRST.len()] + offset).unwrap_or_default();
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Returns whether `text` is what [`write_letters`] writes.
#[inline]
pub fn are_letters(seed: u64, width: usize, text: &[u8]) -> bool {
    let (eights, rest) = text.as_chunks::<8>();
    let mut state = seed;
    let other = eights.iter().fold(0, |other, eight| other | (u64::from_le_bytes(*eight) ^ eight_letters(&mut state)));
    let last = eight_letters(&mut state).to_le_bytes();
    text.len() == width && other == 0 && last.starts_with(rest)
}
