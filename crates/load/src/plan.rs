//! The plan (docs/contract.md), read strictly.

use std::io::BufRead;
use std::net::IpAddr;
use std::path::PathBuf;

use dbdyno_net::Engine;
use dbdyno_stores::{Config, Schema};
use dbdyno_workloads::AnyWorkload;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::arrivals::ArrivalsPlan;
use crate::pace::{GroupPlan, Pace, ThinkTime};
use crate::recorder::Totals;
use crate::writes::{Writes, Written};

pub const CONTRACT: u32 = 1;
/// Requests sent at once: their answers must fit the sockets' buffers, or both sides wait for each other.
const MAX_PIPELINE: usize = 1000;
/// A second each way: further than any network is.
const MAX_NETWORK_DELAY_US: u64 = 2_000_000;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Prepare,
    Load,
    Run,
    Verify,
    Cleanup,
    /// Names what `Cleanup` would remove.
    List,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadPlan {
    pub name: String,
    pub rows: u64,
    #[serde(default)]
    pub options: Map<String, Value>,
}

impl WorkloadPlan {
    /// # Errors
    /// In words for the user.
    pub fn build(&self) -> Result<AnyWorkload, String> {
        AnyWorkload::new(&self.name, self.rows, &self.options)
    }

    pub fn schema(&self, workload: &AnyWorkload) -> Schema {
        let (tables, steps) = (workload.tables().to_vec(), workload.steps().to_vec());
        Schema { tables, steps, statements: workload.statements().to_vec(), rows: self.rows }
    }
}

/// The share of the trial's clients that this program runs.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clients {
    pub first: u64,
    pub count: u64,
    pub of: u64,
}

/// The name of an [`Engine`] in a plan.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum EngineName {
    Epoll,
    IoUring,
}

impl From<EngineName> for Engine {
    fn from(name: EngineName) -> Self {
        match name {
            EngineName::Epoll => Engine::Epoll,
            EngineName::IoUring => Engine::IoUring,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub contract: u32,
    pub phases: Vec<Phase>,
    pub store: Config,
    pub workload: Option<WorkloadPlan>,
    #[serde(default = "default_seed")]
    pub seed: u64,
    #[serde(default = "one_client")]
    pub clients: Clients,
    pub start_at_unix_s: Option<f64>,
    #[serde(default)]
    pub warmup_s: u64,
    #[serde(default)]
    pub duration_s: u64,
    #[serde(default = "ten")]
    pub operation_timeout_s: f64,
    pub threads: Option<usize>,
    pub engine: Option<EngineName>,
    pub cpus: Option<Vec<usize>>,
    #[serde(default = "yes")]
    pub verify_reads: bool,
    /// True if the plans of SQL statements are recorded before and after the run.
    #[serde(default)]
    pub query_plans: bool,
    pub arrivals: Option<ArrivalsPlan>,
    #[serde(default = "one_at_a_time")]
    pub pipeline: usize,
    /// How long a client waits between an answer and its next request.
    #[serde(default)]
    pub network_delay_us: u64,
    /// The file that says, by key, which version was acknowledged: `run` makes it, `verify` reads it.
    pub acknowledged: Option<PathBuf>,
    /// How a client pauses between two transactions of a closed loop.
    pub think_time: Option<ThinkTime>,
    /// After so many transactions a client opens another connection; 0: it keeps the first.
    #[serde(default)]
    pub transactions_per_connection: u64,
    /// Clients that differ, in the order of their numbers; none: all do the same.
    #[serde(default)]
    pub groups: Vec<GroupPlan>,
    #[serde(default)]
    pub run_id: String,
    /// The changes of the run that are to be verified, if other programs ran it.
    pub changes: Option<Changes>,
    /// The addresses of this host from which connections begin, in turn; none: the kernel chooses.
    #[serde(default)]
    pub source_addresses: Vec<IpAddr>,
}

/// The changes of a run in the store, by several programs together.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    /// For each check, the sum or the number of rows before the run; none if nobody asked or the store cannot tell.
    pub before: Vec<Option<i64>>,
    /// The net increments.
    pub added: i64,
    pub maybe_added: i64,
    pub maybe_subtracted: i64,
    pub inserted: u64,
    pub maybe_inserted: u64,
    pub deleted: u64,
    pub maybe_deleted: u64,
}

impl Changes {
    pub fn new(before: &[Option<i128>], &Written { surely, maybe }: &Written) -> Self {
        Self {
            before: before.iter().map(|sum| sum.and_then(|sum| i64::try_from(sum).ok())).collect(),
            added: surely.added - surely.subtracted,
            maybe_added: maybe.added,
            maybe_subtracted: maybe.subtracted,
            inserted: surely.inserted,
            maybe_inserted: maybe.inserted,
            deleted: surely.deleted,
            maybe_deleted: maybe.deleted,
        }
    }

    pub fn before(&self) -> Vec<Option<i128>> {
        self.before.iter().map(|sum| sum.map(i128::from)).collect()
    }

    pub fn totals(&self) -> Totals {
        let surely = Writes { added: self.added, subtracted: 0, inserted: self.inserted, deleted: self.deleted };
        let maybe = Writes {
            added: self.maybe_added,
            subtracted: self.maybe_subtracted,
            inserted: self.maybe_inserted,
            deleted: self.maybe_deleted,
        };
        Totals { written: Written { surely, maybe }, ..Totals::default() }
    }
}

impl Clients {
    /// Returns whether other programs run the rest of the trial's clients.
    pub fn is_part(self) -> bool {
        self.count < self.of
    }
}

fn default_seed() -> u64 {
    1
}
fn one_client() -> Clients {
    Clients { first: 0, count: 1, of: 1 }
}
fn ten() -> f64 {
    10.0
}
fn one_at_a_time() -> usize {
    1
}
fn yes() -> bool {
    true
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Secrets {
    secrets: Vec<String>,
}

/// A plan and the secrets that came with it.
#[derive(Debug)]
pub struct Input {
    pub plan: Plan,
    pub secrets: Vec<String>,
}

impl Input {
    /// # Errors
    /// The plan is not understood: in words for the user.
    pub fn read(mut from: impl BufRead) -> Result<Self, String> {
        let mut line = || {
            let mut text = String::new();
            from.read_line(&mut text).map(|_| text).map_err(|error| format!("cannot read the plan: {error}"))
        };
        let (plan, secrets) = (line()?, line()?);
        let plan: Plan = serde_json::from_str(&plan).map_err(|error| format!("the plan cannot be parsed: {error}"))?;
        let secrets = match secrets.trim() {
            "" => Secrets::default(),
            // The parser's own message may quote what it read.
            text => serde_json::from_str(text).map_err(|_| "line 2 holds no secrets: {\"secrets\": [\"…\"]}")?,
        };
        plan.check()?;
        Ok(Self { plan, secrets: secrets.secrets })
    }
}

impl Plan {
    pub fn has(&self, phase: Phase) -> bool {
        self.phases.contains(&phase)
    }

    pub fn timeout_ns(&self) -> u64 {
        (self.operation_timeout_s * 1e9) as u64
    }

    /// The pace of all clients, if there are no groups.
    pub fn pace(&self) -> Pace<'_> {
        let &Self { think_time, transactions_per_connection, .. } = self;
        Pace { arrivals: self.arrivals.as_ref(), think_time, transactions_per_connection }
    }

    /// True if clients have nothing outstanding at times.
    pub fn is_pausing(&self) -> bool {
        let pauses = |pace: Pace<'_>| pace.arrivals.is_some() || pace.think_time.is_some();
        pauses(self.pace()) || self.groups.iter().any(|group| pauses(group.pace()) || group.start_s > 0)
    }

    /// True if clients open several connections.
    pub fn is_reconnecting(&self) -> bool {
        self.transactions_per_connection > 0 || self.groups.iter().any(|group| group.transactions_per_connection > 0)
    }

    fn check_groups(&self) -> Result<(), String> {
        if self.groups.is_empty() {
            return Ok(());
        }
        if !self.pace().is_plain() {
            return Err("groups: each has its own arrivals, think_time and transactions_per_connection".into());
        }
        let counts = self.groups.iter().map(|group| group.count);
        let together = counts.clone().try_fold(0, u64::checked_add);
        if counts.min() == Some(0) || together != Some(self.clients.of) {
            return Err(format!("groups: each has clients, together {}", self.clients.of));
        }
        let ends_s = self.warmup_s.saturating_add(self.duration_s);
        for group in &self.groups {
            if self.has(Phase::Run) && group.start_s >= ends_s {
                return Err(format!("groups: {} starts after {} s, when the run is over", group.name, group.start_s));
            }
            group.pace().check().map_err(|reason| format!("groups: {}: {reason}", group.name))?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        let Clients { first, count, of } = self.clients;
        let wrong = |what: String| Err(format!("the plan cannot be executed: {what}"));
        if self.contract != CONTRACT {
            return wrong(format!("its contract is {}, and this dbdyno-load speaks {CONTRACT}", self.contract));
        }
        if self.phases.is_empty() || !self.phases.is_sorted() {
            return wrong("phases: some of prepare, load, run, verify, cleanup, in this order; or list".into());
        }
        if self.workload.is_none() && !matches!(self.phases[..], [Phase::Cleanup | Phase::List]) {
            return wrong("workload is missing: only cleanup and list need none".into());
        }
        if self.workload.is_some() && self.has(Phase::List) {
            return wrong("phases: list covers all workloads, so workload must be null".into());
        }
        if count == 0 || first.checked_add(count).is_none_or(|end| end > of) {
            return wrong(format!("clients {first} to {first} + {count} of {of}"));
        }
        if self.has(Phase::Run) && self.duration_s == 0 {
            return wrong("duration_s must be at least 1".into());
        }
        if !(self.operation_timeout_s > 0.0 && self.operation_timeout_s <= 3600.0) {
            return wrong(format!("operation_timeout_s = {}: above 0, at most 3600", self.operation_timeout_s));
        }
        if !(1..=MAX_PIPELINE).contains(&self.pipeline) {
            return wrong(format!("pipeline = {}: 1 to {MAX_PIPELINE}", self.pipeline));
        }
        if self.network_delay_us > MAX_NETWORK_DELAY_US {
            return wrong(format!("network_delay_us = {}: at most {MAX_NETWORK_DELAY_US}", self.network_delay_us));
        }
        if self.pipeline > 1 && !(self.pace().is_plain() && self.groups.is_empty()) {
            let what = "arrivals, think_time, transactions_per_connection and groups";
            return wrong(format!("{what} exclude a pipeline: each transaction is sent alone"));
        }
        self.pace().check().or_else(wrong)?;
        self.check_groups().or_else(wrong)?;
        if self.threads == Some(0) || self.cpus.as_ref().is_some_and(Vec::is_empty) {
            return wrong("threads and cpus: at least one, or null".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(change: impl FnOnce(&mut Value), secrets: &str) -> Result<Input, String> {
        let mut plan = serde_json::json!({
            "contract": 1, "phases": ["run", "verify"], "store": {"kind": "sqlite", "path": "/tmp/x"},
            "workload": {"name": "game", "rows": 10}, "clients": {"first": 0, "count": 4, "of": 4}, "duration_s": 1,
        });
        change(&mut plan);
        Input::read(format!("{plan}\n{secrets}\n").as_bytes())
    }

    #[test]
    fn a_plan_and_its_secrets_are_read() {
        let input = read(|_| {}, r#"{"secrets": ["open sesame"]}"#).unwrap();
        assert_eq!(input.secrets, ["open sesame"]);
        assert!(input.plan.verify_reads);
        assert!(read(|_| {}, "").unwrap().secrets.is_empty());
    }

    #[test]
    fn what_is_wrong_is_named() {
        type Change = fn(&mut Value);
        let cases: [(Change, &str); 18] = [
            (|p| p["think_time"] = serde_json::json!({"kind": "constant", "mean_us": 0}), "mean_us = 0"),
            (|p| p["groups"] = serde_json::json!([{"name": "few", "count": 3}]), "together 4"),
            (|p| p["groups"] = serde_json::json!([{"name": "late", "count": 4, "start_s": 1}]), "late"),
            (
                |p| {
                    p["groups"] = serde_json::json!([{"name": "all", "count": 4}]);
                    p["transactions_per_connection"] = 1.into();
                },
                "each has its own",
            ),
            (|p| p["contract"] = 2.into(), "contract is 2"),
            (|p| p["phases"] = serde_json::json!(["verify", "run"]), "phases"),
            (|p| p["phases"] = serde_json::json!(["runn"]), "runn"),
            (|p| p["workload"] = Value::Null, "workload"),
            (|p| p["clients"]["count"] = 5.into(), "clients"),
            (|p| p["duration_s"] = 0.into(), "duration_s"),
            (|p| p["operation_timeout_s"] = 0.into(), "operation_timeout_s"),
            (|p| p["pipeline"] = 0.into(), "pipeline"),
            (|p| p["network_delay_us"] = 2_000_001.into(), "network_delay_us"),
            (|p| p["arrivals"] = serde_json::json!({"kind": "constant", "segments": []}), "segments"),
            (
                |p| p["arrivals"] = serde_json::json!({"kind": "constant", "segments": [{"seconds": 1, "from_per_s": 0, "to_per_s": 1}]}),
                "per_s",
            ),
            (|p| p["source_addresses"] = serde_json::json!(["c1"]), "IP address"),
            (|p| p["surprise"] = 1.into(), "surprise"),
            (|p| p["store"]["kind"] = "oracle".into(), "oracle"),
        ];
        for (change, named) in cases {
            let error = read(change, "").unwrap_err();
            assert!(error.contains(named), "{named}: {error}");
        }
    }

    #[test]
    fn unreadable_secrets_are_not_quoted() {
        let error = read(|_| {}, r#"{"secret": "open sesame"}"#).unwrap_err();
        assert!(!error.contains("sesame"), "{error}");
    }
}
