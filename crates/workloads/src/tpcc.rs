//! tpcc: the five transactions of an order-entry system, after TPC-C rev. 5.11, without terminals and their keying and think times.
//!
//! `rows` is the number of warehouses; every client has a home warehouse, by its number. docs/experiments/tpcc.md has the differences
//! from the specification: the figures are not tpmC.

mod conditions;
mod population;
mod random;
mod statements;
mod tables;
mod transactions;

use dbdyno_model::{Choices, Failed, Operations, Statement, Step, Table};

use crate::options::Options;
use crate::{Check, Workload};
use transactions::Terminal;

#[derive(Clone, Debug)]
pub struct Tpcc {
    warehouses: u64,
    tables: Vec<Table>,
    steps: Vec<Step>,
    statements: Vec<Statement>,
    checks: Vec<Check>,
}

impl Tpcc {
    pub fn new(warehouses: u64) -> Self {
        let mut checks: Vec<Check> = (0..tables::FIXED_TABLES).map(|table| Check::RowCount { table }).collect();
        checks.extend(conditions::conditions());
        let (steps, statements) = (statements::steps(), statements::statements());
        Self { warehouses, tables: tables::tables(warehouses), steps, statements, checks }
    }
}

impl Workload for Tpcc {
    const NAME: &'static str = "tpcc";
    const TRANSACTION: &'static str = "tpcc";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        Ok(Self::new(options.rows))
    }

    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn statements(&self) -> &[Statement] {
        &self.statements
    }

    fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// The mix: 45 of 100 transactions are new orders, 43 payments, and 4 each of the others (5.2.3 has at most as many new orders).
    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let terminal = Terminal::of(choices, self.warehouses);
        match choices.below(100) {
            0..45 => transactions::new_order(terminal, operations, choices).await,
            45..88 => transactions::payment(terminal, operations, choices).await,
            88..92 => transactions::order_status(terminal, operations, choices).await,
            92..96 => transactions::delivery(terminal, operations, choices).await,
            _ => transactions::stock_level(terminal, operations, choices).await,
        }
    }
}
