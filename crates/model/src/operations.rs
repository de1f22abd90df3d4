//! Where workloads and stores meet: the logical operations, once as a store offers them and once as a workload uses them.

use crate::{Failed, Failure, Row, Value};

/// One client's open session with a store. `step` indexes the workload's steps, for which the store has prepared itself.
#[allow(async_fn_in_trait)] // Sessions stay on the thread that opened them, so their futures need not be Send.
pub trait Session {
    /// Reads the row with primary key `key`; false where there is none. The row is then at [`Session::row`].
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure>;
    /// Reads the one row whose column has this value; false where there is none.
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure>;
    /// Stores version `version` of row `key`; false where there is no such row and the store can tell.
    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure>;
    /// Adds `delta` to a column of row `key`; false where there is no such row and the store can tell.
    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure>;
    /// Adds row `key` in version 0, which is not there; false where the store says that nothing was added.
    async fn insert(&mut self, _step: usize, _key: u64) -> Result<bool, Failure> {
        Err(Failure::Server("this store cannot insert".into()))
    }
    /// Begins or commits a transaction, as the step says. A begin rolls back what a failure has left open.
    async fn control(&mut self, _step: usize) -> Result<(), Failure> {
        Err(Failure::Server("this store has no transactions of several operations".into()))
    }
    /// Reads rows by primary key; `each` is given the index of every key once, and its row. What `step` is decides the form: of a `get`
    /// there is a request for every key, all sent before the first answer is read, and `each` is called in order; a `get-many` is one
    /// request for all of them, and the keys rise. A store that cannot do the one or the other says so before a run begins.
    async fn get_many(
        &mut self,
        _step: usize,
        _keys: &[u64],
        _each: &mut dyn FnMut(usize, Option<Row<'_>>),
    ) -> Result<(), Failure> {
        Err(Failure::Server("this store cannot read several rows at once".into()))
    }
    /// The row that the last `get` or `find` read, until the next operation.
    fn row(&self) -> Row<'_>;
    /// The row is needed no more: a store that holds something to keep it in place lets go.
    fn release(&mut self) {}
}

/// The same operations as a workload issues them: timed, verified, recorded. A failed one ends the transaction.
#[allow(async_fn_in_trait)]
pub trait Operations {
    async fn get(&mut self, step: usize, key: u64) -> Result<(), Failed>;
    /// One request for the rows with these keys, which rise.
    async fn get_many(&mut self, step: usize, keys: &[u64]) -> Result<(), Failed>;
    /// `key` is the primary key of the row that must be found.
    async fn find(&mut self, step: usize, value: Value<'_>, key: u64) -> Result<(), Failed>;
    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failed>;
    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<(), Failed>;
    async fn insert(&mut self, step: usize, key: u64) -> Result<(), Failed>;
    /// Begins or commits a transaction of the store.
    async fn control(&mut self, step: usize) -> Result<(), Failed>;
    fn row(&self) -> Row<'_>;
}
