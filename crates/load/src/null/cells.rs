//! The values of a row as null servers send them.

use dbdyno_model::{Column, Kind, Source, Value};
use dbdyno_wire::Param;

/// Returns whether a column's numbers are sent in 4 bytes. All others have 8: decimal numbers, dates and numbers in double precision are
/// sent as the whole numbers that stand for them (`dbdyno_model::Kind`), so that the client has the same value.
pub fn is_narrow(column: &Column) -> bool {
    column.source == Source::Key || matches!(column.kind, Kind::TinyInt | Kind::SmallInt | Kind::Int)
}

#[inline]
pub fn cell(value: Value<'_>) -> Param<'_> {
    match value {
        Value::Int(n) => Param::Int(n),
        Value::Text(text) => Param::Text(text),
        Value::Null => Param::Null,
    }
}
