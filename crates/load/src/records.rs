//! Writes records: one JSON object a line, flushed at its end.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use dbdyno_model::Failure;
use serde_json::{Value, json};

use crate::outcome::Outcome;

/// How many errors of a kind, and how many mismatches, are kept word for word.
const EXAMPLES: u32 = 5;

/// The output of records. Shared by all threads; written to a few times a second.
pub struct Records {
    out: Mutex<Box<dyn Write + Send>>,
    errors_shown: [AtomicU32; Failure::KINDS.len()],
    mismatches_shown: AtomicU32,
}

/// The origin of a failure.
pub struct Place<'a> {
    pub operation: Option<&'a str>,
    pub client: u64,
    pub at_s: f64,
}

impl Records {
    pub fn to_stdout() -> Self {
        Self::new(Box::new(std::io::stdout()))
    }

    pub fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out: Mutex::new(out), errors_shown: Default::default(), mismatches_shown: AtomicU32::new(0) }
    }

    /// Writes one record. When nobody reads any more there is nobody to measure for, and the program ends.
    pub fn write(&self, record: &Value) {
        let mut line = record.to_string();
        line.push('\n');
        let mut out = self.out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Err(error) = out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
            eprintln!("dbdyno-load: cannot write records, ending: {error}");
            std::process::exit(1);
        }
    }

    /// Writes the first few failures of each kind.
    pub fn failure(&self, failure: &Failure, origin: &Place<'_>) {
        if self.errors_shown[failure.kind_index()].fetch_add(1, Ordering::Relaxed) < EXAMPLES {
            self.write(&json!({"record": "error", "kind": failure.kind(), "operation": origin.operation,
                "client": origin.client, "at_s": origin.at_s, "message": failure.message()}));
        }
    }

    /// Writes the first few rows that differ from their generator.
    pub fn mismatch(&self, key: Option<u64>, difference: &dbdyno_model::Difference, origin: &Place<'_>) {
        if self.mismatches_shown.fetch_add(1, Ordering::Relaxed) < EXAMPLES {
            self.write(&json!({"record": "mismatch", "operation": origin.operation, "key": key,
                "column": difference.column, "expected": difference.expected, "found": difference.actual,
                "at_s": origin.at_s}));
        }
    }

    pub fn progress(&self, phase: &str, done: u64, total: u64, unit: &str) {
        self.write(&json!({"record": "progress", "phase": phase, "done": done, "total": total, "unit": unit}));
    }

    /// The progress of a load, in rows; the time left is as if the rest went as fast as the part that is done.
    pub fn loading(&self, done: u64, total: u64, rows_per_s: f64) {
        let left_s = (total - done) as f64 / rows_per_s;
        self.write(&json!({"record": "progress", "phase": "load", "done": done, "total": total, "unit": "rows",
            "rows_per_s": rows_per_s, "left_s": left_s}));
    }

    pub fn end(&self, outcome: &Outcome) {
        self.write(&json!({"record": "end", "status": outcome.status(), "reason": outcome.reason()}));
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::sync::Arc;

    /// A writer that can be read back.
    #[derive(Clone, Default)]
    pub struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Shared {
        pub fn records(&self) -> Vec<Value> {
            let bytes = self.0.lock().unwrap().clone();
            String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        }
    }

    #[test]
    fn only_the_first_failures_of_each_kind_are_kept() {
        let shared = Shared::default();
        let records = Records::new(Box::new(shared.clone()));
        let origin = Place { operation: Some("get"), client: 3, at_s: 1.5 };
        for _ in 0..20 {
            records.failure(&Failure::Timeout("late".into()), &origin);
        }
        records.failure(&Failure::Server("no".into()), &origin);
        let written = shared.records();
        assert_eq!(written.len(), EXAMPLES as usize + 1);
        let last =
            json!({"record": "error", "kind": "server", "operation": "get", "client": 3, "at_s": 1.5, "message": "no"});
        assert_eq!(written.last(), Some(&last));
    }
}
