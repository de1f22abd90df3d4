//! Workloads, one file each: the tables, and the transaction as an async function over the logical operations.
//!
//! Every random choice is a pure function of (seed, client, step). No sockets, no clock, no store's name.

mod access;
mod batch_get;
mod db_stress;
mod declared;
mod durability;
mod extreme_values;
mod game;
mod insert_indexes;
mod oltp;
mod point_get;
mod point_update;
mod replication_lag;
mod result_cache;
mod secondary_get;
mod tables;
mod tpcc;
mod trx_lifecycle;

use std::ops::RangeInclusive;

use dbdyno_model::{Choices, Failed, Operation, Operations, Statement, Step, Table};
use serde_json::{Map, Value};

pub use access::Access;
use trx_lifecycle::Within;

/// A check of what the store holds after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The table has as many rows as were loaded.
    RowCount { table: usize },
    /// The sum of the column has grown by exactly the increments that were acknowledged.
    SumOfIncrements { table: usize, column: usize },
    /// The table, and each of its indexes, has as many rows more as were acknowledged.
    RowsInserted { table: usize },
    /// Every write that the plan's record of them says was acknowledged is there, as the two reads of each pair of rows show.
    Acknowledged { reads: [usize; 2] },
    /// The query, which has no parameters, finds nothing: no row, or one of a single 0 or NULL. Also asked after loading.
    FindsNothing { what: String, query: Statement },
}

/// What every workload has.
pub trait Workload {
    /// What one transaction is called in reports.
    const TRANSACTION: &'static str;

    fn tables(&self) -> &[Table];
    fn steps(&self) -> &[Step];
    fn checks(&self) -> &[Check];

    /// What its steps of the kind `sql` execute.
    fn statements(&self) -> &[Statement] {
        &[]
    }

    /// One transaction. It may decide by what its operations read.
    #[allow(async_fn_in_trait)]
    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed>;
}

/// A workload of this crate. There is one a trial.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub enum AnyWorkload {
    PointGet(point_get::PointGet),
    SecondaryGet(secondary_get::SecondaryGet),
    PointUpdate(point_update::PointUpdate),
    BatchGet(batch_get::BatchGet),
    InsertIndexes(insert_indexes::InsertIndexes),
    TrxLifecycle(trx_lifecycle::TrxLifecycle),
    Tpcc(tpcc::Tpcc),
    Game(game::Game),
    ExtremeValues(extreme_values::ExtremeValues),
    DbStress(db_stress::DbStress),
    Oltp(oltp::Oltp),
    Declared(declared::Declared),
    ReplicationLag(replication_lag::ReplicationLag),
    ResultCache(result_cache::ResultCache),
    Durability(durability::Durability),
}

macro_rules! each {
    ($any:expr, $workload:ident => $body:expr) => {
        match $any {
            AnyWorkload::PointGet($workload) => $body,
            AnyWorkload::SecondaryGet($workload) => $body,
            AnyWorkload::PointUpdate($workload) => $body,
            AnyWorkload::BatchGet($workload) => $body,
            AnyWorkload::InsertIndexes($workload) => $body,
            AnyWorkload::TrxLifecycle($workload) => $body,
            AnyWorkload::Tpcc($workload) => $body,
            AnyWorkload::Game($workload) => $body,
            AnyWorkload::ExtremeValues($workload) => $body,
            AnyWorkload::DbStress($workload) => $body,
            AnyWorkload::Oltp($workload) => $body,
            AnyWorkload::Declared($workload) => $body,
            AnyWorkload::ReplicationLag($workload) => $body,
            AnyWorkload::ResultCache($workload) => $body,
            AnyWorkload::Durability($workload) => $body,
        }
    };
}

pub const NAMES: [&str; 14] = [
    "point-get",
    "secondary-get",
    "point-update",
    "batch-get",
    "insert-indexes",
    "trx-lifecycle",
    "tpcc",
    "game",
    "db-stress",
    "oltp",
    "replication-lag",
    "result-cache",
    "durability",
    "extreme-values",
];

/// The name of a workload that an experiment declares, in its option `declaration`.
const DECLARED: &str = "declared";

/// The values of the option `access`, the default first.
const ACCESS: [&str; 8] = ["uniform", "sequential", "zipfian", "latest", "hot-set", "special", "gaussian", "pareto"];

const TRANSACTIONS: [(&str, Within); 3] =
    [("autocommit", Within::Autocommit), ("read-only", Within::ReadOnly), ("read-write", Within::ReadWrite)];

impl AnyWorkload {
    /// The workload `name` over tables of `rows` rows.
    ///
    /// # Errors
    /// There is no such workload, it has no such option, or the option has no such value: in words for the user.
    pub fn new(name: &str, rows: u64, options: &Map<String, Value>) -> Result<Self, String> {
        if rows == 0 || rows > i32::MAX as u64 {
            return Err(format!("workload.rows = {rows}: keys are 32-bit, so 1 to {} rows are possible", i32::MAX));
        }
        if !NAMES.contains(&name) && name != DECLARED {
            return Err(format!("workload.name = {name:?}: there are {}", NAMES.join(", ")));
        }
        let mut options = Options { workload: name, left: options.clone() };
        let made = Self::make(name, rows, &mut options)?;
        options.all_taken().map(|()| made)
    }

    fn make(name: &str, rows: u64, options: &mut Options<'_>) -> Result<Self, String> {
        if name == "replication-lag" {
            return Ok(Self::ReplicationLag(replication_lag::ReplicationLag::new(rows)));
        }
        if name == "insert-indexes" {
            let indexes = options.number("indexes", 0..=insert_indexes::MAX_INDEXES as u64, 0)?;
            return Ok(Self::InsertIndexes(insert_indexes::InsertIndexes::new(rows, indexes as usize)));
        }
        if name == "durability" {
            let is_transaction = options.one_of("writes", &[("apart", false), ("transaction", true)])?;
            return Ok(Self::Durability(durability::Durability::new(rows, is_transaction)));
        }
        if name == "tpcc" {
            return Ok(Self::Tpcc(tpcc::Tpcc::new(rows)));
        }
        if name == DECLARED {
            let access = options.left.remove("access");
            let declaration = options.left.remove("declaration").ok_or("declared: there is no declaration")?;
            let access = access.as_ref().and_then(Value::as_str);
            return Ok(Self::Declared(declared::Declared::new(rows, &declaration, access)?));
        }
        // A batch's keys are all different, which of a skewed distribution's would take long to draw.
        let names = if name == "batch-get" { &ACCESS[..2] } else { &ACCESS };
        let names: Vec<(&str, &str)> = names.iter().map(|&name| (name, name)).collect();
        let access = Access::named(options.one_of("access", &names)?, rows).unwrap_or(Access::Uniform);
        match name {
            "point-get" => Ok(Self::PointGet(point_get::PointGet::new(rows, access))),
            "secondary-get" => Ok(Self::SecondaryGet(secondary_get::SecondaryGet::new(rows, access))),
            "point-update" => Ok(Self::PointUpdate(point_update::PointUpdate::new(rows, access))),
            "batch-get" => {
                let batch = options.number("batch", 1..=batch_get::MAX_BATCH as u64, 10)? as usize;
                Ok(Self::BatchGet(batch_get::BatchGet::new(rows, access, batch)?))
            }
            "result-cache" => {
                let percent = options.number("updates_percent", 0..=100, 0)?;
                Ok(Self::ResultCache(result_cache::ResultCache::new(rows, access, percent)))
            }
            "trx-lifecycle" => {
                let within = options.one_of("transaction", &TRANSACTIONS)?;
                Ok(Self::TrxLifecycle(trx_lifecycle::TrxLifecycle::new(rows, access, within)))
            }
            "extreme-values" => {
                let size_bytes = options.number("size_bytes", 0..=u64::from(u32::MAX >> 1), 0)? as u32;
                let size_bytes = (size_bytes > 0).then_some(size_bytes);
                Ok(Self::ExtremeValues(extreme_values::ExtremeValues::new(rows, access, size_bytes)))
            }
            "db-stress" => {
                let rw = options.number("rw", 0..=u64::from(u32::MAX), 1)?;
                let partitions = options.number("partitions", 1..=db_stress::MAX_PARTITIONS, 1)?;
                Ok(Self::DbStress(db_stress::DbStress::new(rows, access, rw, partitions)))
            }
            "oltp" => {
                let set = options.one_of("set", &oltp::SETS)?;
                let sizes = oltp::Sizes {
                    tables: options.number("tables", 1..=16, 1)? as usize,
                    range_size: options.number("range_size", 1..=1000, 100)?,
                    point_selects: options.number("point_selects", 0..=1000, 10)?,
                };
                Ok(Self::Oltp(oltp::Oltp::new(rows, access, set, sizes)))
            }
            _ => Ok(Self::Game(game::Game::new(rows, access))),
        }
    }

    pub fn transaction_name(&self) -> &'static str {
        fn name<W: Workload>(_: &W) -> &'static str {
            W::TRANSACTION
        }
        each!(self, workload => name(workload))
    }

    pub fn tables(&self) -> &[Table] {
        each!(self, workload => workload.tables())
    }

    pub fn steps(&self) -> &[Step] {
        each!(self, workload => workload.steps())
    }

    pub fn checks(&self) -> &[Check] {
        each!(self, workload => workload.checks())
    }

    pub fn statements(&self) -> &[Statement] {
        each!(self, workload => workload.statements())
    }

    /// Whether these can be the parameters of a step's statement.
    pub fn takes(&self, step: usize, params: &[dbdyno_model::Value<'_>]) -> bool {
        match self.steps()[step].operation {
            Operation::Sql { statement } => self.statements()[statement].takes(params),
            _ => false,
        }
    }

    /// The tables that transactions add rows to.
    pub fn growing_tables(&self) -> Vec<usize> {
        match self {
            AnyWorkload::Oltp(workload) if workload.adds_rows() => (0..workload.tables().len()).collect(),
            _ => {
                let inserted = |step: &&Step| matches!(step.operation, Operation::Insert { .. });
                self.steps().iter().filter(inserted).map(|step| step.operation.table()).collect()
            }
        }
    }

    /// Rows are added behind this key.
    pub fn continue_after(&mut self, last: u64) {
        match self {
            AnyWorkload::InsertIndexes(workload) => workload.continue_after(last),
            AnyWorkload::Oltp(workload) => workload.continue_after(last),
            AnyWorkload::Declared(workload) => workload.continue_after(last),
            _ => {}
        }
    }

    /// The key of a transaction that is one `get`, the first and only step; `None` for other workloads.
    #[inline]
    pub fn single_key(&self, choices: &mut Choices) -> Option<u64> {
        match self {
            AnyWorkload::PointGet(workload) => Some(workload.key(choices)),
            _ => None,
        }
    }

    #[inline]
    pub async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        each!(self, workload => workload.transaction(operations, choices).await)
    }
}

/// A workload's options as a plan has them, each taken by who understands it.
struct Options<'a> {
    workload: &'a str,
    left: Map<String, Value>,
}

impl Options<'_> {
    /// The choice that was named, or the first.
    fn one_of<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<T, String> {
        let given = self.left.remove(key);
        let chosen = match &given {
            None => choices.first(),
            Some(value) => choices.iter().find(|(name, _)| value == name),
        };
        let names = || choices.iter().map(|(name, _)| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        chosen
            .map(|(_, choice)| *choice)
            .ok_or_else(|| format!("{key} = {}: there are {}", given.unwrap_or_default(), names()))
    }

    /// A whole number, also as text.
    fn number(&mut self, key: &str, range: RangeInclusive<u64>, default: u64) -> Result<u64, String> {
        let Some(given) = self.left.remove(key) else { return Ok(default) };
        let number = given.as_u64().or_else(|| given.as_str()?.parse().ok());
        let (first, last) = (range.start(), range.end());
        number
            .filter(|n| range.contains(n))
            .ok_or_else(|| format!("{key} = {given}: give a number from {first} to {last}"))
    }

    fn all_taken(&self) -> Result<(), String> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(unknown) => Err(format!("{} has no option {unknown:?}", self.workload)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_makes_a_workload_with_sound_steps_and_tables() {
        for name in NAMES {
            let workload = AnyWorkload::new(name, 100, &Map::new()).unwrap();
            assert!(!workload.steps().is_empty());
            for step in workload.steps() {
                assert!(step.operation.table() < workload.tables().len(), "{name}");
            }
            for table in workload.tables() {
                let is_keyed = table.columns[0].source == dbdyno_model::Source::Key;
                assert!(is_keyed || table.population.is_some(), "{name}");
                assert!(table.filed_under < table.columns.len(), "{name}");
            }
        }
    }

    #[test]
    fn wrong_names_options_and_sizes_are_refused_in_words() {
        let refused = |name, rows, option: Option<(&str, &str)>| {
            let options = option.map(|(k, v)| (k.to_string(), Value::from(v))).into_iter().collect();
            AnyWorkload::new(name, rows, &options).unwrap_err()
        };
        assert!(refused("point-got", 1, None).contains("point-get"));
        assert!(refused("game", 0, None).contains("rows"));
        assert!(refused("game", 1 << 40, None).contains("32-bit"));
        assert!(refused("game", 1, Some(("acess", "uniform"))).contains("acess"));
        assert!(refused("game", 1, Some(("access", "random"))).contains("sequential"));
        assert!(refused("insert-indexes", 1, Some(("access", "uniform"))).contains("access"));
        assert!(refused("insert-indexes", 1, Some(("indexes", "4"))).contains("0 to 3"));
        assert!(refused("trx-lifecycle", 1, Some(("transaction", "none"))).contains("read-only"));
        assert!(refused("db-stress", 1, Some(("partitions", "0"))).contains("1 to 1024"));
        assert!(refused("batch-get", 200, Some(("batch", "101"))).contains("1 to 100"));
    }
}
