//! Columns: the kind a store declares them with, and the generator their values come from.

use std::sync::Arc;

use crate::calendar;
use crate::choices::mix;
use crate::row::{RowBuffer, Value};
use crate::sizes::Sizes;
use crate::texts::{
    MAX_DIGITS, are_letters, is_padded, write_characters, write_document, write_email, write_letters, write_name,
    write_padded,
};

/// The declared type of a column. Values of all but the texts are [`Value::Int`], the same in every store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 8 bits, signed; 16 if a store has no smaller ones.
    TinyInt,
    /// 16 bits, signed.
    SmallInt,
    /// 32 bits, signed.
    Int,
    /// 64 bits, signed.
    BigInt,
    /// So many digits, of them so many behind the point. The value is counted in units of the last: 12.34 of `Decimal(4, 2)` is 1234.
    Decimal(u8, u8),
    /// A number in double precision (IEEE 754). The value is its bits.
    Double,
    /// A second of the calendar, without a time zone. The value is its digits: 20240229235959.
    DateTime,
    Char(u16),
    Varchar(u16),
    /// At most so many characters of any script.
    Unicode(u16),
    /// At most so many bytes, which are no text.
    Binary(u32),
    /// A JSON document of at most so many bytes, in the store's own type if it has one.
    Json(u16),
}

impl Kind {
    /// Returns whether its values are numbers.
    pub fn is_number(self) -> bool {
        !matches!(self, Kind::Char(_) | Kind::Varchar(_) | Kind::Unicode(_) | Kind::Binary(_) | Kind::Json(_))
    }

    /// Returns whether its values are whole numbers, or decimal ones, which are counted in whole units.
    fn is_counted(self) -> bool {
        self.is_number() && !matches!(self, Kind::DateTime | Kind::Double)
    }
}

/// The source of a column's value: a pure function of (key, version).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The key itself.
    Key,
    /// The key at first; then counted up by the store, so any value from there on is right.
    Counter,
    /// A number from `least` on, below as many more, at first; then whatever the store has added to it.
    Balance { salt: u64, least: i64, below: u32 },
    /// The version.
    Version,
    /// `first` in row 1, and `step` more in each that follows.
    Linear { first: i64, step: i64 },
    /// `first` in row 1, and `step` more in each that follows, in double precision.
    Doubles { first: i64, step: i64 },
    /// A second of the calendar: `first` from the beginning of 1970 on in row 1, and `step` more in each that follows.
    Moments { first: i64, step: i64 },
    /// The decimal key, padded with this character to the column's width.
    Padded(u8),
    /// A number in `0..below` that changes with the version.
    Number { salt: u64, below: u32 },
    /// A number in double precision from 0 on, below this one, that changes with the version.
    Fraction { salt: u64, below: u32 },
    /// `player<key>@mail<0..97>.example`, unique.
    Email,
    /// A name from the key.
    Name,
    /// Letters that fill the column's width, from the key alone.
    Letters { salt: u64 },
    /// Letters that fill the column's width and change with the version.
    VersionedLetters { salt: u64 },
    /// Characters of 1 to 4 bytes in UTF-8 that fill the column's width and change with the version.
    Characters { salt: u64 },
    /// Bytes that change with the version; of 256 each is another.
    Bytes { salt: u64 },
    /// A JSON document that fills the column's width and changes with the version.
    Document { salt: u64 },
    /// An empty text.
    Nothing,
    /// The table's population.
    Population,
}

impl Source {
    /// Returns whether its values fit a column of this kind.
    pub fn makes(self, kind: Kind) -> bool {
        match self {
            Source::Key | Source::Counter | Source::Balance { .. } | Source::Version => kind.is_counted(),
            Source::Number { .. } | Source::Linear { .. } => kind.is_counted(),
            Source::Fraction { .. } | Source::Doubles { .. } => kind == Kind::Double,
            Source::Moments { .. } => kind == Kind::DateTime,
            Source::Characters { .. } => matches!(kind, Kind::Unicode(_)),
            Source::Bytes { .. } => matches!(kind, Kind::Binary(_)),
            Source::Document { .. } => matches!(kind, Kind::Json(_)),
            Source::Padded(_)
            | Source::Email
            | Source::Name
            | Source::Letters { .. }
            | Source::VersionedLetters { .. } => {
                matches!(kind, Kind::Char(_) | Kind::Varchar(_))
            }
            Source::Nothing | Source::Population => true,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    pub source: Source,
    pub is_nullable: bool,
    /// Sizes of texts that do not all fill the column: padded ones, letters and bytes.
    pub sizes: Option<Arc<Sizes>>,
}

impl Column {
    pub fn new(name: &str, kind: Kind, source: Source) -> Self {
        Self { name: name.into(), kind, source, is_nullable: false, sizes: None }
    }

    /// The same column, which may hold NULL.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { is_nullable: true, ..self }
    }

    /// The same column, whose texts are as long as a distribution says.
    #[must_use]
    pub fn sized(self, sizes: Sizes) -> Self {
        Self { sizes: Some(Arc::new(sizes)), ..self }
    }

    /// Returns whether a new version of a row has another value here.
    pub fn is_versioned(&self) -> bool {
        match self.source {
            Source::Version | Source::Number { .. } | Source::Fraction { .. } => true,
            Source::VersionedLetters { .. } | Source::Document { .. } => true,
            Source::Characters { .. } | Source::Bytes { .. } => true,
            Source::Key | Source::Counter | Source::Balance { .. } | Source::Padded(_) => false,
            Source::Email | Source::Name | Source::Letters { .. } | Source::Linear { .. } => false,
            Source::Moments { .. } | Source::Doubles { .. } | Source::Nothing | Source::Population => false,
        }
    }

    pub fn is_number(&self) -> bool {
        self.kind.is_number()
    }

    fn width(&self) -> usize {
        match self.kind {
            Kind::Char(n) | Kind::Varchar(n) | Kind::Unicode(n) | Kind::Json(n) => usize::from(n),
            Kind::Binary(n) => n as usize,
            _ => 0,
        }
    }

    /// How long the text with this seed is.
    #[inline]
    fn text_width(&self, seed: u64) -> usize {
        match &self.sizes {
            None => self.width(),
            Some(sizes) => sizes.of(mix(seed ^ OF_SIZES), self.width()),
        }
    }

    #[inline]
    fn padded_width(&self, key: u64) -> usize {
        if self.sizes.is_none() { self.width() } else { self.drawn_padded_width(key) }
    }

    /// A distribution never cuts a number: without its last digits it would be another row's.
    #[inline(never)] // Hardly any table has sizes, and every row of the others is checked without them.
    fn drawn_padded_width(&self, key: u64) -> usize {
        let digits = key.checked_ilog10().unwrap_or(0) as usize + 1;
        self.text_width(seed(key, 0, 0)).max(digits)
    }

    /// How many bytes a value has at most, in decimal digits if it is a number.
    pub fn most_bytes(&self) -> usize {
        match self.kind {
            Kind::Unicode(_) => self.width() * LONGEST_CHARACTER_BYTES,
            kind if kind.is_number() => MAX_DIGITS,
            _ => self.width(),
        }
    }

    /// Appends the value of this column in row `key` at `version`.
    #[inline]
    pub fn generate(&self, key: u64, version: u64, out: &mut RowBuffer) {
        match self.number(key, version) {
            Some(n) => out.push(Value::Int(n)),
            None => {
                let start = out.bytes.len();
                self.write_text(key, version, &mut out.bytes);
                out.fields.push(crate::Field::text(start, out.bytes.len()));
            }
        }
    }

    /// Returns whether `value` is what the generator makes; `scratch` is overwritten.
    #[inline]
    pub fn matches(&self, key: u64, version: u64, value: Value<'_>, scratch: &mut Vec<u8>) -> bool {
        match value {
            Value::Int(n) => match self.number(key, version) {
                Some(first) if self.source == Source::Counter => n >= first,
                Some(expected) => n == expected || matches!(self.source, Source::Balance { .. }),
                None => false,
            },
            Value::Text(text) => !self.is_number() && self.matches_text(key, version, text, scratch),
            Value::Null => false,
        }
    }

    /// Compares long text in place: making it first, to compare then, costs several times as much.
    #[inline]
    fn matches_text(&self, key: u64, version: u64, text: &[u8], scratch: &mut Vec<u8>) -> bool {
        match self.source {
            Source::Padded(pad) => is_padded(key, pad, self.padded_width(key), text),
            Source::Letters { salt } => self.are_letters(seed(key, 0, salt), text),
            Source::VersionedLetters { salt } => self.are_letters(seed(key, version, salt), text),
            _ => {
                scratch.clear();
                self.write_text(key, version, scratch);
                text == scratch.as_slice()
            }
        }
    }

    #[inline]
    fn are_letters(&self, seed: u64, text: &[u8]) -> bool {
        are_letters(seed, self.text_width(seed), text)
    }

    #[inline]
    fn write_letters(&self, seed: u64, out: &mut Vec<u8>) {
        write_letters(seed, self.text_width(seed), out);
    }

    #[inline]
    fn number(&self, key: u64, version: u64) -> Option<i64> {
        match self.source {
            Source::Key | Source::Counter => Some(key as i64),
            Source::Version => Some(version as i64),
            Source::Balance { salt, least, below } => Some(least + (seed(key, 0, salt) % u64::from(below)) as i64),
            Source::Linear { first, step } => Some(first.wrapping_add((key as i64 - 1).wrapping_mul(step))),
            Source::Moments { first, step } => {
                Some(calendar::digits(first.wrapping_add((key as i64 - 1).wrapping_mul(step))))
            }
            Source::Number { salt, below } => Some((seed(key, version, salt) % u64::from(below)) as i64),
            Source::Fraction { salt, below } => Some(bits(fraction(seed(key, version, salt)) * f64::from(below))),
            Source::Doubles { first, step } => {
                Some(bits(first.wrapping_add((key as i64 - 1).wrapping_mul(step)) as f64))
            }
            _ => None,
        }
    }

    /// A value of this column, in words.
    #[cold]
    pub fn in_words(&self, value: Value<'_>) -> String {
        match value {
            Value::Int(bits) if self.kind == Kind::Double => f64::from_bits(bits as u64).to_string(),
            value => value.to_string(),
        }
    }

    #[inline]
    fn write_text(&self, key: u64, version: u64, out: &mut Vec<u8>) {
        match self.source {
            Source::Padded(pad) => write_padded(key, pad, self.padded_width(key), out),
            Source::Email => write_email(key, out),
            Source::Name => write_name(key, out),
            Source::Letters { salt } => self.write_letters(seed(key, 0, salt), out),
            Source::VersionedLetters { salt } => self.write_letters(seed(key, version, salt), out),
            Source::Characters { salt } => write_characters(seed(key, version, salt), self.width(), out),
            Source::Bytes { salt } => {
                let seed = seed(key, version, salt);
                let first = seed as usize;
                out.extend((0..self.text_width(seed)).map(|i| first.wrapping_add(i) as u8));
            }
            Source::Document { salt } => {
                let seed = seed(key, version, salt);
                write_document(key, seed, self.text_width(seed), out);
            }
            Source::Nothing => {}
            Source::Key | Source::Counter | Source::Version | Source::Number { .. } | Source::Fraction { .. } => {}
            Source::Balance { .. } | Source::Linear { .. } | Source::Moments { .. } | Source::Population => {}
            Source::Doubles { .. } => {}
        }
    }
}

#[inline]
fn seed(key: u64, version: u64, salt: u64) -> u64 {
    mix(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ version.rotate_left(32) ^ salt)
}

/// A number in double precision as a value.
#[inline]
fn bits(number: f64) -> i64 {
    number.to_bits() as i64
}

/// A number from 0 on, below 1, of as many bits as double precision has.
#[inline]
fn fraction(seed: u64) -> f64 {
    const BITS: u32 = f64::MANTISSA_DIGITS;
    (seed >> (u64::BITS - BITS)) as f64 / (1u64 << BITS) as f64
}

/// Another stream than that of the letters.
const OF_SIZES: u64 = 0x5349_5a45_5349_5a45;
/// In UTF-8.
const LONGEST_CHARACTER_BYTES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Field;

    fn value(column: &Column, key: u64, version: u64) -> RowBuffer {
        let mut out = RowBuffer::default();
        column.generate(key, version, &mut out);
        out
    }

    #[test]
    fn padded_is_the_decimal_id_padded_to_the_width() {
        let column = Column::new("c", Kind::Char(120), Source::Padded(b'x'));
        let expected = format!("{}{}", 1234, "x".repeat(116));
        assert_eq!(value(&column, 1234, 0).row().value(0), Value::Text(expected.as_bytes()));
    }

    #[test]
    fn texts_of_a_distribution_have_its_sizes_and_are_verified() {
        let sources = [Source::Padded(b'y'), Source::Letters { salt: 2 }, Source::VersionedLetters { salt: 3 }];
        let mut scratch = Vec::new();
        for source in sources {
            let column = Column::new("x", Kind::Varchar(40), source).sized(Sizes::Uniform { from: 8.0, to: 30.0 });
            let mut sizes = std::collections::BTreeSet::new();
            for (key, version) in (1..200).map(|key| (key, key % 3)) {
                let row = value(&column, key, version);
                sizes.insert(row.bytes.len());
                assert!(column.matches(key, version, row.row().value(0), &mut scratch), "{source:?} {key}");
                let cut = Value::Text(&row.bytes[..row.bytes.len() - 1]);
                assert!(!column.matches(key, version, cut, &mut scratch), "{source:?} {key}");
            }
            assert!(sizes.len() > 15 && sizes.iter().all(|size| (8..=30).contains(size)), "{source:?} {sizes:?}");
        }
        let bytes =
            Column::new("x", Kind::Binary(500), Source::Bytes { salt: 1 }).sized(Sizes::Constant { size: 300.0 });
        let row = value(&bytes, 7, 1);
        assert!(row.bytes.len() == 300 && bytes.matches(7, 1, row.row().value(0), &mut scratch));
        assert!(!bytes.matches(7, 1, Value::Text(&row.bytes[..299]), &mut scratch));
        let short = Column::new("x", Kind::Varchar(40), Source::Padded(b'y')).sized(Sizes::Constant { size: 2.0 });
        assert_eq!(value(&short, 12_345, 0).bytes, b"12345");
    }

    #[test]
    fn one_wrong_byte_anywhere_in_a_text_is_seen() {
        let sources = [Source::Padded(b'y'), Source::Letters { salt: 2 }, Source::VersionedLetters { salt: 3 }];
        let mut scratch = Vec::new();
        for (source, width) in sources.into_iter().flat_map(|source| [1, 3, 8, 33].map(|width| (source, width))) {
            let column = Column::new("x", Kind::Char(width), source);
            let mut row = value(&column, 4567, 1);
            assert!(column.matches(4567, 1, row.row().value(0), &mut scratch), "{source:?} {width}");
            for i in 0..usize::from(width) {
                row.bytes[i] ^= 1;
                assert!(!column.matches(4567, 1, row.row().value(0), &mut scratch), "{source:?} {width} {i}");
                row.bytes[i] ^= 1;
            }
            let longer = [&row.bytes[..], &row.bytes[usize::from(width) - 1..]].concat();
            assert!(!column.matches(4567, 1, Value::Text(&longer), &mut scratch), "{source:?} {width}");
            assert!(!column.matches(4567, 1, Value::Text(&longer[..usize::from(width) - 1]), &mut scratch));
        }
    }

    #[test]
    fn every_source_matches_itself_and_nothing_else() {
        let sources = [
            (Kind::Int, Source::Key),
            (Kind::Int, Source::Version),
            (Kind::Int, Source::Number { salt: 1, below: 1_000_000 }),
            (Kind::BigInt, Source::Linear { first: -5, step: 1 << 40 }),
            (Kind::DateTime, Source::Moments { first: 1_767_225_600, step: 86_401 }),
            (Kind::Char(20), Source::Padded(b'y')),
            (Kind::Varchar(64), Source::Email),
            (Kind::Varchar(64), Source::Name),
            (Kind::Varchar(33), Source::Letters { salt: 2 }),
            (Kind::Varchar(33), Source::VersionedLetters { salt: 3 }),
            (Kind::Unicode(33), Source::Characters { salt: 4 }),
            (Kind::Binary(300), Source::Bytes { salt: 5 }),
            (Kind::Json(60), Source::Document { salt: 6 }),
            (Kind::Double, Source::Fraction { salt: 7, below: 1000 }),
            (Kind::Double, Source::Doubles { first: -2, step: 3 }),
        ];
        let mut scratch = Vec::new();
        for (kind, source) in sources {
            assert!(source.makes(kind), "{source:?}");
            let column = Column::new("x", kind, source);
            let right = value(&column, 41, 3);
            assert!(column.matches(41, 3, right.row().value(0), &mut scratch), "{source:?}");
            let other = value(&column, 42, 4);
            assert!(!column.matches(41, 3, other.row().value(0), &mut scratch), "{source:?}");
            assert!(!column.matches(41, 3, Value::Null, &mut scratch), "{source:?}");
            let newer = value(&column, 41, 4);
            assert_eq!(newer.row().value(0) != right.row().value(0), column.is_versioned(), "{source:?}");
        }
    }

    #[test]
    fn a_document_fills_its_width_and_has_its_key() {
        let column = Column::new("x", Kind::Json(50), Source::Document { salt: 1 });
        let text = String::from_utf8(value(&column, 1234, 0).bytes).unwrap();
        assert_eq!((text.len(), text.starts_with(r#"{"id": 1234, "text": ""#)), (50, true), "{text}");
        assert!(text.ends_with(r#""}"#) && text[22..48].bytes().all(|byte| byte.is_ascii_lowercase()), "{text}");
        let short = column.sized(Sizes::Constant { size: 3.0 });
        assert_eq!(value(&short, 7, 0).bytes, br#"{"id": 7, "text": ""}"#);
    }

    #[test]
    fn fractions_have_all_bits_and_are_shown_as_numbers() {
        let column = Column::new("x", Kind::Double, Source::Fraction { salt: 1, below: 10 });
        let numbers: Vec<f64> = (1..=2000)
            .map(|key| {
                if let Some(Field::Int(bits)) = value(&column, key, 0).fields.first() {
                    f64::from_bits(*bits as u64)
                } else {
                    -1.0
                }
            })
            .collect();
        let mean = numbers.iter().sum::<f64>() / 2000.0;
        assert!(numbers.iter().all(|x| (0.0..10.0).contains(x)) && (4.7..5.3).contains(&mean), "{mean}");
        assert!(numbers.iter().any(|x| x.to_bits() & 1 == 1), "the last bit is used");
        assert_eq!(column.in_words(Value::Int(1.5f64.to_bits() as i64)), "1.5");
        assert_eq!((column.in_words(Value::Null), column.in_words(Value::Text(b"x"))), ("NULL".into(), "x".into()));
    }

    #[test]
    fn a_counter_may_only_have_grown() {
        let column = Column::new("k", Kind::Int, Source::Counter);
        let mut scratch = Vec::new();
        assert!(column.matches(10, 0, Value::Int(10), &mut scratch));
        assert!(column.matches(10, 0, Value::Int(11), &mut scratch));
        assert!(!column.matches(10, 0, Value::Int(9), &mut scratch));
    }

    #[test]
    fn a_balance_may_be_any_number_and_no_text() {
        let column = Column::new("b", Kind::BigInt, Source::Balance { salt: 1, least: 100, below: 50 });
        let first = value(&column, 10, 0);
        let Value::Int(at_first) = first.row().value(0) else { panic!() };
        assert!((100..150).contains(&at_first) && !column.is_versioned());
        for (wrong, is_right) in [(Value::Int(-7), true), (Value::Null, false), (Value::Text(b"100"), false)] {
            assert_eq!(column.matches(10, 0, wrong, &mut Vec::new()), is_right, "{wrong}");
        }
    }

    #[test]
    fn emails_are_unique() {
        let column = Column::new("email", Kind::Varchar(64), Source::Email);
        let all: std::collections::HashSet<Vec<u8>> = (1..=5000).map(|key| value(&column, key, 0).bytes).collect();
        assert_eq!(all.len(), 5000);
    }
}
