//! The counts of one second, by one thread or, merged, by all.

use dbdyno_model::Failure;
use serde_json::{Map, Value, json};

use crate::gaps::{self, Gap};
use crate::histogram::Histogram;
use crate::usage::{self, Usage};

/// The recordings that are kept apart, and those that have the times of an open loop.
#[derive(Clone, Debug)]
pub struct Shape {
    /// True if the transactions of all clients have the times of an open loop.
    pub is_open: bool,
    pub operations: Vec<bool>,
    /// True if clients have nothing outstanding at times.
    pub is_pausing: bool,
}

/// When something should have begun, began and ended, on the monotonic clock. In a closed loop the first two are the same.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub scheduled_ns: u64,
    pub begun_ns: u64,
    pub ended_ns: u64,
}

/// The times that only an open loop has.
#[derive(Clone, Debug, Default)]
struct OpenTimes {
    response_time: Histogram,
    send_lag: Histogram,
}

/// Completed and failed, with the times of the completed ones.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    pub failed: u64,
    /// Neither completed nor failed: another transaction was in the way, and the whole was tried again.
    pub conflicts: u64,
    service_time: Histogram,
    open: Option<Box<OpenTimes>>,
}

impl Counted {
    fn new(is_open: bool) -> Self {
        Self { open: is_open.then(Box::default), ..Self::default() }
    }

    fn is_open(&self) -> bool {
        self.open.is_some()
    }

    #[inline]
    pub fn record(&mut self, times: Times) {
        self.service_time.record(times.ended_ns - times.begun_ns);
        if let Some(open) = &mut self.open {
            open.response_time.record(times.ended_ns.saturating_sub(times.scheduled_ns));
            open.send_lag.record(times.begun_ns.saturating_sub(times.scheduled_ns));
        }
    }

    pub fn completed(&self) -> u64 {
        self.service_time.count()
    }

    fn merge(&mut self, other: &Counted) {
        self.failed += other.failed;
        self.conflicts += other.conflicts;
        self.service_time.merge(&other.service_time);
        if let (Some(mine), Some(others)) = (&mut self.open, &other.open) {
            mine.response_time.merge(&others.response_time);
            mine.send_lag.merge(&others.send_lag);
        }
    }

    fn to_json(&self) -> Value {
        let mut counted =
            json!({"completed": self.completed(), "failed": self.failed, "service_time": self.service_time.to_json()});
        if self.conflicts > 0 {
            counted["conflicts"] = self.conflicts.into();
        }
        if let Some(open) = &self.open {
            counted["response_time"] = open.response_time.to_json();
            counted["send_lag"] = open.send_lag.to_json();
        }
        counted
    }
}

#[derive(Clone, Debug)]
pub struct Interval {
    pub second: u64,
    pub seconds: f64,
    pub connected: u64,
    pub transactions: Counted,
    /// One for each step.
    pub operations: Vec<Counted>,
    /// By the index of [`Failure::KINDS`].
    pub errors: [u64; Failure::KINDS.len()],
    pub reads_verified: u64,
    pub mismatches: u64,
    pub client_cpu_s: f64,
    /// By their numbers, in the order in which they handed it over.
    load_threads: Vec<(u64, Usage)>,
    pub cache_hits: u64,
    pub cache_misses: u64,
    pub stale_reads: u64,
    /// In which the threads merged so far completed nothing; `None` before the first.
    pub gaps: Option<Vec<Gap>>,
}

impl Interval {
    pub fn new(second: u64, shape: &Shape) -> Self {
        Self {
            second,
            seconds: 1.0,
            connected: 0,
            transactions: Counted::new(shape.is_open),
            operations: shape.operations.iter().map(|&is_open| Counted::new(is_open)).collect(),
            errors: Default::default(),
            reads_verified: 0,
            mismatches: 0,
            client_cpu_s: 0.0,
            load_threads: vec![],
            cache_hits: 0,
            cache_misses: 0,
            stale_reads: 0,
            gaps: None,
        }
    }

    /// An empty one of the same shape.
    pub fn like(&self, second: u64) -> Self {
        let operations = self.operations.iter().map(Counted::is_open).collect();
        Self::new(second, &Shape { is_open: self.transactions.is_open(), operations, is_pausing: false })
    }

    /// A thread's usage in it, by its number if it is a load thread.
    pub fn used(&mut self, thread: Option<u64>, usage: Usage) {
        self.client_cpu_s += usage.cpu_s;
        self.load_threads.extend(thread.map(|number| (number, usage)));
    }

    /// Adds what another thread counted in the same second.
    pub fn merge(&mut self, other: &Interval) {
        self.seconds = self.seconds.max(other.seconds);
        self.connected += other.connected;
        self.transactions.merge(&other.transactions);
        for (mine, others) in self.operations.iter_mut().zip(&other.operations) {
            mine.merge(others);
        }
        for (mine, others) in self.errors.iter_mut().zip(&other.errors) {
            *mine += others;
        }
        self.reads_verified += other.reads_verified;
        self.mismatches += other.mismatches;
        self.client_cpu_s += other.client_cpu_s;
        self.load_threads.extend_from_slice(&other.load_threads);
        self.cache_hits += other.cache_hits;
        self.cache_misses += other.cache_misses;
        self.stale_reads += other.stale_reads;
        self.gaps = match (self.gaps.take(), &other.gaps) {
            (Some(mine), Some(others)) => Some(gaps::intersection(&mine, others)),
            (mine, others) => mine.or_else(|| others.clone()),
        };
    }

    pub fn to_json(&self, names: &[String], warmup_s: u64) -> Value {
        let operations: Map<String, Value> =
            names.iter().zip(&self.operations).map(|(name, counted)| (name.clone(), counted.to_json())).collect();
        let errors: Map<String, Value> = (Failure::KINDS.iter().zip(self.errors))
            .filter(|(_, n)| *n > 0)
            .map(|(kind, n)| (kind.to_string(), n.into()))
            .collect();
        let mut record = json!({"record": "interval", "second": self.second, "warmup": self.second < warmup_s,
            "seconds": self.seconds, "connected": self.connected, "transactions": self.transactions.to_json(),
            "operations": operations, "errors": errors, "reads_verified": self.reads_verified,
            "mismatches": self.mismatches, "client_cpu_s": self.client_cpu_s,
            "gaps_ns": gaps::to_json(self.gaps.as_deref().unwrap_or_default())});
        if !self.load_threads.is_empty() {
            record["load_threads"] = usage::to_json(&self.load_threads);
        }
        if self.cache_hits + self.cache_misses > 0 {
            record["counters"] = json!({"cache_hits": self.cache_hits, "cache_misses": self.cache_misses});
            if self.stale_reads > 0 {
                record["counters"]["stale_reads"] = self.stale_reads.into();
            }
        }
        record
    }
}
