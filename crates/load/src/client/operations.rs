//! The logical operations as a workload's transaction issues them: with the network delay before, and recorded after.

use dbdyno_model::{Difference, Failed, Failure, Operations, Row, Session, Value};

use super::Client;
use super::scan_check::ScanCheck;
use crate::ledger::Entry;
use crate::writes::Writes;

/// The session, or the end of the transaction: it was lost earlier in this one.
macro_rules! session {
    ($client:expr) => {
        match &mut $client.session {
            Some(session) => session,
            None => return Err(Failed),
        }
    };
}

impl Operations for Client {
    #[inline]
    async fn get(&mut self, step: usize, key: u64) -> Result<(), Failed> {
        self.network_delay().await;
        let result = session!(self).get(step, key).await;
        self.finish(step, key, result, true)
    }

    /// Rows are verified where they lie, as they are decoded, so that this is in the request's time.
    async fn get_many(&mut self, step: usize, keys: &[u64]) -> Result<(), Failed> {
        self.network_delay().await;
        let Self { thread, session, scratch, .. } = self;
        let Some(session) = session else { return Err(Failed) };
        let trial = &thread.trial;
        let table = &trial.workload.tables()[trial.workload.steps()[step].operation.table()];
        let mut wrong = None;
        let mut each = |position: usize, row: Option<Row<'_>>| {
            let failure = match row {
                None => Some(None),
                Some(row) if trial.verify_reads => table.check(row, keys[position], scratch).err().map(Some),
                Some(_) => None,
            };
            wrong = wrong.take().or(failure.map(|difference| (keys[position], difference)));
        };
        let result = session.get_many(step, keys, &mut each).await;
        self.finish_many(step, keys.len() as u64, result, wrong)
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>, key: u64) -> Result<(), Failed> {
        self.network_delay().await;
        let result = session!(self).find(step, value).await;
        self.finish(step, key, result, true)
    }

    #[inline]
    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failed> {
        self.network_delay().await;
        let result = session!(self).update(step, key, version).await;
        self.finish(step, key, result, false)
    }

    #[inline]
    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<(), Failed> {
        self.network_delay().await;
        let result = session!(self).add(step, key, delta).await;
        self.wrote(&result, &Writes::increment(delta));
        self.finish(step, key, result, false)
    }

    #[inline]
    async fn insert(&mut self, step: usize, key: u64) -> Result<(), Failed> {
        self.network_delay().await;
        let result = session!(self).insert(step, key).await;
        self.wrote(&result, &Writes::insertion());
        self.finish(step, key, result, false)
    }

    async fn put(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failed> {
        self.network_delay().await;
        let result = session!(self).put(step, key, version).await;
        self.finish(step, key, result.map(|()| true), false)
    }

    async fn delete(&mut self, step: usize, key: u64) -> Result<(), Failed> {
        self.network_delay().await;
        let result = session!(self).delete(step, key).await;
        self.wrote(&result, &Writes::deletion());
        self.finish(step, key, result, false)
    }

    /// Rows are verified where they lie, so that this is in the request's time.
    async fn scan(&mut self, step: usize, first: u64, most: u64, sure: u64) -> Result<(), Failed> {
        self.network_delay().await;
        let Self { thread, session, scratch, .. } = self;
        let Some(session) = session else { return Err(Failed) };
        let trial = &thread.trial;
        let table = &trial.workload.tables()[trial.workload.steps()[step].operation.table()];
        let mut scan = ScanCheck::new(table, first, most, sure);
        let result = session
            .scan(step, first, most, &mut |row| {
                if trial.verify_reads {
                    scan.check(row, scratch);
                }
            })
            .await;
        let (rows, wrong) = scan.end(trial.verify_reads);
        self.finish_many(step, rows, result, wrong)
    }

    async fn control(&mut self, step: usize) -> Result<(), Failed> {
        self.network_delay().await;
        let result = session!(self).control(step).await;
        let operation = self.step(step).operation;
        self.open.control(operation, &result, &mut self.thread.recorder.borrow_mut().totals.written);
        self.finish(step, 0, result.map(|()| true), false)
    }

    async fn sql(&mut self, step: usize, params: &[Value<'_>], each: &mut dyn FnMut(Row<'_>)) -> Result<u64, Failed> {
        self.network_delay().await;
        debug_assert!(self.thread.trial.workload.takes(step, params), "step {step} does not take {params:?}");
        let result = session!(self).sql(step, params, each).await;
        let rows = *result.as_ref().unwrap_or(&0);
        self.finish(step, 0, result.map(|_| true), false).map(|()| rows)
    }

    fn verify(
        &mut self,
        step: usize,
        rows: u64,
        check: impl FnOnce() -> Result<(), Box<Difference>>,
    ) -> Result<(), Failed> {
        if !self.thread.trial.verify_reads {
            return Ok(());
        }
        let ended_ns = self.begun_ns;
        match check() {
            Ok(()) => {
                self.thread.recorder.borrow_mut().verified(rows, ended_ns);
                Ok(())
            }
            Err(difference) => {
                self.show_mismatch(step, None, &difference, ended_ns);
                let failure = Failure::Mismatch(difference.to_string());
                let operation = Some(self.step(step).name.as_str());
                self.show(&failure, operation, ended_ns);
                self.thread.recorder.borrow_mut().mismatch(ended_ns, &failure);
                Err(Failed)
            }
        }
    }

    #[cold]
    fn conflict(&mut self, step: usize, why: &str) -> Failed {
        self.fail(step, &Failure::Conflict(why.into()), self.begun_ns)
    }

    #[inline]
    fn kind(&mut self, step: usize) {
        self.kind = Some((step, None));
    }

    #[inline]
    fn part(&mut self, step: usize) {
        self.kind = Some((step, Some(self.begun_ns)));
    }

    #[inline]
    fn acknowledged(&mut self, key: u64, version: u64) {
        if let Some(ledger) = &self.thread.trial.ledger {
            ledger.enter(key, Entry { version, at_ns: self.begun_ns });
        }
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        match &self.session {
            Some(session) => session.row(),
            None => Row::new(&[], &[]),
        }
    }
}
