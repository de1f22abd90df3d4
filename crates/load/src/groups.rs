//! Groups of clients: each has its own transactions and its own pace, and its times stand apart (docs/contract.md, "Groups of clients").

use std::ops::Range;
use std::sync::Arc;

use dbdyno_workloads::AnyWorkload;
use serde_json::{Map, Value};

use crate::arrivals::{Arrivals, ClientArrivals};
use crate::pace::{Pace, ThinkTime};
use crate::plan::{Plan, WorkloadPlan};

/// Clients that do the same.
#[derive(Debug)]
pub struct Group {
    /// Its name and the operation that stands for its transactions; `None` if all clients do the same.
    pub named: Option<(String, usize)>,
    /// By their numbers in the trial.
    pub clients: Range<u64>,
    pub workload: AnyWorkload,
    pub start_ns: u64,
    pub arrivals: Option<Arc<Arrivals>>,
    pub think_time: Option<ThinkTime>,
    pub transactions_per_connection: u64,
}

impl Group {
    /// The groups of a plan, one without a name if it has none. `last`: workloads add rows behind this key.
    ///
    /// # Errors
    /// A group's workload has other tables or operations than the plan's, or a name is taken: in words for the user.
    pub fn all(plan: &Plan, workload_plan: &WorkloadPlan, last: Option<u64>) -> Result<Vec<Self>, String> {
        let steps = workload_plan.build()?.steps().to_vec();
        if plan.groups.is_empty() {
            let workload = workload_of(workload_plan, &Map::new(), last)?;
            return Ok(vec![Self::new(None, 0..plan.clients.of, workload, 0, plan.pace())?]);
        }
        let (mut groups, mut first): (Vec<Self>, u64) = (vec![], 0);
        for group in &plan.groups {
            let name = &group.name;
            let is_taken = |other: &Self| other.named.as_ref().is_some_and(|(other, _)| other == name);
            if groups.iter().any(is_taken) || steps.iter().any(|step| step.name == *name) {
                return Err(format!("groups: {name:?} is the name of another group, or of an operation"));
            }
            let workload = workload_of(workload_plan, &group.options, last)?;
            if workload.steps() != steps {
                return Err(format!("groups: the options of {name:?} change the workload's operations"));
            }
            let clients = first..first + group.count;
            first = clients.end;
            let named = Some((name.clone(), steps.len() + groups.len()));
            groups.push(Self::new(named, clients, workload, group.start_s, group.pace())?);
        }
        Ok(groups)
    }

    fn new(
        named: Option<(String, usize)>,
        clients: Range<u64>,
        workload: AnyWorkload,
        start_s: u64,
        pace: Pace<'_>,
    ) -> Result<Self, String> {
        let arrivals = pace.arrivals.map(Arrivals::new).transpose()?.map(Arc::new);
        let Pace { think_time, transactions_per_connection, .. } = pace;
        let start_ns = start_s * 1_000_000_000;
        Ok(Self { named, clients, workload, start_ns, arrivals, think_time, transactions_per_connection })
    }

    /// The arrivals of one of its clients, from the run's start; `None` in a closed loop.
    pub fn arrivals_of(&self, seed: u64, client: u64) -> Option<ClientArrivals> {
        let arrivals = Arc::clone(self.arrivals.as_ref()?);
        Some(ClientArrivals::new(arrivals, seed, client, &self.clients, self.start_ns))
    }

    /// True if its clients have nothing outstanding at times.
    pub fn is_pausing(&self) -> bool {
        self.arrivals.is_some() || self.think_time.is_some() || self.start_ns > 0
    }
}

fn workload_of(plan: &WorkloadPlan, own: &Map<String, Value>, last: Option<u64>) -> Result<AnyWorkload, String> {
    let mut options = plan.options.clone();
    options.extend(own.clone());
    let mut workload = AnyWorkload::new(&plan.name, plan.rows, &options)?;
    if let Some(last) = last {
        workload.continue_after(last);
    }
    Ok(workload)
}
