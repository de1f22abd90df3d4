//! A client: one session with the store, its transactions timed, verified and recorded, and opened anew when it is lost.

mod operations;
mod scanned;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use dbdyno_model::{Choices, Difference, Failed, Failure, Session, Step};
use dbdyno_net::{Reactor, now_ns};
use dbdyno_stores::{AnySession, CacheCounters};

use crate::arrivals::ClientArrivals;
use crate::interval::Times;
use crate::recorder::Recorder;
use crate::records::Place;
use crate::trial::Trial;

/// How often a client that is ready looks whether the run begins. The beginning is announced earlier than that.
pub const START_POLL_NS: u64 = 20_000_000;
const FIRST_BACK_OFF_NS: u64 = 10_000_000;
const LAST_BACK_OFF_NS: u64 = 1_000_000_000;
/// An arrival that begins later than this counts as late (docs/contract.md).
const LATE_NS: u64 = 1_000_000;
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
}

impl Client {
    pub fn new(thread: Rc<Thread>, number: u64) -> Self {
        let cache = CacheCounters::default();
        let choices = Choices::new(thread.trial.seed, number, thread.trial.clients_of, 0);
        Self {
            thread,
            number,
            session: None,
            cache,
            scratch: Vec::new(),
            choices,
            due_ns: 0,
            begun_ns: 0,
            retries: 0,
            is_conflict: false,
            kind: None,
        }
    }

    /// The client's whole life.
    pub async fn live(mut self) {
        if !self.connect_before_the_run().await {
            return;
        }
        let Some(start_ns) = self.wait_for_start().await else { return };
        let trial = Arc::clone(&self.thread.trial);
        match &trial.arrivals {
            Some(arrivals) => {
                let arrivals = ClientArrivals::new(Arc::clone(arrivals), trial.seed, self.number, trial.clients_of);
                self.open_loop(&trial, arrivals, start_ns).await;
            }
            None if trial.pipeline > 1 => self.pipelined_loop(&trial).await,
            None => self.closed_loop(&trial).await,
        }
    }

    /// Every transaction begins when the last one has ended.
    async fn closed_loop(&mut self, trial: &Trial) {
        let (mut now, mut step) = (now_ns(), 0);
        while now < trial.schedule.end_ns() {
            if self.session.is_none() {
                if !self.reconnect().await {
                    break;
                }
                now = now_ns();
            }
            now = self.transaction(trial, step, now, now).await;
            step += 1;
        }
    }

    /// Every transaction begins when it is due, or as soon after as the client has ended the one before it.
    async fn open_loop(&mut self, trial: &Trial, mut arrivals: ClientArrivals, start_ns: u64) {
        let mut step = 0;
        let mut due_ns = start_ns + arrivals.next_ns();
        while due_ns < trial.schedule.end_ns() {
            if now_ns() < due_ns {
                self.thread.sleep_until(due_ns).await;
            }
            self.thread.recorder.borrow_mut().gaps.is_due(due_ns);
            let is_over = self.session.is_none() && !self.reconnect().await;
            let now = now_ns();
            if is_over || now >= trial.schedule.end_ns() {
                break;
            }
            self.thread.recorder.borrow_mut().totals.late += u64::from(now - due_ns > LATE_NS);
            self.transaction(trial, step, due_ns, now).await;
            self.thread.recorder.borrow_mut().gaps.is_done();
            step += 1;
            due_ns = start_ns + arrivals.next_ns();
        }
        self.count_never_begun(arrivals, start_ns, due_ns);
    }

    /// An arrival that was due before the end and had not begun by then has waited in vain, and counts.
    fn count_never_begun(&self, mut arrivals: ClientArrivals, start_ns: u64, mut due_ns: u64) {
        let totals = &mut self.thread.recorder.borrow_mut().totals;
        while due_ns < self.thread.trial.schedule.end_ns() {
            totals.scheduled += 1;
            totals.never_begun += 1;
            due_ns = start_ns + arrivals.next_ns();
        }
    }

    /// Sends several requests at once and then reads their answers; each counts as a transaction as long as all of them took.
    async fn pipelined_loop(&mut self, trial: &Trial) {
        let (mut now, mut step) = (now_ns(), 0);
        let mut keys = Vec::with_capacity(trial.pipeline);
        while now < trial.schedule.end_ns() {
            if self.session.is_none() {
                if !self.reconnect().await {
                    break;
                }
                now = now_ns();
            }
            now = self.batch(trial, &mut keys, step, now).await;
            step += trial.pipeline as u64;
        }
    }

    /// Runs one batch that began at `begun_ns`, and returns when it ended.
    async fn batch(&mut self, trial: &Trial, keys: &mut Vec<u64>, first_step: u64, begun_ns: u64) -> u64 {
        let steps = first_step..first_step + trial.pipeline as u64;
        keys.clear();
        keys.extend(steps.filter_map(|step| trial.workload.single_key(&mut self.choices.at(step))));
        self.thread.recorder.borrow_mut().totals.scheduled += keys.len() as u64;
        let table = &trial.workload.tables()[trial.workload.steps()[SINGLE_STEP].operation.table()];
        self.network_delay().await;
        let (mut wrong, mut answered) = (Vec::new(), 0);
        let Some(session) = &mut self.session else { return now_ns() };
        let scratch = &mut self.scratch;
        let result = session
            .get_many(SINGLE_STEP, keys, &mut |i, row| {
                answered += 1;
                match row {
                    None => wrong.push((i, Failure::Missing(format!("row {}", keys[i])))),
                    Some(row) if trial.verify_reads => {
                        if let Err(difference) = table.check(row, keys[i], scratch) {
                            wrong.push((i, Failure::Mismatch(difference.of_row(keys[i]))));
                        }
                    }
                    Some(_) => {}
                }
            })
            .await;
        let ended_ns = now_ns();
        if let Err(failure) = result {
            wrong.extend((answered..keys.len()).map(|i| (i, failure.clone())));
        }
        self.finish_batch(keys.len(), Times { scheduled_ns: begun_ns, begun_ns, ended_ns }, &wrong);
        ended_ns
    }

    /// Records a batch; `wrong` has what failed, in order.
    fn finish_batch(&mut self, requests: usize, times: Times, wrong: &[(usize, Failure)]) {
        let mut wrong = wrong.iter().peekable();
        for i in 0..requests {
            let failure = wrong.next_if(|(at, _)| *at == i);
            if let Some((_, failure)) = failure {
                self.fail(SINGLE_STEP, failure, times.ended_ns);
            }
            let mut recorder = self.thread.recorder.borrow_mut();
            if failure.is_none() {
                recorder.operation_completed(SINGLE_STEP, times, u64::from(self.thread.trial.verify_reads));
            }
            recorder.transaction(times, failure.is_none());
        }
    }

    /// Says how connecting went; a client that cannot connect now would change the trial.
    async fn connect_before_the_run(&mut self) -> bool {
        while self.thread.connecting.get() >= self.thread.connecting_at_once {
            self.thread.sleep_until(now_ns() + 1_000_000).await;
        }
        self.thread.connecting.update(|n| n + 1);
        let opened = self.thread.trial.store.open_for(self.number, self.thread.reactor.as_ref()).await;
        self.thread.connecting.update(|n| n - 1);
        match opened {
            Ok(session) => self.adopt(session),
            Err(failure) => {
                self.show(&failure, None, 0);
                self.thread.trial.gate.refused(&failure);
            }
        }
        self.thread.trial.gate.arrived();
        self.session.is_some()
    }

    /// The time at which the run began; `None` where it will not.
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
        self.thread.recorder.borrow_mut().begin(start_ns);
        Some(start_ns)
    }

    fn adopt(&mut self, session: AnySession) {
        self.session = Some(session);
        self.cache = CacheCounters::default();
        self.thread.recorder.borrow_mut().connected += 1;
    }

    /// Tries again and again, ever more slowly; false when the run is over.
    #[cold]
    async fn reconnect(&mut self) -> bool {
        let mut wait_ns = FIRST_BACK_OFF_NS;
        loop {
            // Clients that were cut off together do not come back together.
            let spread_ns = dbdyno_model::mix(self.number) % (wait_ns / 2);
            self.thread.sleep_until(now_ns() + wait_ns / 2 + spread_ns).await;
            if now_ns() >= self.thread.trial.schedule.end_ns() {
                return false;
            }
            match self.thread.trial.store.open_for(self.number, self.thread.reactor.as_ref()).await {
                Ok(session) => {
                    self.adopt(session);
                    return true;
                }
                Err(failure) => {
                    let now = now_ns();
                    self.show(&failure, None, now);
                    self.thread.recorder.borrow_mut().failure(now, &failure);
                    wait_ns = (wait_ns * 2).min(LAST_BACK_OFF_NS);
                }
            }
        }
    }

    /// Runs one transaction that was due at `scheduled_ns` and began at `begun_ns`, and returns when it ended: when its last operation
    /// did.
    #[inline]
    async fn transaction(&mut self, trial: &Trial, step: u64, scheduled_ns: u64, begun_ns: u64) -> u64 {
        (self.due_ns, self.begun_ns) = (scheduled_ns, begun_ns);
        self.thread.recorder.borrow_mut().totals.scheduled += 1;
        let mut choices = self.choices.at(step);
        let mut result = trial.workload.transaction(self, &mut choices).await;
        if result.is_err() {
            // Boxed, so that what seldom happens takes no room in every client's future.
            result = Box::pin(self.after_failure(trial, &mut choices)).await;
        }
        self.choices.follow(&choices, result.is_ok());
        let ended_ns = self.begun_ns;
        let times = Times { scheduled_ns, begun_ns, ended_ns };
        let mut recorder = self.thread.recorder.borrow_mut();
        recorder.transaction(times, result.is_ok());
        if let Some((step, part_ns)) = self.kind.take() {
            let begun = part_ns.map(|ns| Times { scheduled_ns: ns, begun_ns: ns, ended_ns });
            recorder.transaction_of_kind(step, begun.unwrap_or(times), result.is_ok());
        }
        if let Some(session) = &mut self.session {
            session.release();
            if let Some(counted) = session.cache_counters() {
                recorder.cache(counted.since(self.cache));
                self.cache = counted;
            }
        }
        ended_ns
    }

    /// Rolls back what a failed transaction has left open, and tries one that was in another's way again, with the same choices.
    #[cold]
    async fn after_failure(&mut self, trial: &Trial, choices: &mut Choices) -> Result<(), Failed> {
        loop {
            let abandoned = match &mut self.session {
                Some(session) => session.abandon().await,
                None => Ok(()),
            };
            let now = now_ns();
            if let Err(failure) = abandoned {
                self.lose(&failure, now);
            }
            let is_tried_again = std::mem::take(&mut self.is_conflict) && self.session.is_some();
            if !is_tried_again {
                self.retries = 0;
                return Err(Failed);
            }
            self.retries += 1;
            (self.due_ns, self.begun_ns) = (now, now);
            *choices = self.choices.at(choices.step);
            if trial.workload.transaction(self, choices).await.is_ok() {
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

    /// Records an operation on a row that is not there, which is right only where rows come and go.
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
        let is_over = ended_ns >= self.thread.trial.schedule.end_ns();
        if matches!(failure, Failure::Conflict(_)) && self.retries < MOST_RETRIES && !is_over {
            self.is_conflict = true;
            self.thread.recorder.borrow_mut().conflict(step, ended_ns);
            return Failed;
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
