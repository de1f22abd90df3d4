//! The rows of a table as a function of their number, if columns with a source each cannot say them.

use std::fmt::Debug;

use crate::RowBuffer;

/// Makes a table's rows. Numbers may have holes, so that rows that belong together can be numbered together: order lines, 5 to 15 an
/// order, as 15 times the order and the line.
pub trait Population: Debug + Send + Sync {
    /// Returns whether there is a row with this number; it is called for every number, so it should be much cheaper than the row.
    fn has(&self, _number: u64) -> bool {
        true
    }

    /// Appends the values of the row with this number, which is there: one for each column, in order.
    fn make(&self, number: u64, out: &mut RowBuffer);
}
