//! The SQL that several stores share: names, tables, one statement for each step.

use std::ops::Range;

use dbdyno_model::{Column, Dialect, Index, Kind, Operation, Step, Table, variant};

use crate::Schema;

/// Tables of dbdyno begin with this.
pub const TABLE_PREFIX: &str = "dbdyno_";

pub fn table_name(table: &Table) -> String {
    format!("{TABLE_PREFIX}{}", table.name)
}

/// MySQL's rows without their BLOBs have at most 65,535 bytes, all columns together.
const LONGEST_VARBINARY: u32 = 64_000;
const LONGEST_MEDIUMBLOB: u32 = (1 << 24) - 1;

/// The type that a column is declared with. SQLite has whole numbers of one kind, and only a column declared INTEGER PRIMARY KEY is the key of the
/// table's own tree. It has no decimal numbers and no dates, so these are whole numbers, as in the load client.
fn declared(kind: Kind, dialect: Dialect) -> String {
    match (kind, dialect) {
        (Kind::Char(n), _) => format!("CHAR({n})"),
        (Kind::Varchar(n), _) => format!("VARCHAR({n})"),
        (Kind::Unicode(n), Dialect::Mysql) => format!("VARCHAR({n}) CHARACTER SET utf8mb4"),
        (Kind::Unicode(n), _) => format!("VARCHAR({n})"),
        (Kind::Binary(n), Dialect::Mysql) if n <= LONGEST_VARBINARY => format!("VARBINARY({n})"),
        (Kind::Binary(n), Dialect::Mysql) => (if n <= LONGEST_MEDIUMBLOB { "MEDIUMBLOB" } else { "LONGBLOB" }).into(),
        (Kind::Binary(_), Dialect::Sqlite) => "BLOB".into(),
        (Kind::Binary(_), _) => "BYTEA".into(),
        (Kind::Json(_), Dialect::Mysql) => "JSON".into(),
        (Kind::Json(_), Dialect::Sqlite) => "TEXT".into(),
        (Kind::Json(_), _) => "JSONB".into(),
        (Kind::Double, Dialect::Sqlite) => "REAL".into(),
        (_, Dialect::Sqlite) => "INTEGER".into(),
        (Kind::TinyInt, Dialect::Mysql) => "TINYINT".into(),
        (Kind::TinyInt | Kind::SmallInt, _) => "SMALLINT".into(),
        (Kind::Int, _) => "INT".into(),
        (Kind::BigInt, _) => "BIGINT".into(),
        (Kind::Decimal(digits, scale), _) => format!("DECIMAL({digits}, {scale})"),
        (Kind::Double, _) => "DOUBLE PRECISION".into(),
        (Kind::DateTime, Dialect::Mysql) => "DATETIME".into(),
        (Kind::DateTime, _) => "TIMESTAMP(0)".into(),
    }
}

/// `CREATE TABLE` without what may follow the closing parenthesis.
pub fn create_table(table: &Table, dialect: Dialect) -> String {
    let is_single_key = table.primary_key == 1;
    let column = |(i, column): (usize, &Column)| {
        let kind = declared(column.kind, dialect);
        let null = if column.is_nullable { "" } else { " NOT NULL" };
        let constraint = if i == 0 && is_single_key { " PRIMARY KEY" } else { "" };
        format!("{} {kind}{null}{constraint}", column.name)
    };
    let mut parts: Vec<String> = table.columns.iter().enumerate().map(column).collect();
    if table.primary_key > 1 {
        parts.push(format!("PRIMARY KEY ({})", names(&table.columns[..table.primary_key])));
    }
    format!("CREATE TABLE {} ({})", table_name(table), parts.join(", "))
}

/// The text after the closing parenthesis in this dialect, with a space before it; `{name}` in it stands for the table.
pub fn table_options(table: &Table, dialect: Dialect) -> String {
    let named = |options: &str| format!(" {options}").replace(&format!("{{{}}}", table.name), &table_name(table));
    variant(&table.options, dialect).map(named).unwrap_or_default()
}

fn names<'a>(columns: impl IntoIterator<Item = &'a Column>) -> String {
    columns.into_iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The columns of an index, separated by this.
pub fn indexed(table: &Table, index: &Index, separator: &str) -> String {
    index.columns.iter().map(|&i| table.columns[i].name.as_str()).collect::<Vec<_>>().join(separator)
}

pub fn index_name(table: &Table, index: &Index) -> String {
    format!("{}_{}", table_name(table), indexed(table, index, "_"))
}

/// The name of each index and its `CREATE INDEX`.
pub fn create_indexes(table: &Table) -> Vec<(String, String)> {
    let name = table_name(table);
    let index = |index: &Index| {
        let unique = if index.unique { "UNIQUE " } else { "" };
        let index_name = index_name(table, index);
        let sql = format!("CREATE {unique}INDEX {index_name} ON {name} ({})", indexed(table, index, ", "));
        (index_name, sql)
    };
    table.indexes.iter().map(index).collect()
}

/// How many rows have a primary key among these.
pub fn count_keys(table: &Table, keys: &Range<u64>) -> String {
    let (key, name) = (&table.columns[0].name, table_name(table));
    format!("SELECT COUNT(*) FROM {name} WHERE {key} >= {} AND {key} < {}", keys.start, keys.end)
}

/// How many rows an index leads to; `by` is how a statement names the index to use.
pub fn count_by_index(table: &Table, index: usize, by: &str) -> String {
    let (index, name) = (&table.indexes[index], table_name(table));
    let by = by.replace('?', &index_name(table, index));
    format!("SELECT COUNT({}) FROM {name} {by}", table.columns[index.columns[0]].name)
}

/// The highest key.
pub fn last_key(table: &Table) -> String {
    format!("SELECT MAX({}) FROM {}", table.columns[0].name, table_name(table))
}

/// The statement that begins or ends a transaction.
pub fn control(operation: Operation) -> &'static str {
    match operation {
        Operation::Begin { read_only: true } => "START TRANSACTION READ ONLY",
        Operation::Begin { read_only: false } => "START TRANSACTION",
        Operation::Commit => "COMMIT",
        Operation::Rollback => "ROLLBACK",
        _ => "",
    }
}

/// The same in MySQL and MariaDB. MySQL 5.5 has no transactions that only read: in a mix, where that is no more than a hint, it begins
/// ordinary ones. If all transactions only read, that is what is measured, and MySQL 5.5 refuses it.
pub fn mysql_control(schema: &Schema, operation: Operation) -> &'static str {
    let is_mix = || schema.steps.iter().any(|step| step.operation == Operation::Begin { read_only: false });
    match operation {
        Operation::Begin { read_only: true } if is_mix() => "START TRANSACTION /*!50605 READ ONLY */",
        other => control(other),
    }
}

/// The statement of a step, with `?` for each parameter. An update has the versioned columns in order and then the key, an
/// addition the number and then the key, an insertion all columns in order.
pub fn statement(schema: &Schema, step: &Step, dialect: Dialect) -> String {
    let table = &schema.tables[step.operation.table()];
    let (name, key) = (table_name(table), &table.columns[0].name);
    let columns = || names(&table.columns);
    match step.operation {
        Operation::Get { .. } | Operation::GetElsewhere { .. } => {
            format!("SELECT {} FROM {name} WHERE {key} = ?", columns())
        }
        Operation::GetMany { keys, .. } => {
            format!("SELECT {} FROM {name} WHERE {key} IN ({})", columns(), vec!["?"; keys].join(", "))
        }
        Operation::Find { column, .. } => {
            format!("SELECT {} FROM {name} WHERE {} = ?", columns(), table.columns[column].name)
        }
        Operation::SumRange { column, .. } => {
            let column = &table.columns[column].name;
            format!("SELECT SUM({key}), SUM({column}) FROM {name} WHERE {key} BETWEEN ? AND ?")
        }
        Operation::Update { .. } => {
            let changes = table.columns.iter().filter(|c| c.is_versioned()).map(|c| format!("{} = ?", c.name));
            format!("UPDATE {name} SET {} WHERE {key} = ?", changes.collect::<Vec<_>>().join(", "))
        }
        Operation::Insert { .. } => {
            format!("INSERT INTO {name} ({}) VALUES ({})", columns(), vec!["?"; table.columns.len()].join(", "))
        }
        Operation::Put { .. } => put(table, dialect),
        Operation::Delete { .. } => format!("DELETE FROM {name} WHERE {key} = ?"),
        Operation::Scan { .. } => {
            format!("SELECT {} FROM {name} WHERE {key} >= ? ORDER BY {key} LIMIT ?", columns())
        }
        Operation::Add { column, .. } => {
            let column = &table.columns[column].name;
            format!("UPDATE {name} SET {column} = {column} + ? WHERE {key} = ?")
        }
        Operation::Sql { statement } => schema.statements[statement].text(dialect, &schema.tables, table_name),
        other => control(other).into(),
    }
}

/// Inserts a row, or changes its versioned columns if it is there.
fn put(table: &Table, dialect: Dialect) -> String {
    let key = &table.columns[0].name;
    let change = |column: &Column| match dialect {
        Dialect::Mysql => format!("{0} = VALUES({0})", column.name),
        _ => format!("{0} = excluded.{0}", column.name),
    };
    let changes: Vec<String> = table.columns.iter().filter(|column| column.is_versioned()).map(change).collect();
    let otherwise = match (dialect, changes.is_empty()) {
        (Dialect::Mysql, true) => format!("ON DUPLICATE KEY UPDATE {key} = {key}"),
        (Dialect::Mysql, false) => format!("ON DUPLICATE KEY UPDATE {}", changes.join(", ")),
        (_, true) => format!("ON CONFLICT ({key}) DO NOTHING"),
        (_, false) => format!("ON CONFLICT ({key}) DO UPDATE SET {}", changes.join(", ")),
    };
    let values = vec!["?"; table.columns.len()].join(", ");
    format!("INSERT INTO {} ({}) VALUES ({values}) {otherwise}", table_name(table), names(&table.columns))
}

/// The `HANDLER … READ` that replaces a step's `SELECT`, and the statement that opens its table; `None` if there is none.
pub fn handler(tables: &[Table], step: &Step) -> Option<(String, String)> {
    let table = &tables[step.operation.table()];
    let index = match step.operation {
        Operation::Get { .. } => "PRIMARY".to_string(),
        Operation::Find { column, .. } => {
            index_name(table, table.indexes.iter().find(|index| index.columns == [column])?)
        }
        _ => return None,
    };
    let name = table_name(table);
    Some((format!("HANDLER {name} OPEN"), format!("HANDLER {name} READ `{index}` = (?)")))
}

/// The same statement with `$1`, `$2` … for each `?`.
pub fn numbered(statement: &str) -> String {
    let mut parts = statement.split('?');
    let first = parts.next().unwrap_or_default().to_string();
    parts.zip(1..).fold(first, |sql, (part, n)| format!("{sql}${n}{part}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Source, Statement};

    #[test]
    fn parameters_are_numbered() {
        assert_eq!(numbered("UPDATE t SET a = ?, b = ? WHERE id = ?"), "UPDATE t SET a = $1, b = $2 WHERE id = $3");
        assert_eq!(numbered("SELECT 1"), "SELECT 1");
    }

    #[test]
    fn golden_statements() {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("sid", Kind::Int, Source::Version),
            Column::new("c", Kind::Char(120), Source::VersionedLetters { salt: 1 }),
        ];
        let table = Table { indexes: vec![Index::unique(&[1])], ..Table::new("bm", columns) };
        assert_eq!(
            create_table(&table, Dialect::Mysql),
            "CREATE TABLE dbdyno_bm (id INT NOT NULL PRIMARY KEY, sid INT NOT NULL, c CHAR(120) NOT NULL)"
        );
        let index = "CREATE UNIQUE INDEX dbdyno_bm_sid ON dbdyno_bm (sid)";
        assert_eq!(create_indexes(&table), [("dbdyno_bm_sid".to_string(), index.to_string())]);
        assert_eq!(count_keys(&table, &(3..9)), "SELECT COUNT(*) FROM dbdyno_bm WHERE id >= 3 AND id < 9");
        assert_eq!(
            count_by_index(&table, 0, "INDEXED BY ?"),
            "SELECT COUNT(sid) FROM dbdyno_bm INDEXED BY dbdyno_bm_sid"
        );
        assert_eq!(last_key(&table), "SELECT MAX(id) FROM dbdyno_bm");
        let begins = |steps: &[bool]| {
            let begin = |&read_only: &bool| Step::new("begin", Operation::Begin { read_only });
            let steps = steps.iter().map(begin).collect();
            let schema = Schema { tables: vec![], steps, statements: vec![], rows: 1 };
            mysql_control(&schema, Operation::Begin { read_only: true })
        };
        assert_eq!(begins(&[true]), "START TRANSACTION READ ONLY");
        assert_eq!(begins(&[false, true]), "START TRANSACTION /*!50605 READ ONLY */");
        let named = Statement::new("SELECT sid FROM {bm} WHERE sid > ?", &[Kind::Int], &[Kind::Int]);
        let schema = Schema { tables: vec![table], steps: vec![], statements: vec![named], rows: 1 };
        let statements = [
            (Operation::Rollback, "ROLLBACK"),
            (Operation::Sql { statement: 0 }, "SELECT sid FROM dbdyno_bm WHERE sid > ?"),
            (Operation::Begin { read_only: true }, "START TRANSACTION READ ONLY"),
            (Operation::Begin { read_only: false }, "START TRANSACTION"),
            (Operation::Commit, "COMMIT"),
            (Operation::Insert { table: 0 }, "INSERT INTO dbdyno_bm (id, sid, c) VALUES (?, ?, ?)"),
            (Operation::Get { table: 0 }, "SELECT id, sid, c FROM dbdyno_bm WHERE id = ?"),
            (Operation::GetMany { table: 0, keys: 2 }, "SELECT id, sid, c FROM dbdyno_bm WHERE id IN (?, ?)"),
            (Operation::Find { table: 0, column: 1 }, "SELECT id, sid, c FROM dbdyno_bm WHERE sid = ?"),
            (
                Operation::SumRange { table: 0, column: 1, rows: 10 },
                "SELECT SUM(id), SUM(sid) FROM dbdyno_bm WHERE id BETWEEN ? AND ?",
            ),
            (Operation::Update { table: 0 }, "UPDATE dbdyno_bm SET sid = ?, c = ? WHERE id = ?"),
            (Operation::Add { table: 0, column: 1 }, "UPDATE dbdyno_bm SET sid = sid + ? WHERE id = ?"),
            (Operation::Delete { table: 0 }, "DELETE FROM dbdyno_bm WHERE id = ?"),
            (Operation::Scan { table: 0 }, "SELECT id, sid, c FROM dbdyno_bm WHERE id >= ? ORDER BY id LIMIT ?"),
            (
                Operation::Put { table: 0, ttl_s: 0 },
                "INSERT INTO dbdyno_bm (id, sid, c) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE sid = VALUES(sid), c = VALUES(c)",
            ),
        ];
        for (operation, sql) in statements {
            assert_eq!(statement(&schema, &Step::new("s", operation), Dialect::Mysql), sql);
        }
        let conflict = "ON CONFLICT (id) DO UPDATE SET sid = excluded.sid, c = excluded.c";
        assert!(put(&schema.tables[0], Dialect::Postgres).ends_with(conflict));
        let read = |operation| handler(&schema.tables, &Step::new("s", operation)).map(|(_, read)| read);
        assert_eq!(read(Operation::Get { table: 0 }).unwrap(), "HANDLER dbdyno_bm READ `PRIMARY` = (?)");
        let find = Operation::Find { table: 0, column: 1 };
        assert_eq!(read(find).unwrap(), "HANDLER dbdyno_bm READ `dbdyno_bm_sid` = (?)");
        assert_eq!(read(Operation::Update { table: 0 }), None);
    }

    #[test]
    fn keys_and_indexes_of_several_columns_and_every_kind_in_every_dialect() {
        let column = |name, kind| Column::new(name, kind, Source::Population);
        let columns = vec![
            column("a", Kind::TinyInt),
            column("b", Kind::BigInt),
            column("c", Kind::Decimal(12, 2)),
            column("d", Kind::DateTime).nullable(),
        ];
        let options = vec![(Dialect::Mysql, "PARTITION BY HASH (a)".to_string())];
        let mut table =
            Table { primary_key: 2, indexes: vec![Index::new(&[2, 1])], options, ..Table::new("t", columns) };
        let create = |dialect| create_table(&table, dialect) + &table_options(&table, dialect);
        let key = "PRIMARY KEY (a, b))";
        assert_eq!(
            create(Dialect::Mysql),
            format!(
                "CREATE TABLE dbdyno_t (a TINYINT NOT NULL, b BIGINT NOT NULL, c DECIMAL(12, 2) NOT NULL, d DATETIME, {key} PARTITION BY HASH (a)"
            )
        );
        assert_eq!(
            create(Dialect::Postgres),
            format!(
                "CREATE TABLE dbdyno_t (a SMALLINT NOT NULL, b BIGINT NOT NULL, c DECIMAL(12, 2) NOT NULL, d TIMESTAMP(0), {key}"
            )
        );
        assert_eq!(
            create(Dialect::Sqlite),
            format!(
                "CREATE TABLE dbdyno_t (a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER NOT NULL, d INTEGER, {key}"
            )
        );
        assert_eq!(create_indexes(&table)[0].1, "CREATE INDEX dbdyno_t_c_b ON dbdyno_t (c, b)");
        table.primary_key = 0;
        assert!(!create_table(&table, Dialect::Mysql).contains("PRIMARY KEY"));
    }
}
