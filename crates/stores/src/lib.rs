//! Stores, one file each: how a logical operation becomes that store's own request. A store never names a workload.
//!
//! Network stores are async functions over a [`dbdyno_net::Connection`] and `wire`; embedded ones call their library and wait for nothing.

mod acknowledged_versions;
mod any;
mod cache;
mod cache_aside;
mod capabilities;
mod cassandra;
mod claim;
mod config;
mod connection_config;
mod effective_settings;
mod embedded;
mod embedded_options;
mod engines;
mod forward;
mod handlersocket;
mod key_set;
mod key_value;
mod keys;
mod library;
mod limits;
mod list;
mod memcached;
mod mongodb;
mod multi_get;
mod mysql;
mod network;
mod params;
mod pool;
mod pool_node;
mod postgres;
mod query_plan;
mod redis;
mod remapped_keys;
mod result_query;
mod schema;
mod single;
mod spread;
mod sql;
mod sql_writes;
mod sqlite;
mod store;
mod store_config;
mod tokyotyrant;
mod values;

use std::ops::Range;

use dbdyno_model::{Dialect, Failure, Row, Statement, Step, Value};
use dbdyno_wire::TextRows;

pub use any::AnySession;
pub use claim::{Claim, Claimed, Withdrawn};
pub use config::Config;
pub use effective_settings::EffectiveSettings;
pub use mongodb::field_name;
pub use params::param;
pub use query_plan::QueryPlan;
pub use result_query::ResultQuery;
pub use schema::Schema;
use schema::SharedSchema;
pub use sql::TABLE_PREFIX;
pub use store::Store;
pub use values::encode;

/// Every table and key of dbdyno begins with this, in the form the store allows.
pub const MARKER: &str = "dbdyno:";

/// The beginning of the marker in a table's comment: more than [`MARKER`], as an owner might begin a comment with the program's name.
pub const TABLE_MARKER: &str = "dbdyno:{\"run_id\":";

/// The SQL with which stores of the MySQL protocol prepare step `step`.
pub fn step_statement(schema: &Schema, step: usize) -> String {
    sql::statement(schema, &schema.steps[step], Dialect::Mysql)
}

/// The SQL with which they read by way of `HANDLER`, if step `step` is such.
pub fn step_handler(schema: &Schema, step: usize) -> Option<String> {
    sql::handler(&schema.tables, &schema.steps[step]).map(|(_, read)| read)
}

/// The SQL with which stores of the PostgreSQL protocol do, parameters numbered.
pub fn numbered_statement(schema: &Schema, step: usize) -> String {
    sql::numbered(&sql::statement(schema, &schema.steps[step], Dialect::Postgres))
}

/// Refuses a statement with another number of parameters and columns than was declared.
fn declared_as(step: &Step, declared: (usize, usize), actual: (usize, usize)) -> Result<(), Failure> {
    if declared == actual {
        return Ok(());
    }
    let words = |(parameters, columns)| format!("{parameters} parameters and {columns} columns");
    let (name, declared, actual) = (&step.name, words(declared), words(actual));
    Err(Failure::Server(format!("the statement {name} was declared with {declared} and has {actual}")))
}

/// Why preparing, checking or cleaning up did not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Something that is not dbdyno's is in the way.
    Refused(String),
    Failed(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Failed(failure)
    }
}

/// Cleaning up either removes the tables and keys of dbdyno, or only lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaning {
    Remove,
    List,
}

/// Prepares, loads, checks and cleans a store, before and after the run.
#[allow(async_fn_in_trait)] // Sessions stay on the thread that opened them.
pub trait Administration {
    /// Makes empty tables that carry `marker` (which begins with [`MARKER`]), replacing tables of the same name that carry
    /// one; refuses if there is one that does not.
    /// A key-value store has no tables: there rows are claimed, by [`Administration::claim`].
    async fn prepare(&mut self, _marker: &str) -> Result<(), Trouble> {
        Ok(())
    }
    /// Writes these claims, one of each table of the schema, before any of its rows; refuses if one of their keys is there. Only key-value
    /// stores have claims.
    async fn claim(&mut self, _claims: &[String]) -> Result<(), Trouble> {
        Ok(())
    }
    /// Writes those of the claims that are no longer there.
    async fn renew(&mut self, _claims: &[String]) -> Result<(), Trouble> {
        Ok(())
    }
    /// The claims that are there, of any run and workload.
    async fn claims(&mut self) -> Result<Vec<String>, Trouble> {
        Ok(vec![])
    }
    /// Removes those keys of a claim that hold rows of dbdyno's, and then the claim. The schema is that of the claim's workload.
    async fn withdraw(&mut self, _claim: &Claim, _cleaning: Cleaning) -> Result<Withdrawn, Trouble> {
        Ok(Withdrawn::default())
    }
    /// Returns a sentence about rows that may be left behind without a marker.
    async fn cannot_know(&mut self) -> Result<Option<String>, Trouble> {
        Ok(None)
    }
    /// Adds the rows with these numbers, none of which is there, in the store's fastest ordinary way. If it has transactions, the load is
    /// one or a few of them, each a range of keys. A key-value store refuses a key that holds anything but its row.
    async fn load(&mut self, table: usize, keys: Range<u64>) -> Result<(), Trouble>;
    /// How [`Administration::load`] does it, in a few words.
    fn loads_by(&self) -> &'static str;
    /// How many of the rows with these keys are there; `None` if the store cannot tell, and then loading a row once more does no harm.
    async fn present(&mut self, table: usize, keys: Range<u64>) -> Result<Option<u64>, Trouble>;
    /// Makes the secondary indexes that a table with its rows still lacks; a store without any has nothing to do.
    async fn index(&mut self, _table: usize) -> Result<(), Trouble> {
        Ok(())
    }
    /// Does, once all rows are there, what the store would else do in the background of a run.
    async fn settle(&mut self, _table: usize) -> Result<(), Trouble> {
        Ok(())
    }
    /// How many rows the table has; `None` if the store cannot tell.
    async fn count(&mut self, table: usize) -> Result<Option<u64>, Trouble>;
    /// How many rows an index of the table (by its place among the table's indexes) leads to; `None` if the store cannot tell.
    async fn count_by_index(&mut self, _table: usize, _index: usize) -> Result<Option<u64>, Trouble> {
        Ok(None)
    }
    /// The highest key in the table; `None` if it is empty or the store cannot tell.
    async fn last_key(&mut self, _table: usize) -> Result<Option<u64>, Trouble> {
        Ok(None)
    }
    /// Removes all rows of a table.
    async fn remove_rows(&mut self, _table: usize) -> Result<(), Trouble> {
        Err(Trouble::Refused("this store cannot empty a table".into()))
    }
    /// The rows of a query without parameters, as text.
    async fn ask(&mut self, _query: &Statement) -> Result<TextRows, Trouble> {
        Err(Trouble::Refused("this store has no SQL".into()))
    }
    /// Returns how the store executes a step's statement; `None` if it has no plan for it, or cannot tell.
    async fn query_plan(&mut self, _step: usize) -> Result<Option<QueryPlan>, Trouble> {
        Ok(None)
    }
    /// The sum of an integer column; `None` if the store cannot tell.
    async fn sum(&mut self, table: usize, column: usize) -> Result<Option<i128>, Trouble>;
    /// The marker that is on a table; a store with claims has none.
    async fn marker(&mut self) -> Result<Option<String>, Trouble> {
        Ok(None)
    }
    /// Removes the tables that carry a marker and says which; a store with claims has none.
    async fn remove(&mut self, _cleaning: Cleaning) -> Result<Vec<String>, Trouble> {
        Ok(vec![])
    }
}

/// The writes of a cache in front of a store.
#[allow(async_fn_in_trait)]
trait Cache {
    /// Stores a row that `step` has read elsewhere, found there under `filed`.
    async fn fill(&mut self, step: usize, filed: Value<'_>, row: Row<'_>) -> Result<(), Failure>;
    /// Removes the row with this primary key.
    async fn forget(&mut self, step: usize, key: u64) -> Result<(), Failure>;
}

/// How often a cache had the row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounters {
    pub hits: u64,
    pub misses: u64,
    /// Reads that returned an older version than was acknowledged before they began.
    pub stale: u64,
}

impl CacheCounters {
    /// Returns the counts since `earlier`.
    #[inline]
    pub fn since(self, earlier: Self) -> Self {
        Self { hits: self.hits - earlier.hits, misses: self.misses - earlier.misses, stale: self.stale - earlier.stale }
    }
}
