//! The sets of oltp: their statements and tables, as sysbench's scripts have them.

use std::sync::Arc;

use dbdyno_model::{Choices, Column, Index, Kind, Population, RowBuffer, Source, Statement, Table, Value};

use super::digit_groups::{C_GROUPS, PAD_GROUPS, Text};
use crate::Access;

/// One of sysbench's scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    ReadWrite,
    ReadOnly,
    WriteOnly,
    PointSelect,
    UpdateIndex,
    UpdateNonIndex,
    Insert,
    Delete,
    RandomPoints,
    RandomRanges,
    BulkInsert,
}

pub const SETS: [(&str, Set); 11] = [
    ("read_write", Set::ReadWrite),
    ("read_only", Set::ReadOnly),
    ("write_only", Set::WriteOnly),
    ("point_select", Set::PointSelect),
    ("update_index", Set::UpdateIndex),
    ("update_non_index", Set::UpdateNonIndex),
    ("insert", Set::Insert),
    ("delete", Set::Delete),
    ("select_random_points", Set::RandomPoints),
    ("select_random_ranges", Set::RandomRanges),
    ("bulk_insert", Set::BulkInsert),
];

/// sysbench's `--random_points`, `--number_of_ranges` and `--delta`.
pub const RANDOM: usize = 10;
pub const DELTA: i64 = 5;
/// Rows of one statement of `bulk_insert`: sysbench fills 512 KiB, which no prepared statement takes.
pub const BULK_ROWS: usize = 1000;
/// The statements of one table, in the order of their steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    PointSelect,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    UpdateIndex,
    UpdateNonIndex,
    Delete,
    Insert,
    RandomPoints,
    RandomRanges,
    BulkInsert,
}

use Query::{DistinctRange, OrderRange, PointSelect, SimpleRange, SumRange};

const READS: [Query; 5] = [PointSelect, SimpleRange, SumRange, OrderRange, DistinctRange];
const WRITES: [Query; 4] = [Query::UpdateIndex, Query::UpdateNonIndex, Query::Delete, Query::Insert];

impl Set {
    pub fn queries(self) -> Vec<Query> {
        match self {
            Set::ReadWrite => [&READS[..], &WRITES[..]].concat(),
            Set::ReadOnly => READS.into(),
            Set::WriteOnly => WRITES.into(),
            Set::PointSelect => vec![PointSelect],
            Set::UpdateIndex => vec![Query::UpdateIndex],
            Set::UpdateNonIndex => vec![Query::UpdateNonIndex],
            Set::Insert => vec![Query::Insert],
            Set::Delete => vec![Query::Delete],
            Set::RandomPoints => vec![Query::RandomPoints],
            Set::RandomRanges => vec![Query::RandomRanges],
            Set::BulkInsert => vec![Query::BulkInsert],
        }
    }

    pub fn is_transaction(self) -> bool {
        matches!(self, Set::ReadWrite | Set::ReadOnly | Set::WriteOnly)
    }

    /// Returns whether it replaces rows: until both statements are committed, another's update of the row finds nothing in some stores.
    pub fn replaces(self) -> bool {
        matches!(self, Set::ReadWrite | Set::WriteOnly)
    }
}

impl Query {
    pub fn name(self) -> &'static str {
        match self {
            PointSelect => "point_select",
            SimpleRange => "simple_range",
            SumRange => "sum_range",
            OrderRange => "order_range",
            DistinctRange => "distinct_range",
            Query::UpdateIndex => "index_update",
            Query::UpdateNonIndex => "non_index_update",
            Query::Delete => "delete",
            Query::Insert => "insert",
            Query::RandomPoints => "select_random_points",
            Query::RandomRanges => "select_random_ranges",
            Query::BulkInsert => "bulk_insert",
        }
    }

    pub fn statement(self, table: &str) -> Statement {
        const INT: Kind = Kind::Int;
        const C: Kind = Kind::Char(120);
        const PAD: Kind = Kind::Char(60);
        let with = |sql: &str, parameters: &[Kind], columns: &[Kind]| {
            Statement::new(&sql.replace("sbtest", &format!("{{{table}}}")), parameters, columns)
        };
        match self {
            PointSelect => with("SELECT c FROM sbtest WHERE id=?", &[INT], &[C]),
            SimpleRange => with("SELECT c FROM sbtest WHERE id BETWEEN ? AND ?", &[INT; 2], &[C]),
            // Some stores answer with a decimal number of 32 digits, others with 64 bits.
            SumRange => with("SELECT SUM(k) FROM sbtest WHERE id BETWEEN ? AND ?", &[INT; 2], &[Kind::Decimal(32, 0)]),
            OrderRange => with("SELECT c FROM sbtest WHERE id BETWEEN ? AND ? ORDER BY c", &[INT; 2], &[C]),
            DistinctRange => with("SELECT DISTINCT c FROM sbtest WHERE id BETWEEN ? AND ? ORDER BY c", &[INT; 2], &[C]),
            Query::UpdateIndex => with("UPDATE sbtest SET k=k+1 WHERE id=?", &[INT], &[]),
            Query::UpdateNonIndex => with("UPDATE sbtest SET c=? WHERE id=?", &[C, INT], &[]),
            Query::Delete => with("DELETE FROM sbtest WHERE id=?", &[INT], &[]),
            Query::Insert => with("INSERT INTO sbtest (id, k, c, pad) VALUES (?, ?, ?, ?)", &[INT, INT, C, PAD], &[]),
            Query::RandomPoints => {
                let points = ["?"; RANDOM].join(", ");
                let sql = format!("SELECT id, k, c, pad FROM sbtest WHERE k IN ({points})");
                with(&sql, &[INT; RANDOM], &[INT, INT, C, PAD])
            }
            Query::RandomRanges => {
                let ranges = ["k BETWEEN ? AND ?"; RANDOM].join(" OR ");
                with(&format!("SELECT count(k) FROM sbtest WHERE {ranges}"), &[INT; 2 * RANDOM], &[Kind::BigInt])
            }
            Query::BulkInsert => {
                let rows = ["(?, ?)"; BULK_ROWS].join(", ");
                with(&format!("INSERT INTO sbtest (id, k) VALUES {rows}"), &[INT; 2 * BULK_ROWS], &[])
            }
        }
    }
}

/// The rows as they are loaded: `k` is drawn as keys are, `c` and `pad` at random.
#[derive(Debug)]
struct Rows {
    table: u64,
    rows: u64,
    access: Access,
}

impl Population for Rows {
    fn make(&self, number: u64, out: &mut RowBuffer) {
        let mut choices = Choices::new(self.table, 0, 1, number);
        let k = self.access.key(&mut choices, self.rows);
        out.push(Value::Int(number as i64));
        out.push(Value::Int(k as i64));
        for groups in [C_GROUPS, PAD_GROUPS] {
            out.push(Value::Text(Text::new(number, choices.next_u64(), groups).as_bytes()));
        }
    }
}

/// Table `number` of a set.
pub fn table(set: Set, number: usize, rows: u64, access: Access) -> Table {
    let name = format!("sbtest{number}");
    let id = Column::new("id", Kind::Int, Source::Key);
    if set == Set::BulkInsert {
        return Table { rows: Some(0), ..Table::new(&name, vec![id, Column::new("k", Kind::Int, Source::Key)]) };
    }
    let column = |name, kind| Column::new(name, kind, Source::Population);
    let columns = vec![id, column("k", Kind::Int), column("c", Kind::Char(120)), column("pad", Kind::Char(60))];
    let population = Some(Arc::new(Rows { table: number as u64, rows, access }) as Arc<dyn Population>);
    Table { indexes: vec![Index::new(&[1])], population, ..Table::new(&name, columns) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oltp::digit_groups::owner;

    fn owner_of(value: Value<'_>, groups: usize) -> Option<u64> {
        if let Value::Text(text) = value { owner(text, groups) } else { None }
    }

    #[test]
    fn a_loaded_row_is_its_own_and_its_k_a_key() {
        let mut row = RowBuffer::default();
        for number in 1..200 {
            row.clear();
            Rows { table: 1, rows: 1000, access: Access::Special }.make(number, &mut row);
            assert_eq!(owner_of(row.row().value(2), C_GROUPS), Some(number));
            assert_eq!(owner_of(row.row().value(3), PAD_GROUPS), Some(number));
            assert!(matches!(row.row().value(1), Value::Int(1..=1000)));
        }
    }
}
