//! A declared workload put together from its declaration: its steps, its transactions, and its checks.

use std::collections::BTreeSet;

use dbdyno_model::{Kind, Operation, Step, Table};

use super::declaration::{
    Declaration, OperationPlan, ParameterPlan, StatementPlan, TablePlan, TransactionPlan, Verb, Within, column_of,
    table_of,
};
use super::{Action, Declared, MOST_PARAMETERS, Parameter, Transaction, What};
use crate::Check;
use crate::reach::{Insertions, Reach};

/// A workload while it is put together from its declaration.
pub struct Building<'a> {
    declaration: &'a Declaration,
    made: Declared,
    access: Reach,
    /// Tables that get rows, and columns that are added to.
    inserted: BTreeSet<usize>,
    /// Tables whose rows are deleted, or expire, and those whose rows are written whether or not they are there.
    deleted: BTreeSet<usize>,
    expiring: BTreeSet<usize>,
    written: BTreeSet<usize>,
    added: BTreeSet<(usize, usize)>,
}

impl<'a> Building<'a> {
    pub fn new(rows: u64, declaration: &'a Declaration) -> Result<Self, String> {
        let tables: Result<Vec<Table>, String> = declaration.tables.iter().map(TablePlan::build).collect();
        let tables = tables?;
        if tables.is_empty() || declaration.transactions.is_empty() {
            return Err("declaration: give at least one table and one transaction".into());
        }
        let nothing = (vec![], vec![], vec![], vec![]);
        let (transactions, steps, statements, checks) = nothing;
        let made = Declared {
            rows,
            transactions,
            tables,
            steps,
            statements,
            checks,
            insertions: Insertions { last: rows },
            growing: None,
        };
        let access = Reach::new(&declaration.access, rows)?;
        let none = BTreeSet::new;
        let (inserted, deleted, expiring, written) = (none(), none(), none(), none());
        Ok(Self { declaration, made, access, inserted, deleted, expiring, written, added: BTreeSet::new() })
    }

    pub fn all(mut self) -> Result<Declared, String> {
        let mut below = 0;
        for transaction in &self.declaration.transactions {
            below += transaction.weight;
            let built = self.transaction(transaction, below)?;
            self.made.transactions.push(built);
        }
        self.file_under_what_is_looked_for();
        for &table in self.deleted.union(&self.expiring) {
            self.made.tables[table].is_volatile = true;
        }
        self.made.growing = self.inserted.first().copied().filter(|_| self.inserted.len() == 1);
        self.made.checks = self.checks();
        Ok(self.made)
    }

    fn transaction(&mut self, plan: &TransactionPlan, below: u64) -> Result<Transaction, String> {
        let own = plan.access.as_ref().map(|plan| Reach::new(plan, self.made.rows)).transpose()?;
        let around = plan.within.map(|within| {
            let read_only = within == Within::ReadOnly;
            let begin = if read_only { "begin_read_only" } else { "begin" };
            (self.step(begin, Operation::Begin { read_only }), self.step("commit", Operation::Commit))
        });
        let several = self.declaration.transactions.len() > 1;
        let kind = several.then(|| self.step(&plan.name, Operation::Transaction));
        let actions: Result<Vec<Action>, String> =
            plan.operations.iter().map(|operation| self.action(operation)).collect();
        let (access, actions) = (own.unwrap_or(self.access), actions?);
        let inserts = actions.iter().any(|action| matches!(action.what, What::Insert));
        Ok(Transaction { below, access, kind, around, table: table_of_key(&actions), actions, inserts })
    }

    /// The step of this operation, which transactions share.
    fn step(&mut self, name: &str, operation: Operation) -> usize {
        let steps = &mut self.made.steps;
        let there = steps.iter().position(|step| step.name == name && step.operation == operation);
        there.unwrap_or_else(|| {
            steps.push(Step::new(name, operation));
            steps.len() - 1
        })
    }

    fn action(&mut self, plan: &OperationPlan) -> Result<Action, String> {
        let access = plan.access.as_ref().map(|plan| Reach::new(plan, self.made.rows)).transpose()?;
        if plan.operation == Verb::Sql {
            return self.sql(plan, access);
        }
        let name = plan.table.as_deref().ok_or_else(|| format!("{} needs a table", plan.operation.name()))?;
        let table = table_of(&self.made.tables, name)?;
        let column = plan.column.as_deref().map(|name| column_of(&self.made.tables[table], name)).transpose()?;
        let needed = || column.ok_or_else(|| format!("{} needs a column", plan.operation.name()));
        let of = |column: usize| self.made.tables[table].columns[column].clone();
        let length = || plan.length.as_ref().ok_or("scan needs a length")?.build();
        let (operation, what) = match plan.operation {
            Verb::Put => (Operation::Put { table, ttl_s: plan.ttl_s }, What::Put),
            Verb::Delete => (Operation::Delete { table }, What::Delete),
            Verb::Scan => (Operation::Scan { table }, What::Scan(length()?)),
            Verb::ReadModifyWrite => {
                let write = self.step(&format!("update_{name}"), Operation::Update { table });
                (Operation::Get { table }, What::ReadModifyWrite(write))
            }
            Verb::Get => (Operation::Get { table }, What::Get),
            Verb::Find => (Operation::Find { table, column: needed()? }, What::Find(of(needed()?))),
            Verb::Update => (Operation::Update { table }, What::Update),
            Verb::Insert => (Operation::Insert { table }, What::Insert),
            Verb::Add | Verb::Sql => (Operation::Add { table, column: needed()? }, What::Add(plan.by)),
        };
        match operation {
            Operation::Put { table, ttl_s } => {
                self.written.insert(table);
                self.expiring.extend((ttl_s > 0).then_some(table));
            }
            Operation::Update { table } => drop(self.written.insert(table)),
            Operation::Get { table } if matches!(what, What::ReadModifyWrite(_)) => drop(self.written.insert(table)),
            Operation::Delete { table } => drop(self.deleted.insert(table)),
            Operation::Insert { table } => drop(self.inserted.insert(table)),
            Operation::Add { table, column } => drop(self.added.insert((table, column))),
            _ => {}
        }
        let by = plan.column.as_ref().map(|column| format!("_{column}")).unwrap_or_default();
        let ttl = if plan.ttl_s > 0 { format!("_ttl_{}", plan.ttl_s) } else { String::new() };
        let step = self.step(&format!("{}_{name}{by}{ttl}", operation_name(plan.operation)), operation);
        Ok(Action { step, table: Some(table), access, what })
    }

    fn sql(&mut self, plan: &OperationPlan, access: Option<Reach>) -> Result<Action, String> {
        let name = plan.statement.as_deref().ok_or("sql needs a statement")?;
        let find = |statement: &&StatementPlan| statement.name == name;
        let declared = self.declaration.statements.iter().find(find);
        let declared = declared.ok_or_else(|| format!("there is no statement {name:?}"))?;
        let tables = &self.made.tables;
        let built: Result<Vec<(Parameter, Kind)>, String> =
            declared.parameters.iter().map(|plan| parameter(plan, tables)).collect();
        let (parameters, kinds): (Vec<Parameter>, Vec<Kind>) = built?.into_iter().unzip();
        if parameters.len() > MOST_PARAMETERS {
            return Err(format!("the statement {name} has more than {MOST_PARAMETERS} parameters"));
        }
        let there = self.made.steps.iter().position(|step| step.name == name);
        let step = match there {
            Some(step) => step,
            None => {
                self.made.statements.push(declared.build(&kinds)?);
                self.step(name, Operation::Sql { statement: self.made.statements.len() - 1 })
            }
        };
        Ok(Action { step, table: None, access, what: What::Sql { parameters, rows: declared.rows } })
    }

    /// A table whose rows are only ever looked for by one unique column is filed under that, if rows have one key only.
    fn file_under_what_is_looked_for(&mut self) {
        for (i, table) in self.made.tables.iter_mut().enumerate() {
            // The value that a written row is filed under follows from its number.
            let is_write = |of: &Operation| {
                matches!(of, Operation::Update { .. } | Operation::Put { .. } | Operation::Delete { .. })
            };
            let operations = self.made.steps.iter().map(|step| step.operation);
            let about = operations.filter(|of| of.has_table() && of.table() == i && !is_write(of));
            let columns: BTreeSet<usize> = about
                .map(|operation| if let Operation::Find { column, .. } = operation { column } else { 0 })
                .collect();
            if let (1, Some(&column)) = (columns.len(), columns.first())
                && table.indexes.iter().any(|index| index.unique && index.columns == [column])
            {
                table.filed_under = column;
            }
        }
    }

    /// The checks of the tables after a run, which statements that write could change in any way.
    fn checks(&self) -> Vec<Check> {
        if self.declaration.statements.iter().any(|statement| !statement.answers()) {
            return vec![];
        }
        let (inserted, added) = (&self.inserted, &self.added);
        let is_constant = |table: &usize| !inserted.contains(table) && !self.made.tables[*table].is_volatile;
        let constant = (0..self.made.tables.len()).filter(is_constant);
        let mut checks: Vec<Check> = constant.map(|table| Check::RowCount { table }).collect();
        // Additions and insertions are counted once for all.
        let changed: Vec<usize> = inserted.union(&self.deleted).copied().collect();
        // A row that expired, or that a write brought back, is in no count.
        let comes_back = |table: &usize| self.deleted.contains(table) && self.written.contains(table);
        let is_counted = |table| !(self.expiring.contains(&table) || comes_back(&table));
        if let [table] = changed[..]
            && is_counted(table)
        {
            checks.push(Check::RowsInserted { table });
        }
        if let (1, Some(&increments)) = (added.len(), added.first()) {
            checks.push(Check::SumOfIncrements { columns: vec![increments] });
        }
        checks
    }
}

/// The name of its step; a read-modify-write is a get and an update.
fn operation_name(verb: Verb) -> &'static str {
    if verb == Verb::ReadModifyWrite { Verb::Get.name() } else { verb.name() }
}

/// The table that the transaction's key is of: all its operations about that key are on it.
fn table_of_key(actions: &[Action]) -> Option<usize> {
    let is_about = |action: &&Action| action.access.is_none() && !matches!(action.what, What::Insert);
    let mut tables = actions.iter().filter(is_about).map(|action| action.table);
    let first = tables.next()??;
    tables.all(|table| table == Some(first)).then_some(first)
}

fn parameter(plan: &ParameterPlan, tables: &[Table]) -> Result<(Parameter, Kind), String> {
    match plan.column(tables)? {
        Some(column) if plan.column.is_some() => {
            let kind = column.kind;
            if column.is_versioned() {
                return Err(format!("the column {} changes, so no row can be found by it", column.name));
            }
            Ok((Parameter::Of { column, offset: plan.offset }, kind))
        }
        Some(column) => {
            let kind = column.kind;
            Ok((Parameter::Drawn { column }, kind))
        }
        None => match (plan.from, plan.to) {
            (Some(from), Some(to)) if from <= to => Ok((Parameter::Number { from, to }, plan.kind()?)),
            _ => Err("a number parameter needs from and to".into()),
        },
    }
}
