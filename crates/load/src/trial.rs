//! The state that all threads of a trial share, and the gate at which its clients wait for each other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use dbdyno_model::Failure;
use dbdyno_net::Engine;
use dbdyno_stores::Store;
use dbdyno_workloads::AnyWorkload;

use crate::groups::Group;
use crate::interval::Shape;
use crate::ledger::Ledger;
use crate::recorder::Schedule;
use crate::records::Records;

/// The name of the operation that stands for opening a connection.
pub const CONNECT: &str = "connect";

/// The state that all threads of a trial share.
pub struct Trial {
    /// Its tables and steps are those of all groups.
    pub workload: AnyWorkload,
    /// Clients that differ; one without a name if all do the same.
    pub groups: Vec<Arc<Group>>,
    /// The operation that stands for opening a connection.
    pub connect_step: usize,
    /// True if clients open several.
    pub is_reconnecting: bool,
    pub store: Arc<Store>,
    pub schedule: Arc<Schedule>,
    pub records: Arc<Records>,
    pub gate: Gate,
    pub seed: u64,
    pub clients_of: u64,
    pub verify_reads: bool,
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
        let steps = self.workload.steps().iter().map(|step| step.name.clone());
        let groups = self.groups.iter().filter_map(|group| group.named.as_ref()).map(|(name, _)| name.clone());
        steps.chain(groups).chain(self.is_reconnecting.then(|| CONNECT.into())).collect()
    }

    /// True if clients have nothing outstanding at times.
    pub fn is_pausing(&self) -> bool {
        self.groups.iter().any(|group| group.is_pausing())
    }

    /// The group of a client, and its index.
    pub fn group_of(&self, client: u64) -> (usize, Arc<Group>) {
        let index = self.groups.iter().position(|group| group.clients.contains(&client)).unwrap_or(0);
        (index, Arc::clone(&self.groups[index]))
    }

    /// The recordings with the times of an open loop: those of all clients' transactions if there are no groups.
    pub fn shape(&self) -> Shape {
        let is_open = self.groups.iter().any(|group| group.named.is_none() && group.arrivals.is_some());
        let of_group = |group: &Arc<Group>| group.arrivals.is_some();
        let steps = std::iter::repeat_n(is_open, self.workload.steps().len());
        let groups = self.groups.iter().filter(|group| group.named.is_some()).map(of_group);
        let operations = steps.chain(groups).chain(self.is_reconnecting.then_some(is_open)).collect();
        Shape { is_open, operations, is_pausing: self.is_pausing() }
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
