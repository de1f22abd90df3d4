//! A store's preparation: the tables and the steps of a workload.

use std::sync::Arc;

use dbdyno_model::{Kind, Operation, Statement, Step, Table};

/// A sum of whole numbers, of any number of rows.
pub(crate) const SUM: Kind = Kind::Decimal(32, 0);

/// The tables and the steps that a store prepares itself for.
#[derive(Clone, Debug)]
pub struct Schema {
    pub tables: Vec<Table>,
    pub steps: Vec<Step>,
    /// The statements that steps of the kind `sql` execute.
    pub statements: Vec<Statement>,
    /// Rows per table that does not say how many it has.
    pub rows: u64,
}

impl Schema {
    /// The table that an operation is about.
    #[inline]
    pub(crate) fn table_of_operation(&self, operation: Operation) -> &Table {
        &self.tables[operation.table()]
    }

    /// Returns whether rows of a table are deleted.
    pub(crate) fn has_deletions(&self, table: usize) -> bool {
        self.steps.iter().any(|step| step.operation == Operation::Delete { table })
    }

    /// The kinds of the parameters of a step's statement.
    pub(crate) fn parameter_kinds(&self, step: usize) -> Vec<Kind> {
        let operation = self.steps[step].operation;
        let columns = &self.table_of_operation(operation).columns;
        let key = || columns[0].kind;
        match operation {
            Operation::Sql { statement } => self.statements[statement].parameters.clone(),
            Operation::Get { .. } | Operation::GetElsewhere { .. } => vec![key()],
            Operation::GetMany { keys, .. } => vec![key(); keys],
            Operation::SumRange { .. } => vec![key(); 2],
            Operation::Find { column, .. } => vec![columns[column].kind],
            Operation::Add { column, .. } => vec![columns[column].kind, key()],
            Operation::Delete { .. } => vec![key()],
            Operation::Scan { .. } => vec![key(), Kind::BigInt],
            Operation::Insert { .. } | Operation::Put { .. } => columns.iter().map(|column| column.kind).collect(),
            Operation::Update { .. } => {
                columns.iter().filter(|column| column.is_versioned()).map(|column| column.kind).chain([key()]).collect()
            }
            Operation::Begin { .. } | Operation::Commit | Operation::Rollback | Operation::Transaction => vec![],
        }
    }

    /// The kinds of the values of a step's answer.
    pub(crate) fn answer_kinds(&self, step: usize) -> Vec<Kind> {
        match self.steps[step].operation {
            Operation::Sql { statement } => self.statements[statement].columns.clone(),
            Operation::SumRange { .. } => vec![SUM; 2],
            Operation::Get { table }
            | Operation::GetElsewhere { table }
            | Operation::GetMany { table, .. }
            | Operation::Scan { table }
            | Operation::Find { table, .. } => self.tables[table].columns.iter().map(|column| column.kind).collect(),
            _ => vec![],
        }
    }
}

pub(crate) type SharedSchema = Arc<Schema>;
