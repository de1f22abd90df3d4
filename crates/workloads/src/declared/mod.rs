//! declared: a workload that an experiment declares: tables, statements, and transactions with weights.
//!
//! A transaction draws a key; its operations are about that, or draw one of their own. Nothing is allocated for an operation: its
//! parameters are made in a buffer that the thread's transactions lend each other.

mod declaration;

use std::cell::RefCell;
use std::collections::BTreeSet;

use dbdyno_model::{
    Choices, Column, Difference, Failed, Kind, Operation, Operations, RowBuffer, Statement, Step, Table, Value,
};

use crate::options::Options;
use crate::{Access, Check, Workload};
use declaration::{
    Declaration, OperationPlan, ParameterPlan, StatementPlan, TransactionPlan, Verb, Within, column_of, table_of,
};

/// Of one statement: they are kept on the stack.
const MOST_PARAMETERS: usize = 16;

/// Where a parameter's values come from.
#[derive(Clone, Debug)]
enum Parameter {
    /// The value of the column in the row so many behind the key's.
    Of { column: Column, offset: i64 },
    /// A text that fills the column, drawn.
    Drawn { column: Column },
    /// A number from the first to the last.
    Number { from: i64, to: i64 },
}

#[derive(Clone, Debug)]
enum What {
    Get,
    Find(Column),
    Update,
    Insert,
    Add(i64),
    Sql { parameters: Vec<Parameter>, rows: Option<(u64, u64)> },
}

#[derive(Clone, Debug)]
struct Action {
    step: usize,
    access: Option<Access>,
    what: What,
}

#[derive(Clone, Debug)]
struct Transaction {
    /// The choices below it are its own, or an earlier transaction's.
    below: u64,
    access: Access,
    /// The steps that stand for its kind, begin it and commit it.
    kind: Option<usize>,
    around: Option<(usize, usize)>,
    actions: Vec<Action>,
}

#[derive(Clone, Debug)]
pub struct Declared {
    rows: u64,
    transactions: Vec<Transaction>,
    tables: Vec<Table>,
    steps: Vec<Step>,
    statements: Vec<Statement>,
    checks: Vec<Check>,
    /// The highest key that was there before.
    last: u64,
}

thread_local! {
    /// Buffers that no transaction of this thread has now: as many as had one at once.
    static BUFFERS: RefCell<Vec<RowBuffer>> = const { RefCell::new(Vec::new()) };
}

impl Declared {
    /// `access`: in the place of the declaration's.
    ///
    /// # Errors
    /// The declaration cannot be read or contradicts itself: in words for the user.
    pub fn new(rows: u64, declaration: &serde_json::Value, access: Option<&str>) -> Result<Self, String> {
        let mut declaration: Declaration =
            serde_json::from_value(declaration.clone()).map_err(|error| format!("declaration: {error}"))?;
        if let Some(access) = access {
            declaration.access = access.into();
        }
        Building::new(rows, &declaration)?.all()
    }

    fn chosen(&self, choices: &mut Choices) -> &Transaction {
        let all = self.transactions.last().map_or(0, |last| last.below);
        let choice = if self.transactions.len() > 1 { choices.below(all) } else { 0 };
        let place = self.transactions.partition_point(|transaction| transaction.below <= choice);
        &self.transactions[place.min(self.transactions.len() - 1)]
    }

    async fn execute<O: Operations>(
        &self,
        action: &Action,
        operations: &mut O,
        choices: &mut Choices,
        of_transaction: u64,
    ) -> Result<(), Failed> {
        let key = action.access.map_or(of_transaction, |access| access.key(choices, self.rows));
        let step = action.step;
        match &action.what {
            What::Get => operations.get(step, key).await,
            What::Update => operations.update(step, key, choices.below(1 << 31)).await,
            What::Add(by) => operations.add(step, key, *by).await,
            What::Insert => {
                let new = self.last + 1 + choices.step * choices.clients + choices.client;
                operations.insert(step, new).await
            }
            What::Find(column) => {
                let mut buffer = lent();
                column.generate(key, 0, &mut buffer);
                let found = operations.find(step, buffer.row().value(0), key).await;
                give_back(buffer);
                found
            }
            What::Sql { parameters, rows } => {
                let mut buffer = lent();
                parameters.iter().for_each(|parameter| parameter.write(key, choices, &mut buffer));
                let mut values = [Value::Null; MOST_PARAMETERS];
                for (i, value) in values[..parameters.len()].iter_mut().enumerate() {
                    *value = buffer.row().value(i);
                }
                let done = operations.sql(step, &values[..parameters.len()], &mut |_| {}).await;
                give_back(buffer);
                let found = done?;
                operations.verify(step, found, || within(*rows, found))
            }
        }
    }
}

fn lent() -> RowBuffer {
    let mut buffer = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
    buffer.clear();
    buffer
}

fn give_back(buffer: RowBuffer) {
    BUFFERS.with_borrow_mut(|buffers| buffers.push(buffer));
}

fn within(rows: Option<(u64, u64)>, found: u64) -> Result<(), Box<Difference>> {
    match rows {
        Some((fewest, most)) if !(fewest..=most).contains(&found) => {
            Err(Difference::new("rows", format!("{fewest} to {most}"), found))
        }
        _ => Ok(()),
    }
}

impl Parameter {
    #[inline]
    fn write(&self, key: u64, choices: &mut Choices, out: &mut RowBuffer) {
        match self {
            Parameter::Of { column, offset } => column.generate(key.wrapping_add_signed(*offset), 0, out),
            Parameter::Drawn { column } => column.generate(choices.next_u64(), 0, out),
            &Parameter::Number { from, to } => {
                out.push(Value::Int(from + choices.below(to.abs_diff(from) + 1) as i64));
            }
        }
    }
}

impl Workload for Declared {
    const NAME: &'static str = "declared";
    const TRANSACTION: &'static str = "transaction";

    fn from_options(options: &mut Options<'_>) -> Result<Self, String> {
        let access = options.take("access");
        let declaration = options.take("declaration").ok_or("declared: there is no declaration")?;
        Self::new(options.rows, &declaration, access.as_ref().and_then(serde_json::Value::as_str))
    }

    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn checks(&self) -> &[Check] {
        &self.checks
    }

    fn statements(&self) -> &[Statement] {
        &self.statements
    }

    fn continue_after(&mut self, last: u64) {
        self.last = last;
    }

    async fn transaction<O: Operations>(&self, operations: &mut O, choices: &mut Choices) -> Result<(), Failed> {
        let transaction = self.chosen(choices);
        if let Some(kind) = transaction.kind {
            operations.kind(kind);
        }
        let key = transaction.access.key(choices, self.rows);
        if let Some((begin, _)) = transaction.around {
            operations.control(begin).await?;
        }
        for action in &transaction.actions {
            self.execute(action, operations, choices, key).await?;
        }
        match transaction.around {
            Some((_, commit)) => operations.control(commit).await,
            None => Ok(()),
        }
    }
}

/// A workload while it is put together from its declaration.
struct Building<'a> {
    declaration: &'a Declaration,
    made: Declared,
    access: Access,
    /// Tables that get rows, and columns that are added to.
    inserted: BTreeSet<usize>,
    added: BTreeSet<(usize, usize)>,
}

impl<'a> Building<'a> {
    fn new(rows: u64, declaration: &'a Declaration) -> Result<Self, String> {
        let tables: Result<Vec<Table>, String> = declaration.tables.iter().map(declaration::TablePlan::build).collect();
        let tables = tables?;
        if tables.is_empty() || declaration.transactions.is_empty() {
            return Err("declaration: at least one table and one transaction".into());
        }
        let nothing = (vec![], vec![], vec![], vec![]);
        let (transactions, steps, statements, checks) = nothing;
        let made = Declared { rows, transactions, tables, steps, statements, checks, last: rows };
        let access = access(&declaration.access, rows)?;
        Ok(Self { declaration, made, access, inserted: BTreeSet::new(), added: BTreeSet::new() })
    }

    fn all(mut self) -> Result<Declared, String> {
        let mut below = 0;
        for transaction in &self.declaration.transactions {
            below += transaction.weight;
            let built = self.transaction(transaction, below)?;
            self.made.transactions.push(built);
        }
        self.file_under_what_is_looked_for();
        self.made.checks = self.checks();
        Ok(self.made)
    }

    fn transaction(&mut self, plan: &TransactionPlan, below: u64) -> Result<Transaction, String> {
        let own = plan.access.as_deref().map(|name| access(name, self.made.rows)).transpose()?;
        let around = plan.within.map(|within| {
            let read_only = within == Within::ReadOnly;
            let begin = if read_only { "begin_read_only" } else { "begin" };
            (self.step(begin, Operation::Begin { read_only }), self.step("commit", Operation::Commit))
        });
        let several = self.declaration.transactions.len() > 1;
        let kind = several.then(|| self.step(&plan.name, Operation::Transaction));
        let actions: Result<Vec<Action>, String> = plan.operations.iter().map(|one| self.action(one)).collect();
        Ok(Transaction { below, access: own.unwrap_or(self.access), kind, around, actions: actions? })
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
        let access = plan.access.as_deref().map(|name| access(name, self.made.rows)).transpose()?;
        if plan.operation == Verb::Sql {
            return self.sql(plan, access);
        }
        let name = plan.table.as_deref().ok_or_else(|| format!("{} needs a table", plan.operation.name()))?;
        let table = table_of(&self.made.tables, name)?;
        let column = plan.column.as_deref().map(|name| column_of(&self.made.tables[table], name)).transpose()?;
        let needed = || column.ok_or_else(|| format!("{} needs a column", plan.operation.name()));
        let of = |column: usize| self.made.tables[table].columns[column].clone();
        let (operation, what) = match plan.operation {
            Verb::Get => (Operation::Get { table }, What::Get),
            Verb::Find => (Operation::Find { table, column: needed()? }, What::Find(of(needed()?))),
            Verb::Update => (Operation::Update { table }, What::Update),
            Verb::Insert => (Operation::Insert { table }, What::Insert),
            Verb::Add | Verb::Sql => (Operation::Add { table, column: needed()? }, What::Add(plan.by)),
        };
        match operation {
            Operation::Insert { table } => drop(self.inserted.insert(table)),
            Operation::Add { table, column } => drop(self.added.insert((table, column))),
            _ => {}
        }
        let by = plan.column.as_ref().map(|column| format!("_{column}")).unwrap_or_default();
        let step = self.step(&format!("{}_{name}{by}", plan.operation.name()), operation);
        Ok(Action { step, access, what })
    }

    fn sql(&mut self, plan: &OperationPlan, access: Option<Access>) -> Result<Action, String> {
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
        Ok(Action { step, access, what: What::Sql { parameters, rows: declared.rows } })
    }

    /// A table whose rows are only ever looked for by one unique column is filed under that, where rows have one key only.
    fn file_under_what_is_looked_for(&mut self) {
        for (i, table) in self.made.tables.iter_mut().enumerate() {
            let about =
                self.made.steps.iter().map(|step| step.operation).filter(|of| of.has_table() && of.table() == i);
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

    /// What can be said of the tables after a run, which statements that write could change in any way.
    fn checks(&self) -> Vec<Check> {
        if self.declaration.statements.iter().any(|statement| !statement.answers()) {
            return vec![];
        }
        let (inserted, added) = (&self.inserted, &self.added);
        let constant = (0..self.made.tables.len()).filter(|table| !inserted.contains(table));
        let mut checks: Vec<Check> = constant.map(|table| Check::RowCount { table }).collect();
        // What was added and inserted is counted once for all.
        if let (1, Some(&table)) = (inserted.len(), inserted.first()) {
            checks.push(Check::RowsInserted { table });
        }
        if let (1, Some(&(table, column))) = (added.len(), added.first()) {
            checks.push(Check::SumOfIncrements { table, column });
        }
        checks
    }
}

fn access(name: &str, rows: u64) -> Result<Access, String> {
    Access::named(name, rows).ok_or_else(|| format!("there is no access {name:?}"))
}

fn parameter(plan: &ParameterPlan, tables: &[Table]) -> Result<(Parameter, Kind), String> {
    match plan.column(tables)? {
        Some(column) if plan.column.is_some() => {
            let kind = column.kind;
            if column.is_versioned() {
                return Err(format!("the column {} changes, so it has no value to look for", column.name));
            }
            Ok((Parameter::Of { column, offset: plan.offset }, kind))
        }
        Some(column) => {
            let kind = column.kind;
            Ok((Parameter::Drawn { column }, kind))
        }
        None => match (plan.from, plan.to) {
            (Some(from), Some(to)) if from <= to => Ok((Parameter::Number { from, to }, plan.kind()?)),
            _ => Err("a parameter that is a number has from and to".into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn events() -> serde_json::Value {
        json!({
            "access": "zipfian",
            "tables": [{
                "name": "event",
                "columns": [
                    {"name": "id", "kind": "int", "generator": "key"},
                    {"name": "at", "kind": "bigint", "generator": "linear", "first": 1000, "step": 10},
                    {"name": "hits", "kind": "int", "generator": "counter"},
                    {"name": "mail", "kind": "varchar(64)", "generator": "email"},
                    {"name": "note", "kind": "varchar(20)", "generator": "letters"}
                ],
                "indexes": [{"columns": ["at"]}, {"columns": ["mail"], "unique": true}]
            }],
            "statements": [{
                "name": "recent",
                "sql": "SELECT id, note FROM {event} WHERE at BETWEEN ? AND ?",
                "parameters": [{"column": "event.at"}, {"column": "event.at", "offset": 9}],
                "columns": ["int", "varchar(20)"],
                "rows": [1, 10]
            }],
            "transactions": [
                {"name": "append", "weight": 3, "operations": [{"operation": "insert", "table": "event"}]},
                {"name": "read", "weight": 1, "within": "read-only", "operations": [
                    {"operation": "sql", "statement": "recent"},
                    {"operation": "get", "table": "event", "access": "latest"}
                ]}
            ]
        })
    }

    fn refused(change: impl FnOnce(&mut serde_json::Value)) -> String {
        let mut declaration = events();
        change(&mut declaration);
        Declared::new(100, &declaration, None).unwrap_err()
    }

    #[test]
    fn a_declaration_becomes_tables_steps_and_checks() {
        let workload = Declared::new(100, &events(), None).unwrap();
        let steps: Vec<&str> = workload.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(steps, ["append", "insert_event", "begin_read_only", "commit", "read", "recent", "get_event"]);
        assert_eq!(workload.statements[0].parameters, [Kind::BigInt; 2]);
        assert_eq!(workload.checks, [Check::RowsInserted { table: 0 }]);
        assert_eq!(workload.tables[0].filed_under, 0);
        assert_eq!(workload.tables[0].columns[1].source, dbdyno_model::Source::Linear { first: 1000, step: 10 });
    }

    #[test]
    fn transactions_come_as_often_as_they_weigh() {
        let workload = Declared::new(100, &events(), Some("uniform")).unwrap();
        let is_append = |step: &u64| workload.chosen(&mut Choices::new(1, 0, 1, *step)).below == 3;
        let appends = (0..10_000).filter(is_append).count();
        assert!(appends.abs_diff(7500) < 200, "{appends}");
        assert_eq!(workload.transactions[1].access, Access::Uniform);
    }

    #[test]
    fn parameters_are_of_rows_near_the_key() {
        let workload = Declared::new(100, &events(), None).unwrap();
        let What::Sql { parameters, rows } = &workload.transactions[1].actions[0].what else { panic!() };
        let (mut out, mut choices) = (RowBuffer::default(), Choices::new(1, 0, 1, 0));
        parameters.iter().for_each(|parameter| parameter.write(5, &mut choices, &mut out));
        assert_eq!((out.row().value(0), out.row().value(1)), (Value::Int(1040), Value::Int(1130)));
        assert!(within(*rows, 10).is_ok());
        assert_eq!(within(*rows, 0).unwrap_err().expected, "1 to 10");
        for _ in 0..100 {
            out.clear();
            Parameter::Number { from: -2, to: 2 }.write(1, &mut choices, &mut out);
            assert!(matches!(out.row().value(0), Value::Int(-2..=2)));
        }
    }

    #[test]
    fn a_table_only_looked_up_by_a_unique_column_is_filed_under_it() {
        let mut declaration = events();
        declaration["transactions"] = json!([{"name": "look", "weight": 1,
            "operations": [{"operation": "find", "table": "event", "column": "mail"}]}]);
        assert_eq!(Declared::new(100, &declaration, None).unwrap().tables[0].filed_under, 3);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(refused(|d| d["access"] = "zipf".into()).contains("zipf"));
        assert!(refused(|d| d["tables"][0]["columns"][1]["kind"] = "text".into()).contains("\"text\""));
        assert!(refused(|d| d["tables"][0]["columns"][4]["generator"] = "lettres".into()).contains("lettres"));
        assert!(refused(|d| d["tables"][0]["columns"][4]["generator"] = "key".into()).contains("note"));
        assert!(refused(|d| d["tables"][0]["indexes"][0]["columns"] = json!(["when"])).contains("when"));
        assert!(refused(|d| d["transactions"][0]["operations"][0]["table"] = "evnt".into()).contains("evnt"));
        assert!(refused(|d| d["transactions"][1]["operations"][0]["statement"] = "last".into()).contains("last"));
        assert!(refused(|d| d["statements"][0]["parameters"][0] = json!({"kind": "int"})).contains("from"));
        assert!(refused(|d| d["surprise"] = 1.into()).contains("surprise"));
    }
}
