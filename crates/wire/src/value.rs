//! Values as prepared statements take and give them, in any protocol.

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
    Text(&'a [u8]),
}

/// A value of a row. Texts are ranges of the bytes given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    Null,
    Int(i64),
    Text { start: usize, end: usize },
}

/// The rows of a text answer, `None` for NULL.
pub type TextRows = Vec<Vec<Option<String>>>;
