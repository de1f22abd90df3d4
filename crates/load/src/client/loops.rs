//! The loops of a client: each transaction after the one before it, at its own time, after a pause, or several requests at once.

use dbdyno_model::{Failure, Session};
use dbdyno_net::now_ns;

use super::{Client, SINGLE_STEP};
use crate::arrivals::ClientArrivals;
use crate::groups::Group;
use crate::interval::Times;
use crate::trial::Trial;

/// An arrival that begins later than this counts as late (docs/contract.md).
const LATE_NS: u64 = 1_000_000;
/// How long a client sleeps at most before it looks whether the run has been ended.
const LONGEST_SLEEP_NS: u64 = 1_000_000_000;

impl Client {
    /// Every transaction begins when the last one has ended.
    pub(super) async fn closed_loop(&mut self, trial: &Trial, group: &Group) {
        let (mut now, mut step) = (now_ns(), 0);
        while now < trial.schedule.end_ns() {
            if self.has_lost_its_session() {
                if !self.reconnect().await {
                    break;
                }
                now = now_ns();
            }
            now = self.transaction(trial, group, step, [now, now]).await;
            step += 1;
        }
    }

    /// The same, with a pause between two transactions.
    pub(super) async fn thinking_loop(&mut self, trial: &Trial, group: &Group, start_ns: u64) {
        let (mut begin_ns, mut step) = (start_ns, 0);
        while self.pause_until(begin_ns).await {
            if self.has_lost_its_session() && !self.reconnect().await {
                break;
            }
            let now = now_ns();
            self.thread.recorder.borrow_mut().gaps.is_due(now);
            let ended_ns = self.transaction(trial, group, step, [now, now]).await;
            self.thread.recorder.borrow_mut().gaps.is_done();
            step += 1;
            begin_ns = ended_ns + group.think_time.map_or(0, |time| time.pause_ns(trial.seed, &self.choices.at(step)));
        }
    }

    /// Sleeps until then; false when the run is over.
    pub(super) async fn pause_until(&self, deadline_ns: u64) -> bool {
        loop {
            let now = now_ns();
            if now >= self.thread.trial.schedule.end_ns() {
                return false;
            }
            if now >= deadline_ns {
                return true;
            }
            self.thread.recorder.borrow_mut().advance(now);
            self.thread.sleep_until(deadline_ns.min(now + LONGEST_SLEEP_NS)).await;
        }
    }

    /// Every transaction begins when it is due, or as soon after as the client has ended the one before it.
    pub(super) async fn open_loop(
        &mut self,
        trial: &Trial,
        group: &Group,
        mut arrivals: ClientArrivals,
        start_ns: u64,
    ) {
        let mut step = 0;
        let mut due_ns = start_ns + arrivals.next_ns();
        while due_ns < trial.schedule.end_ns() {
            if now_ns() < due_ns {
                self.thread.sleep_until(due_ns).await;
            }
            self.thread.recorder.borrow_mut().gaps.is_due(due_ns);
            let is_over = self.has_lost_its_session() && !self.reconnect().await;
            let now = now_ns();
            if is_over || now >= trial.schedule.end_ns() {
                break;
            }
            self.count_late(now - due_ns > LATE_NS);
            self.transaction(trial, group, step, [due_ns, now]).await;
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
            let of_group = totals.group(self.group_number);
            of_group.scheduled += 1;
            of_group.never_begun += 1;
            due_ns = start_ns + arrivals.next_ns();
        }
    }

    /// Counts an arrival that begins now.
    fn count_late(&self, is_late: bool) {
        let mut recorder = self.thread.recorder.borrow_mut();
        let of_group = recorder.totals.group(self.group_number);
        of_group.scheduled += 1;
        of_group.late += u64::from(is_late);
    }

    /// Sends several requests at once and then reads their answers; each counts as a transaction as long as all of them took.
    pub(super) async fn pipelined_loop(&mut self, trial: &Trial) {
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
}
