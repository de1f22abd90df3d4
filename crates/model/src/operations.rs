//! Workloads and stores meet here: the logical operations, once as a store offers them and once as a workload uses them.

use crate::{Difference, Failed, Failure, Row, Value};

/// One client's open session with a store. `step` indexes the workload's steps, for which the store has prepared itself.
#[allow(async_fn_in_trait)] // Sessions stay on the thread that opened them, so their futures need not be Send.
pub trait Session {
    /// Reads the row with primary key `key`; false if there is none. The row is then at [`Session::row`].
    async fn get(&mut self, step: usize, key: u64) -> Result<bool, Failure>;
    /// Reads the one row whose column has this value; false if there is none.
    async fn find(&mut self, step: usize, value: Value<'_>) -> Result<bool, Failure>;
    /// Stores version `version` of row `key`; false if there is no such row and the store can tell.
    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<bool, Failure>;
    /// Adds `delta` to a column of row `key`; false if there is no such row and the store can tell.
    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<bool, Failure>;
    /// Adds row `key` in version 0, which is not there; false if the store says that nothing was added.
    async fn insert(&mut self, _step: usize, _key: u64) -> Result<bool, Failure> {
        Err(Failure::Server("this store cannot insert".into()))
    }
    /// Stores version `version` of row `key`, whether or not it is there.
    async fn put(&mut self, _step: usize, _key: u64, _version: u64) -> Result<(), Failure> {
        Err(Failure::Server("this store cannot put".into()))
    }
    /// Removes row `key`; false if it was not there.
    async fn delete(&mut self, _step: usize, _key: u64) -> Result<bool, Failure> {
        Err(Failure::Server("this store cannot delete".into()))
    }
    /// Reads at most `most` rows in the order of their primary keys, from `first` on, and hands each to `each`.
    async fn scan(
        &mut self,
        _step: usize,
        _first: u64,
        _most: u64,
        _each: &mut dyn FnMut(Row<'_>),
    ) -> Result<(), Failure> {
        Err(Failure::Server("this store cannot scan".into()))
    }
    /// Begins or ends a transaction, as the step says.
    async fn control(&mut self, _step: usize) -> Result<(), Failure> {
        Err(Failure::Server("this store has no transactions of several operations".into()))
    }
    /// Takes leave of the store, if its protocol has a word for that; the session is dropped next.
    async fn quit(&mut self) {}
    /// Rolls back the transaction that a failure has left open, if there is one.
    async fn abandon(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    /// Executes the step's statement; `each` is given every row in order. Returns how many rows it read, or wrote. The parameters are as
    /// many as the statement has, and of its kinds.
    async fn sql(
        &mut self,
        _step: usize,
        _params: &[Value<'_>],
        _each: &mut dyn FnMut(Row<'_>),
    ) -> Result<u64, Failure> {
        Err(Failure::Server("this store has no SQL".into()))
    }
    /// Reads rows by primary key; `each` is given the index of every key once, and its row. `step` decides the form. A `get`
    /// has a request for every key, all sent before the first answer is read, and `each` is called in order. A `get-many` is one
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

/// The same operations as a workload issues them: timed, verified, recorded. A failed one ends the transaction. One that is not implemented
/// fails, so that what stands in for a store in a test says only what it answers.
#[allow(async_fn_in_trait)]
pub trait Operations {
    async fn get(&mut self, _step: usize, _key: u64) -> Result<(), Failed> {
        Err(Failed)
    }
    /// One request for the rows with these keys, which rise.
    async fn get_many(&mut self, _step: usize, _keys: &[u64]) -> Result<(), Failed> {
        Err(Failed)
    }
    /// `key` is the primary key of the row that must be found.
    async fn find(&mut self, _step: usize, _value: Value<'_>, _key: u64) -> Result<(), Failed> {
        Err(Failed)
    }
    async fn update(&mut self, _step: usize, _key: u64, _version: u64) -> Result<(), Failed> {
        Err(Failed)
    }
    async fn add(&mut self, _step: usize, _key: u64, _delta: i64) -> Result<(), Failed> {
        Err(Failed)
    }
    async fn insert(&mut self, _step: usize, _key: u64) -> Result<(), Failed> {
        Err(Failed)
    }
    async fn put(&mut self, _step: usize, _key: u64, _version: u64) -> Result<(), Failed> {
        Err(Failed)
    }
    async fn delete(&mut self, _step: usize, _key: u64) -> Result<(), Failed> {
        Err(Failed)
    }
    /// At most `most` rows in the order of their keys, from `first` on. Those up to the key `sure` are surely there, none left out.
    async fn scan(&mut self, _step: usize, _first: u64, _most: u64, _sure: u64) -> Result<(), Failed> {
        Err(Failed)
    }
    /// Begins, commits or rolls back a transaction of the store.
    async fn control(&mut self, _step: usize) -> Result<(), Failed> {
        Err(Failed)
    }
    /// Executes a statement of the workload's own; `each` is given every row in order. Returns how many rows it read, or wrote. Only the
    /// workload knows what they must contain: it says so by [`Operations::verify`].
    async fn sql(
        &mut self,
        _step: usize,
        _params: &[Value<'_>],
        _each: &mut dyn FnMut(Row<'_>),
    ) -> Result<u64, Failed> {
        Err(Failed)
    }
    /// Verifies `rows` rows that `step` has just read, or its number of rows, if reads are to be verified. A difference is recorded as a
    /// mismatch, and ends the transaction.
    fn verify(
        &mut self,
        _step: usize,
        _rows: u64,
        check: impl FnOnce() -> Result<(), Box<Difference>>,
    ) -> Result<(), Failed> {
        check().map_err(|_| Failed)
    }
    /// Says that another transaction was in the way, as what `step` has just read or written shows and the store did not say: the
    /// transaction is tried again. The result ends this attempt.
    fn conflict(&mut self, _step: usize, _why: &str) -> Failed {
        Failed
    }
    /// Says which kind of transaction this is, by the step that stands for it.
    fn kind(&mut self, _step: usize) {}
    /// The rest of this transaction is timed by itself, too, as the step that stands for it.
    fn part(&mut self, _step: usize) {}
    /// All that was written of this key, in this version, is acknowledged: to be remembered if a plan says so.
    fn acknowledged(&mut self, _key: u64, _version: u64) {}
    fn row(&self) -> Row<'_> {
        Row::new(&[], &[])
    }
}
