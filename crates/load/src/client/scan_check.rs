//! The rows of a scan, verified as they come: each is its generator's, they rise, and none is left out that is surely there.

use dbdyno_model::{Difference, Row, Table, Value};

/// The key of a row and how it differs; without a difference it is missing.
pub type Wrong = (u64, Option<Box<Difference>>);

pub struct ScanCheck<'a> {
    table: &'a Table,
    /// The lowest key that may come next.
    next: u64,
    /// Rows up to this key are there, with no gap.
    sure: u64,
    rows: u64,
    most: u64,
    wrong: Option<Wrong>,
}

impl<'a> ScanCheck<'a> {
    pub fn new(table: &'a Table, first: u64, most: u64, sure: u64) -> Self {
        Self { table, next: first, sure, rows: 0, most, wrong: None }
    }

    pub fn check(&mut self, row: Row<'_>, scratch: &mut Vec<u8>) {
        self.rows += 1;
        if self.wrong.is_some() {
            return;
        }
        let key = match row.value(0) {
            Value::Int(key) if key >= self.next as i64 => key as u64,
            other => {
                let difference = Difference::new(&self.table.columns[0].name, format!("{} or more", self.next), other);
                self.wrong = Some((self.next, Some(difference)));
                return;
            }
        };
        if self.next <= self.sure && key > self.next {
            self.wrong = Some((self.next, None));
            return;
        }
        self.next = key + 1;
        self.wrong = self.table.check(row, key, scratch).err().map(|difference| (key, Some(difference)));
    }

    /// How many rows came, and what was wrong first.
    pub fn end(mut self, is_verified: bool) -> (u64, Option<Wrong>) {
        if is_verified && self.wrong.is_none() {
            if self.rows > self.most {
                let difference = Difference::new("rows", format!("at most {}", self.most), self.rows);
                self.wrong = Some((self.next, Some(difference)));
            } else if self.rows < self.most && self.next <= self.sure {
                self.wrong = Some((self.next, None));
            }
        }
        (self.rows, self.wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Column, Kind, RowBuffer, Source};

    fn scan(keys: &[u64], most: u64, sure: u64) -> (u64, Option<u64>) {
        let columns =
            vec![Column::new("id", Kind::Int, Source::Key), Column::new("n", Kind::Varchar(30), Source::Name)];
        let table = Table::new("t", columns);
        let (mut scan, mut row) = (ScanCheck::new(&table, 5, most, sure), RowBuffer::default());
        for &key in keys {
            table.generate(key, 0, &mut row);
            scan.check(row.row(), &mut vec![]);
        }
        let (rows, wrong) = scan.end(true);
        (rows, wrong.map(|(key, _)| key))
    }

    #[test]
    fn rows_in_order_and_none_left_out_are_right() {
        assert_eq!(scan(&[5, 6, 7], 3, 100), (3, None));
        assert_eq!(scan(&[5, 6, 7], 9, 7), (3, None));
        assert_eq!(scan(&[6, 9], 3, 0), (2, None));
        assert_eq!(scan(&[5, 6, 9], 3, 6), (3, None));
    }

    #[test]
    fn rows_that_are_left_out_out_of_order_or_too_many_are_wrong() {
        assert_eq!(scan(&[5, 7], 2, 100).1, Some(6));
        assert_eq!(scan(&[5], 2, 100).1, Some(6));
        assert_eq!(scan(&[], 2, 100).1, Some(5));
        assert_eq!(scan(&[6, 6], 2, 0).1, Some(7));
        assert_eq!(scan(&[4], 1, 0).1, Some(5));
        assert_eq!(scan(&[5, 6, 7], 2, 0).1, Some(8));
    }

    #[test]
    fn a_row_that_differs_is_named() {
        let table =
            Table::new("t", vec![Column::new("id", Kind::Int, Source::Key), Column::new("v", Kind::Int, Source::Key)]);
        let mut row = RowBuffer::default();
        row.push(Value::Int(5));
        row.push(Value::Int(6));
        let mut scan = ScanCheck::new(&table, 5, 1, 100);
        scan.check(row.row(), &mut vec![]);
        let (_, wrong) = scan.end(true);
        assert!(matches!(wrong, Some((5, Some(difference))) if difference.column == "v"));
    }
}
