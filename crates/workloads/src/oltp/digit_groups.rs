//! The texts of sysbench's tables, groups of 11 digits separated by dashes, made so that each can be verified by itself.
//!
//! The first group is a number drawn at random, the second hides the row's id behind it, and the others follow from both. So a text looks
//! as random as sysbench's, sorts as randomly, and says which row it belongs to, whoever has written it.

use dbdyno_model::mix;

/// Digits of a group, and with its dash.
const DIGITS: usize = 11;
const GROUP: usize = DIGITS + 1;
const BELOW: u64 = 100_000_000_000;
/// Groups of the columns `c` and `pad`.
pub const C_GROUPS: usize = 10;
pub const PAD_GROUPS: usize = 5;
/// The longer of the two.
pub const LONGEST: usize = C_GROUPS * GROUP - 1;

/// A text of a table, made where it stands.
pub struct Text {
    bytes: [u8; C_GROUPS * GROUP],
    length: usize,
}

impl Text {
    /// The text of row `id` that begins with the drawn number.
    #[inline]
    pub fn new(id: u64, drawn: u64, groups: usize) -> Self {
        let (drawn, length) = (drawn % BELOW, groups * GROUP - 1);
        let mut bytes = [0; C_GROUPS * GROUP];
        fill(id, drawn, groups, &mut bytes);
        put(drawn, &mut bytes[..DIGITS]);
        put((mix(drawn) % BELOW + id) % BELOW, &mut bytes[GROUP..GROUP + DIGITS]);
        (bytes[GROUP - 1], bytes[2 * GROUP - 1]) = (b'-', b'-');
        Self { bytes, length }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Fills in what follows from both groups.
#[inline]
fn fill(id: u64, drawn: u64, groups: usize, text: &mut [u8; C_GROUPS * GROUP]) {
    for (sixteen, digits) in text[2 * GROUP..].as_chunks_mut().0.iter_mut().zip(Digits::new(id, drawn)) {
        *sixteen = digits;
    }
    for group in 3..groups {
        text[group * GROUP - 1] = b'-';
    }
}

#[inline]
fn put(mut number: u64, digits: &mut [u8]) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// The row that a text of so many groups belongs to; `None` if it is not as [`Text`] has it. Spaces behind it, to which
/// a CHAR may be padded, are no part of it.
#[inline]
pub fn owner(text: &[u8], groups: usize) -> Option<u64> {
    let text = text.trim_ascii_end();
    if text.len() != groups * GROUP - 1 {
        return None;
    }
    let (drawn, hidden) = (number(&text[..GROUP])?, number(&text[GROUP..2 * GROUP])?);
    let id = (hidden + BELOW - mix(drawn) % BELOW) % BELOW;
    let mut expected = [0; C_GROUPS * GROUP];
    fill(id, drawn, groups, &mut expected);
    (expected[2 * GROUP..text.len()] == text[2 * GROUP..]).then_some(id)
}

/// The number of a group and its dash.
#[inline]
fn number(group: &[u8]) -> Option<u64> {
    if group[DIGITS] != b'-' {
        return None;
    }
    group[..DIGITS]
        .iter()
        .try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0')))
}

/// The digits behind the second group, sixteen at a time, of a splitmix64 stream: 4 to 9 twice as often as the others, as four bits make
/// each.
struct Digits(u64);

impl Digits {
    #[inline]
    fn new(id: u64, drawn: u64) -> Self {
        Self(mix(id ^ drawn.rotate_left(32)))
    }
}

impl Iterator for Digits {
    type Item = [u8; 16];

    #[inline]
    fn next(&mut self) -> Option<[u8; 16]> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = mix(self.0);
        let digits = |nibbles: u64| {
            let above_nine = ((nibbles + 0x7676_7676_7676_7676) & 0x8080_8080_8080_8080) >> 7;
            u128::from(nibbles - 6 * above_nine + 0x3030_3030_3030_3030)
        };
        let low = digits(bits & 0x0f0f_0f0f_0f0f_0f0f);
        Some((low | digits(bits >> 4 & 0x0f0f_0f0f_0f0f_0f0f) << 64).to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(id: u64, drawn: u64, groups: usize) -> Vec<u8> {
        Text::new(id, drawn, groups).as_bytes().to_vec()
    }

    #[test]
    fn texts_are_groups_of_eleven_digits() {
        for (groups, width) in [(C_GROUPS, 119), (PAD_GROUPS, 59)] {
            let text = String::from_utf8(text(7, 12, groups)).unwrap();
            assert_eq!(text.len(), width);
            let all: Vec<&str> = text.split('-').collect();
            assert_eq!((all.len(), all[0]), (groups, "00000000012"));
            assert!(all.iter().all(|group| group.len() == 11 && group.bytes().all(|b| b.is_ascii_digit())), "{text}");
        }
        let many: Vec<u8> = (0..100).flat_map(|id| text(id, id, C_GROUPS)).collect();
        assert!((b'0'..=b'9').all(|digit| many.contains(&digit)));
    }

    #[test]
    fn a_text_says_whose_it_is_and_no_other_byte_will_do() {
        for (id, drawn) in [(1, 0), (77, u64::MAX), (2_147_483_647, BELOW - 1), (3, 1 << 40)] {
            let text = text(id, drawn, C_GROUPS);
            assert_eq!(owner(&text, C_GROUPS), Some(id));
            assert_eq!(owner(&[&text[..], b" "].concat(), C_GROUPS), Some(id));
            assert_eq!(owner(&text[1..], C_GROUPS), None);
            for i in 0..text.len() {
                let mut wrong = text.clone();
                wrong[i] ^= 1;
                assert_ne!(owner(&wrong, C_GROUPS), Some(id), "{i}");
            }
        }
    }
}
