//! How the store executes each statement, before the run and after it.

use std::sync::Arc;

use dbdyno_model::{Failure, Step};
use dbdyno_stores::{Administration, QueryPlan, Store, Trouble};
use serde_json::json;

use crate::plan::Plan;
use crate::records::Records;
use crate::session::with_session;

/// Records the plan of each step's statement; `when` is `before` the run or `after` it.
///
/// A plan explains figures and is none: of a statement that the server cannot explain there is no record, and after a lost connection of no
/// other either.
pub fn record_query_plans(plan: &Plan, store: &Arc<Store>, steps: &[Step], when: &str, records: &Records) {
    // The first of several programs speaks for all.
    if !plan.query_plans || plan.clients.first > 0 {
        return;
    }
    let count = steps.len();
    let plans = with_session(store, async move |session| {
        let mut plans: Vec<Option<QueryPlan>> = vec![];
        for step in 0..count {
            plans.push(match session.query_plan(step).await {
                Err(Trouble::Refused(_) | Trouble::Failed(Failure::Server(_))) => None,
                plan => plan?,
            });
        }
        Ok(plans)
    });
    for (step, plan) in steps.iter().zip(plans.unwrap_or_default()) {
        if let Some(QueryPlan { sql, steps }) = plan.filter(|plan| !plan.steps.is_empty()) {
            let record =
                json!({"record": "query_plan", "when": when, "operation": step.name, "sql": sql, "steps": steps});
            records.write(&record);
        }
    }
}
