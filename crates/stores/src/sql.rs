//! The SQL that several stores share: names, tables, one statement for each step.

use std::ops::Range;

use dbdyno_model::{Kind, Operation, Step, Table};

/// Tables of dbdyno begin with this.
pub const TABLE_PREFIX: &str = "dbdyno_";

pub fn table_name(table: &Table) -> String {
    format!("{TABLE_PREFIX}{}", table.name)
}

/// `CREATE TABLE` without what may follow the closing parenthesis; `int` is the type of whole numbers.
pub fn create_table(table: &Table, int: &str) -> String {
    let columns = table.columns.iter().enumerate().map(|(i, column)| {
        let kind = match column.kind {
            Kind::Int => int.to_string(),
            Kind::Char(n) => format!("CHAR({n})"),
            Kind::Varchar(n) => format!("VARCHAR({n})"),
        };
        let constraint = if i == 0 { " PRIMARY KEY" } else { "" };
        format!("{} {kind} NOT NULL{constraint}", column.name)
    });
    format!("CREATE TABLE {} ({})", table_name(table), columns.collect::<Vec<_>>().join(", "))
}

fn index_name(table: &Table, index: &dbdyno_model::Index) -> String {
    format!("{}_{}", table_name(table), table.columns[index.column].name)
}

/// The name of each index and its `CREATE INDEX`.
pub fn create_indexes(table: &Table) -> Vec<(String, String)> {
    let name = table_name(table);
    let index = |index: &dbdyno_model::Index| {
        let unique = if index.unique { "UNIQUE " } else { "" };
        let column = &table.columns[index.column].name;
        let index_name = index_name(table, index);
        let sql = format!("CREATE {unique}INDEX {index_name} ON {name} ({column})");
        (index_name, sql)
    };
    table.indexes.iter().map(index).collect()
}

/// How many rows have a primary key among these.
pub fn count_keys(table: &Table, keys: &Range<u64>) -> String {
    let (key, name) = (&table.columns[0].name, table_name(table));
    format!("SELECT COUNT(*) FROM {name} WHERE {key} >= {} AND {key} < {}", keys.start, keys.end)
}

/// How many rows an index leads to; `by` says how a store is told to use the index that follows.
pub fn count_by_index(table: &Table, index: usize, by: &str) -> String {
    let (column, name) = (&table.columns[table.indexes[index].column].name, table_name(table));
    let by = by.replace('?', &index_name(table, &table.indexes[index]));
    format!("SELECT COUNT({column}) FROM {name} {by}")
}

/// The highest key.
pub fn last_key(table: &Table) -> String {
    format!("SELECT MAX({}) FROM {}", table.columns[0].name, table_name(table))
}

/// The statement of a step, `?` for each parameter: for an update the versioned columns in order and then the key, for an
/// addition the number and then the key, for an insertion all columns in order.
pub fn statement(tables: &[Table], step: &Step) -> String {
    let table = &tables[step.operation.table()];
    let (name, key) = (table_name(table), &table.columns[0].name);
    let columns = || table.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    match step.operation {
        Operation::Get { .. } => format!("SELECT {} FROM {name} WHERE {key} = ?", columns()),
        Operation::GetMany { keys, .. } => {
            format!("SELECT {} FROM {name} WHERE {key} IN ({})", columns(), vec!["?"; keys].join(", "))
        }
        Operation::Find { column, .. } => {
            format!("SELECT {} FROM {name} WHERE {} = ?", columns(), table.columns[column].name)
        }
        Operation::Update { .. } => {
            let changes = table.columns.iter().filter(|c| c.is_versioned()).map(|c| format!("{} = ?", c.name));
            format!("UPDATE {name} SET {} WHERE {key} = ?", changes.collect::<Vec<_>>().join(", "))
        }
        Operation::Begin { read_only: true } => "START TRANSACTION READ ONLY".into(),
        Operation::Begin { read_only: false } => "START TRANSACTION".into(),
        Operation::Commit => "COMMIT".into(),
        Operation::Insert { .. } => {
            format!("INSERT INTO {name} ({}) VALUES ({})", columns(), vec!["?"; table.columns.len()].join(", "))
        }
        Operation::Add { column, .. } => {
            let column = &table.columns[column].name;
            format!("UPDATE {name} SET {column} = {column} + ? WHERE {key} = ?")
        }
    }
}

/// The same statement with `$1`, `$2` … in the place of each `?`.
pub fn numbered(statement: &str) -> String {
    let mut parts = statement.split('?');
    let first = parts.next().unwrap_or_default().to_string();
    parts.zip(1..).fold(first, |sql, (part, n)| format!("{sql}${n}{part}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Column, Index, Source};

    #[test]
    fn parameters_are_numbered() {
        assert_eq!(numbered("UPDATE t SET a = ?, b = ? WHERE id = ?"), "UPDATE t SET a = $1, b = $2 WHERE id = $3");
        assert_eq!(numbered("SELECT 1"), "SELECT 1");
    }

    #[test]
    fn golden_statements() {
        let table = Table {
            name: "bm".into(),
            columns: vec![
                Column::new("id", Kind::Int, Source::Key),
                Column::new("sid", Kind::Int, Source::Version),
                Column::new("c", Kind::Char(120), Source::VersionedLetters { salt: 1 }),
            ],
            indexes: vec![Index { column: 1, unique: true }],
            filed_under: 0,
        };
        assert_eq!(
            create_table(&table, "INT"),
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
        let statements = [
            (Operation::Begin { read_only: true }, "START TRANSACTION READ ONLY"),
            (Operation::Begin { read_only: false }, "START TRANSACTION"),
            (Operation::Commit, "COMMIT"),
            (Operation::Insert { table: 0 }, "INSERT INTO dbdyno_bm (id, sid, c) VALUES (?, ?, ?)"),
            (Operation::Get { table: 0 }, "SELECT id, sid, c FROM dbdyno_bm WHERE id = ?"),
            (Operation::GetMany { table: 0, keys: 2 }, "SELECT id, sid, c FROM dbdyno_bm WHERE id IN (?, ?)"),
            (Operation::Find { table: 0, column: 1 }, "SELECT id, sid, c FROM dbdyno_bm WHERE sid = ?"),
            (Operation::Update { table: 0 }, "UPDATE dbdyno_bm SET sid = ?, c = ? WHERE id = ?"),
            (Operation::Add { table: 0, column: 1 }, "UPDATE dbdyno_bm SET sid = sid + ? WHERE id = ?"),
        ];
        for (operation, sql) in statements {
            assert_eq!(statement(std::slice::from_ref(&table), &Step::new("s", operation)), sql);
        }
    }
}
