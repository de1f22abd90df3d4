//! Values as prepared statements take and give them, in any protocol.

use crate::decimal;
use crate::decimal::read_scaled;
use crate::double::read_double;

/// A parameter of a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param<'a> {
    Null,
    Int(i64),
    /// So many units of the last of `scale` digits behind the point.
    Decimal {
        unscaled: i64,
        scale: u8,
    },
    /// The bits of a number in double precision.
    Double(u64),
    Text(&'a [u8]),
}

/// A value of a row. Texts are ranges of the bytes given. A number in double precision is its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    Null,
    Int(i64),
    Text { start: usize, end: usize },
}

/// The type of a value that a server sends in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    Int,
    /// A decimal number, read at this scale.
    Decimal(u8),
    /// A number in double precision.
    Double,
    /// A second of the calendar, `2024-02-29 23:59:59`, read as its digits.
    DateTime,
    Text,
}

impl TextKind {
    /// The value of this kind that lies in `bytes[start..end]`.
    #[inline]
    pub(crate) fn cell(self, bytes: &[u8], start: usize, end: usize) -> Option<Cell> {
        let text = bytes.get(start..end)?;
        match self {
            TextKind::Text => Some(Cell::Text { start, end }),
            TextKind::Int => decimal(text).map(Cell::Int),
            TextKind::Decimal(scale) => read_scaled(text, scale).map(Cell::Int),
            TextKind::Double => read_double(text).map(Cell::Int),
            TextKind::DateTime => {
                let digits: Vec<u8> = text.iter().copied().take(19).filter(u8::is_ascii_digit).collect();
                decimal(&digits).map(Cell::Int)
            }
        }
    }
}

/// The rows of a text answer, `None` for NULL.
pub type TextRows = Vec<Vec<Option<String>>>;
