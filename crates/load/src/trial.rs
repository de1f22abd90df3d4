//! The state that all threads of a trial share, and the gate at which its clients wait for each other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use dbdyno_model::Failure;
use dbdyno_net::Engine;
use dbdyno_stores::Store;
use dbdyno_workloads::AnyWorkload;

use crate::arrivals::Arrivals;
use crate::ledger::Ledger;
use crate::recorder::Schedule;
use crate::records::Records;

/// The state that all threads of a trial share.
pub struct Trial {
    pub workload: AnyWorkload,
    pub store: Arc<Store>,
    pub schedule: Arc<Schedule>,
    pub records: Arc<Records>,
    pub gate: Gate,
    pub seed: u64,
    pub clients_of: u64,
    pub verify_reads: bool,
    pub arrivals: Option<Arc<Arrivals>>,
    pub pipeline: usize,
    pub network_delay_ns: u64,
    /// `None` for embedded stores.
    pub engine: Option<Engine>,
    /// The ledger of acknowledged writes, for workloads that say which these are.
    pub ledger: Option<Ledger>,
}

impl Trial {
    /// Seconds since the run began; 0 before.
    pub fn at_s(&self, ns: u64) -> f64 {
        self.schedule.start_ns().map_or(0.0, |start| ns.saturating_sub(start) as f64 / 1e9)
    }

    pub fn names(&self) -> Vec<String> {
        self.workload.steps().iter().map(|s| s.name.clone()).collect()
    }
}

/// The gate at which clients wait for each other before the run.
#[derive(Default)]
pub struct Gate {
    arrived: AtomicU64,
    refused: Mutex<(u64, Option<Failure>)>,
}

impl Gate {
    pub fn arrived(&self) {
        self.arrived.fetch_add(1, Ordering::Release);
    }

    /// How many clients have arrived, those included that were refused.
    pub fn count(&self) -> u64 {
        self.arrived.load(Ordering::Acquire)
    }

    pub fn refused(&self, failure: &Failure) {
        let mut refused = self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        refused.0 += 1;
        refused.1.get_or_insert_with(|| failure.clone());
    }

    pub fn refusals(&self) -> Option<(u64, Failure)> {
        let refused = self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        refused.1.clone().map(|failure| (refused.0, failure))
    }
}
