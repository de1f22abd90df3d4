//! The phases of a plan, in order: prepare, load, run, verify, clean up.

mod checks;

use std::sync::Arc;
use std::time::Instant;

use dbdyno_model::{Choices, Table};
use dbdyno_net::{Engine, connect_from, expect_answers, unix_now_s};
use dbdyno_stores::{Administration, Cleaning, Schema, Store, Withdrawn};
use dbdyno_workloads::AnyWorkload;
use serde_json::{Value, json};

use crate::groups::Group;
use crate::ledger::Ledger;
use crate::loading::{Job, load};
use crate::markers::{self, Whose};
use crate::outcome::Outcome;
use crate::plan::{CONTRACT, Changes, Input, Phase, Plan, WorkloadPlan};
use crate::recorder::{Schedule, Totals};
use crate::records::Records;
use crate::run::{MAX_EMBEDDED_CLIENTS, engine_for, processors, run, threads_for};
use crate::session::with_session;
use crate::trial::{CONNECT, Gate, Trial};
use crate::{limits, signals};

/// The build profile is part of what the program is: a debug build does not measure.
const PROFILE: &str = if cfg!(debug_assertions) { "debug" } else { "release" };

/// Executes the plan. An interrupted run is still verified and cleaned up.
pub fn execute(input: &Input, records: &Arc<Records>) -> Outcome {
    let done = match &input.plan.workload {
        None => clean_all(input, records),
        Some(workload) => Execution::new(input, records, workload).and_then(|execution| execution.all()),
    };
    done.err().unwrap_or(Outcome::Complete)
}

/// No operation of a workload answers with more: that is what `range_size` may be.
const ROWS_AN_ANSWER: usize = 1000;

struct Execution<'a> {
    input: &'a Input,
    plan: &'a Plan,
    workload_plan: &'a WorkloadPlan,
    workload: AnyWorkload,
    store: Arc<Store>,
    engine: Option<Engine>,
    records: &'a Arc<Records>,
}

impl<'a> Execution<'a> {
    fn new(input: &'a Input, records: &'a Arc<Records>, workload_plan: &'a WorkloadPlan) -> Result<Self, Outcome> {
        let plan = &input.plan;
        let workload = workload_plan.build().map_err(Outcome::Refused)?;
        Group::all(plan, workload_plan, None).map_err(Outcome::Refused)?;
        check_host(plan)?;
        let schema = workload_plan.schema(&workload);
        let longest_row = schema.tables.iter().map(Table::most_row_bytes).max().unwrap_or(0);
        connect_from(&plan.source_addresses);
        expect_answers(plan.clients.count as usize, longest_row.saturating_mul(ROWS_AN_ANSWER));
        let store = Store::new(&plan.store, &input.secrets, schema, plan.timeout_ns()).map_err(Outcome::Refused)?;
        check_pipeline(plan.pipeline, &workload_plan.name, &workload, &store).map_err(Outcome::Refused)?;
        let engine = engine_for(plan, store.is_embedded()).map_err(Outcome::Refused)?;
        let execution = Self { input, plan, workload_plan, workload, store: Arc::new(store), engine, records };
        execution.hello();
        Ok(execution)
    }

    fn hello(&self) {
        let operation = |step: &dbdyno_model::Step| {
            let table = &self.workload.tables()[step.operation.table()].name;
            let table = if step.operation.has_table() { Some(table) } else { None };
            json!({"name": step.name, "operation": step.operation.name(), "table": table})
        };
        let stands_for = |name: &str, operation: &str| json!({"name": name, "operation": operation, "table": null});
        let groups = self.plan.groups.iter().map(|group| stands_for(&group.name, "clients"));
        let connect = self.plan.is_reconnecting().then(|| stands_for(CONNECT, CONNECT));
        let steps = self.workload.steps().iter().map(operation);
        let operations: Vec<Value> = steps.chain(groups).chain(connect).collect();
        self.records.write(&json!({"record": "hello", "contract": CONTRACT, "program": "dbdyno-load",
            "version": env!("CARGO_PKG_VERSION"), "profile": PROFILE,
            "pid": std::process::id(), "transaction": self.workload.transaction_name(), "operations": operations,
            "threads": threads_for(self.plan, self.store.is_embedded()), "processors": processors(),
            "engine": self.engine.map(|engine| engine.to_string()), "layout": self.store.layout(), "store": self.store.effective_settings()}));
    }

    fn all(&self) -> Result<(), Outcome> {
        self.phase(Phase::Prepare, "prepare", || self.prepare())?;
        self.phase(Phase::Load, "load", || self.load())?;
        let before = if self.plan.has(Phase::Run) { self.before()? } else { vec![] };
        let mut ran = Ok(Totals::default());
        self.phase(Phase::Run, "run", || {
            ran = self.run();
            Ok(json!({}))
        })?;
        let (totals, interrupted) = match ran {
            Ok(totals) => (totals, false),
            Err(Outcome::Interrupted(totals)) => (*totals, true),
            Err(other) => return self.clean().and(Err(other)),
        };
        let (before, totals) = self.changed(before, totals);
        let verified = self.phase(Phase::Verify, "verify", || {
            self.check_answering(&totals)?;
            self.verify(&before, &totals)
        });
        self.clean()?;
        verified?;
        if interrupted { Err(Outcome::Interrupted(totals.into())) } else { Ok(()) }
    }

    /// The changes that are verified: those that the plan tells of other programs, else this program's own. Those of a part of
    /// the clients are recorded for whoever verifies.
    fn changed(&self, before: Vec<Option<i128>>, totals: Totals) -> (Vec<Option<i128>>, Totals) {
        if let Some(changes) = &self.plan.changes {
            return (changes.before(), changes.totals());
        }
        if self.plan.has(Phase::Run) && self.plan.clients.is_part() {
            let mut record = json!(Changes::new(&before, &totals.written));
            record["record"] = "changes".into();
            self.records.write(&record);
        }
        (before, totals)
    }

    fn phase(&self, phase: Phase, name: &str, work: impl FnOnce() -> Result<Value, Outcome>) -> Result<(), Outcome> {
        if !self.plan.has(phase) {
            return Ok(());
        }
        record_phase(self.records, name, work)
    }

    fn table_names(&self) -> Vec<String> {
        self.workload.tables().iter().map(|table| table.name.clone()).collect()
    }

    fn claims(&self) -> Vec<String> {
        markers::claims(self.plan, self.workload_plan, &self.workload)
    }

    fn prepare(&self) -> Result<Value, Outcome> {
        let tables = self.table_names();
        let open = |schema| open_store(self.input, schema);
        markers::withdraw(&self.store, Whose::Tables(&tables), Cleaning::Remove, open)?;
        let (marker, claims) = (markers::marker(self.plan, self.workload_plan), self.claims());
        with_session(&self.store, async move |session| {
            session.claim(&claims).await?;
            session.prepare(&marker).await
        })?;
        Ok(json!({}))
    }

    fn load(&self) -> Result<Value, Outcome> {
        let is_new = self.plan.has(Phase::Prepare);
        if !is_new {
            self.check_marker()?;
        }
        let tables = self.workload.tables();
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
        // More sessions than processors add contention and no speed: on MariaDB two on one cost 3 to 7 % more of the server's time.
        let sessions = self.plan.clients.count.min(cpus);
        let (store, records, rows) = (&self.store, self.records, self.workload_plan.rows);
        let loaded = load(&Job { store, records, tables, rows, sessions, is_new })?;
        self.renew_claims(is_new)?;
        if signals::stop_requested() {
            return Err(Outcome::Interrupted(Box::default()));
        }
        for table in 0..tables.len() {
            with_session(&self.store, async move |session| session.settle(table).await)?;
        }
        self.check_loaded()?;
        self.check_queries_of_loaded()?;
        Ok(json!({"rows": loaded.added + loaded.present, "found": loaded.present, "by": loaded.by,
            "rows_per_s": loaded.added as f64 / loaded.rows_s, "index_s": loaded.index_s,
            "sessions": loaded.sessions, "reconnected": loaded.reconnected}))
    }

    /// A store may have evicted its markers to make room for the rows.
    fn renew_claims(&self, is_new: bool) -> Result<(), Outcome> {
        if is_new {
            let claims = self.claims();
            with_session(&self.store, async move |session| session.renew(&claims).await)?;
        }
        Ok(())
    }

    /// Rows are only added to tables that were prepared for as many of the same workload.
    fn check_marker(&self) -> Result<(), Outcome> {
        let mut there: Vec<String> =
            with_session(&self.store, async |session| session.marker().await)?.into_iter().collect();
        let claims = with_session(&self.store, async |session| session.claims().await)?;
        let tables = self.table_names();
        there.extend(claims.into_iter().filter(|claim| markers::is_of(claim, Whose::Tables(&tables))));
        if there.is_empty() {
            return Err(Outcome::Refused(
                "the store was not prepared for this workload, or its marker is gone: prepare it again".into(),
            ));
        }
        for marker in there {
            let (marked, wanted) = (markers::workload_of(&marker)?, self.workload_plan);
            if (&marked.name, marked.rows) != (&wanted.name, wanted.rows) {
                return Err(Outcome::Refused(format!(
                    "the store was prepared for {} rows of {}, not for {} of {}: prepare it again",
                    marked.rows, marked.name, wanted.rows, wanted.name
                )));
            }
        }
        Ok(())
    }

    /// The groups of clients, whose workloads add rows behind those that the store has: an earlier run may have added some.
    fn groups(&self) -> Result<Vec<Arc<Group>>, Outcome> {
        let mut last = None;
        for table in self.workload.growing_tables() {
            last = last.max(with_session(&self.store, async move |session| session.last_key(table).await)?.or(Some(0)));
        }
        let groups = Group::all(self.plan, self.workload_plan, last).map_err(Outcome::Refused)?;
        Ok(groups.into_iter().map(Arc::new).collect())
    }

    fn new_ledger(&self) -> Result<Option<Ledger>, Outcome> {
        let made = self.plan.acknowledged.as_ref().map(|path| Ledger::create(path, self.workload_plan.rows));
        made.transpose().map_err(Outcome::Failed)
    }

    fn run(&self) -> Result<Totals, Outcome> {
        let groups = self.groups()?;
        let named = groups.iter().filter(|group| group.named.is_some()).count();
        let trial = Trial {
            workload: self.workload.clone(),
            groups,
            connect_step: self.workload.steps().len() + named,
            is_reconnecting: self.plan.is_reconnecting(),
            store: Arc::clone(&self.store),
            schedule: Arc::new(Schedule::new()),
            records: Arc::clone(self.records),
            gate: Gate::default(),
            seed: self.plan.seed,
            clients_of: self.plan.clients.of,
            verify_reads: self.plan.verify_reads,
            pipeline: self.plan.pipeline,
            network_delay_ns: self.plan.network_delay_us * 1000,
            engine: self.engine,
            ledger: self.new_ledger()?,
        };
        run(&Arc::new(trial), self.plan)
    }

    fn clean(&self) -> Result<(), Outcome> {
        if !self.plan.has(Phase::Cleanup) {
            return Ok(());
        }
        record_phase(self.records, "cleanup", || {
            clean_up(self.input, &self.store, Whose::Run(&self.plan.run_id), Cleaning::Remove)
        })
    }
}

fn record_phase(records: &Records, name: &str, work: impl FnOnce() -> Result<Value, Outcome>) -> Result<(), Outcome> {
    let begun = Instant::now();
    records.write(&json!({"record": "phase", "phase": name, "state": "begin", "at_unix_s": unix_now_s()}));
    let result = work();
    let mut record = json!({"record": "phase", "phase": name, "state": "end", "at_unix_s": unix_now_s(),
        "seconds": begun.elapsed().as_secs_f64()});
    if let Ok(Value::Object(more)) = &result {
        more.iter().for_each(|(key, value)| record[key] = value.clone());
    }
    records.write(&record);
    result.map(drop)
}

/// Refuses to pipeline a workload whose transaction is not one `get`, and a store that answers one request at a time.
fn check_pipeline(pipeline: usize, name: &str, workload: &AnyWorkload, store: &Store) -> Result<(), String> {
    if pipeline == 1 {
        return Ok(());
    }
    let refused = format!("pipeline = {pipeline} with {name} on {}", store.kind());
    if workload.single_key(&mut Choices::new(0, 0, 1, 0)).is_none() {
        return Err(format!("{refused}: a transaction of {name} is not a single get"));
    }
    if store.can_pipeline() { Ok(()) } else { Err(format!("{refused}: this store answers one request at a time")) }
}

fn check_host(plan: &Plan) -> Result<(), Outcome> {
    let measures = plan.has(Phase::Run);
    if measures && cfg!(debug_assertions) && std::env::var_os("DBDYNO_ALLOW_DEBUG").is_none() {
        let how = "build it with `cargo build --release`, or set DBDYNO_ALLOW_DEBUG=1 to test dbdyno itself";
        return Err(Outcome::Refused(format!("a debug build is too slow to measure with: {how}")));
    }
    if let Some(cpus) = &plan.cpus {
        limits::pin(cpus).map_err(Outcome::Refused)?;
    }
    if plan.store.is_embedded() && plan.clients.count > MAX_EMBEDDED_CLIENTS {
        let (kind, count) = (plan.store.kind(), plan.clients.count);
        return Err(Outcome::Refused(format!(
            "{count} clients on {kind}: an embedded store runs a thread for each client, at most {MAX_EMBEDDED_CLIENTS}"
        )));
    }
    limits::allow_connections(plan.clients.count * plan.store.connections()).map_err(Outcome::Refused)
}

/// Removes, or lists, what carries a marker, of whichever run and workload.
fn clean_all(input: &Input, records: &Arc<Records>) -> Result<(), Outcome> {
    let is_list = input.plan.has(Phase::List);
    let (name, cleaning) = if is_list { ("list", Cleaning::List) } else { ("cleanup", Cleaning::Remove) };
    record_phase(records, name, || {
        let store = open_store(input, Schema { tables: vec![], steps: vec![], statements: vec![], rows: 0 })?;
        clean_up(input, &store, Whose::Anybodys, cleaning)
    })
}

/// Removes, or lists, what carries a marker of one of those.
fn clean_up(input: &Input, store: &Arc<Store>, whose: Whose<'_>, cleaning: Cleaning) -> Result<Value, Outcome> {
    let open = |schema| open_store(input, schema);
    let Withdrawn { mut removed, left } = markers::withdraw(store, whose, cleaning, open)?;
    let marker = with_session(store, async |session| session.marker().await)?;
    let is_ours = marker.is_some_and(|marker| markers::is_of(&marker, whose));
    let (tables, cannot_know) = with_session(store, async move |session| {
        let tables = if is_ours { session.remove(cleaning).await? } else { vec![] };
        Ok((tables, session.cannot_know().await?))
    })?;
    removed.extend(tables);
    let key = if cleaning == Cleaning::Remove { "removed" } else { "leftovers" };
    Ok(json!({key: removed, "left": left, "cannot_know": cannot_know}))
}

fn open_store(input: &Input, schema: Schema) -> Result<Arc<Store>, Outcome> {
    let store = Store::new(&input.plan.store, &input.secrets, schema, input.plan.timeout_ns());
    store.map(Arc::new).map_err(Outcome::Refused)
}
