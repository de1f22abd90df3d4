//! Values of the model as the parameters and the answers of prepared statements have them, in any protocol.

use dbdyno_model::{Column, Field, Kind, Row, Value};
use dbdyno_wire::{Cell, Param, TextKind};

/// A value of a column or parameter of this kind.
#[inline]
pub fn param(kind: Kind, value: Value<'_>) -> Param<'_> {
    match (value, kind) {
        (Value::Int(unscaled), Kind::Decimal(_, scale)) => Param::Decimal { unscaled, scale },
        (Value::Int(bits), Kind::Double) => Param::Double(bits as u64),
        (Value::Int(n), _) => Param::Int(n),
        (Value::Text(text), _) => Param::Text(text),
        (Value::Null, _) => Param::Null,
    }
}

/// The values of a row that has these columns.
#[inline]
pub fn params<'a>(
    columns: impl ExactSizeIterator<Item = &'a Column> + Clone,
    row: Row<'a>,
) -> impl ExactSizeIterator<Item = Param<'a>> + Clone {
    columns.enumerate().map(move |(i, column)| param(column.kind, row.value(i)))
}

#[inline]
pub fn field(cell: Cell) -> Field {
    match cell {
        Cell::Null => Field::Null,
        Cell::Int(n) => Field::Int(n),
        Cell::Text { start, end } => Field::text(start, end),
    }
}

/// At which scale numbers of this kind are read.
pub fn scale(kind: Kind) -> u8 {
    match kind {
        Kind::Decimal(_, scale) => scale,
        _ => 0,
    }
}

/// The type of values of this kind in an answer in words.
pub fn text_kind(kind: Kind) -> TextKind {
    match kind {
        Kind::Decimal(_, scale) => TextKind::Decimal(scale),
        Kind::Double => TextKind::Double,
        Kind::DateTime => TextKind::DateTime,
        kind if kind.is_number() => TextKind::Int,
        _ => TextKind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_carries_its_scale() {
        assert_eq!(param(Kind::Decimal(4, 2), Value::Int(1234)), Param::Decimal { unscaled: 1234, scale: 2 });
        assert_eq!(param(Kind::Int, Value::Int(7)), Param::Int(7));
        assert_eq!(param(Kind::Double, Value::Int(7)), Param::Double(7));
        assert_eq!(param(Kind::Decimal(4, 2), Value::Null), Param::Null);
    }
}
