//! extreme-values: one row is read and stored back changed. Its values are hard to keep: text of characters of every width, every byte, and one
//! that is longer than most. With `size_bytes` it is one value of exactly that size, for the limits of a store. It tests whether a store keeps
//! its values; nobody measures with it.

use dbdyno_model::{Choices, Column, Failed, Kind, Operation, Operations, Source, Step, Table, Value};

use crate::options::Options;
use crate::{Access, Check, Workload};

const GET: usize = 0;
const UPDATE: usize = 1;
const VERSION: usize = 1;
/// Some SQL stores let no row be longer than 65,535 bytes, all its columns together.
const LARGEST: u32 = 64_000;

#[derive(Clone, Debug)]
pub struct ExtremeValues {
    rows: u64,
    access: Access,
    /// True if a row is written before it is read: one that was refused when it was loaded is to be refused then, too.
    writes_first: bool,
    tables: [Table; 1],
    steps: [Step; 2],
}

impl ExtremeValues {
    /// `size_bytes`: of the only value that a row then has beside its key and its version.
    pub fn new(rows: u64, access: Access, size_bytes: Option<u32>) -> Self {
        let mut columns =
            vec![Column::new("id", Kind::Int, Source::Key), Column::new("version", Kind::Int, Source::Version)];
        if size_bytes.is_none() {
            columns.extend([
                Column::new("characters", Kind::Unicode(100), Source::Characters { salt: 1 }),
                Column::new("no_text", Kind::Unicode(10), Source::Nothing),
                Column::new("bytes", Kind::Binary(300), Source::Bytes { salt: 2 }),
            ]);
        }
        let largest = Kind::Binary(size_bytes.unwrap_or(LARGEST));
        columns.push(Column::new("largest", largest, Source::Bytes { salt: 3 }));
        let steps =
            [Step::new("get", Operation::Get { table: 0 }), Step::new("update", Operation::Update { table: 0 })];
        Self { rows, access, writes_first: size_bytes.is_some(), tables: [Table::new("extreme", columns)], steps }
    }
}

impl Workload for ExtremeValues {
    const NAME: &'static str = "extreme-values";
    const TRANSACTION: &'static str = "get-and-update";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        let access = options.access()?;
        let size_bytes = options.number("size_bytes", 0..=u64::from(u32::MAX >> 1), 0)? as u32;
        Ok(Self::new(options.rows, access, (size_bytes > 0).then_some(size_bytes)))
    }

    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn checks(&self) -> &[Check] {
        &[Check::RowCount { table: 0 }]
    }

    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let key = self.access.key(choices, self.rows);
        if self.writes_first {
            operations.update(UPDATE, key, 1 + choices.step).await?;
            return operations.get(GET, key).await;
        }
        operations.get(GET, key).await?;
        let version = match operations.row().value(VERSION) {
            Value::Int(n) if n >= 0 => n as u64,
            _ => 0,
        };
        operations.update(UPDATE, key, version + 1).await?;
        operations.get(GET, key).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::RowBuffer;

    #[test]
    fn its_rows_have_every_byte_and_characters_of_every_width() {
        let workload = ExtremeValues::new(9, Access::Uniform, None);
        let mut row = RowBuffer::default();
        workload.tables[0].generate(5, 2, &mut row);
        let text = |i| match row.row().value(i) {
            Value::Text(text) => text,
            other => panic!("{other}"),
        };
        let characters = std::str::from_utf8(text(2)).unwrap();
        assert_eq!(characters.chars().count(), 100);
        assert!((1..=4).all(|width| characters.chars().any(|c| c.len_utf8() == width)));
        assert!(text(3).is_empty());
        assert!((0..=255).all(|byte| text(4).contains(&byte)));
        assert_eq!(text(5).len(), LARGEST as usize);
    }

    #[test]
    fn its_only_value_has_the_size_that_was_asked_for() {
        let workload = ExtremeValues::new(9, Access::Uniform, Some(70_001));
        let mut row = RowBuffer::default();
        workload.tables[0].generate(5, 2, &mut row);
        assert!(matches!(row.row().value(2), Value::Text(text) if text.len() == 70_001));
        assert_eq!(row.row().len(), 3);
    }
}
