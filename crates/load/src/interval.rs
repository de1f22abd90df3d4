//! What was counted in one second, by one thread or, merged, by all.

use dbdyno_model::Failure;
use serde_json::{Map, Value, json};

use crate::histogram::Histogram;

/// Completed and failed, with the times of the completed ones.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    pub failed: u64,
    pub service_time: Histogram,
}

impl Counted {
    pub fn completed(&self) -> u64 {
        self.service_time.count()
    }

    fn merge(&mut self, other: &Counted) {
        self.failed += other.failed;
        self.service_time.merge(&other.service_time);
    }

    fn to_json(&self) -> Value {
        json!({"completed": self.completed(), "failed": self.failed, "service_time": self.service_time.to_json()})
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
    pub cache_hits: u64,
    pub cache_misses: u64,
}

impl Interval {
    pub fn new(second: u64, steps: usize) -> Self {
        Self {
            second,
            seconds: 1.0,
            connected: 0,
            transactions: Counted::default(),
            operations: vec![Counted::default(); steps],
            errors: Default::default(),
            reads_verified: 0,
            mismatches: 0,
            client_cpu_s: 0.0,
            cache_hits: 0,
            cache_misses: 0,
        }
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
        self.cache_hits += other.cache_hits;
        self.cache_misses += other.cache_misses;
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
            "mismatches": self.mismatches, "client_cpu_s": self.client_cpu_s});
        if self.cache_hits + self.cache_misses > 0 {
            record["counters"] = json!({"cache_hits": self.cache_hits, "cache_misses": self.cache_misses});
        }
        record
    }
}
