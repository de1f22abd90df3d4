//! SQL statements of a workload's own, for what no other logical operation says.

use crate::{Dialect, Kind, Table, Value, Variant, variant};

/// A statement that a store prepares once a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    /// `{name}` stands for the table `name`, `?` for each parameter; neither may be in a quoted text.
    sql: String,
    variants: Vec<Variant>,
    pub parameters: Vec<Kind>,
    /// The columns of the rows that it answers with; empty if it answers with none.
    pub columns: Vec<Kind>,
}

impl Statement {
    pub fn new(sql: &str, parameters: &[Kind], columns: &[Kind]) -> Self {
        Self { sql: sql.into(), variants: vec![], parameters: parameters.into(), columns: columns.into() }
    }

    /// The same statement, which must be put differently in one dialect.
    #[must_use]
    pub fn on(mut self, dialect: Dialect, sql: &str) -> Self {
        self.variants.push((dialect, sql.into()));
        self
    }

    /// The text in a dialect, with `name` for each table's.
    pub fn text(&self, dialect: Dialect, tables: &[Table], name: impl Fn(&Table) -> String) -> String {
        let sql = variant(&self.variants, dialect).unwrap_or(&self.sql);
        tables.iter().fold(sql.to_string(), |sql, table| sql.replace(&format!("{{{}}}", table.name), &name(table)))
    }

    /// Returns whether these values can be its parameters: as many, and each of its kind or NULL.
    pub fn takes(&self, values: &[Value<'_>]) -> bool {
        let fits = |(kind, value): (&Kind, &Value<'_>)| match value {
            Value::Null => true,
            Value::Int(_) => kind.is_number(),
            Value::Text(_) => !kind.is_number(),
        };
        values.len() == self.parameters.len() && self.parameters.iter().zip(values).all(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_and_a_dialect_has_its_own_text() {
        let tables = [Table::new("a", vec![]), Table::new("a_b", vec![])];
        let statement =
            Statement::new("SELECT x FROM {a} JOIN {a_b}", &[], &[Kind::Int]).on(Dialect::Sqlite, "SELECT 1 FROM {a}");
        let text = |dialect| statement.text(dialect, &tables, |table| format!("t_{}", table.name));
        assert_eq!(text(Dialect::Postgres), "SELECT x FROM t_a JOIN t_a_b");
        assert_eq!(text(Dialect::Sqlite), "SELECT 1 FROM t_a");
    }

    #[test]
    fn parameters_have_their_number_and_kinds() {
        let statement = Statement::new("", &[Kind::Decimal(4, 2), Kind::Char(2)], &[]);
        assert!(statement.takes(&[Value::Int(1), Value::Text(b"x")]));
        assert!(statement.takes(&[Value::Null, Value::Null]));
        assert!(!statement.takes(&[Value::Int(1)]));
        assert!(!statement.takes(&[Value::Text(b"1"), Value::Text(b"x")]));
    }
}
