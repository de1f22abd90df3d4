//! Tables around the run: made, filled, counted and removed.

use std::ops::Range;
use std::rc::Rc;

use dbdyno_model::{Column, Failure, Kind, Operation, Step};
use dbdyno_net::now_ns;
use dbdyno_wire::TextRows;
use dbdyno_wire::cql::{self as wire, Answer};

use super::several::Place;
use super::{ATTEMPTS, CassandraSession, DIALECT, qualified, query, unconnected, unexpected};
use crate::params::params;
use crate::sql::{TABLE_PREFIX, index_name, statement, table_name};
use crate::{Administration, Cleaning, TABLE_MARKER, Trouble};

/// An hour, for what reads or writes a whole table.
const WHOLE_TABLE_NS: u64 = 3600 * 1_000_000_000;
/// A minute, for what every node must have heard of.
const SCHEMA_NS: u64 = 60 * 1_000_000_000;
const POLL_NS: u64 = 50_000_000;
/// Insertions that are sent before the first answer is read.
const IN_FLIGHT: u64 = 256;
/// A table is read in so many parts that none has many more rows than this: the server gives each its time-out.
const SCANNED_ROWS: u64 = 50_000;

/// Texts have no width; decimal numbers and dates are whole numbers, as they are in the load client.
fn declared(kind: Kind) -> &'static str {
    match kind {
        Kind::Char(_) | Kind::Varchar(_) | Kind::Unicode(_) | Kind::Json(_) => "text",
        Kind::Binary(_) => "blob",
        Kind::TinyInt | Kind::SmallInt | Kind::Int => "int",
        Kind::BigInt | Kind::Decimal(..) | Kind::DateTime => "bigint",
        Kind::Double => "double",
    }
}

/// `CREATE TABLE` with its marker; the first column is the key.
fn create_table(name: &str, columns: &[Column], keyspace: &str, marker: &str) -> String {
    let columns = columns.iter().enumerate().map(|(i, column)| {
        let key = if i == 0 { " PRIMARY KEY" } else { "" };
        format!("{} {}{key}", column.name, declared(column.kind))
    });
    let columns = columns.collect::<Vec<_>>().join(", ");
    let marker = marker.replace('\'', "''");
    format!("CREATE TABLE {keyspace}.{name} ({columns}) WITH comment = '{marker}'")
}

/// The ring in `parts` ranges of tokens, as conditions.
fn ranges(key: &str, parts: u64) -> impl Iterator<Item = String> {
    let bound = move |i: u64| (i128::from(i64::MIN) + (i128::from(i) << 64) / i128::from(parts)) as i64;
    let key = key.to_string();
    (0..parts).map(move |i| {
        let end = if i + 1 == parts { String::new() } else { format!(" AND token({key}) < {}", bound(i + 1)) };
        format!("token({key}) >= {}{end}", bound(i))
    })
}

fn first_value(rows: TextRows) -> Option<String> {
    rows.into_iter().next()?.into_iter().next()?
}

impl CassandraSession {
    /// Runs a statement as text, on the node that was connected to first.
    async fn query(&mut self, cql: &str) -> Result<TextRows, Failure> {
        let Some(node) = &mut self.nodes[0] else { return Err(unconnected()) };
        query(&mut node.exchange, cql, self.store.consistency).await
    }

    /// The same, of the server's own tables, of which every node has its own.
    async fn own(&mut self, cql: &str) -> Result<TextRows, Failure> {
        let Some(node) = &mut self.nodes[0] else { return Err(unconnected()) };
        query(&mut node.exchange, cql, wire::Consistency::One).await
    }

    /// Changes the schema, and waits until all nodes have the same.
    async fn change_schema(&mut self, cql: &str) -> Result<(), Failure> {
        self.be_patient(SCHEMA_NS);
        self.query(cql).await?;
        let until_ns = now_ns() + SCHEMA_NS;
        while self.nodes.len() > 1 {
            let mut versions = self.own("SELECT schema_version FROM system.local").await?;
            versions.extend(self.own("SELECT schema_version FROM system.peers").await?);
            if versions.iter().all(|row| row[0].is_none() || row == &versions[0]) {
                break;
            }
            self.pause_until(until_ns, "the nodes do not agree on the schema").await?;
        }
        Ok(())
    }

    async fn pause_until(&self, until_ns: u64, why: &str) -> Result<(), Failure> {
        if now_ns() > until_ns {
            return Err(Failure::Timeout(why.into()));
        }
        self.reactor.sleep_until(now_ns() + POLL_NS).await;
        Ok(())
    }

    fn be_patient(&mut self, timeout_ns: u64) {
        self.nodes.iter_mut().flatten().for_each(|node| node.exchange.be_patient(timeout_ns));
    }

    async fn comments(&mut self) -> Result<Vec<(String, String)>, Failure> {
        let keyspace = &self.store.keyspace;
        let select = format!("SELECT table_name, comment FROM system_schema.tables WHERE keyspace_name = '{keyspace}'");
        let named = self.own(&select).await?.into_iter().filter_map(|row| match <[_; 2]>::try_from(row) {
            Ok([Some(name), comment]) => Some((name, comment.unwrap_or_default())),
            _ => None,
        });
        Ok(named.collect())
    }

    /// Name and comment of the tables in the keyspace that begin as dbdyno's do: those of the schema, or all if it is empty.
    async fn tables(&mut self) -> Result<Vec<(String, String)>, Failure> {
        let mut tables = self.comments().await?;
        let wanted: Vec<String> = self.store.schema.tables.iter().map(table_name).collect();
        let is_wanted = |name: &String| match wanted.is_empty() {
            true => name.starts_with(TABLE_PREFIX),
            false => wanted.contains(name),
        };
        tables.retain(|(name, _)| is_wanted(name));
        Ok(tables)
    }

    async fn marked(&mut self) -> Result<Vec<(String, String)>, Failure> {
        let mut tables = self.tables().await?;
        tables.retain(|(_, comment)| comment.starts_with(TABLE_MARKER));
        Ok(tables)
    }

    /// The value of an aggregate over each part of the table.
    async fn scan(&mut self, table: usize, aggregate: &str) -> Result<Vec<i64>, Failure> {
        self.be_patient(WHOLE_TABLE_NS);
        let table = &self.store.schema.tables[table];
        let (key, name) = (table.columns[0].name.clone(), table_name(table));
        let select = format!("SELECT {} FROM {}.{name}", aggregate.replace('?', &key), self.store.keyspace);
        let mut values = Vec::new();
        for range in ranges(&key, self.store.schema.rows / SCANNED_ROWS + 1) {
            let rows = self.query(&format!("{select} WHERE {range}")).await?;
            values.extend(first_value(rows).and_then(|value| value.parse::<i64>().ok()));
        }
        Ok(values)
    }

    /// Returns the node for row `key`, with the insertion into `table` prepared.
    async fn ready_to_insert(&mut self, table: usize, key: u64) -> Result<usize, Failure> {
        let node = self.connected(self.node_of(key)).await?;
        let Some(there) = &mut self.nodes[node] else { return Err(unconnected()) };
        if there.insertion.as_ref().is_none_or(|(of, _)| *of != table) {
            let step = Step::new("load", Operation::Insert { table });
            let cql = qualified(&statement(&self.store.schema, &step, DIALECT), &self.store.keyspace);
            there.insertion = Some((table, there.prepare(&cql, self.store.consistency).await?));
            there.exchange.begin();
        }
        Ok(node)
    }

    /// Sends the insertions of all these rows, and reads the answers.
    async fn insert_all(&mut self, table: usize, keys: Range<u64>) -> Result<(), Failure> {
        let mut generated = std::mem::take(&mut self.generated);
        self.begin_all();
        let store = Rc::clone(&self.store);
        let made = &store.schema.tables[table];
        for key in keys {
            if !made.make(key, &mut generated) {
                continue;
            }
            let node = self.ready_to_insert(table, key).await?;
            self.append(node, |node, stream| {
                if let Some((_, insertion)) = &node.insertion {
                    let values = params(made.columns.iter(), generated.row());
                    wire::execute(&mut node.exchange.request, insertion, stream, values);
                }
            });
        }
        self.generated = generated;
        self.answers().await
    }

    fn all_done(&self) -> Result<(), Failure> {
        for in_flight in &self.places {
            let Place { node, frame: Some(frame) } = *in_flight else { return Err(unconnected()) };
            let Some(node) = &self.nodes[node] else { return Err(unconnected()) };
            let answer = wire::answer_in(node.exchange.bytes(), frame, &[], |_| {});
            match answer.map_err(|malformed| Failure::Protocol(malformed.0))? {
                Answer::Done => {}
                other => return Err(unexpected(&other)),
            }
        }
        Ok(())
    }
}

impl Administration for CassandraSession {
    async fn prepare(&mut self, marker: &str) -> Result<(), Trouble> {
        let (schema, keyspace) = (self.store.schema.clone(), self.store.keyspace.clone());
        for (name, comment) in self.tables().await? {
            if !comment.starts_with(TABLE_MARKER) {
                return Err(Trouble::Refused(format!(
                    "a table {keyspace}.{name} without dbdyno's marker exists, and dbdyno does not drop it. Use another keyspace"
                )));
            }
            self.change_schema(&format!("DROP TABLE IF EXISTS {keyspace}.{name}")).await?;
        }
        for table in &schema.tables {
            let sql = create_table(&table_name(table), &table.columns, &keyspace, marker);
            self.change_schema(&sql).await?;
        }
        Ok(())
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        self.be_patient(SCHEMA_NS);
        for first in keys.clone().step_by(IN_FLIGHT as usize) {
            let batch = first..(first + IN_FLIGHT).min(keys.end);
            self.insert_all(table, batch.clone()).await?;
            for _ in 1..ATTEMPTS {
                if !self.is_unprepared() {
                    break;
                }
                self.insert_all(table, batch.clone()).await?;
            }
            self.all_done()?;
        }
        Ok(())
    }

    fn loads_by(&self) -> &'static str {
        "256 prepared INSERTs in flight"
    }

    /// Only tokens have an order, keys have none. To insert a row once more makes it what it is.
    async fn present(&mut self, _table: usize, _keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        Ok(None)
    }

    /// The statement only begins to make an index.
    async fn index(&mut self, table: usize) -> Result<(), Trouble> {
        let (schema, keyspace) = (self.store.schema.clone(), self.store.keyspace.clone());
        let table = &schema.tables[table];
        for index in &table.indexes {
            let [column] = index.columns[..] else {
                return Err(Trouble::Refused("cassandra has no index of several columns".into()));
            };
            let (name, column) = (index_name(table, index), &table.columns[column].name);
            let table = table_name(table);
            // Not by `IF NOT EXISTS`, which is content with another table's index of that name.
            let exists = format!(
                "SELECT index_name FROM system_schema.indexes \
                 WHERE keyspace_name = '{keyspace}' AND table_name = '{table}' AND index_name = '{name}'"
            );
            if self.own(&exists).await?.is_empty() {
                self.change_schema(&format!("CREATE INDEX {name} ON {keyspace}.{table} ({column})")).await?;
            }
            let until_ns = now_ns() + WHOLE_TABLE_NS;
            let built = format!(
                "SELECT index_name FROM system.\"IndexInfo\" WHERE table_name = '{keyspace}' AND index_name = '{name}'"
            );
            while self.own(&built).await?.is_empty() {
                self.pause_until(until_ns, "an index was not built within an hour").await?;
            }
        }
        Ok(())
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        let counts = self.scan(table, "COUNT(*)").await?;
        Ok(Some(counts.iter().map(|&n| n as u64).sum()))
    }

    async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        let keys = self.scan(table, "MAX(?)").await?;
        Ok(keys.iter().map(|&key| key as u64).max())
    }

    async fn sum(&mut self, _table: usize, _column: usize) -> Result<Option<i128>, Trouble> {
        Ok(None)
    }

    async fn marker(&mut self) -> Result<Option<String>, Trouble> {
        Ok(self.marked().await?.into_iter().map(|(_, comment)| comment).max())
    }

    async fn remove(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Trouble> {
        let keyspace = self.store.keyspace.clone();
        let mut removed = Vec::new();
        for (name, _) in self.marked().await? {
            if cleaning == Cleaning::Remove {
                self.change_schema(&format!("DROP TABLE IF EXISTS {keyspace}.{name}")).await?;
            }
            removed.push(format!("{keyspace}.{name}"));
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::Source;

    use super::*;

    #[test]
    fn golden_table() {
        let columns = vec![
            Column::new("id", Kind::Int, Source::Key),
            Column::new("c", Kind::Char(120), Source::VersionedLetters { salt: 1 }),
        ];
        assert_eq!(
            create_table("dbdyno_bm", &columns, "dbdyno_data", "dbdyno:it's"),
            "CREATE TABLE dbdyno_data.dbdyno_bm (id int PRIMARY KEY, c text) WITH comment = 'dbdyno:it''s'"
        );
    }

    #[test]
    fn ranges_cover_the_ring_without_a_gap() {
        let two: Vec<String> = ranges("id", 2).collect();
        assert_eq!(two, ["token(id) >= -9223372036854775808 AND token(id) < 0", "token(id) >= 0"]);
        assert_eq!(ranges("id", 1).collect::<Vec<_>>(), ["token(id) >= -9223372036854775808"]);
        let bounds: Vec<i64> = ranges("id", 1000).map(|r| r.split(' ').nth(2).unwrap().parse().unwrap()).collect();
        assert!(bounds.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
