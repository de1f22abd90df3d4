//! How a store executes the statement of a step, without what differs from one server to the next: costs, estimates and values.

pub mod mysql;
pub mod postgres;
pub mod sqlite;

use dbdyno_model::{Dialect, Kind, Operation, RowBuffer, Value, range_of};

use crate::Schema;
use crate::sql::statement;

/// Rows that a range of an example has, and that a LIMIT of one asks for.
const RANGE_ROWS: i64 = 100;
const DATE: &str = "2000-01-01 00:00:00";

/// The plan of one statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryPlan {
    /// The statement, `?` for each parameter.
    pub sql: String,
    /// A line for each step of the plan, indented below the one that it feeds.
    pub steps: Vec<String>,
}

/// A statement as the workload has it, and with example values as `EXPLAIN` takes it.
pub struct Example {
    pub sql: String,
    pub with_values: String,
}

/// Returns a step's statement with example values; `None` if there is no choice how to execute it.
///
/// The values are those of a row in the middle of its table, so that a look-up finds one. A statement of the workload's own has 1 for each
/// parameter, and a hundred rows for a range.
pub fn example(schema: &Schema, step: usize, dialect: Dialect) -> Option<Example> {
    let operation = schema.steps[step].operation;
    let is_addition = matches!(operation, Operation::Insert { .. } | Operation::Put { .. });
    if operation.is_control() || operation == Operation::Transaction || is_addition {
        return None;
    }
    let (sql, kinds) = (statement(schema, &schema.steps[step], dialect), schema.parameter_kinds(step));
    let values = match operation {
        Operation::Sql { .. } => own_values(&sql, &kinds, dialect),
        _ => row_values(schema, operation, dialect)?,
    };
    let with_values = filled(&sql, &values);
    Some(Example { sql, with_values })
}

fn filled(sql: &str, values: &[String]) -> String {
    let mut parts = sql.split('?');
    let first = parts.next().unwrap_or_default().to_string();
    parts.zip(values).fold(first, |sql, (part, value)| format!("{sql}{value}{part}"))
}

/// Values for the parameters of a workload's own statement, by the words before each.
fn own_values(sql: &str, kinds: &[Kind], dialect: Dialect) -> Vec<String> {
    let before: Vec<&str> = sql.split('?').map(str::trim).collect();
    let mut last = 0;
    let value = |(i, &kind): (usize, &Kind)| {
        let is_end = before[i] == "AND" && i > 0 && before[i - 1].ends_with("BETWEEN");
        last = match before[i] {
            _ if is_end => RANGE_ROWS,
            "," => last + 1,
            words if words.ends_with("LIMIT") => RANGE_ROWS,
            _ => 1,
        };
        if kind.is_number() {
            literal(kind, Value::Int(last), dialect)
        } else {
            literal(kind, Value::Text(last.to_string().as_bytes()), dialect)
        }
    };
    kinds.iter().enumerate().map(value).collect()
}

/// The parameters of an operation on a row in the middle of its table; `None` if the table has no rows.
fn row_values(schema: &Schema, operation: Operation, dialect: Dialect) -> Option<Vec<String>> {
    let table = schema.table_of_operation(operation);
    let numbers = table.numbers(schema.rows);
    let middle = numbers.start.midpoint(numbers.end);
    let mut buffer = RowBuffer::default();
    (middle..numbers.end).chain(numbers.start..middle).find(|&number| table.make(number, &mut buffer))?;
    let (row, columns) = (buffer.row(), &table.columns);
    let column = |i: usize| literal(columns[i].kind, row.value(i), dialect);
    Some(match operation {
        Operation::GetMany { keys, .. } => {
            let Value::Int(first) = row.value(0) else { return None };
            (first..).take(keys).map(|key| key.to_string()).collect()
        }
        Operation::Find { column: by, .. } => vec![column(by)],
        Operation::SumRange { rows, .. } => {
            let Value::Int(key) = row.value(0) else { return None };
            let range = range_of(key as u64, rows, numbers.end - 1);
            [range.start(), range.end()].map(u64::to_string).into()
        }
        Operation::Add { .. } => vec!["1".into(), column(0)],
        Operation::Scan { .. } => vec![column(0), RANGE_ROWS.to_string()],
        Operation::Update { .. } => {
            let versioned = (0..columns.len()).filter(|&i| columns[i].is_versioned());
            versioned.chain([0]).map(column).collect()
        }
        _ => vec![column(0)],
    })
}

fn literal(kind: Kind, value: Value<'_>, dialect: Dialect) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Int(_) if kind == Kind::DateTime && dialect != Dialect::Sqlite => format!("'{DATE}'"),
        Value::Int(bits) if kind == Kind::Double => format!("{:e}", f64::from_bits(bits as u64)),
        Value::Int(n) => n.to_string(),
        Value::Text(text) => {
            let text = String::from_utf8_lossy(text).replace('\'', "''").replace('\0', " ");
            // Only MySQL reads a backslash as more than itself.
            let text = if dialect == Dialect::Mysql { text.replace('\\', "\\\\") } else { text };
            format!("'{text}'")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Column, Source, Statement, Step, Table};

    fn sql_of(operation: Operation) -> Option<String> {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("sid", Kind::Int, Source::Version),
            Column::new("c", Kind::Char(4), Source::VersionedLetters { salt: 1 }),
        ];
        let statements = vec![
            Statement::new(
                "SELECT c FROM {t} WHERE id BETWEEN ? AND ? AND c = ?",
                &[Kind::Int, Kind::Int, Kind::Char(4)],
                &[],
            ),
            Statement::new("SELECT c FROM {t} WHERE sid IN (?, ?) LIMIT ?", &[Kind::Int, Kind::Int, Kind::BigInt], &[]),
            Statement::new("SELECT c FROM {t} WHERE id = ?", &[Kind::DateTime], &[]),
        ];
        let steps = vec![Step::new("s", operation)];
        let schema = Schema { tables: vec![Table::new("t", columns)], steps, statements, rows: 9 };
        let example = example(&schema, 0, Dialect::Mysql)?;
        assert_eq!(example.sql.split('?').count(), schema.parameter_kinds(0).len() + 1);
        Some(example.with_values)
    }

    #[test]
    fn a_statement_has_the_values_of_a_row_that_is_there() {
        let table = 0;
        let begins = [
            (Operation::Get { table }, "SELECT id, sid, c FROM dbdyno_t WHERE id = 5"),
            (Operation::GetMany { table, keys: 2 }, "SELECT id, sid, c FROM dbdyno_t WHERE id IN (5, 6)"),
            (Operation::Find { table, column: 1 }, "SELECT id, sid, c FROM dbdyno_t WHERE sid = 0"),
            (Operation::Add { table, column: 1 }, "UPDATE dbdyno_t SET sid = sid + 1 WHERE id = 5"),
            (Operation::Delete { table }, "DELETE FROM dbdyno_t WHERE id = 5"),
            (Operation::Scan { table }, "SELECT id, sid, c FROM dbdyno_t WHERE id >= 5 ORDER BY id LIMIT 100"),
            (Operation::Update { table }, "UPDATE dbdyno_t SET sid = 0, c = '"),
            (
                Operation::SumRange { table, column: 1, rows: 3 },
                "SELECT SUM(id), SUM(sid) FROM dbdyno_t WHERE id BETWEEN 4 AND 6",
            ),
            (Operation::Sql { statement: 0 }, "SELECT c FROM dbdyno_t WHERE id BETWEEN 1 AND 100 AND c = '1'"),
            (Operation::Sql { statement: 1 }, "SELECT c FROM dbdyno_t WHERE sid IN (1, 2) LIMIT 100"),
            (Operation::Sql { statement: 2 }, "SELECT c FROM dbdyno_t WHERE id = '2000-01-01 00:00:00'"),
        ];
        for (operation, begin) in begins {
            let sql = sql_of(operation).unwrap();
            assert!(sql.starts_with(begin), "{sql}");
        }
    }

    #[test]
    fn what_can_be_executed_in_one_way_only_has_no_plan() {
        for operation in [Operation::Insert { table: 0 }, Operation::Commit, Operation::Transaction] {
            assert_eq!(sql_of(operation), None);
        }
    }

    #[test]
    fn a_text_is_quoted_as_the_dialect_reads_it() {
        let quoted = |dialect| literal(Kind::Varchar(9), Value::Text(b"it's \\"), dialect);
        assert_eq!(quoted(Dialect::Mysql), r"'it''s \\'");
        assert_eq!(quoted(Dialect::Postgres), r"'it''s \'");
        assert_eq!(literal(Kind::DateTime, Value::Int(7), Dialect::Sqlite), "7");
        assert_eq!(literal(Kind::Int, Value::Null, Dialect::Sqlite), "NULL");
    }
}
