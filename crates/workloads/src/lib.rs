//! Workloads, one file each: the tables, and the transaction as an async function over the logical operations.
//!
//! Every random choice is a pure function of (seed, client, step). No sockets, no clock, no store's name.

mod access;
mod batch_get;
mod buffers;
mod cumulative;
mod db_stress;
mod declared;
mod durability;
mod extreme_values;
mod game;
mod insert_indexes;
mod linkbench;
mod oltp;
mod options;
mod point_get;
mod point_update;
mod reach;
mod replication_lag;
mod result_cache;
mod secondary_get;
mod smallbank;
mod tables;
mod taobench;
mod tpcc;
mod trx_lifecycle;
mod weights;
mod workload;

use dbdyno_model::{Choices, Failed, Operation, Operations, Statement, Step, Table};
use serde_json::{Map, Value};

use options::Options;

pub use access::Access;
pub use reach::{Reach, ReachPlan};
pub use workload::{Check, Workload};

/// Writes, from the list of workloads, the enum of them, their names and the dispatch.
///
/// An enum and no trait object: the compiler then inlines a transaction into the client's loop (docs/decisions/hot-path.md).
macro_rules! workloads {
    ($($module:ident::$Workload:ident,)+) => {
        /// A workload of this crate. There is one a trial.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Debug)]
        pub enum AnyWorkload {
            $($Workload($module::$Workload),)+
        }

        /// The workloads' names in plans.
        const NAMES: &[&str] = &[$($module::$Workload::NAME),+];

        impl AnyWorkload {
            fn from_options(name: &str, options: &mut Options<'_>) -> Result<Self, String> {
                match name {
                    $($module::$Workload::NAME => $module::$Workload::from_options(options).map(Self::$Workload),)+
                    _ => Err(format!("workload.name = {name:?}: there are {}", shipped().join(", "))),
                }
            }
        }

        macro_rules! each {
            ($any:expr, $workload:ident => $body:expr) => {
                match $any {
                    $(AnyWorkload::$Workload($workload) => $body,)+
                }
            };
        }
    };
}

workloads! {
    point_get::PointGet,
    secondary_get::SecondaryGet,
    point_update::PointUpdate,
    batch_get::BatchGet,
    insert_indexes::InsertIndexes,
    trx_lifecycle::TrxLifecycle,
    tpcc::Tpcc,
    game::Game,
    db_stress::DbStress,
    oltp::Oltp,
    replication_lag::ReplicationLag,
    result_cache::ResultCache,
    durability::Durability,
    extreme_values::ExtremeValues,
    smallbank::SmallBank,
    linkbench::LinkBench,
    taobench::TaoBench,
    declared::Declared,
}

/// The names of the workloads that need no declaration of an experiment.
fn shipped() -> Vec<&'static str> {
    NAMES.iter().copied().filter(|&name| name != declared::Declared::NAME).collect()
}

impl AnyWorkload {
    /// The workload `name` over tables of `rows` rows.
    ///
    /// # Errors
    /// There is no such workload, it has no such option, or the option has no such value: in words for the user.
    pub fn new(name: &str, rows: u64, options: &Map<String, Value>) -> Result<Self, String> {
        let mut options = Options::new(name, rows, options)?;
        let workload = Self::from_options(name, &mut options)?;
        options.all_taken().map(|()| workload)
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

    /// Returns whether the step's statement can be executed with these parameters.
    pub fn takes(&self, step: usize, params: &[dbdyno_model::Value<'_>]) -> bool {
        match self.steps()[step].operation {
            Operation::Sql { statement } => self.statements()[statement].takes(params),
            Operation::SumRange { .. } => matches!(params, [dbdyno_model::Value::Int(_), dbdyno_model::Value::Int(_)]),
            _ => false,
        }
    }

    /// The tables that transactions add rows to.
    pub fn growing_tables(&self) -> Vec<usize> {
        each!(self, workload => workload.growing_tables())
    }

    /// Rows are added behind this key.
    pub fn continue_after(&mut self, last: u64) {
        each!(self, workload => workload.continue_after(last));
    }

    /// The key of a transaction that is one `get`, the first and only step; `None` for other workloads.
    #[inline]
    pub fn single_key(&self, choices: &mut Choices) -> Option<u64> {
        each!(self, workload => workload.single_key(choices))
    }

    #[inline]
    pub async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        each!(self, workload => workload.transaction(operations, choices).await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_makes_a_workload_with_sound_steps_and_tables() {
        for name in shipped() {
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
