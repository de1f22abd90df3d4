//! Preparing, loading, counting and cleaning up.

use std::ops::Range;

use dbdyno_model::{Dialect, Statement};
use dbdyno_wire::TextRows;
use dbdyno_wire::postgres as wire;

use super::{COMMENT, COPY_NS, COPY_SIZE_BYTES, PostgresSession, WHOLE_TABLE_NS, refused, scalar_type};
use crate::params::params;
use crate::query_plan::{self, Example, QueryPlan, example};
use crate::sql::{count_keys, create_indexes, index_name, indexed, last_key, table_name};
use crate::{Administration, Cleaning, Trouble};

/// Holds for the statements sent with it.
const BY_INDEX_ONLY: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off; \
     SET LOCAL max_parallel_workers_per_gather = 0";

impl Administration for PostgresSession {
    async fn prepare(&mut self, marker: &str) -> Result<(), Trouble> {
        for table in 0..self.schema.tables.len() {
            self.create(table, marker).await?;
        }
        Ok(())
    }

    /// By COPY in the binary format; the rows of one call are one transaction. The server reports errors at the end.
    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        let Self { exchange, schema, generated, .. } = self;
        exchange.be_patient(COPY_NS);
        let table = &schema.tables[table];
        let request = exchange.begin();
        wire::query(request, &format!("COPY {} FROM STDIN (FORMAT binary)", table_name(table)));
        wire::copy_begin(request);
        let types = table.columns.iter().map(|column| scalar_type(column.kind));
        for key in keys {
            if !table.make(key, generated) {
                continue;
            }
            wire::copy_row(&mut exchange.request, types.clone().zip(params(table.columns.iter(), generated.row())));
            if exchange.request.len() >= COPY_SIZE_BYTES {
                exchange.send().await?;
                exchange.request.clear();
            }
        }
        wire::copy_end(&mut exchange.request);
        exchange.send().await?;
        let rows = exchange.next(wire::text_answer).await?;
        rows.map_err(|error| refused(&error))?;
        Ok(())
    }

    fn loads_by(&self) -> &'static str {
        "COPY in the binary format"
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let sql = count_keys(&self.schema.tables[table], &keys);
        Ok(self.query_one(&sql).await?.and_then(|n| n.parse().ok()))
    }

    /// Not by `IF NOT EXISTS`, which is content with another table's index of that name.
    async fn index(&mut self, table: usize) -> Result<(), Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let name = table_name(&self.schema.tables[table]);
        for (index, sql) in create_indexes(&self.schema.tables[table]) {
            let select = format!(
                "SELECT 1 FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid \
                 WHERE indrelid = '{name}'::regclass AND relname = '{index}'"
            );
            if self.query_one(&select).await?.is_none() {
                self.query(&sql).await?;
            }
        }
        Ok(())
    }

    /// Else the planner guesses until autovacuum has come by, which it does in the middle of a run.
    async fn settle(&mut self, table: usize) -> Result<(), Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let name = table_name(&self.schema.tables[table]);
        self.query(&format!("VACUUM (ANALYZE) {name}")).await?;
        Ok(())
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let name = table_name(&self.schema.tables[table]);
        Ok(self.query_one(&format!("SELECT count(*) FROM {name}")).await?.and_then(|n| n.parse().ok()))
    }

    /// The planner cannot be told which index to use: it is left no other way to the order of one, and its plan is looked at.
    async fn count_by_index(&mut self, table: usize, index: usize) -> Result<Option<u64>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let table = &self.schema.tables[table];
        let (name, index) = (table_name(table), &table.indexes[index]);
        let columns = indexed(table, index, ", ");
        let count =
            format!("SELECT count(*) FROM (SELECT {columns} FROM {name} ORDER BY {columns} OFFSET 0) AS ordered");
        let by = format!(" using {} on ", index_name(table, index));
        let mut rows = self.query(&format!("{BY_INDEX_ONLY}; EXPLAIN {count}; {count}")).await?;
        let counted = rows.pop().and_then(|mut row| row.pop()).flatten();
        let is_used = rows.iter().flatten().flatten().any(|line| line.contains(&by));
        Ok(counted.filter(|_| is_used).and_then(|n| n.parse().ok()))
    }

    async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        let sql = last_key(&self.schema.tables[table]);
        Ok(self.query_one(&sql).await?.and_then(|n| n.parse().ok()))
    }

    async fn remove_rows(&mut self, table: usize) -> Result<(), Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let sql = format!("TRUNCATE TABLE {}", self.qualified(&table_name(&self.schema.tables[table])).await?);
        Ok(self.query(&sql).await.map(drop)?)
    }

    async fn ask(&mut self, query: &Statement) -> Result<TextRows, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let sql = query.text(Dialect::Postgres, &self.schema.tables, table_name);
        Ok(self.query(&sql).await?)
    }

    async fn query_plan(&mut self, step: usize) -> Result<Option<QueryPlan>, Trouble> {
        let Some(Example { sql, with_values }) = example(&self.schema, step, Dialect::Postgres) else {
            return Ok(None);
        };
        let rows = self.query(&format!("EXPLAIN (COSTS OFF) {with_values}")).await?;
        Ok(Some(QueryPlan { sql, steps: query_plan::postgres::steps(&rows) }))
    }

    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let table = &self.schema.tables[table];
        let sql = format!("SELECT sum({}) FROM {}", table.columns[column].name, table_name(table));
        Ok(self.query_one(&sql).await?.and_then(|n| n.parse().ok()))
    }

    async fn marker(&mut self) -> Result<Option<String>, Trouble> {
        let sql = format!("SELECT max({COMMENT}) {}", self.marked_tables());
        Ok(self.query_one(&sql).await?)
    }

    async fn remove(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Trouble> {
        let rows = self.query(&format!("SELECT relname {}", self.marked_tables())).await?;
        let names: Vec<String> = rows.into_iter().flatten().flatten().collect();
        for name in names.iter().filter(|_| cleaning == Cleaning::Remove) {
            let qualified = self.qualified(name).await?;
            self.query(&format!("DROP TABLE IF EXISTS {qualified}")).await?;
        }
        Ok(names)
    }
}
