//! A client: one session with the store, its transactions timed, verified and recorded, and opened anew when it is lost.

mod connections;
mod loops;
mod operations;
mod scan_check;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use dbdyno_model::{Choices, Difference, Failed, Failure, Session, Step};
use dbdyno_net::{Reactor, now_ns};
use dbdyno_stores::{AnySession, CacheCounters};
use dbdyno_workloads::AnyWorkload;

use crate::groups::Group;
use crate::interval::Times;
use crate::recorder::Recorder;
use crate::records::Place;
use crate::trial::Trial;
use crate::writes::{Open, Writes};

/// How often a client that is ready looks whether the run begins. The beginning is announced earlier than that.
pub const START_POLL_NS: u64 = 20_000_000;
/// The step of a workload whose transaction is one `get`.
const SINGLE_STEP: usize = 0;
/// How often a transaction that is in another's way is tried again before it counts as failed.
const MOST_RETRIES: u32 = 100;
/// Clients of all threads that connect at the same time. More overflow the server's queue of new connections (50 in MySQL 5.5): the kernel then
/// takes a connection that the server never hears of, until a time-out of seconds.
pub const CONNECTING_AT_ONCE: u64 = 32;

/// The state that the clients of one thread share.
pub struct Thread {
    pub trial: Arc<Trial>,
    pub recorder: RefCell<Recorder>,
    /// `None` for embedded stores, whose clients have a thread each and may block it.
    pub reactor: Option<Rc<Reactor>>,
    pub connecting: Cell<u64>,
    pub connecting_at_once: u64,
}

impl Thread {
    async fn sleep_until(&self, deadline_ns: u64) {
        match &self.reactor {
            Some(reactor) => reactor.sleep_until(deadline_ns).await,
            None => std::thread::sleep(Duration::from_nanos(deadline_ns.saturating_sub(now_ns()))),
        }
    }
}

pub struct Client {
    thread: Rc<Thread>,
    number: u64,
    group: Arc<Group>,
    /// Its index.
    group_number: usize,
    /// How many transactions the connection has served, of those it may serve; `None` of a connection that was closed after the last.
    served: Option<u64>,
    session: Option<AnySession>,
    cache: CacheCounters,
    scratch: Vec<u8>,
    /// This client's choices, of whichever transaction.
    choices: Choices,
    /// When the operation that runs, or runs next, was due: a transaction's first with it, a later one when the one before it ended.
    due_ns: u64,
    /// When the operation that runs began, or the last one ended: the next begins then, so that the clock is read once for both.
    begun_ns: u64,
    /// How often the transaction that runs has been tried again, and whether it has just been in another's way.
    retries: u32,
    is_conflict: bool,
    /// The step that stands for this kind of transaction, or for a part of it and then when that began.
    kind: Option<(usize, Option<u64>)>,
    open: Open,
}

impl Client {
    pub fn new(thread: Rc<Thread>, number: u64) -> Self {
        let cache = CacheCounters::default();
        let choices = Choices::new(thread.trial.seed, number, thread.trial.clients_of, 0);
        let (group_number, group) = thread.trial.group_of(number);
        Self {
            thread,
            number,
            group,
            group_number,
            served: Some(0),
            session: None,
            cache,
            scratch: Vec::new(),
            choices,
            due_ns: 0,
            begun_ns: 0,
            retries: 0,
            is_conflict: false,
            kind: None,
            open: Open::default(),
        }
    }

    /// The client's whole life.
    pub async fn live(mut self) {
        if !self.connect_before_the_run().await {
            return;
        }
        let Some(start_ns) = self.wait_for_start().await else { return };
        let (trial, group) = (Arc::clone(&self.thread.trial), Arc::clone(&self.group));
        if group.start_ns > 0 {
            self.pause_until(start_ns + group.start_ns).await;
        }
        match group.arrivals_of(trial.seed, self.number) {
            Some(arrivals) => self.open_loop(&trial, &group, arrivals, start_ns).await,
            None if trial.pipeline > 1 => self.pipelined_loop(&trial).await,
            None if !trial.is_pausing() => self.closed_loop(&trial, &group).await,
            None => self.thinking_loop(&trial, &group, start_ns).await,
        }
    }

    /// The time at which the run began; `None` if it will not.
    async fn wait_for_start(&self) -> Option<u64> {
        let schedule = &self.thread.trial.schedule;
        let start_ns = loop {
            let now = now_ns();
            match schedule.start_ns() {
                // A client that learns of the start after an early end has arrivals that waited in vain, and must count them.
                Some(start_ns) if start_ns < schedule.end_ns() => break start_ns,
                _ if now >= schedule.end_ns() => return None,
                _ => self.thread.sleep_until(now + START_POLL_NS).await,
            }
        };
        self.thread.sleep_until(start_ns).await;
        self.thread.recorder.borrow_mut().begin(start_ns, now_ns());
        Some(start_ns)
    }

    /// Runs one transaction that was due at the first of two times and began at the second, and returns when it ended: when its last
    /// operation did, or if that failed, when it was rolled back.
    #[inline]
    async fn transaction(&mut self, trial: &Trial, group: &Group, step: u64, times: [u64; 2]) -> u64 {
        let [scheduled_ns, begun_ns] = times;
        (self.due_ns, self.begun_ns) = (scheduled_ns, begun_ns);
        self.thread.recorder.borrow_mut().totals.scheduled += 1;
        if self.served.is_none() {
            Box::pin(self.open_next(trial.connect_step)).await;
        }
        let mut choices = self.choices.at(step);
        let mut result = group.workload.transaction(self, &mut choices).await;
        if result.is_err() {
            // Boxed, so that what seldom happens takes no room in every client's future.
            result = Box::pin(self.after_failure(&group.workload, &mut choices)).await;
        }
        self.choices.follow(&choices, result.is_ok());
        let ended_ns = self.begun_ns;
        self.record(group, Times { scheduled_ns, begun_ns, ended_ns }, result.is_ok());
        if group.transactions_per_connection > 0 {
            self.served = self.served.map(|served| served + 1);
            if self.served >= Some(group.transactions_per_connection) {
                Box::pin(self.close()).await;
            }
        }
        ended_ns
    }

    /// Records a transaction that has ended.
    #[inline]
    fn record(&mut self, group: &Group, times: Times, is_ok: bool) {
        let ended_ns = times.ended_ns;
        let mut recorder = self.thread.recorder.borrow_mut();
        recorder.transaction(times, is_ok);
        if let Some((step, part_ns)) = self.kind.take() {
            let begun = part_ns.map(|ns| Times { scheduled_ns: ns, begun_ns: ns, ended_ns });
            recorder.transaction_of_kind(step, begun.unwrap_or(times), is_ok);
        }
        if let Some((_, step)) = &group.named {
            recorder.transaction_of_kind(*step, times, is_ok);
        }
        if let Some(session) = &mut self.session {
            session.release();
            if let Some(counted) = session.cache_counters() {
                recorder.cache(counted.since(self.cache));
                self.cache = counted;
            }
        }
    }

    /// Rolls back what a failed transaction has left open, and tries one that was in another's way again, with the same choices.
    #[cold]
    async fn after_failure(&mut self, workload: &AnyWorkload, choices: &mut Choices) -> Result<(), Failed> {
        loop {
            self.open.abandon();
            let abandoned = match &mut self.session {
                Some(session) => session.abandon().await,
                None => Ok(()),
            };
            let now = now_ns();
            if let Err(failure) = abandoned {
                self.lose(&failure, now);
            }
            let is_tried_again = std::mem::take(&mut self.is_conflict) && self.session.is_some();
            (self.due_ns, self.begun_ns) = (now, now);
            if !is_tried_again {
                self.retries = 0;
                return Err(Failed);
            }
            self.retries += 1;
            *choices = self.choices.at(choices.step);
            if workload.transaction(self, choices).await.is_ok() {
                self.retries = 0;
                return Ok(());
            }
        }
    }

    /// The session could not even be put in order.
    #[cold]
    fn lose(&mut self, failure: &Failure, at_ns: u64) {
        self.show(failure, None, at_ns);
        let mut recorder = self.thread.recorder.borrow_mut();
        recorder.failure(at_ns, failure);
        if self.session.take().is_some() {
            recorder.connected -= 1;
        }
    }

    /// Records an operation whose answer came just now, after a row that it read has been verified.
    #[inline(always)] // So that what was found stays in a register.
    fn finish(&mut self, step: usize, key: u64, result: Result<bool, Failure>, is_read: bool) -> Result<(), Failed> {
        let ended_ns = now_ns();
        let times = Times { scheduled_ns: self.due_ns, begun_ns: self.begun_ns, ended_ns };
        (self.due_ns, self.begun_ns) = (ended_ns, ended_ns);
        match result {
            Ok(true) => self.complete(step, key, times, is_read && self.thread.trial.verify_reads),
            Ok(false) => self.finish_without(step, key, times),
            Err(failure) => Err(self.fail(step, &failure, ended_ns)),
        }
    }

    /// Records an operation on a row that is not there, which is right only if rows come and go.
    #[cold]
    fn finish_without(&mut self, step: usize, key: u64, times: Times) -> Result<(), Failed> {
        let trial = &self.thread.trial;
        let operation = trial.workload.steps()[step].operation;
        if operation.has_table() && trial.workload.tables()[operation.table()].is_volatile {
            self.thread.recorder.borrow_mut().operation_completed(step, times, 0);
            return Ok(());
        }
        Err(self.fail(step, &Failure::Missing(format!("row {key}")), times.ended_ns))
    }

    #[inline]
    fn complete(&mut self, step: usize, key: u64, times: Times, verify: bool) -> Result<(), Failed> {
        if verify {
            self.verify(step, key, times.ended_ns)?;
        }
        self.thread.recorder.borrow_mut().operation_completed(step, times, u64::from(verify));
        Ok(())
    }

    #[inline]
    fn verify(&mut self, step: usize, key: u64, ended_ns: u64) -> Result<(), Failed> {
        let Some(session) = &self.session else { return Err(Failed) };
        let trial = &self.thread.trial;
        let table = &trial.workload.tables()[trial.workload.steps()[step].operation.table()];
        match table.check(session.row(), key, &mut self.scratch) {
            Ok(()) => Ok(()),
            Err(difference) => Err(self.fail_mismatch(step, key, &difference, ended_ns)),
        }
    }

    #[cold]
    fn show_mismatch(&self, step: usize, key: Option<u64>, difference: &Difference, ended_ns: u64) {
        let trial = &self.thread.trial;
        let origin = Place { operation: Some(&self.step(step).name), client: self.number, at_s: trial.at_s(ended_ns) };
        trial.records.mismatch(key, difference, &origin);
    }

    #[cold]
    fn fail_mismatch(&mut self, step: usize, key: u64, difference: &Difference, ended_ns: u64) -> Failed {
        self.show_mismatch(step, Some(key), difference, ended_ns);
        self.fail(step, &Failure::Mismatch(difference.of_row(key)), ended_ns)
    }

    /// Records a request for several rows, `wrong` the first of them that is missing or not what it must be.
    fn finish_many(
        &mut self,
        step: usize,
        rows: u64,
        result: Result<(), Failure>,
        wrong: Option<(u64, Option<Box<Difference>>)>,
    ) -> Result<(), Failed> {
        let ended_ns = now_ns();
        let times = Times { scheduled_ns: self.due_ns, begun_ns: self.begun_ns, ended_ns };
        (self.due_ns, self.begun_ns) = (ended_ns, ended_ns);
        match (result, wrong) {
            (Err(failure), _) => Err(self.fail(step, &failure, ended_ns)),
            (_, Some((key, None))) => Err(self.fail(step, &Failure::Missing(format!("row {key}")), ended_ns)),
            (_, Some((key, Some(difference)))) => Err(self.fail_mismatch(step, key, &difference, ended_ns)),
            (Ok(()), None) => {
                let verified = if self.thread.trial.verify_reads { rows } else { 0 };
                self.thread.recorder.borrow_mut().operation_completed(step, times, verified);
                Ok(())
            }
        }
    }

    /// Counts what an operation has written, as its result says.
    #[inline]
    fn wrote(&mut self, result: &Result<bool, Failure>, writes: &Writes) {
        self.open.wrote(result, writes, &mut self.thread.recorder.borrow_mut().totals.written);
    }

    /// Waits as a request and its answer would on a longer way, before the request: it is in the operation's service time.
    #[inline]
    async fn network_delay(&self) {
        let delay_ns = self.thread.trial.network_delay_ns;
        if delay_ns > 0 {
            self.thread.sleep_until(now_ns() + delay_ns).await;
        }
    }

    fn step(&self, step: usize) -> &Step {
        &self.thread.trial.workload.steps()[step]
    }

    #[cold]
    fn fail(&mut self, step: usize, failure: &Failure, ended_ns: u64) -> Failed {
        if matches!(failure, Failure::Conflict(_)) {
            if ended_ns >= self.thread.trial.schedule.end_ns() {
                return Failed; // It is not tried again, and stays unfinished.
            }
            if self.retries < MOST_RETRIES {
                self.is_conflict = true;
                self.thread.recorder.borrow_mut().conflict(step, ended_ns);
                return Failed;
            }
        }
        let name = self.step(step).name.clone();
        self.show(failure, Some(&name), ended_ns);
        let mut recorder = self.thread.recorder.borrow_mut();
        recorder.operation_failed(step, ended_ns, failure);
        if failure.ends_session() && self.session.take().is_some() {
            recorder.connected -= 1;
        }
        Failed
    }

    #[cold]
    fn show(&self, failure: &Failure, operation: Option<&str>, at_ns: u64) {
        let trial = &self.thread.trial;
        trial.records.failure(failure, &Place { operation, client: self.number, at_s: trial.at_s(at_ns) });
    }
}
