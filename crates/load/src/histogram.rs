//! A log-linear histogram of nanoseconds with 7 bits of precision, in the manner of HdrHistogram (docs/contract.md has the formula).

use serde_json::{Value, json};

/// An hour; longer times count as an hour.
pub const MAX_NS: u64 = 3_600_000_000_000;
const PRECISION_BITS: u32 = 7;
const BUCKETS: usize = 36 << PRECISION_BITS;

/// Counts of times, each known to within 0.8 %. Merging adds.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Box<[u32]>,
    count: u64,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS].into(), count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

#[inline]
fn index(ns: u64) -> usize {
    let exponent = (63 - PRECISION_BITS) - (ns | 1 << PRECISION_BITS).leading_zeros();
    ((exponent as usize) << PRECISION_BITS) + (ns >> exponent) as usize
}

impl Histogram {
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let ns = ns.min(MAX_NS);
        self.counts[index(ns)] += 1;
        self.count += 1;
        self.sum_ns += ns;
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn merge(&mut self, other: &Histogram) {
        for (mine, others) in self.counts.iter_mut().zip(&other.counts) {
            *mine += others;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    pub fn to_json(&self) -> Value {
        let buckets: Vec<u64> = (self.counts.iter().enumerate())
            .filter(|(_, count)| **count > 0)
            .flat_map(|(index, &count)| [index as u64, u64::from(count)])
            .collect();
        let min_ns = if self.count == 0 { 0 } else { self.min_ns };
        json!({"count": self.count, "sum_ns": self.sum_ns, "min_ns": min_ns, "max_ns": self.max_ns, "buckets": buckets})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lowest value and the width of a bucket, as docs/contract.md has them.
    fn bucket(index: u64) -> (u64, u64) {
        if index < 256 {
            return (index, 1);
        }
        let e = index / 128 - 1;
        ((index - 128 * e) << e, 1 << e)
    }

    #[test]
    fn every_time_lies_in_its_bucket_and_buckets_are_narrow() {
        let mut ns = 0;
        while ns <= MAX_NS {
            let (low, width) = bucket(index(ns) as u64);
            assert!(low <= ns && ns < low + width, "{ns}");
            assert!(width == 1 || (width as f64) <= low as f64 / 127.0, "{ns}");
            ns += 1 + ns / 300;
        }
        assert!(index(MAX_NS) < BUCKETS);
    }

    #[test]
    fn buckets_follow_each_other_without_gap() {
        for i in 0..index(MAX_NS) as u64 {
            let (low, width) = bucket(i);
            assert_eq!(bucket(i + 1).0, low + width);
        }
    }

    #[test]
    fn merging_adds_and_long_times_are_an_hour() {
        let (mut a, mut b) = (Histogram::default(), Histogram::default());
        a.record(5);
        b.record(5);
        b.record(u64::MAX);
        a.merge(&b);
        let expected = json!({"count": 3, "sum_ns": MAX_NS + 10, "min_ns": 5, "max_ns": MAX_NS,
            "buckets": [5, 2, index(MAX_NS), 1]});
        assert_eq!(a.to_json(), expected);
        let empty = json!({"count": 0, "sum_ns": 0, "min_ns": 0, "max_ns": 0, "buckets": []});
        assert_eq!(Histogram::default().to_json(), empty);
    }
}
