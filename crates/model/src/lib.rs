//! Tables, rows, steps and the traits of logical operations: the one thing that workloads and stores both know.
//!
//! A row is a function of (table, key, version), so any row read back can be verified without a copy of it.

mod calendar;
mod choices;
mod column;
mod dialect;
mod encoding;
mod failure;
mod operations;
mod population;
mod row;
mod sizes;
mod statement;
mod step;
mod table;
mod texts;

pub use choices::{Choices, mix};
pub use column::{Column, Kind, Source};
pub use dialect::{Dialect, Variant, variant};
pub use encoding::{decode_row, encode_row};
pub use failure::{Failed, Failure};
pub use operations::{Operations, Session};
pub use population::Population;
pub use row::{Field, Row, RowBuffer, Value};
pub use sizes::Sizes;
pub use statement::Statement;
pub use step::{Operation, Step, range_of};
pub use table::{Difference, Index, Table};
pub use texts::write_decimal;
