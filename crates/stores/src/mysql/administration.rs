//! Preparing, loading, counting and cleaning up.

use std::ops::Range;

use dbdyno_model::{Dialect, Failure, Statement};
use dbdyno_wire::TextRows;

use super::statements::escape_into;
use super::{MysqlSession, WHOLE_TABLE_NS};
use crate::sql::{
    TABLE_PREFIX, count_by_index, count_keys, create_indexes, create_table, last_key, table_name, table_options,
};
use crate::{Administration, Cleaning, QueryPlan, TABLE_MARKER, Trouble};

impl Administration for MysqlSession {
    async fn prepare(&mut self, marker: &str) -> Result<(), Trouble> {
        let comment = self.backends.comment().unwrap_or_else(|| marker.into());
        for table in 0..self.schema.tables.len() {
            for backend in self.backends.sessions().await? {
                backend.create(table, marker).await?;
            }
            self.create(table, &comment).await?;
        }
        Ok(())
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        self.load_rows(table, keys).await.map_err(Trouble::Failed)
    }

    fn loads_by(&self) -> &'static str {
        self.loader.way()
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let sql = count_keys(&self.schema.tables[table], &keys);
        Ok(self.query_one(&sql).await?.and_then(|n| n.parse().ok()))
    }

    async fn index(&mut self, table: usize) -> Result<(), Trouble> {
        for backend in self.backends.sessions().await? {
            backend.add_indexes(table).await?;
        }
        Ok(self.add_indexes(table).await?)
    }

    /// Else a server that begins on a copy of the data still knows it as empty, and scans all of it for a hundred keys.
    async fn settle(&mut self, table: usize) -> Result<(), Trouble> {
        for backend in self.backends.sessions().await? {
            backend.analyze(table).await?;
        }
        Ok(self.analyze(table).await?)
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let name = table_name(&self.schema.tables[table]);
        Ok(self.query_one(&format!("SELECT COUNT(*) FROM {name}")).await?.and_then(|n| n.parse().ok()))
    }

    async fn count_by_index(&mut self, table: usize, index: usize) -> Result<Option<u64>, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let sql = count_by_index(&self.schema.tables[table], index, "FORCE INDEX (?)");
        Ok(self.query_one(&sql).await?.and_then(|n| n.parse().ok()))
    }

    async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        let sql = last_key(&self.schema.tables[table]);
        Ok(self.query_one(&sql).await?.and_then(|n| n.parse().ok()))
    }

    async fn remove_rows(&mut self, table: usize) -> Result<(), Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let sql = format!("TRUNCATE TABLE {}", table_name(&self.schema.tables[table]));
        Ok(self.query(&sql).await.map(drop)?)
    }

    async fn ask(&mut self, query: &Statement) -> Result<TextRows, Trouble> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        let sql = query.text(Dialect::Mysql, &self.schema.tables, table_name);
        Ok(self.query(&sql).await?)
    }

    async fn query_plan(&mut self, step: usize) -> Result<Option<QueryPlan>, Trouble> {
        Ok(self.explain(step).await?)
    }

    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
        let table = &self.schema.tables[table];
        let sql = format!("SELECT SUM({}) FROM {}", table.columns[column].name, table_name(table));
        Ok(self.query_one(&sql).await?.and_then(|n| n.parse().ok()))
    }

    async fn marker(&mut self) -> Result<Option<String>, Trouble> {
        let marked = self.backends.sessions().await?.first_mut();
        match marked {
            Some(backend) => Ok(backend.highest_mark().await?),
            None => Ok(self.highest_mark().await?),
        }
    }

    async fn remove(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Trouble> {
        let mut names = self.drop_marked(cleaning).await?;
        for backend in self.backends.sessions().await? {
            names = backend.drop_marked(cleaning).await?;
        }
        Ok(names)
    }
}

impl MysqlSession {
    /// Makes a table with this comment, replacing one of dbdyno's.
    async fn create(&mut self, table: usize, comment: &str) -> Result<(), Trouble> {
        let name = table_name(&self.schema.tables[table]);
        let there = self
            .query_one(&format!(
                "SELECT table_comment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '{name}'"
            ))
            .await?;
        match there {
            Some(there) if !there.starts_with(TABLE_MARKER) && there != comment => {
                return Err(Trouble::Refused(format!(
                    "a table {name} without dbdyno's marker exists, and dbdyno does not drop it. Use another database"
                )));
            }
            Some(_) => self.drop_table(&name).await?,
            None => {}
        }
        let table = &self.schema.tables[table];
        let mut sql = format!("{} {} COMMENT='", create_table(table, Dialect::Mysql), self.table_options);
        escape_into(&mut sql, comment);
        sql.push('\'');
        sql.push_str(&self.backends.partitions(&name).unwrap_or_else(|| table_options(table, Dialect::Mysql)));
        match self.query(&sql).await {
            Err(Failure::Server(message)) if message.contains("near 'JSON") => {
                let from = "which came with MySQL 5.7 and MariaDB 10.2";
                Err(Trouble::Refused(format!("this server has no type JSON, {from}: declare a varchar instead")))
            }
            made => Ok(made.map(drop)?),
        }
    }

    /// Makes the secondary indexes that a table still lacks.
    async fn add_indexes(&mut self, table: usize) -> Result<(), Failure> {
        let table = &self.schema.tables[table];
        let (name, indexes) = (table_name(table), create_indexes(table));
        self.exchange.be_patient(WHOLE_TABLE_NS);
        for (index, sql) in indexes {
            let there = format!(
                "SELECT index_name FROM information_schema.statistics \
                 WHERE table_schema = DATABASE() AND table_name = '{name}' AND index_name = '{index}'"
            );
            if self.query_one(&there).await?.is_none() {
                self.query(&self.backends.index(sql)).await?;
            }
        }
        Ok(())
    }

    async fn analyze(&mut self, table: usize) -> Result<(), Failure> {
        self.exchange.be_patient(WHOLE_TABLE_NS);
        self.query(&format!("ANALYZE TABLE {}", table_name(&self.schema.tables[table]))).await.map(drop)
    }

    /// The tables that carry a marker: those of the schema, or all if it is empty.
    fn marked_tables(&self) -> String {
        let names: Vec<String> = self.schema.tables.iter().map(|t| format!("'{}'", table_name(t))).collect();
        let named = match names.len() {
            // A backslash is no escape if sql_mode has NO_BACKSLASH_ESCAPES.
            0 => format!("LIKE '{}%' ESCAPE '|'", TABLE_PREFIX.replace('_', "|_")),
            _ => format!("IN ({})", names.join(", ")),
        };
        let mark =
            self.backends.comment().map_or_else(|| format!("LIKE '{TABLE_MARKER}%'"), |way| format!("= '{way}'"));
        format!(
            "FROM information_schema.tables WHERE table_schema = DATABASE() \
             AND table_name {named} AND table_comment {mark}"
        )
    }

    async fn highest_mark(&mut self) -> Result<Option<String>, Failure> {
        self.query_one(&format!("SELECT MAX(table_comment) {}", self.marked_tables())).await
    }

    async fn drop_marked(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Failure> {
        let rows = self.query(&format!("SELECT table_name {}", self.marked_tables())).await?;
        let names: Vec<String> = rows.into_iter().flatten().flatten().collect();
        for name in names.iter().filter(|_| cleaning == Cleaning::Remove) {
            self.drop_table(name).await?;
        }
        Ok(names)
    }

    /// Somebody else who cleans the same database may have dropped it first.
    async fn drop_table(&mut self, name: &str) -> Result<(), Failure> {
        self.query(&format!("DROP TABLE IF EXISTS `{}`", name.replace('`', "``"))).await.map(drop)
    }
}
