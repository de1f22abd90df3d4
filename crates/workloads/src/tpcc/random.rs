//! Random values as TPC-C draws them (rev. 5.11, clauses 2.1.6 and 4.3.2).

use dbdyno_model::{Choices, Field, RowBuffer};

/// The constants C of NURand, drawn once from 0 to A (2.1.6). That of last names is another when loading than when running, by 65 to
/// 119, but not by 96 or 112 (2.1.6.1).
const C_LAST_WHEN_LOADING: u64 = 146;
const C_LAST_WHEN_RUNNING: u64 = 71;
const C_CUSTOMER: u64 = 89;
const C_ITEM: u64 = 1446;

const SYLLABLES: [&[u8]; 10] =
    [b"BAR", b"OUGHT", b"ABLE", b"PRI", b"PRES", b"ESE", b"ANTI", b"CALLY", b"ATION", b"EING"];

/// Three syllables of at most five letters.
const MAX_LAST_NAME_SIZE_BYTES: usize = 15;

/// Letters and digits by six random bits; two of the 62 come twice as often.
const ALPHANUMERIC: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789eE";

/// A number from `first` to `last`, both included, uniform.
#[inline]
pub fn between(choices: &mut Choices, first: u64, last: u64) -> u64 {
    first + choices.below(last - first + 1)
}

/// Returns whether something happens that does in so many of a hundred cases.
#[inline]
pub fn percent(choices: &mut Choices, share: u64) -> bool {
    choices.below(100) < share
}

/// NURand(A, first, last) of 2.1.6.
#[inline]
fn non_uniform(choices: &mut Choices, a: u64, c: u64, first: u64, last: u64) -> u64 {
    let both = choices.below(a + 1) | between(choices, first, last);
    (both + c) % (last - first + 1) + first
}

/// A customer's number within a district.
#[inline]
pub fn customer(choices: &mut Choices, customers: u64) -> u64 {
    non_uniform(choices, 1023, C_CUSTOMER, 1, customers)
}

/// An item's number.
#[inline]
pub fn item(choices: &mut Choices, items: u64) -> u64 {
    non_uniform(choices, 8191, C_ITEM, 1, items)
}

/// The number of a last name that a transaction asks for.
#[inline]
pub fn asked_name(choices: &mut Choices) -> u64 {
    non_uniform(choices, 255, C_LAST_WHEN_RUNNING, 0, 999)
}

/// The number of a last name that a customer is loaded with.
#[inline]
pub fn loaded_name(choices: &mut Choices) -> u64 {
    non_uniform(choices, 255, C_LAST_WHEN_LOADING, 0, 999)
}

/// A last name (4.3.2.3).
pub struct LastName {
    letters: [u8; MAX_LAST_NAME_SIZE_BYTES],
    size: usize,
}

impl LastName {
    /// The name with this number, 0 to 999: a syllable for each digit.
    pub fn new(number: u64) -> Self {
        let mut name = Self { letters: [0; MAX_LAST_NAME_SIZE_BYTES], size: 0 };
        for digit in [number / 100, number / 10 % 10, number % 10] {
            let syllable = SYLLABLES[digit as usize];
            name.letters[name.size..name.size + syllable.len()].copy_from_slice(syllable);
            name.size += syllable.len();
        }
        name
    }

    pub fn letters(&self) -> &[u8] {
        &self.letters[..self.size]
    }
}

/// Appends a text of `first` to `last` letters and digits; returns where it lies.
pub fn push_text(choices: &mut Choices, first: u64, last: u64, out: &mut RowBuffer) -> std::ops::Range<usize> {
    let start = out.bytes.len();
    let end = start + between(choices, first, last) as usize;
    while out.bytes.len() < end {
        let letters = choices.next_u64().to_le_bytes().map(|byte| ALPHANUMERIC[usize::from(byte & 63)]);
        out.bytes.extend_from_slice(&letters);
    }
    out.bytes.truncate(end);
    out.fields.push(Field::text(start, end));
    start..end
}

/// Appends a text of 26 to 50, in one of ten rows with ORIGINAL somewhere in it (4.3.3.1).
pub fn push_data(choices: &mut Choices, out: &mut RowBuffer) {
    const MARK: &[u8] = b"ORIGINAL";
    let text = push_text(choices, 26, 50, out);
    if percent(choices, 10) {
        let start = text.start + choices.below((text.len() - MARK.len() + 1) as u64) as usize;
        out.bytes[start..start + MARK.len()].copy_from_slice(MARK);
    }
}

/// Appends a text of so many digits.
pub fn push_digits(choices: &mut Choices, count: usize, then: &[u8], out: &mut RowBuffer) {
    let start = out.bytes.len();
    for _ in 0..count {
        out.bytes.push(b'0' + choices.below(10) as u8);
    }
    out.bytes.extend_from_slice(then);
    out.fields.push(Field::text(start, out.bytes.len()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::Value;

    fn choices() -> Choices {
        Choices::new(1, 2, 3, 4)
    }

    #[test]
    fn the_constants_of_last_names_differ_as_clause_2_1_6_1_says() {
        let delta = C_LAST_WHEN_LOADING.abs_diff(C_LAST_WHEN_RUNNING);
        assert!((65..=119).contains(&delta) && delta != 96 && delta != 112);
        const { assert!(C_LAST_WHEN_LOADING <= 255 && C_LAST_WHEN_RUNNING <= 255) };
        const { assert!(C_CUSTOMER <= 1023 && C_ITEM <= 8191) };
    }

    #[test]
    fn names_are_syllables_by_digit() {
        assert_eq!(LastName::new(371).letters(), b"PRICALLYOUGHT");
        assert_eq!(LastName::new(0).letters(), b"BARBARBAR");
        assert_eq!(LastName::new(888).letters().len(), MAX_LAST_NAME_SIZE_BYTES);
    }

    #[test]
    fn non_uniform_numbers_stay_within_and_prefer_some() {
        let (mut choices, mut counts) = (choices(), vec![0u32; 3001]);
        for _ in 0..300_000 {
            counts[customer(&mut choices, 3000) as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        let most = counts.iter().max().unwrap();
        assert!(*most > 300, "the most frequent customer was drawn {most} times, uniform ones 100");
        assert!((0..10_000).all(|_| (1..=100_000).contains(&item(&mut choices, 100_000))));
        assert!((0..10_000).all(|_| asked_name(&mut choices) < 1000 && loaded_name(&mut choices) < 1000));
    }

    #[test]
    fn texts_have_their_lengths_and_one_of_ten_is_original() {
        let (mut choices, mut row, mut original) = (choices(), RowBuffer::default(), 0);
        for _ in 0..2000 {
            row.clear();
            push_data(&mut choices, &mut row);
            push_digits(&mut choices, 4, b"11111", &mut row);
            let (Value::Text(data), Value::Text(zip)) = (row.row().value(0), row.row().value(1)) else { panic!() };
            assert!((26..=50).contains(&data.len()) && data.iter().all(u8::is_ascii_alphanumeric));
            assert!(zip.len() == 9 && zip.ends_with(b"11111") && zip.iter().all(u8::is_ascii_digit));
            original += usize::from(data.windows(8).any(|part| part == b"ORIGINAL"));
        }
        assert!((140..260).contains(&original), "{original} of 2000");
    }
}
