//! A client's connection: opened before the run, again when it is lost, and anew after so many transactions.

use dbdyno_model::Session;
use dbdyno_net::now_ns;
use dbdyno_stores::{AnySession, CacheCounters};

use super::Client;
use crate::interval::Times;
use crate::trial::CONNECT;

const FIRST_BACK_OFF_NS: u64 = 10_000_000;
const LAST_BACK_OFF_NS: u64 = 1_000_000_000;

impl Client {
    /// Says how connecting went; a client that cannot connect now would change the trial.
    pub(super) async fn connect_before_the_run(&mut self) -> bool {
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

    /// A session that was closed on purpose is opened with the next transaction.
    pub(super) fn has_lost_its_session(&self) -> bool {
        self.session.is_none() && self.served.is_some()
    }

    /// Opens the next connection, if the last one has served its transactions: in the time of the one that begins.
    pub(super) async fn open_next(&mut self, connect_step: usize) {
        self.served = Some(0);
        let opened = self.thread.trial.store.open_for(self.number, self.thread.reactor.as_ref()).await;
        let ended_ns = now_ns();
        let times = Times { scheduled_ns: self.due_ns, begun_ns: self.begun_ns, ended_ns };
        (self.due_ns, self.begun_ns) = (ended_ns, ended_ns);
        match opened {
            Ok(session) => {
                self.adopt(session);
                self.thread.recorder.borrow_mut().operation_completed(connect_step, times, 0);
            }
            Err(failure) => {
                self.show(&failure, Some(CONNECT), ended_ns);
                self.thread.recorder.borrow_mut().operation_failed(connect_step, ended_ns, &failure);
            }
        }
    }

    /// Closes a connection that has served its transactions.
    pub(super) async fn close(&mut self) {
        if let Some(mut session) = self.session.take() {
            session.quit().await;
            self.served = None;
            self.thread.recorder.borrow_mut().connected -= 1;
        }
    }

    pub(super) fn adopt(&mut self, session: AnySession) {
        self.session = Some(session);
        self.served = Some(0);
        self.cache = CacheCounters::default();
        self.thread.recorder.borrow_mut().connected += 1;
    }

    /// Tries again and again, ever more slowly; false when the run is over.
    #[cold]
    pub(super) async fn reconnect(&mut self) -> bool {
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
}
