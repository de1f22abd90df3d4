//! Preparing, loading, counting and cleaning up.

use std::ops::Range;

use dbdyno_model::{Failure, Statement};
use dbdyno_wire::TextRows;

use super::{HandlersocketSession, not_connected};
use crate::mysql::MysqlSession;
use crate::store_config::OpenStore;
use crate::{Administration, Cleaning, Trouble};

/// All of it goes by SQL: HandlerSocket makes no tables, and counts nothing.
impl Administration for HandlersocketSession {
    async fn prepare(&mut self, marker: &str) -> Result<(), Trouble> {
        self.sql_alone().await?.prepare(marker).await
    }

    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble> {
        self.sql().await?.load(table, keys).await
    }

    fn loads_by(&self) -> &'static str {
        self.sql.as_ref().map_or("SQL", |sql| sql.loads_by())
    }

    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble> {
        self.sql().await?.present(table, keys).await
    }

    async fn index(&mut self, table: usize) -> Result<(), Trouble> {
        self.sql_alone().await?.index(table).await
    }

    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        self.sql().await?.count(table).await
    }

    async fn count_by_index(&mut self, table: usize, index: usize) -> Result<Option<u64>, Trouble> {
        self.sql().await?.count_by_index(table, index).await
    }

    async fn last_key(&mut self, table: usize) -> Result<Option<u64>, Trouble> {
        if self.store.sql.is_none() {
            return Ok(None);
        }
        self.sql().await?.last_key(table).await
    }

    async fn remove_rows(&mut self, table: usize) -> Result<(), Trouble> {
        self.sql_alone().await?.remove_rows(table).await
    }

    async fn ask(&mut self, query: &Statement) -> Result<TextRows, Trouble> {
        self.sql().await?.ask(query).await
    }

    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble> {
        self.sql().await?.sum(table, column).await
    }

    async fn marker(&mut self) -> Result<Option<String>, Trouble> {
        self.sql().await?.marker().await
    }

    async fn remove(&mut self, cleaning: Cleaning) -> Result<Vec<String>, Trouble> {
        self.sql_alone().await?.remove(cleaning).await
    }
}

impl HandlersocketSession {
    async fn sql(&mut self) -> Result<&mut MysqlSession, Trouble> {
        if self.sql.is_none() {
            let none = || Failure::Connect("the plan has no SQL port for this HandlerSocket".into());
            let store = self.store.sql.as_ref().ok_or_else(none)?;
            self.sql = Some(Box::new(store.open(Some(&self.reactor)).await?));
        }
        self.sql.as_deref_mut().ok_or_else(|| Trouble::Failed(not_connected()))
    }

    /// The SQL, without connections to the plugin's ports: a thread of it closes its tables only when its last connection is gone (`run_one_ep` in
    /// its hstcpsvr_worker.cpp). One that comes before it has seen the clients of a run go would keep their table from being dropped.
    async fn sql_alone(&mut self) -> Result<&mut MysqlSession, Trouble> {
        (self.reading, self.writing, self.is_ready) = (None, None, false);
        self.sql().await
    }
}
