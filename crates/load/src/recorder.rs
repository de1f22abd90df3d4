//! Records what the clients of one thread do, second by second. Nothing here is shared per operation: a thread's interval is handed over
//! when its second has passed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use dbdyno_model::Failure;
use dbdyno_stores::CacheCounters;

use crate::gaps::GapFinder;
use crate::interval::{Interval, Shape, Times};
use crate::usage::{Meter, Usage};
use crate::writes::Written;

const SECOND_NS: u64 = 1_000_000_000;

/// When the run begins and ends, on the monotonic clock. The end can be moved forward to now.
#[derive(Debug)]
pub struct Schedule {
    start_ns: AtomicU64,
    end_ns: AtomicU64,
}

impl Schedule {
    /// Not begun yet.
    pub fn new() -> Self {
        Self { start_ns: AtomicU64::new(u64::MAX), end_ns: AtomicU64::new(u64::MAX) }
    }

    /// `None` until [`Schedule::begin_at`].
    pub fn start_ns(&self) -> Option<u64> {
        Some(self.start_ns.load(Ordering::Acquire)).filter(|&ns| ns != u64::MAX)
    }

    #[inline]
    pub fn end_ns(&self) -> u64 {
        self.end_ns.load(Ordering::Relaxed)
    }

    pub fn begin_at(&self, start_ns: u64, duration_s: u64) {
        self.end_ns.fetch_min(start_ns.saturating_add(duration_s * SECOND_NS), Ordering::Relaxed);
        self.start_ns.store(start_ns, Ordering::Release);
    }

    /// Ends the run now, if it would go on.
    pub fn end_at(&self, now_ns: u64) {
        self.end_ns.fetch_min(now_ns, Ordering::Relaxed);
    }
}

/// Counted over the whole run, apart from the intervals, so that the two can be held against each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    pub scheduled: u64,
    pub completed: u64,
    pub failed: u64,
    /// Operations in flight at the end that had no answer within the time-out, or lost their connection.
    pub unanswered: u64,
    /// The recordings of each step.
    pub operations: Vec<OperationTotals>,
    /// The arrivals of each group of clients.
    pub groups: Vec<GroupTotals>,
    pub reads_verified: u64,
    pub mismatches: u64,
    pub in_flight_ns: u64,
    /// How long after the start the last thread began to work.
    pub begun_late_ns: u64,
    /// The writes that the checks count, at any time.
    pub written: Written,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationTotals {
    pub completed: u64,
    pub failed: u64,
    pub conflicts: u64,
}

/// The arrivals of a group's open loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupTotals {
    pub scheduled: u64,
    /// Those that were begun late, or not at all.
    pub late: u64,
    pub never_begun: u64,
}

impl Totals {
    /// The totals of a group of clients.
    #[inline]
    pub fn group(&mut self, group: usize) -> &mut GroupTotals {
        if group >= self.groups.len() {
            self.groups.resize(group + 1, GroupTotals::default());
        }
        &mut self.groups[group]
    }

    pub fn merge(&mut self, other: &Totals) {
        self.scheduled += other.scheduled;
        self.completed += other.completed;
        self.failed += other.failed;
        self.unanswered += other.unanswered;
        self.operations.resize(self.operations.len().max(other.operations.len()), OperationTotals::default());
        for (mine, others) in self.operations.iter_mut().zip(&other.operations) {
            mine.completed += others.completed;
            mine.failed += others.failed;
            mine.conflicts += others.conflicts;
        }
        for (group, others) in other.groups.iter().enumerate() {
            let mine = self.group(group);
            mine.scheduled += others.scheduled;
            mine.late += others.late;
            mine.never_begun += others.never_begun;
        }
        self.reads_verified += other.reads_verified;
        self.mismatches += other.mismatches;
        self.in_flight_ns += other.in_flight_ns;
        self.begun_late_ns = self.begun_late_ns.max(other.begun_late_ns);
        self.written.merge(&other.written);
    }

    pub fn conflicts(&self) -> u64 {
        self.operations.iter().map(|of| of.conflicts).sum()
    }

    pub fn unfinished(&self) -> u64 {
        self.scheduled - self.completed - self.failed
    }
}

/// One thread's recorder, made by that thread.
pub struct Recorder {
    schedule: Arc<Schedule>,
    intervals: mpsc::Sender<Interval>,
    current: Interval,
    /// When the current interval is over; `u64::MAX` before the run.
    until_ns: u64,
    /// The number of a load thread. The load threads of an embedded store do the store's work as well.
    thread: Option<u64>,
    meter: Meter,
    used: Usage,
    closed: bool,
    pub gaps: GapFinder,
    pub connected: u64,
    pub totals: Totals,
}

impl Recorder {
    /// `thread`: the number of the load thread, `None` of an embedded store's clients.
    pub fn new(schedule: Arc<Schedule>, intervals: mpsc::Sender<Interval>, shape: &Shape, thread: Option<u64>) -> Self {
        let operations = vec![OperationTotals::default(); shape.operations.len()];
        let totals = Totals { operations, ..Totals::default() };
        Self {
            schedule,
            intervals,
            current: Interval::new(0, shape),
            until_ns: u64::MAX,
            thread,
            meter: Meter::of_this_thread(),
            used: Usage::default(),
            closed: false,
            gaps: GapFinder::new(shape.is_pausing),
            connected: 0,
            totals,
        }
    }

    /// The run has begun, and this thread works from now on.
    pub fn begin(&mut self, start_ns: u64, now_ns: u64) {
        if self.until_ns == u64::MAX && !self.closed {
            self.totals.begun_late_ns = now_ns.saturating_sub(start_ns);
            self.until_ns = start_ns + SECOND_NS;
            self.gaps.begin(start_ns);
            self.used = self.meter.read();
        }
    }

    /// Hands over the intervals that are over at `now_ns`, and after the run's end the last one.
    #[inline]
    pub fn advance(&mut self, now_ns: u64) {
        if now_ns >= self.until_ns || now_ns >= self.schedule.end_ns() {
            self.hand_over(now_ns);
        }
    }

    #[cold]
    fn hand_over(&mut self, now_ns: u64) {
        if self.until_ns == u64::MAX {
            return;
        }
        let end_ns = self.schedule.end_ns();
        while now_ns >= self.until_ns && self.until_ns <= end_ns {
            if self.until_ns == end_ns {
                self.gaps.end(end_ns);
            }
            self.send(1.0);
        }
        if now_ns >= end_ns {
            let begun_ns = self.until_ns - SECOND_NS;
            if begun_ns < end_ns {
                self.gaps.end(end_ns);
                self.send((end_ns - begun_ns) as f64 / 1e9);
            }
            self.closed = true;
            self.until_ns = u64::MAX;
        }
    }

    fn send(&mut self, seconds: f64) {
        let used = self.meter.read();
        let next = self.current.like(self.current.second + 1);
        let mut done = std::mem::replace(&mut self.current, next);
        done.seconds = seconds;
        done.connected = self.connected;
        done.gaps = Some(self.gaps.take());
        done.used(self.thread, used.since(self.used));
        self.used = used;
        self.until_ns += SECOND_NS;
        // The receiver outlives every recorder; were it gone, there would be nobody to tell.
        let _ = self.intervals.send(done);
    }

    /// Returns whether something that ended at `ns` still belongs to the run.
    #[inline]
    fn counts(&mut self, ns: u64) -> bool {
        self.advance(ns);
        !self.closed && ns <= self.schedule.end_ns()
    }

    /// `verified`: rows read and compared.
    #[inline]
    pub fn operation_completed(&mut self, step: usize, times: Times, verified: u64) {
        if !self.counts(times.ended_ns) {
            return;
        }
        self.gaps.completed(times.ended_ns);
        self.current.operations[step].record(times);
        self.totals.operations[step].completed += 1;
        self.current.reads_verified += verified;
        self.totals.reads_verified += verified;
    }

    #[cold]
    pub fn operation_failed(&mut self, step: usize, ended_ns: u64, failure: &Failure) {
        self.failure(ended_ns, failure);
        if self.counts(ended_ns) {
            self.current.operations[step].failed += 1;
            self.totals.operations[step].failed += 1;
            if matches!(failure, Failure::Mismatch(_)) {
                self.current.mismatches += 1;
                self.totals.mismatches += 1;
            }
        } else if failure.ends_session() {
            self.totals.unanswered += 1;
        }
    }

    /// The operation was in another transaction's way, and its own is tried again.
    #[cold]
    pub fn conflict(&mut self, step: usize, ended_ns: u64) {
        if self.counts(ended_ns) {
            self.current.transactions.conflicts += 1;
            self.current.operations[step].conflicts += 1;
            self.totals.operations[step].conflicts += 1;
        }
    }

    /// Rows of operations that were counted when they ended have been compared since.
    #[inline]
    pub fn verified(&mut self, rows: u64, ended_ns: u64) {
        if self.counts(ended_ns) {
            self.current.reads_verified += rows;
            self.totals.reads_verified += rows;
        }
    }

    /// Counts an operation that read something wrong.
    #[cold]
    pub fn mismatch(&mut self, ended_ns: u64, failure: &Failure) {
        self.failure(ended_ns, failure);
        if self.counts(ended_ns) {
            self.current.mismatches += 1;
            self.totals.mismatches += 1;
        }
    }

    /// Counts a failure that is no operation's: connecting.
    #[cold]
    pub fn failure(&mut self, at_ns: u64, failure: &Failure) {
        if self.counts(at_ns) {
            self.current.errors[failure.kind_index()] += 1;
        }
    }

    #[inline]
    pub fn transaction(&mut self, times: Times, is_ok: bool) {
        let counts = self.counts(times.ended_ns);
        self.totals.in_flight_ns += times.ended_ns.min(self.schedule.end_ns()).saturating_sub(times.begun_ns);
        if !counts {
            return;
        }
        if is_ok {
            self.current.transactions.record(times);
            self.totals.completed += 1;
        } else {
            self.current.transactions.failed += 1;
            self.totals.failed += 1;
        }
    }

    /// Records a whole transaction once more, under the step that stands for its kind.
    pub fn transaction_of_kind(&mut self, step: usize, times: Times, is_ok: bool) {
        if is_ok {
            self.operation_completed(step, times, 0);
        } else if self.counts(times.ended_ns) {
            self.current.operations[step].failed += 1;
            self.totals.operations[step].failed += 1;
        }
    }

    #[inline]
    pub fn cache(&mut self, counted: CacheCounters) {
        if !self.closed {
            self.current.cache_hits += counted.hits;
            self.current.cache_misses += counted.misses;
            self.current.stale_reads += counted.stale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const WOKEN_NS: u64 = 3;

    fn recorder(duration_s: u64) -> (Recorder, mpsc::Receiver<Interval>, Arc<Schedule>) {
        let schedule = Arc::new(Schedule::new());
        let (sender, receiver) = mpsc::channel();
        let shape = Shape { is_open: false, operations: vec![false], is_pausing: false };
        let mut recorder = Recorder::new(Arc::clone(&schedule), sender, &shape, Some(0));
        schedule.begin_at(SECOND_NS, duration_s);
        recorder.begin(SECOND_NS, SECOND_NS + WOKEN_NS);
        (recorder, receiver, schedule)
    }

    fn transact(recorder: &mut Recorder, begun_ns: u64, ended_ns: u64) {
        recorder.totals.scheduled += 1;
        let times = Times { scheduled_ns: begun_ns, begun_ns, ended_ns };
        recorder.operation_completed(0, times, 1);
        recorder.transaction(times, true);
    }

    #[test]
    fn transactions_belong_to_the_second_in_which_they_end_and_seconds_have_no_gaps() {
        let (mut recorder, receiver, _) = recorder(4);
        transact(&mut recorder, 1000 * MS, 1500 * MS);
        transact(&mut recorder, 1500 * MS, 3200 * MS);
        recorder.advance(5000 * MS);
        let intervals: Vec<Interval> = receiver.try_iter().collect();
        assert_eq!(intervals.iter().map(|i| i.second).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(intervals.iter().map(|i| i.transactions.completed()).collect::<Vec<_>>(), [1, 0, 1, 0]);
        assert!(intervals.iter().all(|i| i.seconds == 1.0));
    }

    #[test]
    fn the_thread_that_began_last_says_how_late_the_run_began() {
        let (recorder, ..) = recorder(1);
        for others_ns in [WOKEN_NS - 1, WOKEN_NS + 1] {
            let mut totals = Totals { begun_late_ns: others_ns, ..Totals::default() };
            totals.merge(&recorder.totals);
            assert_eq!(totals.begun_late_ns, others_ns.max(WOKEN_NS));
        }
    }

    #[test]
    fn what_ends_after_the_run_is_unfinished_but_its_time_in_the_run_counts() {
        let (mut recorder, receiver, _) = recorder(1);
        transact(&mut recorder, 1000 * MS, 1400 * MS);
        transact(&mut recorder, 1400 * MS, 2300 * MS);
        assert_eq!((recorder.totals.completed, recorder.totals.unfinished()), (1, 1));
        assert_eq!(recorder.totals.in_flight_ns, SECOND_NS);
        assert_eq!(receiver.try_iter().map(|i| i.operations[0].completed()).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_run_ended_early_has_a_short_last_interval() {
        let (mut recorder, receiver, schedule) = recorder(10);
        transact(&mut recorder, 1000 * MS, 2100 * MS);
        schedule.end_at(2250 * MS);
        recorder.advance(2300 * MS);
        recorder.advance(9000 * MS);
        let lengths: Vec<f64> = receiver.try_iter().map(|i| i.seconds).collect();
        assert_eq!(lengths, [1.0, 0.25]);
    }

    #[test]
    fn a_gap_over_the_edge_of_a_second_is_recorded_once_and_the_runs_end_ends_the_last() {
        let recorded = |receiver: &mpsc::Receiver<Interval>| -> Vec<serde_json::Value> {
            receiver.try_iter().map(|interval| interval.to_json(&[], 0)["gaps_ns"].take()).collect()
        };
        let gap = |begin_ms: u64, length_ms: u64| serde_json::json!([[begin_ms * MS, length_ms * MS]]);
        let (mut own, receiver, _) = recorder(3);
        transact(&mut own, 1000 * MS, 1005 * MS);
        transact(&mut own, 1005 * MS, 2500 * MS);
        own.advance(5000 * MS);
        assert_eq!(recorded(&receiver), [serde_json::json!([]), gap(5, 1495), gap(1500, 1500)]);
        let (mut cut_short, receiver, schedule) = recorder(3);
        transact(&mut cut_short, 1000 * MS, 1995 * MS);
        schedule.end_at(2250 * MS);
        cut_short.advance(2300 * MS);
        assert_eq!(recorded(&receiver), [gap(0, 995), gap(995, 255)]);
    }

    #[test]
    fn failures_are_counted_by_kind() {
        let (mut recorder, receiver, _) = recorder(1);
        recorder.totals.scheduled += 1;
        recorder.operation_failed(0, 1100 * MS, &Failure::Mismatch("k".into()));
        let times = Times { scheduled_ns: 1000 * MS, begun_ns: 1000 * MS, ended_ns: 1100 * MS };
        recorder.transaction(times, false);
        recorder.advance(2000 * MS);
        let interval = receiver.try_recv().unwrap();
        assert_eq!((interval.operations[0].failed, interval.transactions.failed, interval.mismatches), (1, 1, 1));
        assert_eq!(interval.errors.iter().sum::<u64>(), 1);
        assert_eq!(recorder.totals.unfinished(), 0);
    }
}
