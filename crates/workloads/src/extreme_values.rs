//! extreme-values: one row is read and stored back changed, whose values are hard to keep: text of characters of every width, every byte, and
//! the largest value that a column can be declared with. It says whether a store keeps what it is given; nobody measures with it.

use dbdyno_model::{Choices, Column, Failed, Kind, Operation, Operations, Source, Step, Table, Value};

use crate::{Access, Check, Workload};

const GET: usize = 0;
const UPDATE: usize = 1;
const VERSION: usize = 1;
/// Some SQL stores let no row be longer than 65,535 bytes, all its columns together.
const LARGEST: u16 = 64_000;

#[derive(Clone, Debug)]
pub struct ExtremeValues {
    rows: u64,
    access: Access,
    tables: [Table; 1],
    steps: [Step; 2],
}

impl ExtremeValues {
    pub fn new(rows: u64, access: Access) -> Self {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("version", Kind::Int, Source::Version),
            Column::new("characters", Kind::Unicode(100), Source::Characters { salt: 1 }),
            Column::new("no_text", Kind::Unicode(10), Source::Nothing),
            Column::new("bytes", Kind::Binary(300), Source::Bytes { salt: 2 }),
            Column::new("largest", Kind::Binary(LARGEST), Source::Bytes { salt: 3 }),
        ];
        let steps =
            [Step::new("get", Operation::Get { table: 0 }), Step::new("update", Operation::Update { table: 0 })];
        Self { rows, access, tables: [Table::new("extreme", columns)], steps }
    }
}

impl Workload for ExtremeValues {
    const TRANSACTION: &'static str = "get-and-update";

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
        let workload = ExtremeValues::new(9, Access::Uniform);
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
        assert_eq!(text(5).len(), usize::from(LARGEST));
    }
}
