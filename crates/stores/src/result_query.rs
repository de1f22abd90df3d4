//! A query whose results a pool keeps: the key of each result, its columns, and what it must hold.

use dbdyno_model::{
    Column, Dialect, Field, Operation, Row, RowBuffer, Source, Table, Value, decode_row, range_of, write_decimal,
};

use crate::keys::write_digest;
use crate::schema::SUM;
use crate::{Schema, sql};

/// A query of one value. It finds a row, or sums over the range of rows that has this key.
#[derive(Clone, Debug)]
pub struct ResultQuery {
    /// The text before the value; behind it, of a range, the text before the last key.
    text: Vec<u8>,
    behind: Option<Vec<u8>>,
    /// The column that has the value.
    column: usize,
    /// How many rows a result is made of, and the number of the table's last row.
    rows: u64,
    last: u64,
    table: Table,
    /// The columns of a result.
    pub answer: Table,
}

impl ResultQuery {
    /// The query that a step asks, or that a step which changes a row makes wrong; `None` if there is none.
    pub fn of(schema: &Schema, step: usize) -> Option<Self> {
        let operation = schema.steps[step].operation;
        if !operation.has_table() {
            return None;
        }
        let table = operation.table();
        let asks = |operation: Operation| match operation {
            Operation::Get { table: asked } | Operation::SumRange { table: asked, .. } => asked == table,
            _ => false,
        };
        let asking = match operation {
            Operation::Get { .. } | Operation::Find { .. } | Operation::SumRange { .. } => &schema.steps[step],
            _ => schema.steps.iter().find(|step| asks(step.operation))?,
        };
        let (column, rows) = match asking.operation {
            Operation::Find { column, .. } => (column, 1),
            Operation::SumRange { rows, .. } => (0, rows),
            _ => (0, 1),
        };
        let (table, statement) = (schema.tables[table].clone(), sql::statement(schema, asking, Dialect::Mysql));
        let is_range = matches!(asking.operation, Operation::SumRange { .. });
        let mut parts = statement.split('?').map(|part| part.as_bytes().to_vec());
        let text = parts.next().unwrap_or_default();
        let behind = parts.next().filter(|_| is_range);
        let sums = || ["keys", "values"].map(|name| Column::new(name, SUM, Source::Population)).to_vec();
        let answer = if is_range { Table::new(&table.name, sums()) } else { table.clone() };
        let last = table.numbers(schema.rows).end - 1;
        Some(Self { text, behind, column, rows, last, table, answer })
    }

    /// Replaces `key` by what the result of the query with this value is filed under; `text` is overwritten. Any key of a range stands for it.
    #[inline]
    pub fn write_key(&self, value: Value<'_>, text: &mut Vec<u8>, key: &mut Vec<u8>) {
        text.clear();
        text.extend_from_slice(&self.text);
        match (value, &self.behind) {
            (Value::Int(n), Some(behind)) => {
                let range = range_of(n.unsigned_abs(), self.rows, self.last);
                write_decimal(*range.start(), text);
                text.extend_from_slice(behind);
                write_decimal(*range.end(), text);
            }
            (Value::Int(n), None) => write_decimal(n.unsigned_abs(), text),
            (Value::Text(value), _) => text.extend_from_slice(value),
            (Value::Null, _) => {}
        }
        write_digest(text, key);
    }

    /// The queries that the steps of a schema ask of a table, each once.
    pub fn all(schema: &Schema, table: usize) -> Vec<Self> {
        let asks = |operation: Operation| match operation {
            Operation::Get { .. } | Operation::Find { .. } | Operation::SumRange { .. } => operation.table() == table,
            _ => false,
        };
        let asking = (0..schema.steps.len()).filter(|&step| asks(schema.steps[step].operation));
        let mut queries: Vec<Self> = Vec::new();
        for query in asking.filter_map(|step| Self::of(schema, step)) {
            if queries.iter().all(|known| known.text != query.text) {
                queries.push(query);
            }
        }
        queries
    }

    /// How many results there are, numbered from 1 on.
    pub fn results(&self) -> u64 {
        self.last.div_ceil(self.rows)
    }

    /// The first row that a result is made of.
    fn first_row(&self, number: u64) -> u64 {
        1 + (number - 1) * self.rows
    }

    /// Replaces `key` by the key of the result with this number; `row` is overwritten.
    pub fn write_key_of(&self, number: u64, row: &mut RowBuffer, key: &mut Vec<u8>) {
        row.clear();
        self.table.columns[self.column].generate(self.first_row(number), 0, row);
        self.write_key(row.row().value(0), &mut Vec::new(), key);
    }

    /// Returns whether a value is the result with this number, in any version; `fields` and `scratch` are overwritten.
    pub fn is_encoded(
        &self,
        number: u64,
        bytes: &[u8],
        (start, end): (usize, usize),
        fields: &mut Vec<Field>,
        scratch: &mut Vec<u8>,
    ) -> bool {
        if !decode_row(&self.answer, bytes, start, end, fields) {
            return false;
        }
        let first = self.first_row(number);
        match self.behind {
            None => self.table.check(Row::new(bytes, fields), first, scratch).is_ok(),
            Some(_) => fields[0] == Field::Int(range_of(first, self.rows, self.last).sum::<u64>() as i64),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dbdyno_model::{Kind, Step, encode_row};

    use super::*;
    use crate::key_set::KeySet;

    fn schema(query: Operation) -> Schema {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("email", Kind::Varchar(64), Source::Email),
            Column::new("version", Kind::Int, Source::Version),
        ];
        let change = Operation::Update { table: 0 };
        let steps = [query, change].map(|operation| Step::new(operation.name(), operation)).to_vec();
        Schema { tables: vec![Table::new("t", columns)], steps, statements: vec![], rows: 25 }
    }

    const SUMS: Operation = Operation::SumRange { table: 0, column: 2, rows: 10 };

    fn key_of(query: &ResultQuery, value: Value<'_>) -> Vec<u8> {
        let mut key = Vec::new();
        query.write_key(value, &mut Vec::new(), &mut key);
        key
    }

    #[test]
    fn a_key_is_the_digest_of_the_text_with_its_values() {
        let text = "SELECT SUM(id), SUM(version) FROM dbdyno_t WHERE id BETWEEN 21 AND 25";
        let mut digest = Vec::new();
        write_digest(text.as_bytes(), &mut digest);
        let asked = ResultQuery::of(&schema(SUMS), 0).unwrap();
        assert_eq!(key_of(&asked, Value::Int(21)), digest);
    }

    #[test]
    fn a_change_makes_one_result_wrong() {
        for query in [SUMS, Operation::Get { table: 0 }] {
            let [asked, changed] = [0, 1].map(|step| ResultQuery::of(&schema(query), step).unwrap());
            for row in 1..=25 {
                let first = asked.first_row(1 + (row - 1) / asked.rows) as i64;
                assert_eq!(key_of(&changed, Value::Int(row as i64)), key_of(&asked, Value::Int(first)), "{row}");
            }
        }
        let find = Operation::Find { table: 0, column: 1 };
        assert!(ResultQuery::of(&schema(find), 1).is_none(), "nobody asks by the key");
        assert!(ResultQuery::of(&schema(Operation::Commit), 0).is_none());
    }

    #[test]
    fn results_are_known_by_their_numbers_and_by_what_they_hold() {
        for (query, results) in
            [(SUMS, 3), (Operation::Get { table: 0 }, 25), (Operation::Find { table: 0, column: 1 }, 25)]
        {
            let queries = ResultQuery::all(&schema(query), 0);
            let [query] = &queries[..] else { panic!("{queries:?}") };
            let keys: BTreeSet<_> = (1..=query.results()).map(|number| KeySet::Results(query).key(number)).collect();
            assert_eq!((query.results(), keys.len()), (results, results as usize));
        }
    }

    #[test]
    fn a_result_is_its_own_in_any_version_and_nothing_else_is_taken_for_one() {
        let [sums, get] = [SUMS, Operation::Get { table: 0 }].map(|query| ResultQuery::of(&schema(query), 0).unwrap());
        let is_third = |query: &ResultQuery, value: &[u8]| {
            query.is_encoded(3, value, (0, value.len()), &mut Vec::new(), &mut Vec::new())
        };
        let (mut row, mut value) = (RowBuffer::default(), Vec::new());
        for version in [0, 7] {
            get.table.generate(3, version, &mut row);
            value.clear();
            encode_row(row.row(), &mut value);
            assert!(is_third(&get, &value) && !is_third(&sums, &value));
            row.clear();
            for sum in [21 + 22 + 23 + 24 + 25, version as i64] {
                row.push(Value::Int(sum));
            }
            value.clear();
            encode_row(row.row(), &mut value);
            assert!(is_third(&sums, &value) && !is_third(&get, &value));
        }
        value[0] ^= 1;
        assert!(!is_third(&sums, &value) && !is_third(&sums, b"precious") && !is_third(&get, b""));
    }
}
