//! A client: one session with the store, its transactions timed, verified and recorded, and opened anew when it is lost.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use dbdyno_model::{Choices, Failed, Failure, Operations, Row, Session, Step, Value};
use dbdyno_net::{Reactor, now_ns};
use dbdyno_stores::{AnySession, CacheCounters};

use crate::recorder::Recorder;
use crate::records::Place;
use crate::run::Trial;

/// How often a client that is ready looks whether the run begins. The beginning is announced earlier than that.
pub const START_POLL_NS: u64 = 20_000_000;
const FIRST_BACK_OFF_NS: u64 = 10_000_000;
const LAST_BACK_OFF_NS: u64 = 1_000_000_000;
/// Clients of one thread that connect at the same time: more would overflow the server's queue of new connections.
const CONNECTING_AT_ONCE: usize = 64;

/// What the clients of one thread share.
pub struct Thread {
    pub trial: Arc<Trial>,
    pub recorder: RefCell<Recorder>,
    /// `None` for embedded stores, whose clients have a thread each and may block it.
    pub reactor: Option<Rc<Reactor>>,
    pub connecting: Cell<usize>,
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
    /// When the current transaction began, until its first operation has taken it for its own.
    fresh_ns: Option<u64>,
    /// When the last operation ended.
    ended_ns: u64,
}

impl Client {
    pub fn new(thread: Rc<Thread>, number: u64) -> Self {
        let cache = CacheCounters::default();
        Self { thread, number, session: None, cache, scratch: Vec::new(), fresh_ns: None, ended_ns: 0 }
    }

    /// The client's whole life.
    pub async fn live(mut self) {
        if !self.connect_before_the_run().await {
            return;
        }
        let Some(mut now) = self.wait_for_start().await else { return };
        let mut step = 0;
        while now < self.thread.trial.schedule.end_ns() {
            if self.session.is_none() {
                if !self.reconnect().await {
                    break;
                }
                now = now_ns();
            }
            now = self.transaction(step, now).await;
            step += 1;
        }
    }

    /// Says how connecting went; a client that cannot connect now makes the trial another than was asked for.
    async fn connect_before_the_run(&mut self) -> bool {
        while self.thread.connecting.get() >= CONNECTING_AT_ONCE {
            self.thread.sleep_until(now_ns() + 1_000_000).await;
        }
        self.thread.connecting.update(|n| n + 1);
        let opened = self.thread.trial.store.open(self.thread.reactor.as_ref()).await;
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
            if now >= schedule.end_ns() {
                return None;
            }
            match schedule.start_ns() {
                Some(start_ns) => break start_ns,
                None => self.thread.sleep_until(now + START_POLL_NS).await,
            }
        };
        self.thread.sleep_until(start_ns).await;
        self.thread.recorder.borrow_mut().begin(start_ns);
        Some(now_ns())
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
            match self.thread.trial.store.open(self.thread.reactor.as_ref()).await {
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

    /// Runs one transaction that began at `begun_ns`, and returns when it ended.
    async fn transaction(&mut self, step: u64, begun_ns: u64) -> u64 {
        let thread = Rc::clone(&self.thread);
        let trial = &thread.trial;
        self.fresh_ns = Some(begun_ns);
        thread.recorder.borrow_mut().totals.scheduled += 1;
        let mut choices = Choices::new(trial.seed, self.number, trial.clients_of, step);
        let result = trial.workload.transaction(self, &mut choices).await;
        let ended_ns = now_ns();
        let mut recorder = thread.recorder.borrow_mut();
        recorder.transaction(begun_ns, ended_ns, result.is_ok());
        if let Some(counted) = self.session.as_ref().and_then(AnySession::cache_counters) {
            recorder.cache(counted.hits - self.cache.hits, counted.misses - self.cache.misses);
            self.cache = counted;
        }
        ended_ns
    }

    #[inline]
    fn begin(&mut self) -> u64 {
        self.fresh_ns.take().unwrap_or_else(now_ns)
    }

    /// Records an operation that ended just now, after `check` has approved of what it returned.
    #[inline]
    fn finish(
        &mut self,
        step: usize,
        key: u64,
        begun_ns: u64,
        result: Result<bool, Failure>,
        is_read: bool,
    ) -> Result<(), Failed> {
        self.ended_ns = now_ns();
        let verify = is_read && self.thread.trial.verify_reads;
        match result {
            Ok(true) if verify => self.verify(step, key)?,
            Ok(true) => {}
            Ok(false) => return Err(self.fail(step, &Failure::Missing(format!("row {key}")))),
            Err(failure) => return Err(self.fail(step, &failure)),
        }
        self.thread.recorder.borrow_mut().operation_completed(step, begun_ns, self.ended_ns, verify);
        Ok(())
    }

    #[inline]
    fn verify(&mut self, step: usize, key: u64) -> Result<(), Failed> {
        let Some(session) = &self.session else { return Err(Failed) };
        let trial = &self.thread.trial;
        let table = &trial.workload.tables()[trial.workload.steps()[step].operation.table()];
        match table.check(session.row(), key, &mut self.scratch) {
            Ok(()) => Ok(()),
            Err(difference) => {
                let step_name = self.step(step).name.clone();
                let place = Place { operation: Some(&step_name), client: self.number, at_s: trial.at_s(self.ended_ns) };
                trial.records.mismatch(key, &difference, &place);
                let message = format!(
                    "row {key}, {}: expected {}, found {}",
                    difference.column, difference.expected, difference.found
                );
                Err(self.fail(step, &Failure::Mismatch(message)))
            }
        }
    }

    fn step(&self, step: usize) -> &Step {
        &self.thread.trial.workload.steps()[step]
    }

    #[cold]
    fn fail(&mut self, step: usize, failure: &Failure) -> Failed {
        let name = self.step(step).name.clone();
        self.show(failure, Some(&name), self.ended_ns);
        let mut recorder = self.thread.recorder.borrow_mut();
        recorder.operation_failed(step, self.ended_ns, failure);
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
        let begun_ns = self.begin();
        let result = session!(self).get(step, key).await;
        self.finish(step, key, begun_ns, result, true)
    }

    #[inline]
    async fn find(&mut self, step: usize, value: Value<'_>, key: u64) -> Result<(), Failed> {
        let begun_ns = self.begin();
        let result = session!(self).find(step, value).await;
        self.finish(step, key, begun_ns, result, true)
    }

    #[inline]
    async fn update(&mut self, step: usize, key: u64, version: u64) -> Result<(), Failed> {
        let begun_ns = self.begin();
        let result = session!(self).update(step, key, version).await;
        self.finish(step, key, begun_ns, result, false)
    }

    #[inline]
    async fn add(&mut self, step: usize, key: u64, delta: i64) -> Result<(), Failed> {
        let begun_ns = self.begin();
        let result = session!(self).add(step, key, delta).await;
        {
            let totals = &mut self.thread.recorder.borrow_mut().totals;
            match &result {
                Ok(true) => totals.added += delta,
                Ok(false) => {}
                Err(failure) => totals.maybe_added += if failure.ends_session() { delta } else { 0 },
            }
        }
        self.finish(step, key, begun_ns, result, false)
    }

    #[inline]
    fn row(&self) -> Row<'_> {
        match &self.session {
            Some(session) => session.row(),
            None => Row::new(&[], &[]),
        }
    }
}
